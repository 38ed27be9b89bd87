"""A table of the lobby in words: its settings, its seats, and the seat of a person at it."""

from typing import Any

from google.protobuf.json_format import MessageToDict
from rich.text import Text

from croupier.cli.options import option_text
from croupier.cli.terminal.lines import folded
from croupier.games.interface import OptionValue
from croupier.runtime.printed_text import escaped
from croupier_api.v1 import games_pb2, lobby_pb2, tables_pb2

MINUTE_SECONDS, HOUR_SECONDS = 60, 3_600


def changed_options(table: tables_pb2.Table, game: games_pb2.GameDescription) -> dict[str, OptionValue]:
    """Return the options of a table that differ from the defaults of its game."""
    defaults = {option.name: _default(option) for option in game.options}
    options = {name: _value(value) for name, value in MessageToDict(table.options).items()}
    return {name: value for name, value in options.items() if value != defaults.get(name)}


def settings_text(table: tables_pb2.Table, game: games_pb2.GameDescription, width: int) -> Text:
    """Return the times and changed options of a table, at most `width` columns wide."""
    times = table.time_control
    reserve = f", and {time_text(times.reserve_time.seconds)} in reserve" if times.reserve_time.seconds else ""
    parts = [f"{time_text(times.action_time.seconds)} to act{reserve}"]
    parts += [f"{name} {option_text(value)}" for name, value in sorted(changed_options(table, game).items())]
    return folded("  ", "; ".join(parts), width)


def seat_texts(table: tables_pb2.Table, own_id: str) -> list[Text]:
    """Return a line for each seat of a table that forms."""
    lines = []
    for number, seat in enumerate(table.seats, start=1):
        you = " (you)" if own_id and seat.player_id == own_id else ""
        host = " (host)" if seat.player_id and seat.player_id == table.host_player_id else ""
        away = " (away)" if seat.is_away else ""
        free = "kept for a player of the last game" if seat.reserved_player_id else "free"
        lines.append(Text(f"  {number} {escaped(seat.name) or free}{you}{host}{away}"))
    return lines


def my_table_text(mine: lobby_pb2.MyTable, game: str, own_id: str, now: float) -> str:
    """Return one line about a person's own table; `now` is in seconds since 1970 UTC."""
    table = mine.table
    others = [seat.name for seat in table.seats if seat.name and seat.player_id != own_id]
    return f"{game} with {', '.join(others) or 'nobody yet'}: {_state(mine, now)}"


def _state(mine: lobby_pb2.MyTable, now: float) -> str:
    seat = mine.my_seat
    if mine.table.state == tables_pb2.TABLE_STATE_FORMING:
        return "not begun"
    is_to_act = seat.HasField("is_to_act") and seat.is_to_act
    left = f", {time_text(max(0, round(seat.deadline_time.seconds - now)))} left" if is_to_act else ""
    turn = f"your turn{left}" if is_to_act else "begun"
    return f"{turn}, the computer plays for you" if seat.is_away else turn


def time_text(seconds: int) -> str:
    """Return a time in its largest fitting unit, such as `90 s`, `5 min` or `24 h`."""
    for unit, name in ((HOUR_SECONDS, "h"), (MINUTE_SECONDS, "min")):
        if seconds >= 2 * unit or (seconds >= unit and seconds % unit == 0):
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


def _default(option: games_pb2.OptionDescription) -> OptionValue | None:
    match option.WhichOneof("values"):
        case "flag":
            return option.flag.default_value
        case "integer_range":
            return option.integer_range.default_value
        case "choice":
            return _value(MessageToDict(option.choice.default_value))
    return None


def _value(value: Any) -> OptionValue:
    """Return a value of JSON, whose numbers are floats, as an option has it."""
    read: OptionValue = int(value) if isinstance(value, float) else value
    return read
