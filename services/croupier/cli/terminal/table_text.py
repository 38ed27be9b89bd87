"""A table of the lobby in words: its settings, its seats, and the seat of a person at it."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict
from rich.text import Text

from croupier.cli.terminal.lines import folded
from croupier.cli.terminal.texts import Texts
from croupier.games.interface import OptionValue
from croupier.runtime.printed_text import escaped
from croupier_api.v1 import games_pb2, lobby_pb2, tables_pb2

MINUTE_SECONDS, HOUR_SECONDS = 60, 3_600


def changed_options(table: tables_pb2.Table, game: games_pb2.GameDescription) -> dict[str, OptionValue]:
    """Return the options of a table that differ from the defaults of its game."""
    defaults = {option.name: _default(option) for option in game.options}
    options = {name: _value(value) for name, value in MessageToDict(table.options).items()}
    return {name: value for name, value in options.items() if value != defaults.get(name)}


def settings_text(texts: Texts, table: tables_pb2.Table, game: games_pb2.GameDescription, width: int) -> Text:
    """Return the times and changed options of a table, at most `width` columns wide."""
    times = table.time_control
    parts = [texts.tr("time to act: {time}", time=time_text(texts, times.action_time.seconds))]
    if times.reserve_time.seconds:
        parts.append(texts.tr("in reserve: {time}", time=time_text(texts, times.reserve_time.seconds)))
    words = {(word.kind, word.word): word.text for word in game.words}
    for name, value in sorted(changed_options(table, game).items()):
        label = words.get((games_pb2.WORD_KIND_OPTION, name), name.replace("_", " "))
        parts.append(f"{label}: {_value_text(texts, words, name, value)}")
    return folded("  ", "; ".join(parts), width)


def _value_text(texts: Texts, words: Mapping[Any, str], name: str, value: OptionValue) -> str:
    if isinstance(value, bool):
        return texts.tr("yes") if value else texts.tr("no")
    return words.get((games_pb2.WORD_KIND_OPTION_CHOICE, f"{name}.{value}"), str(value).replace("_", " "))


def seat_texts(texts: Texts, table: tables_pb2.Table, own_id: str) -> list[Text]:
    """Return a line for each seat of a table that forms."""
    lines = []
    for number, seat in enumerate(table.seats, start=1):
        free = texts.tr("kept for a player of the last game") if seat.reserved_player_id else texts.tr("free")
        remarks = {
            texts.tr("you"): bool(own_id) and seat.player_id == own_id,
            texts.tr("host"): bool(seat.player_id) and seat.player_id == table.host_player_id,
            texts.tr("away"): seat.is_away,
        }
        shown = "".join(f" ({remark})" for remark, is_so in remarks.items() if is_so)
        lines.append(Text(f"  {number} {escaped(seat.name) or free}{shown}"))
    return lines


def my_table_text(texts: Texts, mine: lobby_pb2.MyTable, game: str, own_id: str, now: float) -> str:
    """Return one line about a person's own table; `now` is in seconds since 1970 UTC."""
    table = mine.table
    others = [seat.name for seat in table.seats if seat.name and seat.player_id != own_id]
    with_names = texts.tr("with {names}", names=", ".join(others)) if others else texts.tr("with nobody yet")
    return f"{game}, {with_names}: {_state(texts, mine, now)}"


def _state(texts: Texts, mine: lobby_pb2.MyTable, now: float) -> str:
    seat = mine.my_seat
    if mine.table.state == tables_pb2.TABLE_STATE_FORMING:
        return texts.tr("not begun")
    parts = [texts.tr("begun")]
    if seat.HasField("is_to_act") and seat.is_to_act:
        time = time_text(texts, max(0, round(seat.deadline_time.seconds - now)))
        parts = [texts.tr("your turn"), texts.tr("{time} left", time=time)]
    parts += [texts.tr("the computer plays for you")] if seat.is_away else []
    return ", ".join(parts)


def time_text(texts: Texts, seconds: int) -> str:
    """Return a time in its largest fitting unit, such as `90 s`, `5 min` or `24 h`."""
    if _is_shown_in(HOUR_SECONDS, seconds):
        return texts.tr("{hours} h", hours=seconds // HOUR_SECONDS)
    if _is_shown_in(MINUTE_SECONDS, seconds):
        return texts.tr("{minutes} min", minutes=seconds // MINUTE_SECONDS)
    return texts.tr("{seconds} s", seconds=seconds)


def _is_shown_in(unit: int, seconds: int) -> bool:
    return seconds >= 2 * unit or (seconds >= unit and seconds % unit == 0)


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
