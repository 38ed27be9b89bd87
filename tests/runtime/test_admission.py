"""Budgets, what calls cost and pay from them, networks of callers, and places, which no network takes from others."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from croupier.gateway.bindings import call_path, calls
from croupier.runtime.admission.admission import Admission
from croupier.runtime.admission.budget import PRUNE_SIZE, SECOND, Budget, TooManyCalls
from croupier.runtime.admission.capacity_limiter import Capacity, CapacityLimiter
from croupier.runtime.admission.costs import COSTS, LOOKUP_COST, cost_of
from croupier.runtime.admission.limits import Limits
from croupier.runtime.admission.network import network_of
from croupier.runtime.errors import LimitReached, ServiceError
from croupier.runtime.identity.tokens import Caller
from tests.calls import limits

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
def limit(clock: FakeClock) -> Budget:
    return Budget("calls", RATE, BURST, clock)


def allowed_calls(limit: Budget, player_id: str = "ada", attempts: int = 100) -> int:
    """Return the number of a player's calls before one is refused."""
    for count in range(attempts):
        try:
            limit.pay(player_id)
        except TooManyCalls:
            return count
    return attempts


def test_calls_are_limited_by_burst_and_then_by_rate(limit: Budget, clock: FakeClock) -> None:
    assert allowed_calls(limit) == BURST
    clock.wait(0.35)
    assert allowed_calls(limit) == 3
    clock.wait(100)
    assert allowed_calls(limit) == BURST
    # Within the rate no call is refused.
    for _ in range(1000):
        clock.wait(1 / RATE)
        limit.pay("ada")


def test_a_refusal_has_the_time_to_wait_and_takes_no_token(limit: Budget, clock: FakeClock) -> None:
    allowed_calls(limit)
    clock.wait(0.0301)
    for _ in range(3):
        with pytest.raises(TooManyCalls, match="expected at most 10 units per second") as refusal:
            limit.pay("ada")
        assert (refusal.value.reason_name, refusal.value.retry_after_seconds) == ("TOO_MANY_REQUESTS", 0.070)
        assert refusal.value.limit == "calls"
    clock.wait(0.070)
    limit.pay("ada")
    with pytest.raises(TooManyCalls):
        limit.pay("ada")


def test_delayed_messages_are_spaced_by_the_rate_and_take_tokens_from_calls(limit: Budget, clock: FakeClock) -> None:
    assert [limit.delay("ada") for _ in range(BURST)] == [0.0] * BURST
    assert [limit.delay("ada") for _ in range(3)] == pytest.approx([0.1, 0.2, 0.3])
    with pytest.raises(TooManyCalls) as refusal:
        limit.pay("ada")
    assert refusal.value.retry_after_seconds == 0.4
    clock.wait(0.4)
    limit.pay("ada")


def test_players_whose_buckets_are_full_are_forgotten(limit: Budget, clock: FakeClock) -> None:
    for number in range(20 * PRUNE_SIZE):
        limit.pay(f"player {number}")
        clock.wait(0.001)
    assert len(limit) <= PRUNE_SIZE


def test_players_with_recent_calls_are_kept(limit: Budget) -> None:
    for number in range(5 * PRUNE_SIZE):
        assert allowed_calls(limit, f"player {number}") == BURST
    assert len(limit) == 5 * PRUNE_SIZE
    assert [allowed_calls(limit, f"player {number}") for number in range(5 * PRUNE_SIZE)] == [0] * 5 * PRUNE_SIZE


def test_zero_units_per_second_are_no_limit(clock: FakeClock) -> None:
    free = Budget("calls", 0, 1, clock)
    assert allowed_calls(free) == 100
    free.owe("ada", 1000)
    assert (free.delay("ada", 1000), len(free)) == (0.0, 0)


def test_a_call_takes_its_cost(limit: Budget, clock: FakeClock) -> None:
    limit.pay("ada", 3)
    with pytest.raises(TooManyCalls) as refusal:
        limit.pay("ada", 4)
    assert refusal.value.retry_after_seconds == 0.2
    limit.pay("ada", 2)
    clock.wait(0.4)
    limit.pay("ada", 4)


def test_a_call_beyond_the_burst_needs_a_full_bucket(limit: Budget, clock: FakeClock) -> None:
    limit.pay("ada", 20)
    with pytest.raises(TooManyCalls) as refusal:
        limit.pay("ada", 20)
    assert refusal.value.retry_after_seconds == 2.0
    clock.wait(2.0)
    limit.pay("ada", 20)


HOME, ELSEWHERE = "192.0.2.0/24", "2001:db8:1::/56"
ADA, BOB, EVE = Caller("ada", "Ada", HOME), Caller("bob", "Bob", HOME), Caller("eve", "Eve", ELSEWHERE)


