"""Folds of a log row by row, with the results of a direct fold of its entries."""

import json
import zlib
from collections.abc import Sequence
from random import Random

import pytest

from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.history import PackedLog, PackingFold
from croupier.engine.core.log import Entry, TableConfig
from croupier.engine.core.log_codec import LOG_VERSION, UnreadableLog, encode_log, row_of
from croupier.engine.core.replay import ReplayFold
from tests.engine.folds import folded_table
from tests.engine.play import ROUNDS, every_game, make_config, whole_log
from tests.engine.recorded_logs import names, read


def content(table: FoldedTable) -> tuple[object, ...]:
    recent = [list(table.transitions_after(max(0, table.state.sequence - missed)) or ()) for missed in (0, 1, 9, 256)]
    return table.config, table.state, list(table.entries), table.reports, table.answers, recent


def check_folds(config: TableConfig, entries: Sequence[Entry]) -> None:
    """Check the folds of a log into a table and into a packed log, and the rows of both."""
    rows = [row_of(entry) for entry in entries]
    table, packing = FoldedTable(config), PackingFold(config.table_id)
    for row in rows:
        table.add(row)
        packing.add(row)
    assert content(table) == content(folded_table(config, entries))
    assert list(table.entries.rows()) == rows
    packed = packing.result()
    assert packed.entries == len(rows)
    assert json.loads(zlib.decompress(packed.log)) == {"v": LOG_VERSION, "entries": [list(row) for row in rows]}


@every_game
def test_rows_have_the_result_of_a_direct_fold(game: str, seed: int) -> None:
    config = make_config(game, options=ROUNDS.get(game))
    check_folds(config, whole_log(config, Random(seed)))


@pytest.mark.parametrize("name", names())
def test_a_recorded_log_folds_by_rows(name: str) -> None:
    recorded = read(name)
    check_folds(recorded.config, recorded.entries)


def test_a_log_without_entries_is_packed() -> None:
    assert PackingFold("t1").result() == PackedLog(encode_log([]), 0)


def test_a_log_with_an_unknown_format_is_not_folded() -> None:
    config = make_config()
    for fold in (FoldedTable(config), ReplayFold(config), PackingFold(config.table_id)):
        with pytest.raises(UnreadableLog) as fault:
            fold.add((1, 1, 0, '{"t":"foo","v":1}'))
        assert fault.value.table_id == config.table_id


def test_a_log_with_a_gap_is_not_packed() -> None:
    config = make_config()
    packing = PackingFold(config.table_id)
    with pytest.raises(UnreadableLog, match="log entry 1 of table t1: missing"):
        packing.add(row_of(whole_log(config, Random(1))[1]))
