"""Measures how long players waited: pauses and takeovers, at tables that no player has left."""

import asyncio
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from croupier_api.v1 import engine_pb2
from loadtest.record import SeatRecord, TableRecord
from loadtest.scenarios import Behaviour

LAG_STEP_SECONDS = 0.05
BREAK_MILLISECONDS = 2_000
"""A stream that is resumed within this time after the kill of an engine was broken by it."""


class Move(NamedTuple):
    """The times at which an action was first received by a viewer, and stored; milliseconds since 1970 UTC."""

    received: int
    stored: int
    sequence: int


class Takeover(NamedTuple):
    """The seconds from a kill to the next action at a table."""

    seconds: float
    table_id: str
    game: str


def last_sequence(record: TableRecord) -> int:
    """Return the last entry that a viewer of a table has received; 0 before the first."""
    return max((_last_sequence(viewer) for viewer in record.viewers), default=0)


def _last_sequence(viewer: SeatRecord) -> int:
    for _, event in _newest_first(viewer):
        if (kind := event.WhichOneof("event_kind")) in ("update", "snapshot", "turn_state", "heartbeat"):
            return int(getattr(event, kind).sequence)
    return 0


def _newest_first(viewer: SeatRecord) -> Iterator[tuple[int, engine_pb2.TableEvent]]:
    """Yield the events that a viewer received live, with their times, newest first."""
    for received in reversed(viewer.received):
        # A stream after sequence 0 reads a finished game again.
        if viewer.opened[received.stream].after_sequence != 0:
            yield received.at_milliseconds, engine_pb2.PlayTableResponse.FromString(received.body).table_event


def moves(record: TableRecord, since: int) -> list[Move]:
    """Return the actions at a table in order: the last one received before `since`, and all after it."""
    found: dict[int, Move] = {}
    for viewer in record.viewers:
        for at, event in _newest_first(viewer):
            update = event.update
            if not (event.HasField("update") and update.HasField("seat")):
                continue
            move = Move(at, update.stored_unix_ms, update.sequence)
            found[update.sequence] = min(move, found.get(update.sequence, move))
            if at < since:
                break
    return [found[sequence] for sequence in sorted(found)]


def last_action(record: TableRecord) -> Move | None:
    """Return the last action at a table; None before the first."""
    return max(moves(record, sys.maxsize), key=lambda move: move.sequence, default=None)


def longest_pause(records: Iterable[TableRecord], since: int) -> float:
    """Return the longest pause in seconds between two actions at a table that ended after `since`; 0 without any."""
    pauses = (
        later.received - earlier.received
        for record in records
        if not _has_leavers(record)
        for earlier, later in pairwise(moves(record, since))
        if later.received > since
    )
    return max(pauses, default=0) / 1000


def takeovers(records: Iterable[TableRecord], killed: int) -> list[Takeover]:
    """Return the seconds until the next action was stored and received, for each table that lost a stream to a kill.

    `killed` is the time of the kill in milliseconds since 1970 UTC.
    """
    found = []
    for record in records:
        if _has_leavers(record) or not any(_was_resumed(viewer, killed) for viewer in record.viewers):
            continue
        later = (move.received - killed for move in moves(record, killed) if move.stored > killed)
        if (first := next(later, None)) is not None:
            found.append(Takeover(first / 1000, record.table_id, record.game))
    return found


def _has_leavers(record: TableRecord) -> bool:
    return any(viewer.behaviour == Behaviour.LEAVER for viewer in record.viewers)


def _was_resumed(viewer: SeatRecord, killed: int) -> bool:
    # Flaky players lose streams without a fault.
    return viewer.behaviour != Behaviour.FLAKY and any(
        opened.after_sequence and killed <= opened.at_milliseconds <= killed + BREAK_MILLISECONDS
        for opened in viewer.opened
    )


class EventLoopLag:
    """Measures the lag of the harness's event loop."""

    def __init__(self) -> None:
        self._max_seconds = 0.0

    async def measure(self) -> None:
        """Measure until cancelled."""
        while True:
            began = time.monotonic()
            await asyncio.sleep(LAG_STEP_SECONDS)
            self._max_seconds = max(self._max_seconds, time.monotonic() - began - LAG_STEP_SECONDS)

    def take(self) -> float:
        """Return the longest lag in seconds since the last call."""
        taken, self._max_seconds = self._max_seconds, 0.0
        return taken


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of all does not exceed; 0 without any."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0
