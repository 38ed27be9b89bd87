"""What each stored change adds to a table: its version, the rate of its changes, and since when players are not ready.

A player who has a seat at a forming table keeps it from others. So a seat at a public table falls free if its player
is not ready for two minutes in all, not counting the time before another player's change made them get ready again.
The host keeps the seat. A reserved seat falls free a minute after the table was created.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from croupier.lobby.tables.forming_table import (
    FREE_SEAT,
    Seat,
    Table,
    TableState,
    with_absent_unready,
    with_bots,
)
from croupier.runtime.errors import LimitReached
from croupier_api.v1 import errors_pb2

IDLE_MILLISECONDS = 120_000
RESERVED_MILLISECONDS = 60_000


class ChangeRate(NamedTuple):
    """So many changes at once, and one in `milliseconds` in the long run."""

    burst: int
    milliseconds: int


OF_PLAYER, OF_TABLE = ChangeRate(20, 500), ChangeRate(60, 200)
"""Eight players who join at once, and get ready again after each, make 44 changes. The limit of the table does not bind
its host, so that others cannot keep them from freeing a seat."""
_TABLE = ""
"""The key of the table among the ids of players."""


class FormingLifetime(NamedTuple):
    """The time in which a public table forms without a change, and that in which any table forms, in milliseconds."""

    idle_milliseconds: int
    max_milliseconds: int

    def closes_at(self, table: Table) -> int | None:
        """Return when a table closes if nobody changes it, in milliseconds since 1970 UTC; None unless it forms."""
        if table.state is not TableState.FORMING:
            return None
        last = table.created_milliseconds + self.max_milliseconds
        return min(last, table.updated_milliseconds + self.idle_milliseconds) if table.access.is_public else last


def next_version(table: Table, changed: Table, now: int, player_id: str) -> Table:
    """Return a changed table as it is to be stored at a time; `player_id` is empty for a change by no player.

    Raises LimitReached if the player, or all players together, change the table too often.
    """
    # Replicas' clocks may differ: the time of a table's update never decreases.
    now = max(now, table.updated_milliseconds)
    was = {seat.player_id: seat for seat in table.seats if seat.player_id}
    return replace(
        changed,
        version=table.version + 1,
        updated_milliseconds=now,
        seats=tuple(_timed(was.get(seat.player_id), seat, now, player_id) for seat in changed.seats),
        changes=_counted(table, now, player_id) if player_id else table.changes,
    )


def frees_at(table: Table) -> int | None:
    """Return the time at which a seat falls free, in milliseconds since 1970 UTC; None if none does."""
    return min((time for seat in table.seats if (time := _frees_at(table, seat))), default=None)


def without_idle_players(table: Table, now: int) -> Table:
    """Return a table without the players and reservations whose seats have fallen free; the others stay ready."""
    return replace(table, seats=tuple(_freed(table, seat, now) for seat in table.seats))


def without_reservations(table: Table, now: int) -> Table:
    """Return a table without the reservations that have ended; housekeeping may not have removed them yet."""
    seats = (_freed(table, seat, now) if seat.reserved_player_id else seat for seat in table.seats)
    return replace(table, seats=tuple(seats))


def bots_due_at(table: Table) -> int | None:
    """Return the time at which bots take the free seats; None for never, and while a player is not ready."""
    is_ready = table.state is TableState.FORMING and all(seat.is_free or seat.is_ready for seat in table.seats)
    return table.bots_at_milliseconds if is_ready else None


def seats_due_at(table: Table) -> int | None:
    """Return the time at which a seat falls free or gets a bot, None without one."""
    return min((due for due in (frees_at(table), bots_due_at(table)) if due is not None), default=None)


def with_due_bots(table: Table, bot: str, seen: Mapping[str, int], since: int, now: int) -> Table:
    """Return a table with bots of a kind on its free seats if it is time for them; then it is OPENING.

    Players who were not seen since a time are not ready instead; `seen` has a time for each player who was seen.
    """
    due = bots_due_at(table)
    if due is None or due > now:
        return table
    there = with_absent_unready(table, seen, since)
    return with_bots(table, bot) if there == table else there


def _freed(table: Table, seat: Seat, now: int) -> Seat:
    return FREE_SEAT if 0 < _frees_at(table, seat) <= now else seat


def _frees_at(table: Table, seat: Seat) -> int:
    """Return the time at which a seat falls free, 0 if it does not."""
    if table.state is not TableState.FORMING:
        return 0
    if seat.reserved_player_id:
        return table.created_milliseconds + RESERVED_MILLISECONDS
    if not table.access.is_public or not seat.unready_since or seat.player_id == table.host_player_id:
        return 0
    return seat.unready_since + IDLE_MILLISECONDS - seat.unready_milliseconds


def _timed(was: Seat | None, seat: Seat, now: int, player_id: str) -> Seat:
    """Return a seat with the times of its player, who had the seat `was` before."""
    if not seat.player_id:
        return seat
    if was is not None and (was.is_ready, was.unready_since) == (seat.is_ready, seat.unready_since):
        return seat
    if not seat.is_ready:
        spent = seat.unready_milliseconds if seat.player_id == player_id else 0
        return replace(seat, unready_since=now, unready_milliseconds=spent)
    spent = now - seat.unready_since if seat.unready_since else 0
    return replace(seat, unready_since=0, unready_milliseconds=seat.unready_milliseconds + spent)


def _counted(table: Table, now: int, player_id: str) -> Mapping[str, int]:
    """Return the times at which each bucket is full, with one more change of a player; raises LimitReached."""
    full_at = {key: time for key, time in table.changes.items() if time > now}
    for key, rate, is_bound in (
        (player_id, OF_PLAYER, True),
        (_TABLE, OF_TABLE, player_id != table.host_player_id),
    ):
        wait = full_at.get(key, now) - now - (rate.burst - 1) * rate.milliseconds
        if is_bound and wait > 0:
            raise LimitReached(
                errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS,
                f"too many changes: expected at most {1000 // rate.milliseconds} per second at one table",
                retry_after_seconds=wait / 1000,
                metadata={"limit": "table_changes"},
            )
        full_at[key] = full_at.get(key, now) + rate.milliseconds
    return full_at
