"""The events of a finished table as a viewer knew them, from which a client shows its replay."""

import struct
import zlib
from collections.abc import Iterator

from croupier.engine.core.fold import Transition, new_table, transition_of
from croupier.engine.core.guarded_rules import RulesWatch
from croupier.engine.core.log import TableConfig
from croupier.engine.core.log_codec import Row, decode_entry
from croupier.engine.tables.subscription import Encoder, encode_transition
from croupier.games.facts import ALL_SEATS, SPECTATOR, Viewer, known_together

PART_BYTES = 32 * 1024
"""A part has at least so many bytes, except for the last, and less than one event more."""
_LENGTH = struct.Struct(">I")


def replay_event_parts(replay: bytes) -> Iterator[bytes]:
    """Yield the messages with the events of a replay that a ReplayEventsFold has compressed."""
    start = 0
    while start < len(replay):
        (length,) = _LENGTH.unpack_from(replay, start)
        start += _LENGTH.size + length
        yield zlib.decompress(replay[start - length : start])


class ReplayEventsFold:
    """The fold of a log into the events of one viewer, in compressed parts, each after its length.

    A part is a WatchReplayResponse: it has several events under the number under which a message of a stream has one.
    """

    def __init__(self, encoder: Encoder, config: TableConfig, viewer: Viewer, watch: RulesWatch | None = None) -> None:
        self._encoder = encoder
        self._config = config
        self._viewer = viewer
        self._table = new_table(config, watch)
        self._part: list[bytes] = []
        self._part_bytes = 0
        self._compressed: list[bytes] = []

    def add(self, row: Row) -> None:
        """Add the row of the next entry; raises UnreadableLog."""
        entry = decode_entry(self._config.table_id, *row)
        if not self._table.sequence:
            # Before the first entry all viewers know the same.
            viewer = SPECTATOR if self._viewer == ALL_SEATS else self._viewer
            self._append(self._encoder.snapshot(self._config, self._table, viewer, entry.at))
        transition = transition_of(self._config, self._table, entry)
        self._table = transition.after
        self._append(self._event_of(transition))
        if self._part_bytes >= PART_BYTES:
            self._compress()

    def result(self) -> bytes:
        """Return all parts for replay_event_parts; no bytes without any entry."""
        if self._part:
            self._compress()
        return b"".join(self._compressed)

    def _event_of(self, transition: Transition) -> bytes:
        if self._viewer == ALL_SEATS:
            transition = transition._replace(facts=tuple(known_together(transition.facts)), public=True)
        at = transition.entry.at
        # Nobody acts any more: no update has legal actions.
        return encode_transition(self._encoder, self._config, transition, self._viewer, at, is_last=False)

    def _append(self, event: bytes) -> None:
        self._part.append(event)
        self._part_bytes += len(event)

    def _compress(self) -> None:
        compressed = zlib.compress(b"".join(self._part))
        self._compressed += (_LENGTH.pack(len(compressed)), compressed)
        self._part, self._part_bytes = [], 0
