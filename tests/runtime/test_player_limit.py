"""A bucket of calls for each player, by a clock that the tests set."""

import pytest

from croupier.runtime.player_limit import FEW_PLAYERS, SECOND, PlayerLimit, TooManyCalls, player_limit
from croupier.runtime.settings import PlayerSettings

RATE, BURST = 10, 5


class Clock:
    """Time that stands still until told otherwise."""

    now = 7 * SECOND

    def __call__(self) -> int:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limit(clock: Clock) -> PlayerLimit:
    return PlayerLimit(RATE, BURST, clock)


def taken(limit: PlayerLimit, player_id: str = "ada", attempts: int = 100) -> int:
    """How many calls a player gets before one is refused."""
    for count in range(attempts):
        try:
            limit.take(player_id)
        except TooManyCalls:
            return count
    return attempts


def test_so_many_at_once_and_then_so_many_a_second(limit: PlayerLimit, clock: Clock) -> None:
    assert taken(limit) == BURST
    clock.wait(0.35)
    assert taken(limit) == 3
    clock.wait(100)
    assert taken(limit) == BURST


def test_who_keeps_to_the_rate_is_never_refused(limit: PlayerLimit, clock: Clock) -> None:
    assert taken(limit) == BURST
    for _ in range(1000):
        clock.wait(1 / RATE)
        limit.take("ada")


def test_a_refusal_says_how_long_to_wait_and_counts_nothing(limit: PlayerLimit, clock: Clock) -> None:
    taken(limit)
    clock.wait(0.0301)
    for _ in range(3):
        with pytest.raises(TooManyCalls, match="10 calls a second") as refusal:
            limit.take("ada")
        assert (refusal.value.reason, refusal.value.retry_after_seconds) == ("TOO_MANY_CALLS", 0.070)
    clock.wait(0.070)
    limit.take("ada")
    with pytest.raises(TooManyCalls):
        limit.take("ada")


def test_what_is_held_back_comes_in_turn_and_counts_for_calls_too(limit: PlayerLimit, clock: Clock) -> None:
    assert [limit.reserve_seconds("ada") for _ in range(BURST)] == [0.0] * BURST
    assert [limit.reserve_seconds("ada") for _ in range(3)] == pytest.approx([0.1, 0.2, 0.3])
    with pytest.raises(TooManyCalls) as refusal:
        limit.take("ada")
    assert refusal.value.retry_after_seconds == 0.4
    clock.wait(0.4)
    limit.take("ada")


def test_players_whose_buckets_are_full_are_forgotten(limit: PlayerLimit, clock: Clock) -> None:
    for number in range(20 * FEW_PLAYERS):
        limit.take(f"player {number}")
        clock.wait(0.001)
    assert len(limit) <= FEW_PLAYERS


def test_players_who_have_called_just_now_are_not(limit: PlayerLimit) -> None:
    for number in range(5 * FEW_PLAYERS):
        assert taken(limit, f"player {number}") == BURST
    assert len(limit) == 5 * FEW_PLAYERS
    assert [taken(limit, f"player {number}") for number in range(5 * FEW_PLAYERS)] == [0] * 5 * FEW_PLAYERS


def test_settings_ask_for_a_limit_or_none(clock: Clock) -> None:
    assert player_limit(PlayerSettings(0), clock) is player_limit(PlayerSettings(0, 0), clock) is None
    limit = player_limit(PlayerSettings(1, 2), clock)
    assert limit is not None
    assert taken(limit) == 2
    with pytest.raises(ValueError, match=r"--player-burst must be at least 1"):
        player_limit(PlayerSettings(1, 0), clock)
