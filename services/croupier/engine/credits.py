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

    Whoever has waited longest decides how much it is, for all. What was given back already is not given again.
    """
    waiting = [started for started in clock.since if started != NOBODY_WAITS]
    if not waiting:
        return None
    unserved = unserved_milliseconds(interruptions, max(min(waiting), clock.credited_until), now)
    return TimeCredited(unserved) if unserved else None


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
