"""How long players waited: told by when moves were first heard of, at tables where everybody was there to make them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from tests.faults.records import TableRecord

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


def takeovers(
    records: Iterable[TableRecord], broken_at: Mapping[int, Sequence[float]], killed_at: float, killed_milliseconds: int
) -> list[float]:
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
            times.append(first)
    return times


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all does not exceed; 0 without any."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0
