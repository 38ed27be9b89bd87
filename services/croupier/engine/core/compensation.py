"""Clock compensation: seats that were to act during an outage get its time back."""

from collections.abc import Iterable
from typing import NamedTuple

from croupier.engine.core.clock import NOT_WAITING, ClockState
from croupier.engine.core.log import ClockCompensated


class Outage(NamedTuple):
    """A period in which the players of an engine could not reach it, in milliseconds since 1970 UTC."""

    began: int
    ended: int


def compensation_due(clock: ClockState, now: int, outages: Iterable[Outage]) -> ClockCompensated | None:
    """Return the compensation that is due at `now` to the seats to act, None if none is.

    The seat that has waited longest decides for all. All outages since it was asked count, less earlier compensations,
    because an outage may become known after a later one was compensated.
    """
    waiting = [
        (started - compensated, compensated)
        for started, compensated in zip(clock.since, clock.compensated, strict=True)
        if started != NOT_WAITING
    ]
    if not waiting:
        return None
    asked, compensated = min(waiting)
    due = unserved_milliseconds(outages, asked, now) - compensated
    return ClockCompensated(due) if due > 0 else None


def unserved_milliseconds(outages: Iterable[Outage], since: int, until: int) -> int:
    """Return the milliseconds of a period that lie in outages, which may overlap."""
    total, counted_until = 0, since
    for began, ended in sorted(outages):
        began, ended = max(began, counted_until), min(ended, until)
        if began < ended:
            total += ended - began
            counted_until = ended
    return total


def outage_until(outages: Iterable[Outage], now: int) -> int:
    """Return the end of the outages that follow each other without gap from `now`; `now` itself without any."""
    for began, ended in sorted(outages):
        if began <= now < ended:
            now = ended
    return now
