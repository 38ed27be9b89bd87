"""Bot workers: the event loop stays free, and every request ends in time, however its process ends."""

import asyncio
import gc
import os
import pickle
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import psutil
import pytest

from croupier.engine.bots import worker
from croupier.engine.bots import worker_pool as module
from croupier.engine.bots.worker import LAST_ITERATION_MILLISECONDS, NICENESS, BotRequest, Decide, thinking_milliseconds
from croupier.engine.bots.worker import decide as decide_really
from croupier.engine.bots.worker_pool import TIME_LIMIT_FACTOR, BotWorkerPool
from croupier.engine.core.fold import advance, new_table
from croupier.engine.metrics import EngineMetrics
from croupier.games.actions import PLAYS, Action
from croupier.games.interface import Legal, Observation
from croupier.games.registry import OWN_GAMES, bots_of
from croupier.games.search import SearchBot
from tests.engine.fakes import START, FakeClock, RecordingLogger
from tests.engine.faulty_bot import ANSWER, DIE, FAIL, HANG, Loaded, decide, decide_after
from tests.engine.play import every_game, make_config, within_timeout
from tests.processes import is_alive
from tests.waiting import TIMEOUT_SECONDS, settled, until

Make = Callable[..., BotWorkerPool]


def a_request(game: str = "solo", seed: int = ANSWER, table_id: str = "t") -> BotRequest:
    """Return a request for the first seat to act."""
    config = make_config(game)
    table = advance(config, new_table(config), START, None)[-1].after
    seat = table.seats_to_act[0]
    seen = Observation(seat, config.options, table.view(seat), table.legal_actions(seat))
    return BotRequest(table_id, game, config.rules_version, "search", seen, seed)


def forced(bot_request: BotRequest) -> BotRequest:
    """Return the request of a seat that has only one of its actions."""
    observation = bot_request.observation
    return bot_request._replace(observation=observation._replace(legal=Legal((observation.legal.actions[-1],))))


@pytest.fixture
def logger() -> RecordingLogger:
    return RecordingLogger()


@pytest.fixture
async def make(metrics: EngineMetrics, logger: RecordingLogger, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Make]:
    """Yield a function that makes pools, which are closed in the end; requests have no time limit by default."""
    thinking = thinking_milliseconds(OWN_GAMES["solo"], "search")
    monkeypatch.setattr(module, "TIME_LIMIT_FACTOR", TIMEOUT_SECONDS * 1000 / thinking)
    pools = []

    def make(processes: int = 1, decide: Decide = decide) -> BotWorkerPool:
        pools.append(BotWorkerPool(processes, metrics, logger, decide))
        return pools[-1]

    yield make
    for each in pools:
        await within_timeout(each.close())


def pids() -> list[int]:
    return [process.pid for process in active_children() if process.pid]


def fallbacks(metrics: EngineMetrics) -> dict[str, float]:
    samples = next(iter(metrics.thinking_fallbacks.collect())).samples
    return {each.labels["reason"]: each.value for each in samples if each.name.endswith("_total")}


def decisions(metrics: EngineMetrics) -> float:
    return metrics.registry.get_sample_value("croupier_thinking_seconds_count") or 0


async def test_the_event_loop_is_free_while_a_computer_player_decides(make: Make, metrics: EngineMetrics) -> None:
    bot_workers = make(decide=decide_really)
    bot_request = a_request("jossing", seed=7)
    deciding = asyncio.create_task(bot_workers.decide(bot_request))
    # The loop is idle while the process works.
    await settled()
    assert not deciding.done()
    action = await deciding
    assert action in bot_request.observation.legal.actions or bot_request.observation.legal.choices
    assert (decisions(metrics), fallbacks(metrics)) == (1, {})
    assert len(pids()) == 1


