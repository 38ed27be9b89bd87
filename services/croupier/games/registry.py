"""The registry of games."""

from collections.abc import Mapping
from types import MappingProxyType

from croupier.games.interface import Bot, Game
from croupier.games.jossing.game import Jossing
from croupier.games.one_oh_one.game import OneOhOne
from croupier.games.one_ten.game import OneTen
from croupier.games.search import SearchBot
from croupier.games.solo.game import Solo
from croupier.games.thulla.game import Thulla

_CURRENT: tuple[Game, ...] = (Thulla(), OneTen(), Jossing(), OneOhOne(), Solo())
_EARLIER: tuple[Game, ...] = ()
"""Rules that new tables do not get any more, but tables play on with, and replays show, that began with them."""

GAMES: Mapping[str, Game] = MappingProxyType({game.id: game for game in _CURRENT})
"""Every game by its id, with the rules that new tables get."""
RULES = MappingProxyType({(game.id, game.rules_version): game for game in (*_EARLIER, *_CURRENT)})


class UnknownRules(ValueError):
    """A table began with rules that are not known here."""


def rules_of(game: str, rules_version: int) -> Game:
    """Return the rules that a table began with; raises UnknownRules."""
    rules = RULES.get((game, rules_version))
    if rules is None:
        known = ", ".join(str(version) for name, version in RULES if name == game) or "none"
        raise UnknownRules(f"invalid rules version {rules_version} of {game}: expected {known}")
    return rules


def bots_of(game: Game) -> dict[str, Bot]:
    """Return the computer players of a game by name: its own, first the one for seats that time out, and "search"."""
    return {**game.bots, "search": SearchBot(game)}
