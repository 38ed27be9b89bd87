"""The registry of games: croupier's own, and those of installed packages.

A package declares its games as entry points of the group `croupier.games`: each is a subclass of `Rules`, an instance
of it, or a tuple of these for several versions of one game. They are read once in each process: tables, bots and
replays restore rules by name, so all that is installed is known, also what a service does not offer for new tables.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, NamedTuple

from croupier.games.interface import Bot, Game, Rules
from croupier.games.jossing.game import Jossing
from croupier.games.one_oh_one.game import OneOhOne
from croupier.games.one_ten.game import OneTen
from croupier.games.registration import SEARCH, check_interface
from croupier.games.search import SearchBot
from croupier.games.solo.game import Solo
from croupier.games.thulla.game import Thulla

GROUP = "croupier.games"
OWN = "croupier"
OWN_GAMES: Mapping[str, Game] = MappingProxyType(
    {game.id: game for game in (Thulla(), OneTen(), Jossing(), OneOhOne(), Solo())}
)
"""Croupier's own games by id, with the rules that new tables get."""
_EARLIER: tuple[Game, ...] = ()
"""Rules of own games that new tables do not get any more, but tables and replays that began with them."""


class InvalidGames(ValueError):
    """The games of the installed packages cannot be used together; the message names the packages."""


class UnknownRules(ValueError):
    """A table began with rules that are not known here."""


class Registry(NamedTuple):
    """The games that are known; `games` has each by its id, with the rules that new tables get."""

    games: Mapping[str, Game]
    rules: Mapping[tuple[str, int], Game]
    """Every version of each game, by its id and version."""
    packages: Mapping[str, str]
    """The package of each game, with its version, for example "croupier-hearts 1.2.0"."""


def installed_games() -> Mapping[str, Game]:
    """Return every game by its id, with the rules that new tables get; raises InvalidGames."""
    return registry().games


def rules_of(game: str, rules_version: int) -> Game:
    """Return the rules that a table began with; raises UnknownRules."""
    known = registry().rules
    rules = known.get((game, rules_version))
    if rules is None:
        versions = ", ".join(str(version) for name, version in known if name == game) or "none"
        raise UnknownRules(f"invalid rules version {rules_version} of {game}: expected {versions}")
    return rules


def bots_of(game: Game) -> dict[str, Bot]:
    """Return the computer players of a game by name: its own, first the one for seats that time out, and "search".

    A game without `determinize` has no "search".
    """
    return {**game.bots, SEARCH: SearchBot(game)} if game.is_searchable else dict(game.bots)


@cache
def registry() -> Registry:
    """Return the registry of this installation; raises InvalidGames."""
    return registry_of(entry_points(group=GROUP))


def registry_of(declared: Iterable[EntryPoint]) -> Registry:
    """Return the registry of croupier's own games and of declared ones; raises InvalidGames."""
    rules = {(game.id, game.rules_version): game for game in (*_EARLIER, *OWN_GAMES.values())}
    packages = dict.fromkeys(OWN_GAMES, OWN)
    # Several packages in an order that does not depend on the installation.
    for entry in sorted(declared, key=lambda entry: (_package(entry), entry.name)):
        package = _package(entry)
        for game in _loaded(entry):
            if packages.setdefault(game.id, package) != package:
                raise InvalidGames(f"{packages[game.id]} and {package} both have a game {game.id!r}: rename one")
            if (game.id, game.rules_version) in rules:
                raise InvalidGames(f"{package} has rules version {game.rules_version} of {game.id!r} twice")
            rules[game.id, game.rules_version] = game
    games = {game.id: game for game in sorted(rules.values(), key=lambda game: game.rules_version)}
    return Registry(
        MappingProxyType({game_id: games[game_id] for game_id in packages}),
        MappingProxyType(rules),
        MappingProxyType(packages),
    )


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value


def _loaded(entry: EntryPoint) -> tuple[Game, ...]:
    """Return the versions of the game that an entry point names; raises InvalidGames."""
    source = f"{entry.name!r} of {_package(entry)}"
    try:
        declared = entry.load()
        games = tuple(map(_instance, declared if isinstance(declared, tuple) else (declared,)))
        for game in games:
            check_interface(game)
    except Exception as error:
        raise InvalidGames(f"the game {source} cannot be used: {type(error).__name__}: {error}") from error
    if len({game.id for game in games}) != 1:
        ids = ", ".join(game.id for game in games)
        raise InvalidGames(f"the game {source} must be one game, or versions of one: found {ids or 'none'}")
    return games


def _instance(declared: Any) -> Game:
    """Return the game of a subclass of Rules, or an instance of it; raises TypeError."""
    game = declared() if isinstance(declared, type) and issubclass(declared, Rules) else declared
    if not isinstance(game, Rules):
        raise TypeError(f"invalid game {declared!r}: expected a subclass of croupier.games.interface.Rules")
    return game
