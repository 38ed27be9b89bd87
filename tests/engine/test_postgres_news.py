"""News between engines by a real PostgreSQL."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.postgres_news import LONGEST_PAYLOAD_BYTES, PostgresNews, write_heads
from croupier.engine.sql_store import SqlTableStore
from croupier.engine.store import SequenceTaken
from croupier.games.facts import Seat
from loadtest.postgres import PostgresServer
from tests.engine.databases import entry, opened
from tests.engine.fakes import RecordingLogger
from tests.engine.play import soon

CUT_LISTENERS = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND query NOT LIKE '%pg_terminate%'"""


class Ear:
    """Hears news."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[object] = asyncio.Queue()
        self.missed: asyncio.Queue[None] = asyncio.Queue()

    def logs_grew(self, heads: Mapping[str, int]) -> None:
        self.heard.put_nowait(dict(heads))

    def news_were_missed(self) -> None:
        self.missed.put_nowait(None)

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        self.heard.put_nowait((table_id, seat, reaction))


@pytest.fixture
def database_url(postgres_url: str) -> str:
    """Of this kind only."""
    return postgres_url


@asynccontextmanager
async def listening(database: AsyncEngine, engine_id: str) -> AsyncIterator[Ear]:
    """An ear that hears already."""
    ear = Ear()
    task = asyncio.create_task(PostgresNews(database, engine_id, RecordingLogger()).run(ear))
    try:
        await soon(ear.missed.get())
        yield ear
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_what_one_engine_appends_the_others_hear_once_for_each_commit(
    database: AsyncEngine, store: SqlTableStore
) -> None:
    async with listening(database, "e2") as ear:
        for number in range(3):
            await opened(store, f"t{number}")
        appends = (store.append(f"t{number}", [entry(2), entry(3)], None) for number in range(3))
        await asyncio.gather(*appends)
        assert await soon(ear.heard.get()) == {"t0": 3, "t1": 3, "t2": 3}
        with pytest.raises(SequenceTaken):
            await store.append("t1", [entry(3)], None)
        await store.append("t2", [entry(4)], None)
        assert await soon(ear.heard.get()) == {"t2": 4}
        assert ear.heard.empty()


async def test_what_is_too_long_for_one_notification_comes_in_several(
    database: AsyncEngine, store: SqlTableStore
) -> None:
    names = [f"{number:064}" for number in range(120)]
    for name in names:
        await opened(store, name)
    async with listening(database, "e2") as ear:
        await asyncio.gather(*(store.append(name, [entry(2)], None) for name in names))
        heads: dict[str, int] = {}
        while len(heads) < len(names):
            heard = await soon(ear.heard.get())
            assert isinstance(heard, dict)
            heads |= heard
        assert heads == dict.fromkeys(names, 2)


@pytest.mark.parametrize("count", [0, 1, 2, 90, 91, 92, 93, 94, 95, 500])
@pytest.mark.parametrize("name", ["x", "x" * 55, "é" * 9, '"' * 55])
def test_payloads_are_as_long_as_they_may_be_and_no_longer(count: int, name: str) -> None:
    heads = {f"{name}{number:05}": 2**31 - 1 for number in range(count)}
    payloads = list(write_heads("0123456789abcdef", heads, LONGEST_PAYLOAD_BYTES))
    assert all(len(payload.encode()) <= LONGEST_PAYLOAD_BYTES for payload in payloads)
    told = [json.loads(payload) for payload in payloads]
    assert {engine for engine, _ in told} == {"0123456789abcdef"}
    assert [each for _, part in told for each in part.items()] == list(heads.items())
    assert all(len(payload.encode()) > 0.95 * LONGEST_PAYLOAD_BYTES for payload in payloads[:-1])


async def test_an_engines_own_news_come_late(
    store: SqlTableStore, database: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    late_seconds = 0.2
    monkeypatch.setattr("croupier.engine.postgres_news.OWN_NEWS_SECONDS", late_seconds)
    time = asyncio.get_running_loop().time
    async with listening(database, "e1") as own, listening(database, "e2") as other:
        await opened(store)
        began = time()
        await store.append("t1", [entry(2)], None)
        assert await soon(other.heard.get()) == {"t1": 2}
        assert await soon(own.heard.get()) == {"t1": 2}
        assert time() - began >= late_seconds


async def test_after_its_connection_was_lost_an_engine_listens_again_and_says_that_it_missed_news(
    database: AsyncEngine, store: SqlTableStore, postgres: PostgresServer
) -> None:
    async with listening(database, "e2") as ear:
        assert ear.missed.empty()
        assert await asyncio.to_thread(postgres.run_sql, database.url.database or "", CUT_LISTENERS) == "1"
        await soon(ear.missed.get())
        await opened(store)
        await store.append("t1", [entry(2)], None)
        assert await soon(ear.heard.get()) == {"t1": 2}


async def test_reactions_are_heard_by_the_others_only(database: AsyncEngine) -> None:
    news = PostgresNews(database, "e1", RecordingLogger())
    async with listening(database, "e1") as own, listening(database, "e2") as other:
        await news.tell_reaction("t1", 3, "wow")
        assert await soon(other.heard.get()) == ("t1", 3, "wow")
        assert own.heard.empty()
