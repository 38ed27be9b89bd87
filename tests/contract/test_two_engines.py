"""Two real engines on one PostgreSQL: what one stores the other shows, and what one leaves the other goes on with."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from croupier.runtime.schema_versions import migrate_database
from croupier_api.v1 import engine_pb2 as pb
from loadtest.postgres import postgres_server
from tests.contract.house import CALL_SECONDS, Engine, House, Stream, rest_of, visit
from tests.refusals import refusal

AT_ONCE_SECONDS = 50.0
"""Far more than it takes, and less than an action's time, at whose end an engine would look by itself."""

pytestmark = pytest.mark.postgres

GAVE_UP = 1
"""The exit code of an engine that has ended without waiting for anything any longer."""


@pytest.fixture
def pair(new_database: Callable[..., str], tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    """Two engines with the same keys on one database."""
    url = new_database("croupier.engine")
    (tmp_path / "first").mkdir()
    first = Engine.new(tmp_path / "first")
    shutil.copytree(first.folder, tmp_path / "second")
    both = first, Engine(tmp_path / "second")
    try:
        for engine in both:
            # One that let streams and calls have all of their time would not end while it is waited for.
            engine.start("--database", url, "--drain-seconds", "60")
        yield both
    finally:
        for engine in both:
            engine.kill()


async def following(house: House, table: str, player: str, after: int) -> Stream:
    stream = house.play(player)
    await stream.write(pb.PlayRequest(watch=pb.WatchTableRequest(table_id=table, after_sequence=after)))
    return stream


async def updates(stream: Stream, count: int) -> list[int]:
    """The sequences of so many entries that a stream tells of, soon."""
    sequences: list[int] = []
    async with asyncio.timeout(AT_ONCE_SECONDS):
        while len(sequences) < count:
            message = await stream.read()
            if message.HasField("update"):
                sequences.append(message.update.sequence)
    return sequences


async def test_what_one_engine_stores_the_other_shows_at_once_and_goes_on_with(pair: tuple[Engine, Engine]) -> None:
    """Also what both are asked for at the same time, which is carried out once."""
    async with visit(pair[0]) as here, visit(pair[1]) as there:
        table = await here.new_table()
        streams = [await following(house, table, "eve", 0) for house in (here, there)]
        for sequence in range(1, 10):
            for stream in streams:
                assert await updates(stream, 1) == [sequence]
            asked = ((here,), (there,), (here, there))[sequence % 3]
            player, view = await asked[0].turn(table)
            action, name = view.legal_actions.actions[-1], f"r{sequence}"
            answers = (house.submit(table, player, action, name) for house in asked)
            assert set(await asyncio.gather(*answers)) == {sequence + 1}
        assert await asyncio.to_thread(pair[0].stop) == 0
        told = await asyncio.wait_for(rest_of(streams[0]), CALL_SECONDS)
        assert told[-1].WhichOneof("event") == "resume_notice"
        assert await streams[0].code() is grpc.StatusCode.OK
        assert await there.submit(table, player, action, name) == 10
        again = await following(there, table, "eve", 9)
        assert await updates(again, 1) == [10]
        player, view = await there.turn(table)
        assert await there.submit(table, player, view.legal_actions.actions[-1]) == 11
        assert await updates(again, 1) == [11]


@pytest.mark.slow
async def test_an_engine_whose_database_stands_still_ends_all_the_same(tmp_path: Path) -> None:
    with postgres_server() as server:
        url = server.create_database("still")
        await migrate_database(url, ["croupier.engine"])
        engine = await asyncio.to_thread(Engine.new, tmp_path)
        await asyncio.to_thread(engine.start, "--database", url, "--drain-seconds", "1")
        try:
            async with visit(engine) as house:
                table = await house.new_table()
                player, view = await house.turn(table)
                server.pause()
                acting = asyncio.create_task(house.submit(table, player, view.legal_actions.actions[-1]))
                # Answered from memory, on the same connection after the action: so that has arrived.
                await house.turn(table)
                assert await asyncio.to_thread(engine.stop) == GAVE_UP
                assert (await refusal(acting)).code in ("UNAVAILABLE", "CANCELLED")
        finally:
            server.resume()
            engine.kill()
