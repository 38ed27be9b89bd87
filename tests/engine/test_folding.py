"""Folds of a log row by row, with the results of a direct fold of its entries."""

from collections.abc import Sequence
from random import Random

import pytest

from croupier.engine.cluster.housekeeping import packed_log
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.history import PackedLog
from croupier.engine.core.log import Entry, TableConfig, request_hash
from croupier.engine.core.log_codec import LogPart, Row, UnreadableLog, decode_log, decode_rows, encode_log, row_of
from croupier.engine.core.replay import ReplayFold
from croupier.games.interface import SeatActed
from tests.engine.fakes import MemoryTableStore
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


class StoredRows(MemoryTableStore):
    """A store with the rows of one log."""

    def __init__(self, *rows: Row) -> None:
        super().__init__()
        self._rows = rows

    async def log_after(self, table_id: str, sequence: int, limit: int) -> LogPart:
        return LogPart(rows=tuple(row for row in self._rows if row[0] > sequence)[:limit])


async def check_folds(config: TableConfig, entries: Sequence[Entry]) -> None:
    """Check the folds of a log into a table and into a packed log, and of that into a table."""
    rows = [row_of(entry) for entry in entries]
    direct = folded_table(config, entries)
    table, archived = FoldedTable(config), FoldedTable(config)
    for row in rows:
        table.add(row)
    packed = await packed_log(StoredRows(*rows), config.table_id)
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
async def test_rows_have_the_result_of_a_direct_fold(game: str, seed: int) -> None:
    config = make_config(game, options=ROUNDS.get(game))
    await check_folds(config, whole_log(config, Random(seed)))


@pytest.mark.parametrize("name", names())
async def test_a_recorded_log_folds_by_rows(name: str) -> None:
    recorded = read(name)
    await check_folds(recorded.config, recorded.entries)


async def test_a_log_without_entries_is_packed() -> None:
    assert await packed_log(StoredRows(), "t1") == PackedLog(encode_log([]), 0)


async def test_a_log_with_an_unknown_format_is_not_folded() -> None:
    config, row = make_config(), (1, 1, 0, '{"t":"foo","v":1}')
    for fold in (FoldedTable(config), ReplayFold(config)):
        with pytest.raises(UnreadableLog) as fault:
            fold.add(row)
        assert fault.value.table_id == config.table_id
    with pytest.raises(UnreadableLog, match="log entry 1 of table t1: unknown type 'foo'"):
        await packed_log(StoredRows(row), "t1")


async def test_a_log_with_a_gap_is_not_packed() -> None:
    with pytest.raises(UnreadableLog, match="log entry 1 of table t1: missing"):
        await packed_log(StoredRows(row_of(whole_log(make_config(), Random(1))[1])), "t1")