def sent(value: object) -> object:
    """Return a value as another process receives it."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - made here


@every_game
def test_requests_and_decisions_of_every_game_can_be_sent(game: str) -> None:
    bot_request = a_request(game, seed=3)
    assert sent(bot_request) == bot_request
    for bot in bots_of(OWN_GAMES[game]):
        if not thinking_milliseconds(OWN_GAMES[game], bot):
            action = decide_really(bot_request._replace(bot=bot))
            assert sent(action) == action


def test_only_searching_players_need_a_worker() -> None:
    assert [bot for bot in bots_of(OWN_GAMES["thulla"]) if thinking_milliseconds(OWN_GAMES["thulla"], bot)] == [
        "search"
    ]
    assert thinking_milliseconds(OWN_GAMES["thulla"], "") == 0


async def test_processes_start_when_they_are_needed_and_no_more_than_are_needed(make: Make) -> None:
    bot_workers = make(2)
    assert pids() == []
    for _ in range(2):
        assert await bot_workers.decide(a_request()) == PLAYS[0]
    assert len(pids()) == 1
    await asyncio.gather(*(bot_workers.decide(a_request()) for _ in range(5)))
    assert len(pids()) == 2


async def test_a_process_has_a_lower_priority_and_ignores_ctrl_c(make: Make, metrics: EngineMetrics) -> None:
    bot_workers = make()
    await bot_workers.decide(a_request())
    (pid,) = pids()
    assert psutil.Process(pid).nice() == min(19, psutil.Process().nice() + NICENESS)
    os.kill(pid, signal.SIGINT)
    assert await bot_workers.decide(a_request()) == PLAYS[0]
    assert (pids(), fallbacks(metrics)) == ([pid], {})


async def test_a_process_that_dies_while_it_is_idle_is_replaced(make: Make, metrics: EngineMetrics) -> None:
    bot_workers = make()
    await bot_workers.decide(a_request())
    (first,) = pids()
    os.kill(first, signal.SIGKILL)
    # A request at the moment of its death may be lost.
    await until(lambda: bot_workers.decide(a_request()))
    assert fallbacks(metrics).get("died", 0) <= 1
    assert first not in pids()


async def test_a_process_that_dies_affects_no_other_decision_and_is_replaced(
    make: Make, metrics: EngineMetrics
) -> None:
    bot_workers = make(2)
    hanging = asyncio.create_task(bot_workers.decide(a_request(seed=HANG)))
    await settled()
    (other,) = pids()
    assert await bot_workers.decide(a_request(seed=DIE)) is None
    assert await bot_workers.decide(a_request()) == PLAYS[0]
    assert not hanging.done()
    os.kill(other, signal.SIGKILL)
    assert await hanging is None
    assert fallbacks(metrics) == {"died": 2}
    assert await bot_workers.decide(a_request()) == PLAYS[0]
    assert other not in pids()


class NoProcesses(ProcessPoolExecutor):
    def submit(self, *_: Any, **__: Any) -> Any:
        raise BlockingIOError


@pytest.mark.parametrize("why", ["no process is free", "it ends at once"])
async def test_a_process_that_cannot_be_started_decides_nothing(
    make: Make, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    with monkeypatch.context() as broken:
        if why == "no process is free":
            broken.setattr(module, "ProcessPoolExecutor", NoProcesses)
        bot_workers = make(decide=Loaded(os._exit, 1))
        for _ in range(2):
            assert await bot_workers.decide(a_request()) is None
    assert fallbacks(metrics) == {"died": 2}


async def test_a_failed_decision_is_logged_without_its_text(
    make: Make, metrics: EngineMetrics, logger: RecordingLogger
) -> None:
    bot_workers = make()
    assert await bot_workers.decide(a_request(seed=FAIL)) is None
    assert await bot_workers.decide(a_request()) == PLAYS[0]
    assert fallbacks(metrics) == {"failed": 1}
    assert logger.lines == [
        ("error", "a computer player failed", {"game": "solo", "bot": "search", "error": "ValueError"})
    ]


async def test_a_decision_that_takes_too_long_is_given_up_and_its_process_replaced(
    make: Make, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot_workers = make()
    await bot_workers.decide(a_request())
    (first,) = pids()
    unhandled: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
    with monkeypatch.context() as patch:
        patch.setattr(module, "TIME_LIMIT_FACTOR", 0.1)
        waiting = [bot_workers.decide(a_request(seed=HANG)), bot_workers.decide(a_request())]
        assert await asyncio.gather(*waiting) == [None, None]
    assert fallbacks(metrics) == {"late": 2}
    assert await bot_workers.decide(a_request()) == PLAYS[0]
    assert first not in pids()
    gc.collect()
    assert not unhandled


async def test_a_process_that_starts_slowly_is_kept(
    make: Make, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    may_start = tmp_path / "may start"
    bot_workers = make(decide=Loaded(decide_after, may_start))
    with monkeypatch.context() as patch:
        patch.setattr(module, "TIME_LIMIT_FACTOR", TIME_LIMIT_FACTOR)
        assert await bot_workers.decide(a_request()) is None
    (starting,) = pids()
    may_start.touch()
    assert await bot_workers.decide(a_request()) == PLAYS[0]
    assert fallbacks(metrics) == {"late": 1}
    assert pids() == [starting]


@pytest.mark.parametrize("iteration", [0.001, 1.0, 3.0], ids="{} milliseconds for an iteration".format)
def test_a_decision_takes_the_same_time_whether_there_is_an_alternative_or_not(
    iteration: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An iteration of a microsecond reaches the limit of iterations before the time is over."""
    thinking = thinking_milliseconds(OWN_GAMES["solo"], "search")
    bot = bots_of(OWN_GAMES["solo"])["search"]
    assert isinstance(bot, SearchBot)
    # Twenty thousand iterations would take twenty seconds of real time.
    monkeypatch.setattr(worker, "bots_of", lambda _: {"search": replace(bot, max_iterations=thinking)})
    for bot_request in (a_request(seed=7), forced(a_request(seed=7))):
        now = 0.0

        def clock() -> int:
            nonlocal now
            now += iteration
            return int(now)

        def sleep(seconds: float) -> None:
            nonlocal now
            now += seconds * 1000

        action = decide_really(bot_request, clock, sleep)
        assert action in bot_request.observation.legal.actions or bot_request.observation.legal.choices
        # Whole milliseconds, and the last look at the clock.
        assert 0 <= now - thinking - LAST_ITERATION_MILLISECONDS <= 1 + iteration


