"""The folding process: results as on the event loop, however it ends."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from multiprocessing import active_children
from random import Random

import pytest

from croupier.engine.core.fold import advance, new_table
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.log import ClockCompensated, Entry, TableConfig
from croupier.engine.core.log_codec import LogPart, Row, UnreadableLog, encode_log, row_of
from croupier.engine.core.replay import ReplayFold, replay_parts
from croupier.engine.folding.inline import MAX_INLINE_ROWS
from croupier.engine.folding.process import ProcessFolder
from croupier.games.interface import SeatActed
from tests.engine.fakes import START, RecordingLogger
from tests.engine.folds import folded_table, write_replay
from tests.engine.play import ROUNDS, choice, every_game, make_config, whole_log, within_timeout
from tests.waiting import settled, until


def long_log(entries: int = 1_200) -> tuple[TableConfig, list[Entry]]:
    """Return a log of so many entries, by default of several steps of the process: a game with many outages."""
    config, random = make_config(), Random(1)
    transitions = advance(config, new_table(config), START, None)
    while len(transitions) < entries:
        state = transitions[-1].after
        event = SeatActed(*choice(state, random)) if len(transitions) < 20 else ClockCompensated(5)
        transitions += advance(config, state, state.at + 10, event, request_id=f"r{state.sequence}")
    return config, [transition.entry for transition in transitions[:entries]]


async def parts_of(entries: Sequence[Entry], pages: int = 500, packed: bool = False) -> AsyncIterator[LogPart]:
    rows = [row_of(entry) for entry in entries]
    if packed:
        yield LogPart(packed=(encode_log(rows),))
        return
    for start in range(0, len(rows), pages):
        yield LogPart(rows=tuple(rows[start : start + pages]))


def pids() -> list[int]:
    return [process.pid for process in active_children() if process.pid]


@pytest.fixture
def logger() -> RecordingLogger:
    return RecordingLogger()


@pytest.fixture
async def folder(logger: RecordingLogger, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ProcessFolder]:
    """Yield a folder whose process has not started."""
    monkeypatch.setattr("croupier.engine.folding.process.RESTART_SECONDS", 0.0)
    folder = ProcessFolder(1, logger)
    yield folder
    await within_timeout(folder.close())
    assert not pids()


async def until_running(folder: ProcessFolder) -> None:
    """Start the process by a fold, and wait until it runs."""
    config, log = long_log(100)
    await folder.fold(FoldedTable(config), parts_of(log))
    await until(lambda: folder.is_running)


async def test_short_logs_need_no_process_and_the_first_long_one_starts_it(folder: ProcessFolder) -> None:
    config, log = long_log(100)
    for rows in (0, 1, MAX_INLINE_ROWS):
        table = await folder.fold(FoldedTable(config), parts_of(log[:rows]))
        assert list(table.entries) == log[:rows]
    assert not pids()
    assert list((await folder.fold(FoldedTable(config), parts_of(log))).entries) == log
    await until(lambda: folder.is_running)
    assert len(pids()) == 1


async def test_a_long_archived_log_waits_for_the_process(
    folder: ProcessFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.engine.folding.process.MAX_INLINE_BYTES", 1_000)
    config, log = long_log()
    short, long = (
        asyncio.create_task(folder.fold(FoldedTable(config), parts_of(log[:entries], packed=True)))
        for entries in (10, len(log))
    )
    await within_timeout(short)
    assert not folder.is_running
    assert list((await within_timeout(long)).entries) == log
    assert folder.is_running


async def test_the_process_folds_while_the_event_loop_is_idle(folder: ProcessFolder) -> None:
    await until_running(folder)
    config, log = long_log()
    (pid,) = pids()
    os.kill(pid, signal.SIGSTOP)
    folding = asyncio.create_task(folder.fold(FoldedTable(config), parts_of(log)))
    await settled()
    assert not folding.done()
    os.kill(pid, signal.SIGCONT)
    assert list((await within_timeout(folding)).entries) == log


@every_game
@pytest.mark.parametrize("packed", [False, True])
async def test_the_process_has_the_results_of_a_direct_fold(
    folder: ProcessFolder, game: str, packed: bool, seed: int
) -> None:
    await until_running(folder)
    config = make_config(game, options=ROUNDS.get(game))
    log = whole_log(config, Random(seed))
    table = await folder.fold(FoldedTable(config), parts_of(log, 100, packed))
    assert (table.state, list(table.entries)) == (folded_table(config, log).state, log)
    replay = await folder.fold(ReplayFold(config), parts_of(log, 100, packed))
    assert "".join(replay_parts(replay)) == write_replay(config, log)


async def test_folds_at_the_same_time_have_their_own_results(folder: ProcessFolder) -> None:
    await until_running(folder)
    config, log = long_log()
    lengths = (90, 500, 501, 1_000, len(log))
    tables = await asyncio.gather(*(folder.fold(FoldedTable(config), parts_of(log[:each])) for each in lengths))
    assert [len(table.entries) for table in tables] == list(lengths)


async def test_after_the_death_of_the_process_folds_continue_on_the_event_loop(
    folder: ProcessFolder, logger: RecordingLogger
) -> None:
    await until_running(folder)
    config, log = long_log()
    (pid,) = pids()

    async def parts() -> AsyncIterator[LogPart]:
        async for part in parts_of(log):
            yield part
            if part.rows[0][0] > 1 and folder.is_running:
                os.kill(pid, signal.SIGKILL)

    table = await within_timeout(folder.fold(FoldedTable(config), parts()))
    assert table.state == folded_table(config, log).state
    assert logger.events("warning") == ["the folding process has died, or does not answer"]
    await until_running(folder)
    assert pid not in pids()


async def test_a_process_that_does_not_answer_is_replaced(
    folder: ProcessFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await until_running(folder)
    monkeypatch.setattr("croupier.engine.folding.process.STEP_SECONDS", 0.01)
    config, log = long_log()
    (pid,) = pids()
    os.kill(pid, signal.SIGSTOP)
    try:
        assert list((await within_timeout(folder.fold(FoldedTable(config), parts_of(log)))).entries) == log
        assert not folder.is_running
    finally:
        os.kill(pid, signal.SIGCONT)
    await until(lambda: pid not in pids())


async def test_a_log_that_cannot_be_folded_has_its_error_and_no_effect_on_others(folder: ProcessFolder) -> None:
    await until_running(folder)
    config, log = long_log(100)
    for rows in ([], log[:80]):
        broken = [*map(row_of, rows), (len(rows) + 1, 1, 0, '{"t":"foo","v":1}'), *map(row_of, log[80:])]

        async def parts(broken: tuple[Row, ...] = tuple(broken)) -> AsyncIterator[LogPart]:
            yield LogPart(rows=broken)

        with pytest.raises(UnreadableLog, match="unknown type 'foo'"):
            await folder.fold(FoldedTable(config), parts())
    assert list((await folder.fold(FoldedTable(config), parts_of(log))).entries) == log
    assert len(pids()) == 1


async def test_a_folder_that_was_closed_folds_on_the_event_loop(folder: ProcessFolder) -> None:
    await until_running(folder)
    config, log = long_log()
    folding = asyncio.create_task(folder.fold(FoldedTable(config), parts_of(log)))
    await asyncio.sleep(0)
    await within_timeout(folder.close())
    assert list((await within_timeout(folding)).entries) == log
    assert list((await folder.fold(FoldedTable(config), parts_of(log))).entries) == log
    assert not pids()
