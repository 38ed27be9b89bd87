"""Places and statistics: pure sums over results."""

from collections.abc import Sequence
from dataclasses import dataclass


def places(ranking: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The place of each seat, from 1, out of groups of seats, best first.

    Tied seats share the better place, and the next group's place is one more than the seats before it.
    """
    found = {}
    seats_before = 0
    for group in ranking:
        found.update(dict.fromkeys(group, seats_before + 1))
        seats_before += len(group)
    return tuple(found[seat] for seat in sorted(found))


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a player has done in one game: tables finished and won, and the sum of the places, each from 1.

    `counts` are what else the game counts, in pairs of name and sum, ordered by name.
    """

    game: str
    games_finished: int
    games_won: int
    place_sum: int
    counts: tuple[tuple[str, int], ...] = ()

    @property
    def win_rate(self) -> float:
        """Won out of finished, 0 to 1; 0 without games."""
        return self.games_won / self.games_finished if self.games_finished else 0.0

    @property
    def average_place(self) -> float:
        """The mean place, from 1; 0 without games."""
        return self.place_sum / self.games_finished if self.games_finished else 0.0
