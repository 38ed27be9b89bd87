"""Notifications between engines with a real PostgreSQL."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from croupier.engine.cluster.notifier import MAX_PAYLOAD_BYTES, PostgresNotifier, encode_batch
from croupier.engine.storage.port import SequenceTaken, append_durably
from croupier.engine.tables.presence import Announcement
from croupier.engine.tables.subscription import Presence
from croupier.games.facts import Seat
from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.notifications import MAX_WAITING, Notifications
from croupier_api.v1.games_pb2 import REACTION_WOW
from croupier_loadtest.postgres import PostgresServer
from tests.engine.databases import entry, opened, running, store_on
from tests.engine.fakes import RecordingLogger
from tests.engine.play import within_timeout

TERMINATE_OTHERS = """SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND query NOT LIKE '%pg_terminate%'"""
"""Waits until they are gone: what is sent on a connection that is yet to end would be lost."""


class FakeListener:
    def __init__(self, engines: int = 2) -> None:
        self.engines = engines
        self.connections = 0
        self.received: asyncio.Queue[object] = asyncio.Queue()
        self.missed: asyncio.Queue[None] = asyncio.Queue()

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        self.received.put_nowait(dict(heads))

    def notifications_missed(self) -> None:
        self.missed.put_nowait(None)

    def seat_reacted(self, table_id: str, seat: Seat, reaction: int) -> None:
        self.received.put_nowait((table_id, seat, reaction))

    def presence_announced(self, engine_id: str, announcements: Mapping[str, Announcement]) -> None:
        self.received.put_nowait((engine_id, dict(announcements)))

    def connected(self) -> None:
        self.connections += 1


@pytest.fixture
def database_url(postgres_url: str) -> str:
    """PostgreSQL only."""
    return postgres_url


@dataclass
class Replica:
    """A notifier that is connected, and what it has received."""

    notifier: PostgresNotifier
    listener: FakeListener

    async def received(self) -> object:
        return await within_timeout(self.listener.received.get())


@asynccontextmanager
async def connected(database: Database, engine_id: str) -> AsyncIterator[Replica]:
    """Yield the notifier of an engine that is connected."""
    listener, notifier = FakeListener(), PostgresNotifier(database, engine_id, RecordingLogger())
    task = asyncio.create_task(notifier.run(listener))
    try:
        await within_timeout(listener.missed.get())
        yield Replica(notifier, listener)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_commits_are_notified_to_the_other_engines_in_batches(database: Database) -> None:
    async with connected(database, "e1") as one, connected(database, "e2") as other:
        store = store_on(database, on_stored=one.notifier.logs_extended)
        async with running(store):
            for number in range(3):
                await opened(store, f"t{number}")
            await asyncio.gather(
                *(append_durably(store, f"t{number}", [entry(2), entry(3)], None) for number in range(3))
            )
            assert await other.received() == {"t0": 3, "t1": 3, "t2": 3}
            with pytest.raises(SequenceTaken):
                await append_durably(store, "t1", [entry(3)], None)
            await append_durably(store, "t2", [entry(4)], None)
            assert await other.received() == {"t2": 4}
            assert one.listener.received.empty()


async def test_commits_are_notified_if_there_are_other_engines_and_reactions_to_those_alone(
    database: Database,
) -> None:
    async with connected(database, "e1") as one, connected(database, "e2") as other:
        one.listener.engines = 1
        one.notifier.logs_extended({"t1": 2})
        one.listener.engines = 2
        one.notifier.logs_extended({"t2": 2})
        assert await other.received() == {"t2": 2}
        one.notifier.seat_reacted("t1", 3, REACTION_WOW)
        assert await other.received() == ("t1", 3, REACTION_WOW)
        assert one.listener.received.empty()


async def test_the_heads_of_many_logs_have_several_payloads(database: Database) -> None:
    heads = {f"{number:064}": number for number in range(500)}
    async with connected(database, "e1") as one, connected(database, "e2") as other:
        one.notifier.logs_extended(heads)
        received: dict[str, int] = {}
        while len(received) < len(heads):
            part = await other.received()
            assert isinstance(part, dict)
            assert len(part) < len(heads)
            received |= part
        assert received == heads


async def test_presences_are_announced_in_batches_if_there_are_other_engines(database: Database) -> None:
    nobody, both = Presence((), 0), Presence((0, 3), 2)
    async with connected(database, "e1") as one, connected(database, "e2") as other:
        one.listener.engines = 1
        one.notifier.presence_announced("t0", Announcement(both, asks=True))
        one.listener.engines = 2
        one.notifier.presence_announced("t1", Announcement(both, asks=True))
        one.notifier.presence_announced("t1", Announcement(nobody, asks=False))
        one.notifier.presence_announced("t2", Announcement(both, asks=False))
        expected = {"t1": Announcement(nobody, asks=True), "t2": Announcement(both, asks=False)}
        assert await other.received() == ("e1", expected)
        assert one.listener.received.empty()


@pytest.mark.parametrize("count", [0, 1, 2, 90, 91, 92, 93, 94, 95, 500])
@pytest.mark.parametrize("name", ["x", "x" * 55, "é" * 9, '"' * 55])
def test_payloads_use_the_maximum_length(count: int, name: str) -> None:
    heads = {f"{name}{number:05}": 2**31 - 1 for number in range(count)}
    payloads = list(encode_batch("0123456789abcdef", heads))
    assert all(len(payload.encode()) <= MAX_PAYLOAD_BYTES for payload in payloads)
    payload_parts = [json.loads(payload) for payload in payloads]
    assert {engine for engine, _ in payload_parts} == {"0123456789abcdef"}
    assert [each for _, part in payload_parts for each in part.items()] == list(heads.items())
    assert all(len(payload.encode()) > 0.95 * MAX_PAYLOAD_BYTES for payload in payloads[:-1])


async def test_after_a_lost_connection_an_engine_reconnects_sends_what_waits_and_reports_missed_notifications(
    database: Database, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.runtime.database.notifications.MIN_BACKOFF_SECONDS", 0.5)
    async with connected(database, "e1") as one:
        assert one.listener.missed.empty()
        assert await asyncio.to_thread(postgres.run_sql, database.url.database or "", TERMINATE_OTHERS) == "1"
        async with connected(database, "e2") as other:
            one.notifier.logs_extended({"t1": 2})
            assert await other.received() == {"t1": 2}
            await within_timeout(one.listener.missed.get())
            other.notifier.logs_extended({"t1": 3})
            assert await one.received() == {"t1": 3}
        assert (one.listener.connections, other.listener.connections) == (2, 1)


async def test_notifications_may_always_have_been_lost(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.runtime.database.notifications.CHECK_SECONDS", 0.05)
    async with connected(database, "e1") as one:
        for _ in range(3):
            await within_timeout(one.listener.missed.get())


async def test_notifications_may_have_been_lost_while_there_is_no_connection() -> None:
    listener, nowhere = FakeListener(), open_database("postgresql://nobody@127.0.0.1:1/nowhere")
    task = asyncio.create_task(PostgresNotifier(nowhere, "e1", RecordingLogger()).run(listener))
    for _ in range(2):
        await within_timeout(listener.missed.get())
    task.cancel()
    await nowhere.close()


async def test_of_too_many_waiting_notifications_the_oldest_are_dropped(database: Database) -> None:
    notifications = Notifications(database, RecordingLogger())
    received: asyncio.Queue[str] = asyncio.Queue()
    for number in range(MAX_WAITING + 5):
        notifications.send("numbers", str(number))
    sending = asyncio.create_task(notifications.run({"numbers": received.put_nowait}))
    assert await within_timeout(received.get()) == "5"
    sending.cancel()
