"""Token buckets of players and networks, with a clock that the tests set."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from croupier.runtime.identity import Caller
from croupier.runtime.network import Network
from croupier.runtime.rate_limit import (
    PRUNE_SIZE,
    SECOND,
    Budgets,
    CallBudget,
    TooManyCalls,
    acquire,
    begin_charging,
    budgets_of,
    call_budget,
    charge,
    charge_strangers,
)
from croupier.runtime.settings import ServiceSettings

RATE, BURST = 10, 5


class FakeClock:
    """A clock that moves by `wait` only."""

    now = 7 * SECOND

    def __call__(self) -> int:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def limit(clock: FakeClock) -> CallBudget:
    return CallBudget("calls", RATE, BURST, clock)


def allowed_calls(limit: CallBudget, player_id: str = "ada", attempts: int = 100) -> int:
    """Return the number of a player's calls before one is refused."""
    for count in range(attempts):
        try:
            limit.acquire_nowait(player_id)
        except TooManyCalls:
            return count
    return attempts


def test_calls_are_limited_by_burst_and_then_by_rate(limit: CallBudget, clock: FakeClock) -> None:
    assert allowed_calls(limit) == BURST
    clock.wait(0.35)
    assert allowed_calls(limit) == 3
    clock.wait(100)
    assert allowed_calls(limit) == BURST


def test_a_player_within_the_rate_is_never_refused(limit: CallBudget, clock: FakeClock) -> None:
    assert allowed_calls(limit) == BURST
    for _ in range(1000):
        clock.wait(1 / RATE)
        limit.acquire_nowait("ada")


def test_a_refusal_has_the_time_to_wait_and_takes_no_token(limit: CallBudget, clock: FakeClock) -> None:
    allowed_calls(limit)
    clock.wait(0.0301)
    for _ in range(3):
        with pytest.raises(TooManyCalls, match="expected at most 10 units per second") as refusal:
            limit.acquire_nowait("ada")
        assert (refusal.value.reason_name, refusal.value.retry_after_seconds) == ("TOO_MANY_REQUESTS", 0.070)
        assert refusal.value.limit == "calls"
    clock.wait(0.070)
    limit.acquire_nowait("ada")
    with pytest.raises(TooManyCalls):
        limit.acquire_nowait("ada")


def test_delayed_messages_are_spaced_by_the_rate_and_take_tokens_from_calls(
    limit: CallBudget, clock: FakeClock
) -> None:
    assert [limit.acquire("ada") for _ in range(BURST)] == [0.0] * BURST
    assert [limit.acquire("ada") for _ in range(3)] == pytest.approx([0.1, 0.2, 0.3])
    with pytest.raises(TooManyCalls) as refusal:
        limit.acquire_nowait("ada")
    assert refusal.value.retry_after_seconds == 0.4
    clock.wait(0.4)
    limit.acquire_nowait("ada")


def test_players_whose_buckets_are_full_are_forgotten(limit: CallBudget, clock: FakeClock) -> None:
    for number in range(20 * PRUNE_SIZE):
        limit.acquire_nowait(f"player {number}")
        clock.wait(0.001)
    assert len(limit) <= PRUNE_SIZE


def test_players_with_recent_calls_are_kept(limit: CallBudget) -> None:
    for number in range(5 * PRUNE_SIZE):
        assert allowed_calls(limit, f"player {number}") == BURST
    assert len(limit) == 5 * PRUNE_SIZE
    assert [allowed_calls(limit, f"player {number}") for number in range(5 * PRUNE_SIZE)] == [0] * 5 * PRUNE_SIZE


def test_settings_ask_for_a_limit_or_none(clock: FakeClock) -> None:
    assert call_budget("calls", 0, 5, clock) is None
    limit = call_budget("calls", 1, 2, clock)
    assert limit is not None
    assert allowed_calls(limit) == 2


def test_a_call_takes_its_cost(limit: CallBudget, clock: FakeClock) -> None:
    limit.acquire_nowait("ada", 3)
    with pytest.raises(TooManyCalls) as refusal:
        limit.acquire_nowait("ada", 4)
    assert refusal.value.retry_after_seconds == 0.2
    limit.acquire_nowait("ada", 2)
    clock.wait(0.4)
    limit.acquire_nowait("ada", 4)


def test_a_call_beyond_the_burst_needs_a_full_bucket(limit: CallBudget, clock: FakeClock) -> None:
    limit.acquire_nowait("ada", 20)
    with pytest.raises(TooManyCalls) as refusal:
        limit.acquire_nowait("ada", 20)
    assert refusal.value.retry_after_seconds == 2.0
    clock.wait(2.0)
    limit.acquire_nowait("ada", 20)


HOME = Network("6400000000000000", "4800000000000000")
ADA, BOB = Caller("ada", "Ada", HOME), Caller("bob", "Bob", HOME)


def budgets(clock: FakeClock, player: int, network: int, wide: int, strangers: int = 1000) -> Budgets:
    """Return budgets with these bursts and a unit a second."""
    return Budgets(
        CallBudget("player", 1, player, clock),
        CallBudget("network", 1, network, clock),
        CallBudget("wide", 1, wide, clock),
        CallBudget("strangers", 1, strangers, clock),
    )


def refusal_of(budgets: Budgets, caller: Caller, cost: int) -> tuple[str, float | None]:
    """Return the limit that refuses a call and the seconds to wait."""
    with pytest.raises(TooManyCalls) as refusal:
        budgets.acquire_nowait(caller, cost)
    return refusal.value.limit, refusal.value.retry_after_seconds


