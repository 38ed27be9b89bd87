"""Folds of stored logs: in steps, pickled between them, and with the results of a direct fold."""

import pickle
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from random import Random
from typing import TypeVar

import pytest

from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.log import Entry, TableConfig
from croupier.engine.core.log_codec import LogPart, UnreadableLog, encode_log, row_of
from croupier.engine.core.replay import ReplayFold, replay_parts
from croupier.engine.folding.inline import InlineFolder
from croupier.engine.folding.port import FoldInSteps, LogFold
from tests.engine.folds import folded_table, write_replay
from tests.engine.play import ROUNDS, every_game, make_config, whole_log
from tests.engine.recorded_logs import names, read

Result = TypeVar("Result")


def random_parts(entries: Sequence[Entry], random: Random) -> list[LogPart]:
    """Return a log in parts of any length, some of them packed, some rows twice."""
    rows = [row_of(entry) for entry in entries]
    cuts = sorted(random.choices(range(len(rows) + 1), k=4))
    parts = []
    for start, end in pairwise([0, *cuts, len(rows)]):
        packed = random.randrange(start, end + 1)
        parts.append(LogPart((encode_log(rows[start:packed]),), tuple(rows[max(0, packed - 3) : end])))
    return parts


async def each(parts: Sequence[LogPart]) -> AsyncIterator[LogPart]:
    for part in parts:
        yield part


def in_pickled_steps(fold: LogFold[Result], parts: Sequence[LogPart], random: Random) -> Result:
    """Fold parts in steps of any length, and pickle the fold after each."""
    steps = FoldInSteps(fold)
    for part in parts:
        steps.take(part)
        is_waiting = True
        while is_waiting:
            is_waiting = steps.step(random.randrange(1, 100))
            steps = pickle.loads(pickle.dumps(steps))  # noqa: S301 - our own bytes
    return steps.result()


def content(table: FoldedTable) -> tuple[object, ...]:
    recent = [list(table.transitions_after(max(0, table.state.sequence - missed)) or ()) for missed in (0, 1, 9, 256)]
    return table.config, table.state, list(table.entries), table.reports, table.answers, recent


async def check_folds(config: TableConfig, entries: Sequence[Entry], seed: int) -> None:
    """Check that a log folded in steps, here and in pickled form, has the results of a direct fold."""
    random, replay = Random(seed), write_replay(config, entries)
    table = content(folded_table(config, entries))
    for _ in range(3):
        parts = random_parts(entries, random)
        assert content(await InlineFolder().fold(FoldedTable(config), each(parts))) == table
        assert content(in_pickled_steps(FoldedTable(config), parts, random)) == table
        assert "".join(replay_parts(await InlineFolder().fold(ReplayFold(config), each(parts)))) == replay
        assert "".join(replay_parts(in_pickled_steps(ReplayFold(config), parts, random))) == replay


@every_game
async def test_a_fold_in_steps_has_the_result_of_a_direct_one(game: str, seed: int) -> None:
    config = make_config(game, options=ROUNDS.get(game))
    await check_folds(config, whole_log(config, Random(seed)), seed)


@pytest.mark.parametrize("name", names())
async def test_a_recorded_log_folds_in_steps(name: str, seed: int) -> None:
    recorded = read(name)
    await check_folds(recorded.config, recorded.entries, seed)


async def test_a_log_with_an_unknown_format_is_not_folded() -> None:
    config = make_config()
    for part in (LogPart(rows=((1, 1, 0, '{"t":"foo","v":1}'),)), LogPart(packed=(b"x",))):
        for fold in (FoldedTable(config), ReplayFold(config)):
            with pytest.raises(UnreadableLog) as fault:
                await InlineFolder().fold(fold, each([part]))
            assert fault.value.table_id == config.table_id
