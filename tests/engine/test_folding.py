"""Folds of a log row by row, with the results of a direct fold of its entries."""

from collections.abc import Sequence
from random import Random

import pytest

from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.history import PackedLog, PackingFold
from croupier.engine.core.log import Entry, TableConfig, request_hash
from croupier.engine.core.log_codec import UnreadableLog, decode_log, decode_rows, encode_log, row_of
from croupier.engine.core.replay import ReplayFold
from croupier.games.interface import SeatActed
from tests.engine.folds import as_archived, folded_table
from tests.engine.play import ROUNDS, every_game, make_config, whole_log
from tests.engine.recorded_logs import names, read


def content(table: FoldedTable) -> tuple[object, ...]:
    entries = as_archived(table.entries)
    recent = [list(table.transitions_after(max(0, table.state.sequence - missed)) or ()) for missed in (0, 1, 9, 256)]
    shown = [[each._replace(entry=entries[each.entry.sequence - 1]) for each in transitions] for transitions in recent]
    return table.config, table.state, entries, table.reports, shown


def answers(table: FoldedTable, entries: Sequence[Entry]) -> list[int | None]:
    """Return the answers of a table to repeated requests, and to requests with the hashes of their ids."""
    return [
        table.answer_to(request, request_id)
        for entry, request in requests_of(entries)
        for request_id in (str(entry.request_id), request_hash(str(entry.request_id)).hex())
    ]


def requests_of(entries: Sequence[Entry]) -> list[tuple[Entry, SeatActed]]:
    return [(entry, entry.event) for entry in entries if entry.request_id and isinstance(entry.event, SeatActed)]


def check_folds(config: TableConfig, entries: Sequence[Entry]) -> None:
    """Check the folds of a log into a table and into a packed log, and of that into a table."""
    rows = [row_of(entry) for entry in entries]
    direct = folded_table(config, entries)
    table, packing, archived = FoldedTable(config), PackingFold(config.table_id), FoldedTable(config)
    for row in rows:
        table.add(row)
        packing.add(row)
    packed = packing.result()
    assert (packed.log, packed.entries) == (encode_log(rows), len(rows))
    assert list(decode_log(config.table_id, packed.log)) == as_archived(entries)
    for row in decode_rows(config.table_id, packed.log):
        archived.add(row)
    answered = answers(direct, entries)
    assert None in answered
    assert answered[::2] == [entry.sequence for entry, _ in requests_of(entries)]
    for folded in (table, archived):
        assert (content(folded), answers(folded, entries)) == (content(direct), answered)


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
