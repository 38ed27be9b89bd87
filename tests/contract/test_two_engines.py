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
from tests.conftest import Databases
from tests.contract.house import CALL_SECONDS, Engine, House, Stream, refusal, rest_of, visit

AT_ONCE_SECONDS = 50.0
"""Far more than it takes, and less than an action's time, at whose end an engine would look by itself."""

pytestmark = pytest.mark.postgres

GAVE_UP = 1
"""The exit code of an engine that has ended without waiting for anything any longer."""


@pytest.fixture(scope="module")
def pair(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Engine]]:
    """Two engines with the same keys on one database."""
    url, folder = databases.server.url(databases.take(("croupier.engine",))), tmp_path_factory.mktemp("engines")
    (folder / "first").mkdir()
    first = Engine.new(folder / "first")
    shutil.copytree(first.folder, folder / "second")
    both = first, Engine(folder / "second")
    for engine in both:
        # One that let streams and calls have all of their time would not end while it is waited for.
        engine.start("--database", url, "--drain-seconds", "60")
    try:
        yield both
    finally:
        for engine in both:
            engine.kill()


@pytest.fixture
def engines(pair: tuple[Engine, Engine]) -> tuple[Engine, Engine]:
    """Both of them run, also after a test that ended one."""
    for engine in pair:
        if engine.process is None:
            engine.start()
    return pair


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


async def test_what_one_engine_stores_streams_at_the_other_show_at_once(engines: tuple[Engine, Engine]) -> None:
    """The same request at both at the same time is carried out once."""
    async with visit(engines[0]) as here, visit(engines[1]) as there:
        table = await here.new_table()
        streams = [await following(house, table, "eve", 0) for house in (here, there)]
        for sequence in range(1, 10):
            for stream in streams:
                assert await updates(stream, 1) == [sequence]
            asked = ((here,), (there,), (here, there))[sequence % 3]
            player, view = await asked[0].turn(table)
            answers = (house.submit(table, player, view.legal_actions.actions[-1], f"r{sequence}") for house in asked)
            assert set(await asyncio.gather(*answers)) == {sequence + 1}
        for stream in streams:
            stream.cancel()


@pytest.mark.parametrize("end", [Engine.stop, Engine.kill], ids=["stopped", "killed"])
async def test_a_table_goes_on_at_the_other_engine(
    engines: tuple[Engine, Engine], end: Callable[[Engine], object]
) -> None:
    first, second = engines
    async with visit(first) as here, visit(second) as there:
        table = await here.new_table()
        stream = await following(here, table, "anna", 0)
        player, view = await here.turn(table)
        action = view.legal_actions.actions[-1]
        assert await here.submit(table, player, action, "r") == 2
        assert await updates(stream, 2) == [1, 2]
        code = await asyncio.to_thread(end, first)
        if end is Engine.stop:
            assert (await asyncio.wait_for(rest_of(stream), CALL_SECONDS))[-1].WhichOneof("event") == "resume_notice"
            assert await stream.code() is grpc.StatusCode.OK
            assert code == 0
        assert await there.submit(table, player, action, "r") == 2
        again = await following(there, table, "anna", 1)
        assert await updates(again, 1) == [2]
        player, view = await there.turn(table)
        assert await there.submit(table, player, view.legal_actions.actions[-1]) == 3
        assert await updates(again, 1) == [3]
        again.cancel()


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
