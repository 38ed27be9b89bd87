"""How long players waited: told by when moves were first heard of, at tables where everybody was there to make them."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from loadtest.faults.records import TableRecord

LAG_STEP_SECONDS = 0.05
BREAK_SECONDS = 2.0
"""What broke so soon after an engine was killed broke because of it."""


def longest_pause(records: Iterable[TableRecord], since: float) -> float:
    """The longest time in seconds between two moves at a table that ended after `since`; 0 without any."""
    pauses = (
        later.at - earlier.at
        for record in records
        if not record.has_leavers
        for earlier, later in pairwise(record.moves)
        if later.at > since
    )
    return max(pauses, default=0.0)


class Lag:
    """How late the event loop of the harness is."""

    def __init__(self) -> None:
        self._longest_seconds = 0.0

    async def measure(self) -> None:
        """Measure until cancelled."""
        while True:
            asked = time.monotonic()
            await asyncio.sleep(LAG_STEP_SECONDS)
            self._longest_seconds = max(self._longest_seconds, time.monotonic() - asked - LAG_STEP_SECONDS)

    def take(self) -> float:
        """The longest lag in seconds since it was taken last."""
        taken, self._longest_seconds = self._longest_seconds, 0.0
        return taken


class Takeover(NamedTuple):
    """How many seconds after a kill a table went on, and a line about what its players saw meanwhile."""

    seconds: float
    told: str


def takeovers(
    records: Iterable[TableRecord], broken_at: Mapping[int, Sequence[float]], killed_at: float, killed_milliseconds: int
) -> list[Takeover]:
    """For each table that lost a stream with a killed engine, the seconds until its next move was stored and heard of.

    `broken_at` says when streams of each client broke, `killed_milliseconds` is the kill's time since 1970 UTC.
    """
    times = []
    for record in records:
        breaks = (at for stream in record.streams for at in broken_at.get(stream.client, ()))
        if record.has_leavers or not any(killed_at <= at <= killed_at + BREAK_SECONDS for at in breaks):
            continue
        after = (move.at - killed_at for move in record.moves if move.stored_milliseconds > killed_milliseconds)
        if (first := next(after, None)) is not None:
            times.append(Takeover(first, _told(record, broken_at, killed_at)))
    return times


def _told(record: TableRecord, broken_at: Mapping[int, Sequence[float]], killed_at: float) -> str:
    seats = []
    for stream in record.streams:
        breaks = ", ".join(f"{at - killed_at:.2f}" for at in broken_at.get(stream.client, ()) if at >= killed_at)
        heard = (message.at - killed_at for message in stream.messages if message.at > killed_at)
        first = next(heard, None)
        again = "nothing yet" if first is None else f"{first:.2f}"
        seats.append(f"seat {stream.seat} broke at {breaks or 'no time'} and heard at {again}")
    return f"table {record.table_id} of {record.game}: {'; '.join(seats)}"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all does not exceed; 0 without any."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0
