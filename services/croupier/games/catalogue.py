"""The games of the house: one explicit list."""

from collections.abc import Mapping
from types import MappingProxyType

from croupier.games.interface import Game
from croupier.games.jossing import Jossing
from croupier.games.one_oh_one import OneOhOne
from croupier.games.one_ten import OneTen
from croupier.games.thulla import Thulla

_ALL: tuple[Game, ...] = (Thulla(), OneTen(), Jossing(), OneOhOne())

GAMES: Mapping[str, Game] = MappingProxyType({game.id: game for game in _ALL})
"""Every game by its id."""