def test_a_network_has_a_budget_for_all_its_players(clock: FakeClock) -> None:
    shared = budgets(clock, player=10, network=12, wide=100)
    shared.acquire_nowait(ADA, 10)
    assert refusal_of(shared, BOB, 3) == ("network", 1.0)
    shared.acquire_nowait(Caller("bob", "Bob", Network("elsewhere")), 3)
    shared.acquire_nowait(Caller("cid", "Cid"), 10)


def test_a_wide_network_has_a_budget_for_all_its_networks(clock: FakeClock) -> None:
    shared = budgets(clock, player=10, network=10, wide=15)
    shared.acquire_nowait(ADA, 10)
    neighbour = Caller("bob", "Bob", Network("6400000000000001", HOME.wide_id))
    assert refusal_of(shared, neighbour, 6) == ("wide", 1.0)
    shared.acquire_nowait(neighbour, 5)


def test_a_refused_call_takes_units_from_no_budget(clock: FakeClock) -> None:
    shared = budgets(clock, player=4, network=10, wide=100)
    shared.acquire_nowait(ADA, 4)
    for _ in range(10):
        assert refusal_of(shared, ADA, 3) == ("player", 3.0)
    shared.acquire_nowait(BOB, 4)
    shared.acquire_nowait(Caller("cid", "Cid", HOME), 2)
    assert refusal_of(shared, Caller("dee", "Dee", HOME), 1) == ("network", 1.0)


def test_a_refusal_has_the_longest_time_to_wait(clock: FakeClock) -> None:
    shared = budgets(clock, player=5, network=5, wide=100)
    shared.acquire_nowait(ADA, 3)
    shared.acquire_nowait(BOB, 2)
    assert refusal_of(shared, ADA, 4) == ("network", 4.0)


def test_an_anonymous_caller_takes_from_the_network_alone(clock: FakeClock) -> None:
    shared = budgets(clock, player=1, network=2, wide=100)
    visitor = Caller("", "", HOME)
    shared.acquire_nowait(visitor, 2)
    assert refusal_of(shared, visitor, 1) == ("network", 1.0)
    shared.acquire_nowait(Caller("", ""), 1000)


def test_a_surcharge_goes_into_debt_and_refuses_the_next_call(clock: FakeClock) -> None:
    shared = budgets(clock, player=10, network=100, wide=100)
    begin_charging(shared, ADA, 2)
    charge(15)
    assert refusal_of(shared, ADA, 1) == ("player", 8.0)
    clock.wait(8)
    shared.acquire_nowait(ADA, 1)


def test_surcharges_cause_a_debt_of_one_burst_at_most(clock: FakeClock) -> None:
    shared = budgets(clock, player=10, network=100, wide=1000, strangers=50)
    begin_charging(shared, ADA, 2)
    charge_strangers()
    for _ in range(3):
        charge(5000)
    assert refusal_of(shared, ADA, 1) == ("wide", 1001.0)
    shared = replace(shared, wide_network=None)
    assert refusal_of(shared, BOB, 1) == ("network", 101.0)
    begin_charging(shared, Caller("bob", "Bob", Network("elsewhere")), 1)
    with pytest.raises(TooManyCalls) as refusal:
        charge_strangers()
    assert (refusal.value.limit, refusal.value.retry_after_seconds) == ("strangers", 51.0)
    clock.wait(11.5)
    begin_charging(replace(shared, network=None), ADA, 1)
    charge(15)
    assert refusal_of(replace(shared, network=None), ADA, 1) == ("player", 10.5)


def test_messages_of_a_call_are_delayed_without_limit(clock: FakeClock) -> None:
    shared = budgets(clock, player=2, network=100, wide=100)
    begin_charging(shared, ADA, 2)
    assert [acquire(1) for _ in range(5)] == [1.0, 2.0, 3.0, 4.0, 5.0]
    charge(1)
    assert acquire(1) == 6.0


async def test_a_task_of_a_call_takes_from_its_budgets(clock: FakeClock) -> None:
    shared = budgets(clock, player=10, network=100, wide=100)
    begin_charging(shared, ADA, 1)

    async def load() -> None:
        charge(9)

    await asyncio.create_task(load())
    assert refusal_of(shared, ADA, 1) == ("player", 1.0)


def test_strangers_share_a_budget(clock: FakeClock) -> None:
    shared = budgets(clock, player=100, network=100, wide=100, strangers=10)
    begin_charging(shared, ADA, 5)
    charge_strangers()
    charge_strangers()
    begin_charging(shared, Caller("bob", "Bob", Network("elsewhere")), 6)
    with pytest.raises(TooManyCalls) as refusal:
        charge_strangers()
    assert (refusal.value.limit, refusal.value.retry_after_seconds) == ("strangers", 1.0)
    clock.wait(1)
    charge_strangers()
    charge(30)
    begin_charging(shared, BOB, 1)
    with suppress(TooManyCalls):
        charge_strangers()
    assert acquire(0) == 0.0


def test_a_call_without_cost_is_not_refused(clock: FakeClock) -> None:
    shared = budgets(clock, player=1, network=1, wide=1)
    shared.acquire_nowait(ADA, 1)
    begin_charging(shared, ADA, 0)


def test_the_budget_of_a_wide_network_is_four_times_that_of_a_network(clock: FakeClock) -> None:
    settings = ServiceSettings(
        metrics_listen="127.0.0.1:0",
        database="sqlite://",
        player_calls_per_second=0,
        network_units_per_second=3,
        network_burst=5,
    )
    shared = budgets_of(settings, clock)
    for number in range(4):
        shared.acquire_nowait(Caller("ada", "Ada", Network(f"net {number}", "wide")), 5)
    assert refusal_of(shared, Caller("bob", "Bob", Network("net 4", "wide")), 1)[0] == "network_calls"
