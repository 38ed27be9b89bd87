"""Folds of whole logs."""

from collections.abc import Iterable, Iterator

from croupier.engine.core.fold import Transition, new_table, transitions_from
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.log import Entry, TableConfig, request_hash
from croupier.engine.core.log_codec import LogPacker, Row, row_of
from croupier.engine.core.replay import ReplayFold, replay_parts


def transitions_of(config: TableConfig, entries: Iterable[Entry]) -> Iterator[Transition]:
    return transitions_from(config, new_table(config), entries)


def as_archived(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries as packed logs keep them, with hashes of request ids."""
    return [
        entry._replace(request_id=request_hash(entry.request_id))
        if isinstance(entry.request_id, str) and entry.request_id
        else entry
        for entry in entries
    ]


def packed_rows(rows: Iterable[Row]) -> bytes:
    """Return rows as the archive keeps them."""
    packer = LogPacker()
    for row in rows:
        packer.add(row)
    return packer.packed()


def folded_table(config: TableConfig, entries: Iterable[Entry]) -> FoldedTable:
    folded = FoldedTable(config)
    for transition in transitions_of(config, entries):
        folded.apply(transition)
    return folded


def write_replay(config: TableConfig, entries: Iterable[Entry]) -> str:
    replay = ReplayFold(config)
    for entry in entries:
        replay.add(row_of(entry))
    return "".join(replay_parts(replay.result()))