class VirtualWorker:
    """A worker that decides after the thinking time of the loop's clock."""

    def __init__(self, _: Decide) -> None:
        self.tables: list[str] = []

    def submit(self, bot_request: BotRequest, max_seconds: float) -> Future[Action]:
        decided: Future[Action] = Future()
        loop = asyncio.get_running_loop()
        loop.call_later(bot_request.milliseconds / 1000, decided.set_result, PLAYS[0])
        return decided

    def close(self) -> None:
        """Do nothing."""


async def decision_times(bot_workers: BotWorkerPool, requests: Sequence[BotRequest]) -> list[tuple[int, bool]]:
    """Return when each of these requests ended, in milliseconds, and whether it has a decision, in their order."""
    clock = FakeClock()
    clock.drive()
    ends: dict[int, tuple[int, bool]] = {}

    async def ask(number: int) -> None:
        action = await bot_workers.decide(requests[number])
        ends[number] = clock.now - START, action is not None

    asking = [asyncio.create_task(ask(number)) for number in range(len(requests))]
    while not all(task.done() for task in asking):
        await settled()
        clock.advance(10)
    return [ends[number] for number in range(len(requests))]


@pytest.fixture
def _virtual_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_Worker", VirtualWorker)


@pytest.mark.usefixtures("_virtual_workers")
async def test_requests_without_alternative_wait_like_all_others(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight requests for one process, of which the last ones get a fallback: too many of a table, or too late."""
    monkeypatch.setattr(module, "TIME_LIMIT_FACTOR", TIME_LIMIT_FACTOR)
    usual = [a_request(table_id=table_id) for table_id in "aaaaaabb"]
    expected = await decision_times(make(), usual)
    assert {decided for _, decided in expected} == {True, False}
    for number in range(len(usual)):
        some = [forced(each) if number == position else each for position, each in enumerate(usual)]
        assert await decision_times(make(), some) == expected
    assert await decision_times(make(), list(map(forced, usual))) == expected


@pytest.mark.usefixtures("_virtual_workers")
async def test_a_table_with_many_bots_delays_another_by_one_decision(make: Make, metrics: EngineMetrics) -> None:
    thinking = thinking_milliseconds(OWN_GAMES["solo"], "search")
    requests = [a_request(table_id=table_id) for table_id in (*"aaaaaaa", "b", "c")]
    times = await decision_times(make(), requests)
    turns = [(end // thinking, decided) for end, decided in times]
    # One decision of a runs, and one is before those of b and c.
    assert turns[7:] == [(3, True), (4, True)]
    assert turns[:5] == [(1, True), (2, True), (5, True), (6, True), (7, True)]
    # No more than four of a table may wait.
    assert turns[5:7] == [(0, False)] * 2
    assert fallbacks(metrics) == {"busy": 2}


@pytest.mark.usefixtures("_virtual_workers")
async def test_a_request_that_is_late_at_its_turn_leaves_its_process_to_others(
    make: Make, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIME_LIMIT_FACTOR", 1)
    bot_workers = make()
    await decision_times(bot_workers, [a_request(table_id=table_id) for table_id in "abc"])
    assert (fallbacks(metrics).get("late", 0) + decisions(metrics)) == 3
    monkeypatch.setattr(module, "TIME_LIMIT_FACTOR", TIME_LIMIT_FACTOR)
    assert [decided for _, decided in await decision_times(bot_workers, [a_request()])] == [True]


async def test_without_processes_there_is_no_decision(make: Make, metrics: EngineMetrics) -> None:
    assert await make(0).decide(a_request()) is None
    assert fallbacks(metrics) == {"off": 1}


async def test_requests_that_wait_are_limited_and_close_ends_them_and_all_processes(
    make: Make, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 2)
    bot_workers = make(2)
    await asyncio.gather(*(bot_workers.decide(a_request()) for _ in range(4)))
    ending = pids()
    assert len(ending) == 2
    # Hanging processes are killed after their time limit, so that close() takes no longer.
    monkeypatch.setattr(module, "TIME_LIMIT_FACTOR", TIME_LIMIT_FACTOR)
    waiting = [asyncio.create_task(bot_workers.decide(a_request(seed=HANG))) for _ in range(4)]
    await settled()
    assert await bot_workers.decide(a_request()) is None
    assert fallbacks(metrics) == {"busy": 1}
    await within_timeout(bot_workers.close())
    assert await asyncio.gather(*waiting) == [None] * 4
    assert not any(map(is_alive, ending))
    before = fallbacks(metrics).get("off", 0)
    assert await bot_workers.decide(a_request()) is None
    assert fallbacks(metrics)["off"] == before + 1
    assert pids() == []
