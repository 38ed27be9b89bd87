"""Two engines on one PostgreSQL: each streams and continues the tables of the other."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from croupier.runtime.database.schema_versions import migrate_database
from croupier_loadtest.postgres import postgres_server
from tests.contract.deployment import CALL_SECONDS, EngineProcess, Stream, connected, rest_of
from tests.refusals import refusal

NOTIFICATION_SECONDS = 50.0
"""Far more than a notification takes, and less than an action's time, after which an engine polls by itself."""

pytestmark = pytest.mark.postgres

EXIT_DRAIN_TIMEOUT = 1
"""The exit code of an engine that stopped waiting for calls and appends at the end of its drain."""


@pytest.fixture
def pair(new_database: Callable[..., str], tmp_path: Path) -> Iterator[tuple[EngineProcess, EngineProcess]]:
    """Start two engines with the same keys on one database."""
    url = new_database("croupier.engine")
    (tmp_path / "first").mkdir()
    first = EngineProcess.new(tmp_path / "first")
    shutil.copytree(first.folder, tmp_path / "second")
    both = first, EngineProcess(tmp_path / "second")
    try:
        for engine in both:
            # An engine that waited for streams to end would drain longer than this test waits for it.
            engine.start("--database", url, "--drain-seconds", "60")
        yield both
    finally:
        for engine in both:
            engine.kill()


async def updates(stream: Stream, count: int) -> list[int]:
    """Return the sequences of the next `count` updates of a stream; raises TimeoutError if they are late."""
    sequences: list[int] = []
    async with asyncio.timeout(NOTIFICATION_SECONDS):
        while len(sequences) < count:
            message = await stream.read()
            if message.table_event.HasField("update"):
                sequences.append(message.table_event.update.sequence)
    return sequences


async def test_an_engine_streams_entries_of_the_other_at_once_and_continues_its_tables(
    pair: tuple[EngineProcess, EngineProcess],
) -> None:
    """An action that both engines receive at the same time is carried out once."""
    async with connected(pair[0]) as here, connected(pair[1]) as there:
        table = await here.new_table()
        streams = [await client.play_table(table, "eve", 0) for client in (here, there)]
        for sequence in range(1, 10):
            for stream in streams:
                assert await updates(stream, 1) == [sequence]
            engines = ((here,), (there,), (here, there))[sequence % 3]
            player, view = await engines[0].turn(table)
            action, name = view.legal_actions.actions[-1], f"r{sequence}"
            answers = (client.submit(table, player, action, name) for client in engines)
            assert set(await asyncio.gather(*answers)) == {sequence + 1}
        assert await asyncio.to_thread(pair[0].stop) == 0
        messages = await asyncio.wait_for(rest_of(streams[0]), CALL_SECONDS)
        assert messages[-1].table_event.HasField("resume_notice")
        assert await streams[0].code() is grpc.StatusCode.OK
        assert await there.submit(table, player, action, name) == 10
        again = await there.play_table(table, "eve", 9)
        assert await updates(again, 1) == [10]
        player, view = await there.turn(table)
        assert await there.submit(table, player, view.legal_actions.actions[-1]) == 11
        assert await updates(again, 1) == [11]


async def until_present(stream: Stream, seats: list[int], spectators: int) -> None:
    """Read a stream until its presence has these seats and spectators; raises TimeoutError."""
    async with asyncio.timeout(NOTIFICATION_SECONDS):
        while True:
            event = (await stream.read()).table_event
            presence = event.snapshot.presence if event.HasField("snapshot") else event.presence
            if (list(presence.connected_seats), presence.spectator_count) == (seats, spectators):
                return


async def test_engines_show_who_is_connected_to_the_other(pair: tuple[EngineProcess, EngineProcess]) -> None:
    async with connected(pair[0]) as here, connected(pair[1]) as there:
        table = await here.new_table()
        anna, ben = await here.play_table(table, "anna"), await there.play_table(table, "ben", 0)
        eve = await there.play_table(table, "eve")
        for stream in (anna, ben, eve):
            await until_present(stream, [0, 1], 1)
        eve.cancel()
        for stream in (anna, ben):
            await until_present(stream, [0, 1], 0)
        await asyncio.to_thread(pair[1].kill)
        await until_present(anna, [0], 0)


@pytest.mark.slow
async def test_an_engine_whose_database_hangs_still_ends(tmp_path: Path) -> None:
    with postgres_server() as server:
        url = server.create_database("hanging")
        await migrate_database(url, ["croupier.engine"])
        engine = await asyncio.to_thread(EngineProcess.new, tmp_path)
        await asyncio.to_thread(engine.start, "--database", url, "--drain-seconds", "1")
        try:
            async with connected(engine) as client:
                table = await client.new_table()
                player, view = await client.turn(table)
                server.pause()
                acting = asyncio.create_task(client.submit(table, player, view.legal_actions.actions[-1]))
                # This is answered from memory, on the same connection after the action: so the action has arrived.
                await client.turn(table)
                assert await asyncio.to_thread(engine.stop) == EXIT_DRAIN_TIMEOUT
                assert (await refusal(acting)).code in ("UNAVAILABLE", "CANCELLED")
        finally:
            server.resume()
            engine.kill()
