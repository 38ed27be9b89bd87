"""A game, its number of seats and its options, as a command line names them."""

from collections.abc import Iterable, Mapping

from croupier.cli.faults import misused
from croupier.games.catalogue import GAMES
from croupier.games.interface import Game, InvalidOption, Option, OptionValue, resolve_options, seats_text


def game_named(game_id: str) -> Game:
    """The game with this id; raises CommandFault naming those that there are."""
    game = GAMES.get(game_id)
    if game is None:
        raise misused(f"there is no game {game_id!r}: choose one of {', '.join(GAMES)}")
    return game


def seats_of(game: Game, wanted: int | None, usual: int) -> int:
    """The number of seats: the one that is wanted, else the one nearest to the usual; raises CommandFault."""
    if wanted is None:
        return min(game.seats, key=lambda seats: abs(seats - usual))
    if wanted not in game.seats:
        raise misused(f"{game.name} has {seats_text(game)}, not {wanted}")
    return wanted


def split_options(pairs: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE texts by key; raises CommandFault for one that is no such text or comes twice."""
    options: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise misused(f"--option {pair} cannot be read: write --option NAME=VALUE")
        if name in options:
            raise misused(f"--option {name} was given twice: give it once")
        options[name] = value
    return options


def read_options(game: Game, seats: int, texts: Mapping[str, str]) -> dict[str, OptionValue]:
    """The given options by the types that the game has for them; raises CommandFault naming what is allowed."""
    known = {option.name: option for option in game.options(seats)}
    values = {name: _value(known[name], text) if name in known else text for name, text in texts.items()}
    try:
        resolve_options(game, seats, values)
    except InvalidOption as fault:
        raise misused(f"--option: {fault}") from None
    return values


def _value(option: Option, text: str) -> OptionValue:
    """The value of the option's type; the text itself, which the check then refuses, where it has none."""
    match option.type_name:
        case "boolean":
            return {"true": True, "false": False}.get(text, text)
        case "integer":
            return int(text) if text.removeprefix("-").isdecimal() else text
        case _:
            return text


def option_text(value: OptionValue) -> str:
    """A value as GameOptions writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
