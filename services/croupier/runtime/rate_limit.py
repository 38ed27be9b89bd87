"""Budgets of calls: token buckets of units for each player and each network, so that a flood takes nothing from others.

A call has a cost in units (`costs.py`).
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from croupier.runtime.capacity_limiter import CapacityLimiter
from croupier.runtime.errors import LimitReached
from croupier.runtime.identity import Caller
from croupier.runtime.network import WIDE_NETWORK_SHARE
from croupier.runtime.settings import ServiceSettings
from croupier_api.v1 import errors_pb2

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
PRUNE_SIZE = 1024
"""Below this number, full buckets are not removed."""
STRANGERS = "strangers"
"""The only key of their budget."""
MAX_ARRIVING_REQUESTS = 5_000
MAX_NETWORK_ARRIVING_REQUESTS = 1_000
"""As many as may come at once within the budget of one player."""
MAX_ANSWER_BYTES = 64 * 1024 * 1024
MAX_NETWORK_ANSWER_BYTES = 8 * 1024 * 1024
MAX_PLAYER_ANSWER_BYTES = 4 * 1024 * 1024

MonotonicClock = Callable[[], int]
"""Returns nanoseconds since any moment, and never goes back."""


class TooManyCalls(LimitReached):
    """A budget is used up; nothing was done."""


class CallBudget:
    """Token buckets by key: `burst` units at once and `units_per_second` in the long run; full ones are removed.

    `limit` names the limit in metrics, logs and errors, and `expected` says what it allows, if not units. The length is
    the number of buckets.
    """

    def __init__(
        self, limit: str, units_per_second: int, burst: int, clock: MonotonicClock, expected: str = ""
    ) -> None:
        self._limit = limit
        self._expected = expected or f"{units_per_second} units per second"
        self._unit = SECOND // units_per_second
        self._burst = burst
        self._clock = clock
        self._full_at: dict[str, int] = {}
        self._prune_at = PRUNE_SIZE

    def acquire_nowait(self, key: str, cost: int = 1) -> None:
        """Take units; raises TooManyCalls, and takes none, if the bucket has too few."""
        if (wait := self.wait(key, cost)) > 0:
            raise self.refusal(wait)
        self.take(key, cost)

    def acquire(self, key: str, cost: int = 1) -> float:
        """Take units even if the bucket has too few; returns the seconds until they are there."""
        wait = self.wait(key, cost)
        self.take(key, cost)
        return wait / SECOND if wait > 0 else 0.0

    def wait(self, key: str, cost: int) -> int:
        """Return the nanoseconds until a bucket has the units, 0 or less if it has; a full one has enough for any."""
        full_at = self._full_at.get(key)
        if full_at is None:
            return 0
        spare = self._burst - cost
        return full_at - self._clock() - self._unit * (spare if spare > 0 else 0)

    def take(self, key: str, cost: int) -> None:
        """Take units, whether they are there or not."""
        now, full_at = self._clock(), self._full_at.get(key, 0)
        self._full_at[key] = (full_at if full_at > now else now) + self._unit * cost
        if len(self._full_at) > self._prune_at:
            self._full_at = {key: full_at for key, full_at in self._full_at.items() if full_at > now}
            self._prune_at = max(2 * len(self._full_at), PRUNE_SIZE)

    def charge(self, key: str, cost: int) -> None:
        """Take units, whether they are there or not, until the debt is one burst: a full bucket is two bursts away."""
        lacking = max(self._full_at.get(key, 0) - self._clock(), 0)
        self.take(key, min(cost, max(2 * self._burst - -(-lacking // self._unit), 0)))

    def give_back(self, key: str, cost: int) -> None:
        """Give units back that were taken for a call which turned out to need none."""
        if key in self._full_at:
            self._full_at[key] -= self._unit * cost

    def refusal(self, wait: int) -> TooManyCalls:
        """Return the error of a call that could be made after `wait` nanoseconds."""
        return TooManyCalls(
            errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS,
            f"too many calls: expected at most {self._expected}",
            # Rounded up to whole milliseconds, which RetryInfo has.
            retry_after_seconds=-(-wait // MILLISECOND) / 1000,
            metadata={"limit": self._limit},
        )

    def __len__(self) -> int:
        return len(self._full_at)


def call_budget(limit: str, units_per_second: int, burst: int, clock: MonotonicClock) -> CallBudget | None:
    """Return a budget, or None for 0 units a second."""
    return CallBudget(limit, units_per_second, burst, clock) if units_per_second else None


@dataclass(frozen=True, slots=True)
class Budgets:
    """The budgets of all calls at a port; None is no limit.

    All `strangers` share one bucket: callers without a seat at the table that they ask for. `arriving` limits the
    requests that have not arrived since their headers came, `answers` the bytes of large answers that are not sent.
    """

    player: CallBudget | None = None
    network: CallBudget | None = None
    wide_network: CallBudget | None = None
    strangers: CallBudget | None = None
    arriving: CapacityLimiter | None = None
    answers: CapacityLimiter | None = None

    def acquire_nowait(self, caller: Caller, cost: int) -> None:
        """Take units from the budgets of the player and the network; raises TooManyCalls, and takes none, if one lacks.

        The error has the longest time to wait.
        """
        _acquire_all_nowait(self.buckets_of(caller), cost)

    def acquire(self, caller: Caller, cost: int) -> float:
        """Take units even if they are not there; returns the seconds until they are."""
        return _acquire_all(self.buckets_of(caller), cost)

    def give_back(self, caller: Caller, cost: int) -> None:
        """Give units back that were taken for a call which turned out to need none."""
        for budget, key in self.buckets_of(caller):
            budget.give_back(key, cost)

    def buckets_of(self, caller: Caller) -> "Buckets":
        """Return the buckets of a caller."""
        buckets = []
        if self.player is not None and caller.id:
            buckets.append((self.player, caller.id))
        if (network := caller.network) is not None:
            if self.network is not None:
                buckets.append((self.network, network.id))
            if self.wide_network is not None and network.wide_id:
                buckets.append((self.wide_network, network.wide_id))
        return buckets


Buckets: TypeAlias = Sequence[tuple[CallBudget, str]]
"""Budgets, each with the key of a bucket."""


def _acquire_all_nowait(buckets: Buckets, cost: int) -> None:
    longest = 0
    for budget, key in buckets:
        if (wait := budget.wait(key, cost)) > longest:
            longest, refusing = wait, budget
    if longest:
        raise refusing.refusal(longest)
    for budget, key in buckets:
        budget.take(key, cost)


def _acquire_all(buckets: Buckets, cost: int) -> float:
    seconds = 0.0
    for budget, key in buckets:
        seconds = max(seconds, budget.acquire(key, cost))
    return seconds


class _RunningCall(NamedTuple):
    """A running call, with the buckets that it pays from; `strangers` is the budget of strangers until it does."""

    buckets: Buckets
    cost: int
    strangers: CallBudget | None


_CALL: ContextVar[_RunningCall | None] = ContextVar("running call", default=None)


def begin_charging(budgets: Budgets, caller: Caller, cost: int) -> None:
    """Take the cost of a call that begins, and set what `charge` takes from; raises TooManyCalls."""
    buckets = budgets.buckets_of(caller)
    if cost:
        _acquire_all_nowait(buckets, cost)
    _CALL.set(_RunningCall(buckets, cost, budgets.strangers))


def charge(cost: int) -> None:
    """Take units for the running call beyond its own cost, even if they are not there, but none for other work.

    So work that has begun is not refused, but the next call is. The debt of each budget is at most one burst, because
    others share those of a network and of strangers: after `burst / units_per_second` seconds they may call again.
    """
    call = _CALL.get()
    for budget, key in call.buckets if call is not None else ():
        budget.charge(key, cost)


def acquire(cost: int) -> float:
    """Take units for a message in the running call; returns the seconds until they are there, by which it is delayed.

    The debt has no limit of its own, or messages would pass sooner: each stream waits with its next one.
    """
    call = _CALL.get()
    return _acquire_all(call.buckets, cost) if call is not None else 0.0


def charge_strangers() -> None:
    """Take the cost of the running call also from the budget of strangers, once; raises TooManyCalls.

    `charge` takes from it too from now on. Servicers call it when they know that the caller has no seat.
    """
    call = _CALL.get()
    if call is not None and (strangers := call.strangers) is not None:
        strangers.acquire_nowait(STRANGERS, call.cost)
        _CALL.set(_RunningCall([*call.buckets, (strangers, STRANGERS)], call.cost, strangers=None))


def budgets_of(settings: ServiceSettings, clock: MonotonicClock, strangers: CallBudget | None = None) -> Budgets:
    """Return the budgets by the settings."""
    player = call_budget("player_calls", settings.player_calls_per_second, settings.player_burst, clock)
    networks = network_budgets("network_calls", settings.network_units_per_second, settings.network_burst, clock)
    reason = errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS
    most = MAX_NETWORK_ARRIVING_REQUESTS
    return replace(
        networks,
        player=player,
        strangers=strangers,
        arriving=CapacityLimiter(
            "arriving_requests", MAX_ARRIVING_REQUESTS, most, most, noun="requests under way", reason=reason
        ),
        answers=CapacityLimiter(
            "answer_bytes",
            MAX_ANSWER_BYTES,
            MAX_PLAYER_ANSWER_BYTES,
            MAX_NETWORK_ANSWER_BYTES,
            noun="bytes of answers under way",
            reason=reason,
        ),
    )


def network_budgets(limit: str, units_per_second: int, burst: int, clock: MonotonicClock) -> Budgets:
    """Return budgets of networks alone, without limit for 0 units a second."""
    return Budgets(
        network=call_budget(limit, units_per_second, burst, clock),
        wide_network=call_budget(limit, WIDE_NETWORK_SHARE * units_per_second, WIDE_NETWORK_SHARE * burst, clock),
    )
