"""Computer players that think, in a real engine: in a process beside it, which ends when the engine does."""

import asyncio

import pytest

from tests.contract.deployment import EngineClient, EngineProcess, computer, connected, person
from tests.processes import children, is_alive, mapped_files
from tests.waiting import until

DECISIONS = "croupier_thinking_seconds_count"
FALLBACKS = "croupier_thinking_fallbacks_total"


def value(engine: EngineProcess, name: str) -> float:
    """The sum of a metric over its labels."""
    return sum(value for metric, value in engine.metrics().items() if metric.startswith(name))


def children_of(engine: EngineProcess) -> list[int]:
    """The processes that the engine has started."""
    assert engine.process
    return children(engine.process.pid)


async def play_until_decided(client: EngineClient, name: str) -> None:
    """Play against a searching player until a metric says that it had something to decide on."""
    table = await client.new_table(person("anna"), computer("search"), game="jossing")
    for _ in range(20):
        if value(client.engine, name):
            return
        _, view = await client.turn(table)
        await client.submit(table, "anna", view.legal_actions.actions[-1])
    raise AssertionError("no computer player had to decide")


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(EngineProcess.kill, id="killed"),
        pytest.param(EngineProcess.stop, id="stopped", marks=pytest.mark.slow),
    ],
)
async def test_decisions_are_made_in_a_process_that_ends_with_the_engine(
    own_engine: EngineProcess, end: object
) -> None:
    async with connected(own_engine) as client:
        assert children_of(own_engine) == []
        await play_until_decided(client, DECISIONS)
    # One decides; with it comes the one that multiprocessing keeps for what its processes leave behind.
    pids = children_of(own_engine)
    assert len(pids) == 2
    assert not any("grpc" in file for pid in pids for file in mapped_files(pid))
    assert callable(end)
    assert not await asyncio.to_thread(end, own_engine)
    await until(lambda: not any(map(is_alive, pids)), "the bot process has ended")


@pytest.mark.slow
async def test_without_processes_searching_players_play_like_others(own_engine: EngineProcess) -> None:
    own_engine.kill()
    own_engine.start("--bot-processes", "0")
    async with connected(own_engine) as client:
        await play_until_decided(client, FALLBACKS)
    assert value(own_engine, DECISIONS) == 0
    assert 'reason="off"' in own_engine.metrics_page()
    assert children_of(own_engine) == []
