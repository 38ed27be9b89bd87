"""The admission of one call: its caller, and what they pay from. Servicers pay with it; the domain never does."""

from collections.abc import Sequence
from typing import TypeAlias

from croupier.runtime.admission.budget import Budget
from croupier.runtime.admission.costs import LOOKUP_COST
from croupier.runtime.admission.limits import Limits
from croupier.runtime.identity.tokens import Caller

Buckets: TypeAlias = Sequence[tuple[Budget, str]]
"""Budgets, each with the key of a bucket."""
ALL = ""
"""The only key of the budget that all strangers share."""


class Admission:
    """What one call pays from; without limits everything is free.

    A call of a stranger, who has no seat at the table that they ask for, also pays from the budget of all strangers and
    its network's share of that; callers of unknown networks have one share together. `pay` raises TooManyCalls and
    takes nothing if a budget lacks units; `owe` is for work that has begun, and makes debts.
    """

    def __init__(self, caller: Caller, limits: Limits | None = None, cost: int = 0) -> None:
        """`cost` is that of the call before it begins, in units."""
        self._cost = cost
        self._share: Buckets = ()
        self._total: Buckets = ()
        self._buckets: Buckets = ()
        if limits is not None:
            own = (limits.player, caller.id), (limits.network, caller.network)
            self._buckets = tuple([(budget, key) for budget, key in own if key and budget.is_limited])
            self._share = ((limits.network_strangers, caller.network),)
            self._total = ((limits.strangers, ALL),)
        self._paid_from = self._buckets

    def pay(self) -> None:
        """Take the cost of the call from the budgets of the player and the network.

        Raises TooManyCalls with the longest time to wait.
        """
        if self._cost:
            _pay(self._buckets, self._cost)

    def owe(self, units: int) -> None:
        """Take units even if they are not there.

        So work that has begun is not refused, but the next call is. The debt of each budget is at most one burst,
        because others share those of a network and of strangers: after `burst / units_per_second` seconds they may call
        again.
        """
        for budget, key in self._paid_from:
            budget.owe(key, units)

    def allows(self, units: int) -> bool:
        """Return whether these units are there, and take none."""
        return not self._paid_from or all(budget.wait(key, units) <= 0 for budget, key in self._paid_from)

    def delay(self, units: int) -> float:
        """Take units for a message in a stream; returns the seconds until they are there, by which it is delayed.

        The debt has no limit of its own, or messages would pass sooner: each stream waits with its next one.
        """
        longest = 0.0
        for budget, key in self._paid_from:
            longest = max(longest, budget.delay(key, units))
        return longest

    def pay_lookup(self) -> None:
        """Pay for a look-up of a table at which the caller is not known to have a seat; raises TooManyCalls.

        The network's share of strangers pays, so that players of no other network wait for the look-ups of strangers.
        """
        _pay((*self._buckets, *self._share), LOOKUP_COST)

    def end_lookup(self, *, is_free: bool) -> None:
        """Give the units of a look-up back if it is free, or take them from all strangers too."""
        if is_free:
            for budget, key in (*self._buckets, *self._share):
                budget.give_back(key, LOOKUP_COST)
        else:
            for budget, key in self._total:
                budget.owe(key, LOOKUP_COST)

    def pay_as_stranger(self) -> None:
        """Take the cost of the call from the budgets of strangers too, and from now on what it owes.

        Raises TooManyCalls.
        """
        _pay((*self._share, *self._total), self._cost)
        self._paid_from = (*self._buckets, *self._share, *self._total)


def _pay(buckets: Buckets, units: int) -> None:
    longest = 0
    for budget, key in buckets:
        if (wait := budget.wait(key, units)) > longest:
            longest, refusing = wait, budget
    if longest:
        raise refusing.refusal(longest)
    for budget, key in buckets:
        budget.take(key, units)
