"""Games, numbers of seats and options of command lines."""

from collections.abc import Iterable, Mapping

from croupier.cli.faults import misused
from croupier.games.interface import Game, InvalidOption, OptionValue, resolve_options, seats_text
from croupier.games.registry import installed_games
from croupier_api.v1 import games_pb2


def game_named(text: str) -> Game:
    """Return the game with this id or display name, in upper or lower case; raises CommandFault with the known ones."""
    return installed_games()[game_id(text, {known: game.name for known, game in installed_games().items()})]


def game_id(text: str, names: Mapping[str, str]) -> str:
    """Return the id of a game by its id or display name; `names` are by id. Raises CommandFault with the known ones."""
    for known, name in names.items():
        if text.casefold() in (known, name.casefold()):
            return known
    raise misused(f"there is no game {text!r}: choose one of {', '.join(names)}")


def seats_of(game: Game, wanted: int | None, usual: int) -> int:
    """Return the wanted number of seats, by default the one nearest to the usual; raises CommandFault."""
    if wanted is None:
        return min(game.seats, key=lambda seats: abs(seats - usual))
    if wanted not in game.seats:
        raise misused(f"{game.name} has {seats_text(game)}, not {wanted}")
    return wanted


def split_options(pairs: Iterable[str]) -> dict[str, str]:
    """Return NAME=VALUE texts by name; raises CommandFault for one that is no such text or comes twice."""
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
    """Return options with the types of the game; raises CommandFault with the allowed values."""
    known = {option.name: option for option in game.options(seats)}
    values = {name: _value(known[name].type_name, text) if name in known else text for name, text in texts.items()}
    try:
        resolve_options(game, seats, values)
    except InvalidOption as fault:
        raise misused(f"--option: {fault}") from None
    return values


def _value(type_name: str, text: str) -> OptionValue:
    """Return the value of the option's type; the text itself, which is refused later, if there is none."""
    match type_name:
        case "boolean":
            return {"true": True, "false": False}.get(text, text)
        case "integer" if text.removeprefix("-").isdecimal():
            return int(text)
    return text


def described_options(game: games_pb2.GameDescription, texts: Mapping[str, str]) -> dict[str, OptionValue]:
    """Return options with the types of a game as the services describe it; the services refuse invalid ones."""
    known = {option.name: option for option in game.options}
    return {name: _value(_type_name(known[name]), text) if name in known else text for name, text in texts.items()}


def _type_name(option: games_pb2.OptionDescription) -> str:
    match option.WhichOneof("values"):
        case "flag":
            return "boolean"
        case "choice" if option.choice.default_value.HasField("string_value"):
            return "string"
    return "integer"


def option_text(value: OptionValue) -> str:
    """Return a value as a command line has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
