"""Folds of a log row by row into its packed forms, with the results of a direct fold of its entries."""

import tracemalloc
from collections.abc import Sequence
from random import Random

import pytest

from croupier.engine.cluster.housekeeping import packed_log
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.history import CHUNK, History, PackedLog
from croupier.engine.core.log import Entry, request_hash
from croupier.engine.core.log_codec import LogPart, Row, UnreadableLog, decode_log, decode_rows, encode_log, row_of
from croupier.engine.core.replay import ReplayFold
from croupier.games.interface import SeatActed
from tests.engine.databases import entry
from tests.engine.fakes import MemoryTableStore
from tests.engine.folds import as_archived, folded_table
from tests.engine.play import ROUNDS, every_game, make_config, whole_log


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
    def __init__(self, *rows: Row) -> None:
        super().__init__()
        self._rows = rows

    async def log_after(self, table_id: str, sequence: int, limit: int) -> LogPart:
        return LogPart(rows=tuple(row for row in self._rows if row[0] > sequence)[:limit])


@every_game
async def test_rows_have_the_result_of_a_direct_fold(game: str, seed: int) -> None:
    """Also when they were packed in between."""
    config = make_config(game, options=ROUNDS.get(game))
    entries = whole_log(config, Random(seed))
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


async def test_a_log_with_an_unknown_format_is_not_folded() -> None:
    config, row = make_config(), (1, 1, 0, '{"t":"foo","v":1}')
    for fold in (FoldedTable(config), ReplayFold(config)):
        with pytest.raises(UnreadableLog) as fault:
            fold.add(row)
        assert fault.value.table_id == config.table_id
    with pytest.raises(UnreadableLog, match="log entry 1 of table t1: unknown type 'foo'"):
        await packed_log(StoredRows(row), "t1")


async def test_a_log_without_entries_is_packed_and_one_with_a_gap_is_not() -> None:
    assert await packed_log(StoredRows(), "t1") == PackedLog(encode_log([]), 0)
    with pytest.raises(UnreadableLog, match="log entry 1 of table t1: missing"):
        await packed_log(StoredRows(row_of(whole_log(make_config(), Random(1))[1])), "t1")


@pytest.mark.parametrize("length", [0, 1, CHUNK, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, 5 * CHUNK + 7])
def test_a_history_is_a_list_of_its_entries(length: int) -> None:
    history, entries = History("t1"), [entry(number, deadline=number) for number in range(1, length + 1)]
    for each in entries:
        history.append(each)
    assert len(history) == length
    assert list(history) == entries
    assert list(history.after(length // 3)) == entries[length // 3 :]
    assert [history[place] for place in range(-length, length)] == entries * 2
    for beyond in (length, -length - 1):
        with pytest.raises(IndexError):
            history[beyond]


def test_packed_entries_use_a_fraction_of_the_memory(seed: int) -> None:
    random = Random(seed)
    tracemalloc.start()
    try:
        history, before = History("t1"), tracemalloc.get_traced_memory()[0]
        for number in range(1, 20 * CHUNK):
            history.append(entry(number, request=random.randbytes(16).hex(), deadline=number))
        used = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # An unpacked entry uses more than twice as much.
    assert used < 250 * 20 * CHUNK
