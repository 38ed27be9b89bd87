"""The check that a game declares all that the services need of it."""

import re
from itertools import chain

from croupier.games.cards import card_names
from croupier.games.facts import MAX_SEATS
from croupier.games.interface import Game, resolve_options

REQUIRED = ("id", "name", "summary", "seats", "bots", "rule_prefix")
_ID = re.compile(r"[a-z][a-z0-9_]{0,31}")
_PREFIX = re.compile(r"[A-Z0-9]{1,16}")
SEARCH = "search"
"""The name of the computer player that every searchable game has."""


def check_interface(game: Game) -> None:
    """Raise ValueError unless a game declares all that services need: its attributes, options, presets and teams."""
    missing = [name for name in REQUIRED if not hasattr(game, name)]
    if missing:
        raise ValueError(f"{type(game).__name__} must define {', '.join(missing)}")
    if not _ID.fullmatch(game.id):
        raise ValueError(f"invalid id {game.id!r}: expected lower case letters, digits and underscores, at most 32")
    if not _PREFIX.fullmatch(game.rule_prefix):
        raise ValueError(f"invalid rule_prefix {game.rule_prefix!r}: expected capital letters and digits, at most 16")
    if not game.seats or game.seats[0] < 1 or game.seats[-1] > MAX_SEATS or game.seats.step != 1:
        raise ValueError(f"invalid seats {game.seats}: expected a range within 1 to {MAX_SEATS}")
    if not game.bots or SEARCH in game.bots or not all(map(callable, game.bots.values())):
        raise ValueError(f"invalid bots {list(game.bots)}: expected at least one function, and none named {SEARCH!r}")
    card_names(game.deck)
    for seats in game.seats:
        _check_options(game, seats)
        teams = game.teams(seats)
        if sorted(chain(*teams)) != (list(range(seats)) if teams else []):
            raise ValueError(f"invalid teams of {seats} seats {teams}: expected each seat in one team, or no teams")


def _check_options(game: Game, seats: int) -> None:
    resolved = resolve_options(game, seats, {})
    for preset in game.presets:
        resolve_options(game, seats, preset.options)
    for option in game.options(seats):
        for _, other, _ in option.requirements:
            if other not in resolved:
                raise ValueError(f"invalid requirement of {option.name}: there is no option {other!r}")
