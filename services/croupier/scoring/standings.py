"""Places, outcomes and statistics of players."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

MIN_RANKED_PLAYERS = 2
"""A result counts on leaderboards with so many people at the table."""
MAX_RANKED_GAMES_OF_A_PAIR = 5
"""So many results of two players with each other count on leaderboards in PAIR_MILLISECONDS."""
PAIR_MILLISECONDS = 86_400_000


class Scope(StrEnum):
    """The results that standings count, those without outcomes never."""

    ALL = "all"
    PUBLIC = "public"
    """Those of public tables, after their watch delay: what others see of a player."""
    RANKED = "ranked"
    """Those that count on leaderboards, as GameResult.ranked_seats says, after the watch delay."""


def places(ranking: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the place of each seat, from 1, in a ranking: groups of tied seats, best first.

    Tied seats share the better place, and the next group's place is one more than the seats before it.
    """
    found = {}
    seats_before = 0
    for group in ranking:
        found.update(dict.fromkeys(group, seats_before + 1))
        seats_before += len(group)
    return tuple(found[seat] for seat in sorted(found))


class Standing(NamedTuple):
    """How the results of a game count, as Standing of the contract says: by two outcomes, the better one first.

    The `figure` is the number of games with the better outcome, or with `is_share` their share of all games.
    """

    outcomes: tuple[str, str] = ("won", "lost")
    has_winners: bool = True
    figure: str = "games_won"
    is_share: bool = False
    places_decide: bool = True
    """Whether the average place orders players with equal figures."""


WON_OR_LOST = Standing()
"""That of games whose engine reports none: of an earlier version."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """A player's statistics of one game: tables finished, those with the better outcome, and the sum of the places.

    Places are from 1. `counts` are the sums of the game's own counts, as pairs of name and sum, ordered by name.
    `games_left` are those finished games that the player left.
    """

    game: str
    games_finished: int
    games_counted: int
    place_sum: int
    counts: tuple[tuple[str, int], ...] = ()
    games_left: int = 0
    standing: Standing = WON_OR_LOST

    @property
    def rank(self) -> tuple[int, int, int]:
        """The numbers that players with the same position on a leaderboard have in common."""
        return self.games_finished, self.games_counted, self.place_sum if self.standing.places_decide else 0

    @property
    def games_won(self) -> int:
        """The number of tables won; 0 for a game without winners."""
        return self.games_counted if self.standing.has_winners else 0

    @property
    def win_rate(self) -> float | None:
        """The share of won games, 0 to 1; None without games, and for a game without winners."""
        return self.games_won / self.games_finished if self.games_finished and self.standing.has_winners else None

    @property
    def average_place(self) -> float | None:
        """The mean place, from 1; None without games."""
        return self.place_sum / self.games_finished if self.games_finished else None

    @property
    def figure(self) -> float | None:
        """The figure that orders the leaderboard; None without games."""
        if not self.games_finished:
            return None
        return self.games_counted / (self.games_finished if self.standing.is_share else 1)

    @property
    def outcomes(self) -> dict[str, int]:
        """The number of games by outcome; empty without games."""
        numbers = self.games_counted, self.games_finished - self.games_counted
        return dict(zip(self.standing.outcomes, numbers, strict=True)) if self.games_finished else {}
