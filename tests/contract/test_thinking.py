"""Computer players that think, in a real engine: in a process beside it, which ends when the engine does."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.contract.house import Engine, House, computer, person, visit
from tests.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

THOUGHTS = "croupier_thinking_seconds_count"
FALLBACKS = "croupier_thinking_fallbacks_total"


def value(engine: Engine, name: str) -> float:
    """The sum of a metric over its labels."""
    return sum(value for metric, value in engine.metrics().items() if metric.startswith(name))


def children(engine: Engine) -> list[int]:
    """The processes that the engine has started."""
    assert engine.process
    listed = Path(f"/proc/{engine.process.pid}/task/{engine.process.pid}/children").read_text()
    return [int(pid) for pid in listed.split()]


def runs(pid: int) -> bool:
    """Whether a process is there, and more than a name that nobody has asked about yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def play_until_thought(house: House, name: str) -> None:
    """Play against a thinking player until a metric says that it had something to decide on."""
    table = await house.new_table(person("anna"), computer("search"), game="jossing")
    for _ in range(20):
        if value(house.engine, name):
            return
        _, view = await house.turn(table)
        await house.submit(table, "anna", view.legal_actions.actions[-1])
    raise AssertionError("nobody thought")


@pytest.mark.parametrize(
    "end", [pytest.param(Engine.kill, id="killed"), pytest.param(Engine.stop, id="stopped", marks=pytest.mark.slow)]
)
async def test_thinking_is_done_in_a_process_that_ends_with_the_engine(own_engine: Engine, end: object) -> None:
    async with visit(own_engine) as house:
        assert children(own_engine) == []
        await play_until_thought(house, THOUGHTS)
    pids = children(own_engine)
    assert len(pids) == 1
    assert callable(end)
    assert not await asyncio.to_thread(end, own_engine)
    await until(lambda: not any(map(runs, pids)), "the bot process has ended")


@pytest.mark.slow
async def test_without_processes_thinking_players_play_like_others(own_engine: Engine) -> None:
    own_engine.kill()
    own_engine.start("--bot-processes", "0")
    async with visit(own_engine) as house:
        await play_until_thought(house, FALLBACKS)
    assert value(own_engine, THOUGHTS) == 0
    assert 'reason="off"' in own_engine.metrics_page()
    assert children(own_engine) == []
