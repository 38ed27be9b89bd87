"""The games of the house: one explicit list."""

from collections.abc import Mapping
from types import MappingProxyType

from croupier.games.interface import Bot, Game
from croupier.games.jossing import Jossing
from croupier.games.one_oh_one import OneOhOne
from croupier.games.one_ten import OneTen
from croupier.games.search import SearchBot
from croupier.games.solo import Solo
from croupier.games.thulla import Thulla

_ALL: tuple[Game, ...] = (Thulla(), OneTen(), Jossing(), OneOhOne(), Solo())

GAMES: Mapping[str, Game] = MappingProxyType({game.id: game for game in _ALL})
"""Every game by its id."""


def bots_of(game: Game) -> dict[str, Bot]:
    """The computer players of a game by name: its own, the one for people whose time ran out first, and "search"."""
    return {**game.bots, "search": SearchBot(game)}
