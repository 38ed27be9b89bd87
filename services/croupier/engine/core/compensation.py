"""Clock compensation: time that no engine served is given back to the seats that were to act."""

from collections.abc import Iterable
from typing import NamedTuple

from croupier.engine.core.clock import NOBODY_WAITS, ClockState
from croupier.engine.core.log import ClockCompensated


class Outage(NamedTuple):
    """A time in which the players of some engine could not reach it, in milliseconds since 1970 UTC."""

    began: int
    ended: int


def compensation_due(clock: ClockState, now: int, outages: Iterable[Outage]) -> ClockCompensated | None:
    """Return the time that is due at `now` to the seats to act, None if none is.

    The seat that has waited longest decides for all. Time that was given back is not given again; all time since the
    seat was asked counts, because an outage may become known after a later one was given back.
    """
    waiting = [
        (started - compensated, compensated)
        for started, compensated in zip(clock.since, clock.compensated, strict=True)
        if started != NOBODY_WAITS
    ]
    if not waiting:
        return None
    asked, compensated = min(waiting)
    due = unserved_milliseconds(outages, asked, now) - compensated
    return ClockCompensated(due) if due > 0 else None


def unserved_milliseconds(outages: Iterable[Outage], since: int, until: int) -> int:
    """Return how many milliseconds of a time fall into outages, which may overlap."""
    total, counted_until = 0, since
    for began, ended in sorted(outages):
        began, ended = max(began, counted_until), min(ended, until)
        if began < ended:
            total += ended - began
            counted_until = ended
    return total


def outage_until(outages: Iterable[Outage], now: int) -> int:
    """Return when the outage at `now` ends, and those that begin before its end; `now` itself if there is none."""
    for began, ended in sorted(outages):
        if began <= now < ended:
            now = ended
    return now
