"""Time that no engine served, given back to those who were to act."""

from collections.abc import Iterable
from typing import NamedTuple

from croupier.engine.clock import NOBODY_WAITS, ClockState
from croupier.engine.log import TimeCredited


class Interruption(NamedTuple):
    """From when to when some engine's players had nobody to talk to, in milliseconds since 1970 UTC."""

    began: int
    ended: int


def credit_due(clock: ClockState, now: int, interruptions: Iterable[Interruption]) -> TimeCredited | None:
    """What those to act have to get back at `now`; None if that is nothing.

    The seat that has waited longest decides how much it is, for all. What was given back already is not given again;
    all time since the seat was asked counts: an interruption may become known after a later one was given back.
    """
    waiting = [
        (started - credited, credited)
        for started, credited in zip(clock.since, clock.credited, strict=True)
        if started != NOBODY_WAITS
    ]
    if not waiting:
        return None
    asked, credited = min(waiting)
    due = unserved_milliseconds(interruptions, asked, now) - credited
    return TimeCredited(due) if due > 0 else None


def unserved_milliseconds(interruptions: Iterable[Interruption], since: int, until: int) -> int:
    """How much of a time falls into interruptions, which may overlap."""
    total, counted_until = 0, since
    for began, ended in sorted(interruptions):
        began, ended = max(began, counted_until), min(ended, until)
        if began < ended:
            total += ended - began
            counted_until = ended
    return total


def interrupted_until(interruptions: Iterable[Interruption], now: int) -> int:
    """When what interrupts `now` ends, and what begins before that; `now` itself if nothing does."""
    for began, ended in sorted(interruptions):
        if began <= now < ended:
            now = ended
    return now
