"""Notifications between engines with a real PostgreSQL."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.cluster.postgres_notifier import PostgresNotifier
from croupier.engine.storage.log_notifications import MAX_PAYLOAD_BYTES, encode_heads
from croupier.engine.storage.port import SequenceTaken
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.games.facts import Seat
from loadtest.postgres import PostgresServer
from tests.engine.databases import entry, opened
from tests.engine.fakes import RecordingLogger
from tests.engine.play import within_timeout

TERMINATE_LISTENERS = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND query NOT LIKE '%pg_terminate%'"""


class FakeListener:
    """Records notifications."""

    def __init__(self) -> None:
        self.received: asyncio.Queue[object] = asyncio.Queue()
        self.missed: asyncio.Queue[None] = asyncio.Queue()

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        self.received.put_nowait(dict(heads))

    def notifications_missed(self) -> None:
        self.missed.put_nowait(None)

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        self.received.put_nowait((table_id, seat, reaction))


@pytest.fixture
def database_url(postgres_url: str) -> str:
    """PostgreSQL only."""
    return postgres_url


@asynccontextmanager
async def listening(database: AsyncEngine, engine_id: str) -> AsyncIterator[FakeListener]:
    """Yield a listener that is connected."""
    listener = FakeListener()
    task = asyncio.create_task(PostgresNotifier(database, engine_id, RecordingLogger()).run(listener))
    try:
        await within_timeout(listener.missed.get())
        yield listener
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_each_commit_is_one_notification_to_the_other_engines(
    database: AsyncEngine, store: SqlTableStore
) -> None:
    async with listening(database, "e2") as listener:
        for number in range(3):
            await opened(store, f"t{number}")
        appends = (store.append(f"t{number}", [entry(2), entry(3)], None) for number in range(3))
        await asyncio.gather(*appends)
        assert await within_timeout(listener.received.get()) == {"t0": 3, "t1": 3, "t2": 3}
        with pytest.raises(SequenceTaken):
            await store.append("t1", [entry(3)], None)
        await store.append("t2", [entry(4)], None)
        assert await within_timeout(listener.received.get()) == {"t2": 4}
        assert listener.received.empty()


async def test_long_payloads_are_split(database: AsyncEngine, store: SqlTableStore) -> None:
    names = [f"{number:064}" for number in range(120)]
    for name in names:
        await opened(store, name)
    async with listening(database, "e2") as listener:
        await asyncio.gather(*(store.append(name, [entry(2)], None) for name in names))
        heads: dict[str, int] = {}
        while len(heads) < len(names):
            received = await within_timeout(listener.received.get())
            assert isinstance(received, dict)
            heads |= received
        assert heads == dict.fromkeys(names, 2)


@pytest.mark.parametrize("count", [0, 1, 2, 90, 91, 92, 93, 94, 95, 500])
@pytest.mark.parametrize("name", ["x", "x" * 55, "é" * 9, '"' * 55])
def test_payloads_use_the_maximum_length(count: int, name: str) -> None:
    heads = {f"{name}{number:05}": 2**31 - 1 for number in range(count)}
    payloads = list(encode_heads("0123456789abcdef", heads, MAX_PAYLOAD_BYTES))
    assert all(len(payload.encode()) <= MAX_PAYLOAD_BYTES for payload in payloads)
    payload_parts = [json.loads(payload) for payload in payloads]
    assert {engine for engine, _ in payload_parts} == {"0123456789abcdef"}
    assert [each for _, part in payload_parts for each in part.items()] == list(heads.items())
    assert all(len(payload.encode()) > 0.95 * MAX_PAYLOAD_BYTES for payload in payloads[:-1])


async def test_own_notifications_are_delayed(
    store: SqlTableStore, database: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    late_seconds = 0.2
    monkeypatch.setattr("croupier.engine.cluster.postgres_notifier.OWN_NOTIFICATION_DELAY_SECONDS", late_seconds)
    time = asyncio.get_running_loop().time
    async with listening(database, "e1") as own, listening(database, "e2") as other:
        await opened(store)
        began = time()
        await store.append("t1", [entry(2)], None)
        assert await within_timeout(other.received.get()) == {"t1": 2}
        assert await within_timeout(own.received.get()) == {"t1": 2}
        assert time() - began >= late_seconds


async def test_after_a_lost_connection_an_engine_reconnects_and_reports_missed_notifications(
    database: AsyncEngine, store: SqlTableStore, postgres: PostgresServer
) -> None:
    async with listening(database, "e2") as listener:
        assert listener.missed.empty()
        assert await asyncio.to_thread(postgres.run_sql, database.url.database or "", TERMINATE_LISTENERS) == "1"
        await within_timeout(listener.missed.get())
        await opened(store)
        await store.append("t1", [entry(2)], None)
        assert await within_timeout(listener.received.get()) == {"t1": 2}


async def test_reactions_are_received_by_the_other_engines_only(database: AsyncEngine) -> None:
    notifier = PostgresNotifier(database, "e1", RecordingLogger())
    async with listening(database, "e1") as own, listening(database, "e2") as other:
        await notifier.notify_reaction("t1", 3, "wow")
        assert await within_timeout(other.received.get()) == ("t1", 3, "wow")
        assert own.received.empty()
