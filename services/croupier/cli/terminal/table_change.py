"""Typed changes of a forming table: seats, times, and the options of its game."""

from collections.abc import Mapping, Sequence

from google.protobuf.duration_pb2 import Duration

from croupier.cli.faults import CommandFault
from croupier.cli.options import described_options
from croupier.cli.terminal.table_text import changed_options
from croupier.cli.terminal.texts import Texts
from croupier_api.v1 import games_pb2, tables_pb2
from croupier_client.aio import Client

NUMBERS = ("seats", "time", "reserve")
"""Names beside those of options; times are in seconds."""
MAX_DIGITS = 6


async def change_table(
    client: Client, table: tables_pb2.Table, game: games_pb2.GameDescription, pairs: Sequence[str], texts: Texts
) -> tables_pb2.Table:
    """Change a table by NAME=VALUE texts, and return it; what is not named stays.

    Raises CommandFault for texts that cannot be read, and CroupierError for a refusal.
    """
    given = dict(_setting(pair, texts) for pair in pairs)
    numbers = {name: _number(name, given.pop(name), texts) for name in NUMBERS if name in given}
    changed = await client.update_table(
        table_id=table.table_id,
        seat_count=numbers.get("seats", len(table.seats)),
        options={**changed_options(table, game), **described_options(game, given)},
        time_control=_times(table.time_control, numbers),
        access=table.access,
    )
    return changed.table


def _times(before: tables_pb2.TimeControl, numbers: Mapping[str, int]) -> tables_pb2.TimeControl:
    times = tables_pb2.TimeControl()
    times.CopyFrom(before)
    if "time" in numbers:
        times.action_time.CopyFrom(Duration(seconds=numbers["time"]))
        # It gets the default for the new time.
        times.ClearField("away_time")
    if "reserve" in numbers:
        times.reserve_time.CopyFrom(Duration(seconds=numbers["reserve"]))
    return times


def _setting(pair: str, texts: Texts) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    if not equals:
        raise CommandFault(texts.tr("invalid setting '{setting}': expected NAME=VALUE", setting=pair))
    return name, value


def _number(name: str, text: str, texts: Texts) -> int:
    if not text.isdecimal() or len(text) > MAX_DIGITS:
        fault = texts.tr(
            "invalid {name} '{text}': expected a whole number of at most {digits} digits",
            name=name,
            text=text,
            digits=MAX_DIGITS,
        )
        raise CommandFault(fault)
    return int(text)
