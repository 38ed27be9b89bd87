"""A log as one value, for logs that are seldom read."""

import json
import zlib
from collections.abc import Iterable

from croupier.engine.log import Entry, entry_from_row


def packed(rows: Iterable[Iterable[int | str]]) -> bytes:
    """A log as one value: sequence, at, deadline and body of each entry."""
    return zlib.compress(json.dumps([list(row) for row in rows], separators=(",", ":")).encode())


def unpacked(log: bytes) -> tuple[Entry, ...]:
    """The entries of a log that was packed."""
    return tuple(entry_from_row(*row) for row in json.loads(zlib.decompress(log)))