def budgets(clock: FakeClock, **bursts: int) -> Limits:
    """Return limits with budgets of these bursts and a unit a second."""
    return limits(**{name: Budget(name, 1, burst, clock) for name, burst in bursts.items()})


def paid(held: Limits, caller: Caller, cost: int) -> Admission:
    """Return the admission of a call that has paid its cost."""
    admission = Admission(caller, held, cost)
    admission.pay()
    return admission


def refusal_of(pay: Callable[[], object]) -> tuple[str, float | None]:
    """Return the budget that refuses, and the seconds to wait."""
    with pytest.raises(TooManyCalls) as refusal:
        pay()
    return refusal.value.limit, refusal.value.retry_after_seconds


def test_a_call_pays_from_the_budgets_of_its_player_and_network_or_from_none(clock: FakeClock) -> None:
    held = budgets(clock, player=10, network=12)
    paid(held, ADA, 8)
    assert refusal_of(lambda: paid(held, ADA, 3)) == ("player", 1.0)
    assert refusal_of(lambda: paid(held, BOB, 5)) == ("network", 1.0)
    paid(held, BOB, 4)
    # The error has the longest time to wait.
    assert refusal_of(lambda: paid(held, ADA, 10)) == ("network", 10.0)
    paid(held, EVE, 10)


def test_a_caller_without_network_or_id_pays_from_the_other_budget(clock: FakeClock) -> None:
    held = budgets(clock, player=5, network=5)
    visitor, player = Caller("", "", HOME), Caller("ada", "Ada")
    paid(held, visitor, 5)
    assert refusal_of(lambda: paid(held, visitor, 1)) == ("network", 1.0)
    paid(held, player, 5)
    assert refusal_of(lambda: paid(held, player, 1)) == ("player", 1.0)
    paid(held, Caller("", ""), 1000)


def test_what_a_call_owes_goes_into_debt_and_refuses_the_next_call(clock: FakeClock) -> None:
    held = budgets(clock, player=10, network=100)
    paid(held, ADA, 2).owe(15)
    assert refusal_of(lambda: paid(held, ADA, 1)) == ("player", 8.0)
    paid(held, ADA, 0)
    clock.wait(8)
    paid(held, ADA, 1)


def test_a_debt_is_one_burst_at_most(clock: FakeClock) -> None:
    held = budgets(clock, player=10, network=100, strangers=50)
    call = paid(held, ADA, 2)
    call.pay_as_stranger()
    for _ in range(3):
        call.owe(5000)
    assert refusal_of(lambda: paid(held, ADA, 1)) == ("network", 101.0)
    assert refusal_of(paid(held, EVE, 1).pay_as_stranger) == ("strangers", 51.0)


def test_messages_of_a_stream_are_delayed_without_limit(clock: FakeClock) -> None:
    call = paid(budgets(clock, player=2, network=100), ADA, 2)
    assert [call.delay(1) for _ in range(5)] == [1.0, 2.0, 3.0, 4.0, 5.0]
    call.owe(1)
    assert call.delay(1) == 6.0


def test_a_message_waits_for_every_budget_of_its_call(clock: FakeClock) -> None:
    assert paid(budgets(clock, player=100, network=1), ADA, 1).delay(1) == 1.0
    stranger = paid(budgets(clock, player=100, network_strangers=1), EVE, 1)
    assert stranger.delay(1) == 0.0
    stranger.pay_as_stranger()
    assert stranger.delay(1) == 1.0


def test_what_has_no_rate_is_free(clock: FakeClock) -> None:
    free = {name: Budget(name, 0, 1, clock) for name in ("player", "network")}
    call = paid(limits(**free), ADA, 1000)
    call.owe(1000)
    assert (call.delay(1000), *map(len, free.values())) == (0.0, 0, 0)


def test_strangers_share_a_budget_in_which_each_network_has_a_share(clock: FakeClock) -> None:
    held = budgets(clock, strangers=10, network_strangers=7)
    paid(held, ADA, 5).pay_as_stranger()
    assert refusal_of(paid(held, BOB, 4).pay_as_stranger) == ("network_strangers", 2.0)
    paid(held, EVE, 5).pay_as_stranger()
    assert refusal_of(paid(held, EVE, 1).pay_as_stranger) == ("strangers", 1.0)


def test_a_look_up_is_paid_before_it_by_the_share_of_a_network_and_by_strangers_only(clock: FakeClock) -> None:
    held = budgets(clock, strangers=LOOKUP_COST, network_strangers=2 * LOOKUP_COST)
    for _ in range(9):
        # Of a player with a seat.
        seated = paid(held, ADA, 1)
        seated.pay_lookup()
        seated.end_lookup(is_free=True)
    for _ in range(2):
        stranger = paid(held, BOB, 1)
        stranger.pay_lookup()
        stranger.end_lookup(is_free=False)
    assert refusal_of(paid(held, ADA, 1).pay_lookup) == ("network_strangers", float(LOOKUP_COST))
    # The look-ups of one network leave those of others their own share, but not the budget of all strangers.
    other = paid(held, EVE, 1)
    other.pay_lookup()
    assert refusal_of(other.pay_as_stranger)[0] == "strangers"


