"""Searching bots of an engine run in a child process, which ends with the engine."""

import asyncio
from collections.abc import Callable

import pytest

from tests.contract.deployment import EngineClient, EngineProcess, bot_seat, connected, person
from tests.processes import children, is_alive, mapped_files
from tests.waiting import until

DECISIONS = "croupier_thinking_seconds_count"


def children_of(engine: EngineProcess) -> list[int]:
    assert engine.process
    return children(engine.process.pid)


async def play_until_decided(client: EngineClient) -> None:
    """Play against a searching bot until a metric counts its decision."""
    table = await client.new_table(person("anna"), bot_seat("search"), game="jossing")
    for _ in range(20):
        if any(number for name, number in client.engine.metrics().items() if name.startswith(DECISIONS)):
            return
        _, view = await client.turn(table)
        await client.submit(table, "anna", view.legal_actions.actions[-1])
    raise AssertionError("no bot had to decide")


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(EngineProcess.kill, id="killed"),
        pytest.param(EngineProcess.stop, id="stopped", marks=pytest.mark.slow),
    ],
)
async def test_decisions_are_made_in_a_process_that_ends_with_the_engine(
    own_engine: EngineProcess, end: Callable[[EngineProcess], int | None]
) -> None:
    async with connected(own_engine) as client:
        assert children_of(own_engine) == []
        await play_until_decided(client)
    # One is the bot worker, the other the resource tracker of multiprocessing.
    pids = children_of(own_engine)
    assert len(pids) == 2
    assert not any("grpc" in file for pid in pids for file in mapped_files(pid))
    assert not await asyncio.to_thread(end, own_engine)
    await until(lambda: not any(map(is_alive, pids)), "the bot process has ended")
