"""The games of a simulation, kept as short as their sampling says."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from croupier.games.interface import Game, OptionValue
from croupier.games.registration import SEARCH
from croupier.games.registry import bots_of, installed_games

FEW_SEATS = 3
"""The number of seats that a table has at most, if the game allows it."""
BOTS = ("random", SEARCH)
"""Kinds of bots beside the first one of each game."""


class ShortGame(NamedTuple):
    """A game with numbers of seats, and the options that keep it short."""

    game: str
    seats: tuple[int, ...]
    options: Mapping[str, OptionValue]
    bots: tuple[str, ...]
    """The kinds of bots that are played; an empty one is the first of the game."""
    is_limited: bool
    """Whether options end it after few rounds."""
    is_long: bool

    @property
    def is_matched(self) -> bool:
        """Whether quick match can open it: it is short with default options too."""
        return not (self.is_limited or self.is_long)

    @property
    def is_small(self) -> bool:
        """Whether tables are short and have few seats."""
        return self.seats[0] <= FEW_SEATS and not self.is_long

    @property
    def weight(self) -> int:
        """How often it is played: less often if a table takes more time."""
        return 1 if self.is_long else 4 if self.is_small else 3


def chosen_short_games(names: Sequence[str]) -> tuple[ShortGame, ...]:
    """Return the installed games of these ids, or all, long ones last; raises ValueError for an unknown id."""
    installed = installed_games()
    for name in names:
        if name not in installed:
            raise ValueError(f"unknown game {name!r}: expected {', '.join(installed)}")
    games = (short_game(game) for game_id, game in installed.items() if not names or game_id in names)
    return tuple(sorted(games, key=lambda game: game.is_long))


def short_game(game: Game) -> ShortGame:
    """Return a game with few seats, or with the fewest that it has."""
    sampling, fewest = game.sampling, (game.seats[0],)
    return ShortGame(
        game.id,
        fewest if sampling.is_long else tuple(seats for seats in game.seats if seats <= FEW_SEATS) or fewest,
        {**sampling.brief, **sampling.briefest},
        tuple(kind for kind in (*BOTS, "") if not kind or kind in bots_of(game)),
        is_limited=bool(sampling.brief),
        is_long=sampling.is_long,
    )


def two_of(games: Sequence[ShortGame], random: Random) -> list[ShortGame]:
    """Return two games, different ones if there are two."""
    return random.sample(games, k=2) if len(games) > 1 else [games[0], games[0]]


def preferred(games: Sequence[ShortGame], suited: Iterable[ShortGame]) -> Sequence[ShortGame]:
    """Return the games that suit a situation; all if none does."""
    return tuple(suited) or games