def test_each_call_of_players_has_a_cost_and_only_signing_in_has_none() -> None:
    assert set(COSTS) == {call_path(call) for call in calls()}
    assert [path for path, cost in COSTS.items() if cost < 1] == ["/croupier_api.v1.LobbyService/SignIn"]
    assert cost_of("unknown") == 1


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.0", "192.0.2.0/24"),
        ("192.0.2.255", "192.0.2.0/24"),
        ("192.0.3.1", "192.0.3.0/24"),
        ("::ffff:192.0.2.1", "192.0.2.0/24"),
        ("::ffff:c000:203", "192.0.2.0/24"),
        ("2001:db8:1:2::1", "2001:db8:1::/56"),
        ("2001:db8:1:23ff:ffff:ffff:ffff:ffff", "2001:db8:1:2300::/56"),
        ("2001:0DB8:0001:2300::", "2001:db8:1:2300::/56"),
        ("2001:db8:1:2400::1", "2001:db8:1:2400::/56"),
        ("64:ff9b::192.0.2.1", "64:ff9b::/56"),
        ("fe80::1%4", "fe80::/56"),
        ("::1", "::/56"),
    ],
)
def test_a_network_is_a_part_of_the_address(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "none", "192.0.2", "192.0.2.256", "192.0.2.01", "192.0.2.1:443", "[::1]", "[::1]:443", "::1::"),
        *("192.0.2.0/24", "2001:db8::/56", "192.0.2.1\n", " 192.0.2.1", "192.0.2.1,192.0.2.2", "0123456789abcdef"),
    ],
)
def test_no_other_text_has_a_network(text: str) -> None:
    assert network_of(text) == ""


ANN, BEN, CAL = Caller("a", "Ann"), Caller("b", "Ben"), Caller("c", "Cal")


def of_network(number: int, player: Caller = ANN) -> Caller:
    return replace(player, id=f"{player.id} of {number}", network=f"192.0.{number}.0/24")


def refused(limiter: CapacityLimiter, caller: Caller) -> ServiceError:
    with pytest.raises(LimitReached) as refusal:
        limiter.acquire(caller)
    return refusal.value


def test_places_are_limited_and_released_once() -> None:
    limiter = CapacityLimiter("streams", Capacity(total=3, player=2, network=1))
    places = [limiter.acquire(ANN), limiter.acquire(ANN)]
    refusal = refused(limiter, ANN)
    assert refusal.message == "too many streams: expected at most 2 for one player"
    assert (refusal.reason_name, refusal.retry_after_seconds, refusal.limit) == ("TOO_MANY_STREAMS", 5, "streams")
    places.append(limiter.acquire(BEN))
    assert refused(limiter, CAL).message == "too many streams: expected at most 3 on this server"
    for _ in range(2):
        limiter.release(places[0])
    assert len(limiter) == 2
    places.append(limiter.acquire(CAL))
    for place in places:
        limiter.release(place)
    assert len(limiter) == 0


def test_a_network_has_a_share_and_callers_of_unknown_networks_have_no_such_limit() -> None:
    limiter = CapacityLimiter("streams", Capacity(total=100, player=100, network=2))
    for number in range(3):
        for _ in range(2):
            limiter.acquire(of_network(number))
        assert (
            refused(limiter, of_network(number, BEN)).message == "too many streams: expected at most 2 for one network"
        )
        limiter.acquire(ANN)


def test_a_network_gets_the_newest_places_of_the_one_with_most_until_it_has_nearly_as_many() -> None:
    limiter = CapacityLimiter("streams", Capacity(total=6, player=6, network=6))
    evicted: list[int] = []
    for number in range(6):
        limiter.acquire(of_network(1), evict=partial(evicted.append, number))
    for _ in range(3):
        limiter.acquire(of_network(2), evict=lambda: evicted.append(-1))
    assert evicted == [5, 4, 3]
    refused(limiter, of_network(2))
    limiter.acquire(of_network(3), evict=lambda: evicted.append(-2))
    assert (len(evicted), len(limiter)) == (4, 6)


def test_a_place_that_cannot_be_evicted_is_kept() -> None:
    limiter = CapacityLimiter("streams", Capacity(total=2, player=2, network=2))
    for _ in range(2):
        limiter.acquire(of_network(1))
    assert refused(limiter, of_network(2)).message == "too many streams: expected at most 2 on this server"
