"""Revisions: a host changes the options, times, number of seats or access of a forming table."""

from collections.abc import Sequence
from dataclasses import replace

from croupier.lobby.accounts.names import bot_name, distinct_name
from croupier.lobby.tables.forming_table import (
    FREE_SEAT,
    Seat,
    Table,
    TableState,
    TimeControl,
    check_forming,
    check_host,
    unready,
)
from croupier.runtime.errors import IllegalNow
from croupier.runtime.table_access import OPEN, TableAccess
from croupier_api.v1 import errors_pb2

MAX_WITHDRAWN_VERSIONS = 100
"""A replica that reads a table only after so many further changes sends no message that it is public no more."""


def check_revision(table: Table, player_id: str) -> None:
    """Raise ServiceError unless a player may change the settings of the table."""
    check_host(table, player_id)
    check_forming(table)


def revised(table: Table, seat_count: int, access: TableAccess) -> Table:
    """Return the next revision of a table, not yet prepared, for which all players but the host get ready again.

    Players and bots on seats that it does not have any more move to free ones. Players who were removed stay so. The
    host's client seed goes too: it was chosen before the commitment of the revision.
    """
    taken = sum(not seat.is_free for seat in table.seats)
    if taken > seat_count:
        raise IllegalNow(
            errors_pb2.ERROR_REASON_TABLE_FULL,
            f"{taken} seats are taken: expected a seat_count of at least {taken}, or clear seats first",
        )
    kept = [_kept(seat, is_host=seat.player_id == table.host_player_id) for seat in table.seats]
    seats, moved = kept[:seat_count], iter([seat for seat in kept[seat_count:] if not seat.is_free])
    seats += [FREE_SEAT] * (seat_count - len(seats))
    seats = [next(moved, seat) if seat.is_free else seat for seat in seats]
    hidden_version = 0 if access.is_public else table.version + 1 if table.access.is_public else table.hidden_version
    return replace(
        table,
        seats=_renamed(seats),
        access=replace(access, removed_players=table.access.removed_players),
        revision=table.revision + 1,
        hidden_version=hidden_version,
    )


def has_same_settings(table: Table, other: Table) -> bool:
    """Return whether two revisions of a table have equal options, times, numbers of seats and access."""
    one, two = ((each.options, each.time_control, len(each.seats), each.access) for each in (table, other))
    return one == two


def withdrawn(table: Table) -> Table | None:
    """Return what streams of public tables get of one that is public no more: its end, and nothing else.

    None if it has been hidden for many changes, or always: those of a hidden table are not to be seen.
    """
    if not table.hidden_version or table.version - table.hidden_version > MAX_WITHDRAWN_VERSIONS:
        return None
    return Table(
        table_id=table.table_id,
        state=TableState.CLOSED,
        game=table.game,
        options={},
        time_control=TimeControl(0, 0, 0, 0),
        seats=(),
        host_player_id="",
        access=replace(OPEN, removed_players=table.access.removed_players),
        created_milliseconds=table.created_milliseconds,
        updated_milliseconds=table.updated_milliseconds,
        version=table.hidden_version,
    )


def _kept(seat: Seat, *, is_host: bool) -> Seat:
    """Return a seat in the next revision: bots and the host stay ready, other players are not ready from now on."""
    if seat.bot:
        return seat
    return (
        replace(seat, client_seed=b"") if is_host else replace(unready(seat), unready_since=0, unready_milliseconds=0)
    )


def _renamed(seats: Sequence[Seat]) -> tuple[Seat, ...]:
    """Return seats whose bots have the names of their numbers, and whose players those that look like no other."""
    named = [replace(seat, name=bot_name(number)) if seat.bot else seat for number, seat in enumerate(seats)]
    for number, seat in enumerate(named):
        if seat.player_id:
            others = [other.name for other in (*named[:number], *named[number + 1 :]) if not other.is_free]
            bots = map(bot_name, range(len(named)))
            named[number] = replace(seat, name=distinct_name(seat.name, [*others, *bots]))
    return tuple(named)
