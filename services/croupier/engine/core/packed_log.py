"""Logs in the form of the archive."""

from typing import NamedTuple

from croupier.engine.core.log_codec import Row, UnreadableLog, decode_entry, encode_log


class PackedLog(NamedTuple):
    """A whole log as one compressed value, and the number of its entries."""

    log: bytes
    entries: int


class PackingFold:
    """The fold of a log into its packed form; it raises UnreadableLog for a log that could not be read later."""

    def __init__(self, table_id: str) -> None:
        self.table_id = table_id
        self._rows: list[Row] = []

    def add(self, row: Row) -> None:
        """Add the row of the next entry; a row that was added before changes nothing. Raises UnreadableLog."""
        sequence, *_ = row
        if sequence <= len(self._rows):
            return
        if sequence != len(self._rows) + 1:
            raise UnreadableLog(self.table_id, f"log entry {len(self._rows) + 1}", "missing")
        decode_entry(self.table_id, *row)
        self._rows.append(row)

    def result(self) -> PackedLog:
        """Return the whole log."""
        return PackedLog(encode_log(self._rows), len(self._rows))
