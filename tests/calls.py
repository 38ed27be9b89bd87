"""Calls as servicers get them, and limits of which a test chooses some."""

from dataclasses import replace
from typing import Any

from croupier.runtime.admission.admission import Admission
from croupier.runtime.admission.budget import SECOND, Budget
from croupier.runtime.admission.capacity_limiter import Capacity, CapacityLimiter
from croupier.runtime.admission.limits import Limits
from croupier.runtime.identity.tokens import Caller
from croupier.runtime.server.call import Call

PLENTY = 1_000_000_000
FREE = Budget("free", 0, 1, lambda: SECOND)
"""A budget that refuses nothing."""


def limits(**chosen: Any) -> Limits:
    """Return limits that refuse nothing, but for those that are chosen."""
    places = Capacity(PLENTY, PLENTY, PLENTY)
    streams, answers = CapacityLimiter("streams", places), CapacityLimiter("answer_bytes", places)
    unlimited = Limits(FREE, FREE, FREE, FREE, streams, answers)
    return replace(unlimited, **chosen)


def call_of(caller: Caller | str = "", held: Limits | None = None, cost: int = 0, context: Any = None) -> Call:
    """Return a call of a caller, or of a player by their id, which has paid its cost."""
    known = caller if isinstance(caller, Caller) else Caller(caller, caller.capitalize())
    admission = Admission(known, held, cost)
    admission.pay()
    return Call(known, admission, context)
