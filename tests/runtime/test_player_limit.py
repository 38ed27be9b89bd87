"""A token bucket for each player, with a clock that the tests set."""

import pytest

from croupier.runtime.rate_limit import PRUNE_SIZE, SECOND, PlayerLimit, TooManyCalls, player_limit

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
def limit(clock: FakeClock) -> PlayerLimit:
    return PlayerLimit(RATE, BURST, clock)


def allowed_calls(limit: PlayerLimit, player_id: str = "ada", attempts: int = 100) -> int:
    """Return the number of a player's calls before one is refused."""
    for count in range(attempts):
        try:
            limit.acquire_nowait(player_id)
        except TooManyCalls:
            return count
    return attempts


def test_calls_are_limited_by_burst_and_then_by_rate(limit: PlayerLimit, clock: FakeClock) -> None:
    assert allowed_calls(limit) == BURST
    clock.wait(0.35)
    assert allowed_calls(limit) == 3
    clock.wait(100)
    assert allowed_calls(limit) == BURST


def test_a_player_within_the_rate_is_never_refused(limit: PlayerLimit, clock: FakeClock) -> None:
    assert allowed_calls(limit) == BURST
    for _ in range(1000):
        clock.wait(1 / RATE)
        limit.acquire_nowait("ada")


def test_a_refusal_has_the_time_to_wait_and_takes_no_token(limit: PlayerLimit, clock: FakeClock) -> None:
    allowed_calls(limit)
    clock.wait(0.0301)
    for _ in range(3):
        with pytest.raises(TooManyCalls, match="expected at most 10 per second") as refusal:
            limit.acquire_nowait("ada")
        assert (refusal.value.reason_name, refusal.value.retry_after_seconds) == ("TOO_MANY_REQUESTS", 0.070)
    clock.wait(0.070)
    limit.acquire_nowait("ada")
    with pytest.raises(TooManyCalls):
        limit.acquire_nowait("ada")


def test_delayed_messages_are_spaced_by_the_rate_and_take_tokens_from_calls(
    limit: PlayerLimit, clock: FakeClock
) -> None:
    assert [limit.acquire("ada") for _ in range(BURST)] == [0.0] * BURST
    assert [limit.acquire("ada") for _ in range(3)] == pytest.approx([0.1, 0.2, 0.3])
    with pytest.raises(TooManyCalls) as refusal:
        limit.acquire_nowait("ada")
    assert refusal.value.retry_after_seconds == 0.4
    clock.wait(0.4)
    limit.acquire_nowait("ada")


def test_players_whose_buckets_are_full_are_forgotten(limit: PlayerLimit, clock: FakeClock) -> None:
    for number in range(20 * PRUNE_SIZE):
        limit.acquire_nowait(f"player {number}")
        clock.wait(0.001)
    assert len(limit) <= PRUNE_SIZE


def test_players_with_recent_calls_are_kept(limit: PlayerLimit) -> None:
    for number in range(5 * PRUNE_SIZE):
        assert allowed_calls(limit, f"player {number}") == BURST
    assert len(limit) == 5 * PRUNE_SIZE
    assert [allowed_calls(limit, f"player {number}") for number in range(5 * PRUNE_SIZE)] == [0] * 5 * PRUNE_SIZE


def test_settings_ask_for_a_limit_or_none(clock: FakeClock) -> None:
    assert player_limit(0, 5, clock) is None
    limit = player_limit(1, 2, clock)
    assert limit is not None
    assert allowed_calls(limit) == 2
