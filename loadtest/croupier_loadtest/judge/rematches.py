"""Checks the table that follows a finished one, as Rematch of lobby.proto defines it."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from croupier_api.v1 import tables_pb2
from croupier_loadtest.judge.violations import Invariant, Violation

RESERVED_MILLISECONDS = 60_000


class ShownTable(NamedTuple):
    """A next table as an answer showed it to a player who took a seat, by Rematch or otherwise."""

    at_milliseconds: int
    player_id: str
    table: tables_pb2.Table


def check_rematch(
    finished: tables_pb2.Table,
    next_table_id: str,
    answers: Sequence[ShownTable],
    given_up: Collection[str] = (),
) -> Iterator[Violation]:
    """Yield a violation for each answer that does not show the table that follows a finished one.

    `next_table_id` is the table that the finished one names; `given_up` are players who gave their seat up.
    """
    for answer in answers:
        for detail in (*_differences(finished, next_table_id, answer), *_wrong_seats(finished, answer, given_up)):
            shown = f"{answer.table.table_id or 'no table'}, shown to {answer.player_id}"
            yield Violation(Invariant.REMATCH_WRONG, finished.table_id, 0, f"{shown}: {detail}")


def _differences(finished: tables_pb2.Table, next_table_id: str, answer: ShownTable) -> Iterator[str]:
    table = answer.table
    if table.table_id != next_table_id:
        yield f"the finished table names {next_table_id or 'no table'}"
    if table.previous_table_id != finished.table_id:
        yield f"it follows {table.previous_table_id or 'no table'}"
    for name in ("game", "options", "time_control", "access"):
        if getattr(table, name) != getattr(finished, name):
            yield f"its {name} is {getattr(table, name)}, and not {getattr(finished, name)}"
    if all(seat.player_id != answer.player_id for seat in table.seats):
        yield "the player has no seat"


def _wrong_seats(finished: tables_pb2.Table, answer: ShownTable, given_up: Collection[str]) -> Iterator[str]:
    """Yield the seats that are not those of the finished table, moved on by one; they may be others after a minute."""
    table = answer.table
    if len(table.seats) != len(finished.seats):
        yield f"it has {len(table.seats)} seats, and not {len(finished.seats)}"
        return
    is_reserved = answer.at_milliseconds < table.create_time.ToMilliseconds() + RESERVED_MILLISECONDS
    for number, seat in enumerate(table.seats):
        before = finished.seats[number - 1]
        is_kept = bool(before.bot) or (is_reserved and before.player_id not in given_up)
        occupant = seat.bot or seat.player_id or seat.reserved_player_id
        if is_kept and occupant != (before.bot or before.player_id):
            yield f"seat {number} is of {occupant or 'nobody'}, and not of {before.bot or before.player_id}"
