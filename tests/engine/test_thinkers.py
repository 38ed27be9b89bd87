"""Processes that think: the event loop goes on, and whatever becomes of them, there is an answer in time."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from croupier.engine import thinkers as module
from croupier.engine.metrics import EngineMetrics
from croupier.engine.table import advance, new_table
from croupier.engine.thinkers import ProcessThinkers
from croupier.engine.thinking import LENGTH, Thought, frame, think, thinking_milliseconds, unpacked
from croupier.games.actions import PLAYS
from croupier.games.catalogue import GAMES, bots_of
from croupier.games.interface import Legal, Seen
from tests.engine.fakes import START, FakeClock, RecordingLogger
from tests.engine.odd_thinker import ANSWER, DIE, FAIL, HANG
from tests.engine.play import every_game, make_config, soon
from tests.waiting import PATIENCE_SECONDS, settled, until

ODD = (sys.executable, "-m", "tests.engine.odd_thinker")
START_SECONDS = PATIENCE_SECONDS
"""Processes start slowly on a busy machine."""
Make = Callable[..., ProcessThinkers]


def a_thought(game: str = "solo", seed: int = ANSWER) -> Thought:
    """What the first seat to act sees, with its thinking player."""
    config = make_config(game)
    table = advance(config, new_table(config), START, None)[-1].after
    seat = table.seats_to_act[0]
    seen = Seen(seat, config.options, table.game.view(seat), table.game.legal_actions(seat))
    return Thought(game, config.rules_version, "search", seen, seed)


@pytest.fixture
def logger() -> RecordingLogger:
    return RecordingLogger()


@pytest.fixture
async def make(metrics: EngineMetrics, logger: RecordingLogger, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Make]:
    """Makes thinkers that are closed in the end; nothing is late unless a test is about that."""
    thinking = thinking_milliseconds(GAMES["solo"], "search")
    monkeypatch.setattr(module, "PATIENCE_FACTOR", START_SECONDS * 1000 / thinking)
    made = []

    def make(processes: int = 1, command: tuple[str, ...] = ODD) -> ProcessThinkers:
        made.append(ProcessThinkers(processes, metrics, logger, command))
        return made[-1]

    yield make
    for each in made:
        await soon(each.close())


def fallbacks(metrics: EngineMetrics) -> dict[str, float]:
    samples = next(iter(metrics.thinking_fallbacks.collect())).samples
    return {each.labels["reason"]: each.value for each in samples if each.name.endswith("_total")}


def thought_of(metrics: EngineMetrics) -> float:
    return metrics.registry.get_sample_value("croupier_thinking_seconds_count") or 0


async def test_the_event_loop_goes_on_while_a_computer_player_thinks(make: Make, metrics: EngineMetrics) -> None:
    thinkers = make(command=module.COMMAND)
    thought = a_thought("jossing", seed=7)
    deciding = asyncio.create_task(thinkers.decide(thought))
    # The loop is idle while it waits for the process, which does the work.
    await settled()
    assert not deciding.done()
    action = await deciding
    assert action in thought.seen.legal.actions or thought.seen.legal.choices
    assert (thought_of(metrics), fallbacks(metrics)) == (1, {})
    assert len(thinkers.pids) == 1


@every_game
def test_thoughts_of_every_game_go_through_a_pipe_and_come_back(game: str) -> None:
    thought = a_thought(game, seed=3)
    assert unpacked(frame(thought)[LENGTH.size :]) == thought
    for bot in bots_of(GAMES[game]):
        if not thinking_milliseconds(GAMES[game], bot):
            action = think(thought._replace(bot=bot))
            assert unpacked(frame(action)[LENGTH.size :]) == action


def test_only_searching_players_think() -> None:
    assert [bot for bot in bots_of(GAMES["thulla"]) if thinking_milliseconds(GAMES["thulla"], bot)] == ["search"]
    assert thinking_milliseconds(GAMES["thulla"], "") == 0


async def test_processes_start_when_they_are_needed_and_no_more_than_are_needed(make: Make) -> None:
    thinkers = make(2)
    assert thinkers.pids == []
    for _ in range(2):
        assert await thinkers.decide(a_thought()) == PLAYS[0]
    assert len(thinkers.pids) == 1
    await asyncio.gather(*(thinkers.decide(a_thought()) for _ in range(5)))
    assert len(thinkers.pids) == 2


@pytest.mark.parametrize("how", ["killed", "by itself", "while idle"])
async def test_a_process_that_dies_is_replaced(make: Make, metrics: EngineMetrics, how: str) -> None:
    thinkers = make()
    await thinkers.decide(a_thought())
    (first,) = thinkers.pids
    deciding = None
    if how != "while idle":
        deciding = asyncio.create_task(thinkers.decide(a_thought(seed=DIE if how == "by itself" else HANG)))
        await settled()
    if how != "by itself":
        os.kill(first, signal.SIGKILL)
        await until(lambda: first not in thinkers.pids)
    assert deciding is None or await deciding is None
    assert fallbacks(metrics) == ({"died": 1} if deciding else {})
    assert await thinkers.decide(a_thought()) == PLAYS[0]
    assert thinkers.pids != [first]


async def test_a_process_that_cannot_be_started_is_no_one_who_thinks(make: Make, metrics: EngineMetrics) -> None:
    for command in (("/nowhere/python",), (sys.executable, "-c", "")):
        assert await make(command=command).decide(a_thought()) is None
    assert fallbacks(metrics) == {"died": 2}


async def test_a_thought_that_fails_is_told_by_its_kind_alone(
    make: Make, metrics: EngineMetrics, logger: RecordingLogger
) -> None:
    thinkers = make()
    assert await thinkers.decide(a_thought(seed=FAIL)) is None
    assert await thinkers.decide(a_thought()) == PLAYS[0]
    assert fallbacks(metrics) == {"failed": 1}
    assert logger.lines == [
        ("error", "a computer player failed", {"game": "solo", "bot": "search", "error": "ValueError"})
    ]


async def test_what_takes_too_long_is_not_waited_for_and_its_process_replaced(
    make: Make, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    thinkers = make()
    await thinkers.decide(a_thought())
    (first,) = thinkers.pids
    surprises: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: surprises.append(context))
    with monkeypatch.context() as hasty:
        hasty.setattr(module, "PATIENCE_FACTOR", 0.1)
        waiting = [thinkers.decide(a_thought(seed=HANG)), thinkers.decide(a_thought())]
        assert await asyncio.gather(*waiting) == [None, None]
    assert fallbacks(metrics) == {"late": 2}
    assert await thinkers.decide(a_thought()) == PLAYS[0]
    assert first not in thinkers.pids
    gc.collect()
    assert not surprises


async def test_a_process_that_starts_slowly_is_not_given_up(
    make: Make, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    may_start = tmp_path / "may start"
    thinkers, thought, clock = make(command=(*ODD, str(may_start))), a_thought(), FakeClock()
    monkeypatch.setattr(module, "PATIENCE_FACTOR", 1)
    # Time stands still but for this, so that a busy machine cannot make the answer late as well.
    clock.drive()
    deciding = asyncio.create_task(thinkers.decide(thought))
    await until(lambda: thinkers.pids)
    clock.advance(thought.milliseconds)
    assert await deciding is None
    (starting,) = thinkers.pids
    may_start.touch()
    assert await thinkers.decide(a_thought()) == PLAYS[0]
    assert fallbacks(metrics) == {"late": 1}
    assert thinkers.pids == [starting]


async def test_what_is_without_alternative_takes_as_long_and_no_process(make: Make, metrics: EngineMetrics) -> None:
    thinkers, thought = make(), a_thought()
    only = thought.seen.legal.actions[-1]
    forced = thought._replace(seen=thought.seen._replace(legal=Legal((only,))))
    clock = FakeClock()
    clock.drive()
    deciding = asyncio.create_task(thinkers.decide(forced))
    await settled()
    clock.advance(thinking_milliseconds(GAMES["solo"], "search") - 1)
    await settled()
    assert not deciding.done()
    clock.advance(1)
    assert await deciding == only
    assert thinkers.pids == []


async def test_no_process_is_no_thinking(make: Make, metrics: EngineMetrics) -> None:
    assert await make(0).decide(a_thought()) is None
    assert fallbacks(metrics) == {"off": 1}


async def test_more_than_so_many_do_not_wait_and_closing_ends_all_processes_and_all_waiting(
    make: Make, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    thinkers = make(2)
    await asyncio.gather(*(thinkers.decide(a_thought()) for _ in range(4)))
    pids = thinkers.pids
    assert len(pids) == 2
    waiting = [asyncio.create_task(thinkers.decide(a_thought(seed=HANG))) for _ in range(4)]
    await settled()
    assert await thinkers.decide(a_thought()) is None
    assert fallbacks(metrics) == {"busy": 1}
    assert not any(task.done() for task in waiting)
    await soon(thinkers.close())
    assert await asyncio.gather(*waiting) == [None] * 4
    assert thinkers.pids == []
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert await thinkers.decide(a_thought()) is None
    assert fallbacks(metrics)["off"] == 1
