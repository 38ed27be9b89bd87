"""The limits that the operator sets to tables, and the end of a table that reaches one."""

from typing import NamedTuple

from croupier.games.facts import Seat
from croupier.games.interface import Game, GameOver, State

ABANDONED = "abandoned"
"""The limit of the time for which all people of a table are away, and the reason for an end at it."""
LIMITS = ("entries", "rounds", ABANDONED)
REASON = "limit"
"""The reason for the end of a game at another limit, in every game."""


class TableLimits(NamedTuple):
    """The numbers of entries and of scored rounds with which a table ends if its game has not."""

    max_entries: int
    max_rounds: int

    def reached(self, entries: int, rounds: int) -> str:
        """Return the limit that a table with so many entries and rounds has reached, empty for none."""
        if rounds >= self.max_rounds:
            return "rounds"
        return "entries" if entries >= self.max_entries else ""


def over_at_limit(rules: Game, game: State, seats: int, limit: str) -> GameOver:
    """Return the end of an unfinished game at a limit: by its completed rounds, or void, as an abandoned one is."""
    ranking = None if limit == ABANDONED else rules.ranking_at_limit(game)
    reason = ABANDONED if limit == ABANDONED else REASON
    if ranking is None:
        all_seats: tuple[Seat, ...] = tuple(range(seats))
        return GameOver((all_seats,), reason, is_void=True)
    return GameOver(ranking, reason)
