"""A table of the lobby as a frozen value, and the rules for changing it.

Each change returns a new value, or the same one if it has no effect, or raises a ServiceError. Players are ready for a
game with those whom they see at the table: a change of its seats resets the readiness of all other players.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from croupier.lobby.accounts.names import bot_name, distinct_name
from croupier.lobby.accounts.players import Player
from croupier.runtime.errors import IllegalNow, NotPermitted, invalid_field
from croupier.runtime.table_access import MAX_REMOVED_PLAYERS, TableAccess, unknown_table
from croupier_api.v1 import errors_pb2

OptionValue = bool | int | str


class TableState(StrEnum):
    """The stages of a table."""

    PREPARING = "PREPARING"
    """Matched, but not yet prepared by the engine; invisible."""
    FORMING = "FORMING"
    OPENING = "OPENING"
    """Complete, but not yet open at the engine; shown as FORMING."""
    PLAYING = "PLAYING"
    FINISHED = "FINISHED"
    CLOSED = "CLOSED"


RUNNING = frozenset({TableState.PREPARING, TableState.FORMING, TableState.OPENING, TableState.PLAYING})
ENDED = frozenset({TableState.FINISHED, TableState.CLOSED})


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The time of the seats for their actions."""

    action_seconds: int
    reserve_seconds: int
    bot_delay_milliseconds: int
    away_seconds: int = 3


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat: free, taken by a player, or by a bot of kind `bot`, or reserved for a player.

    A player is not ready since `unready_since` (milliseconds since 1970 UTC), and was not before, for
    `unready_milliseconds`.
    """

    player_id: str = ""
    name: str = ""
    bot: str = ""
    is_ready: bool = False
    client_seed: bytes = b""
    is_away: bool = False
    unready_since: int = 0
    unready_milliseconds: int = 0
    reserved_player_id: str = ""

    @property
    def is_free(self) -> bool:
        """Whether the seat has neither player nor bot, and is not reserved."""
        return not (self.player_id or self.bot or self.reserved_player_id)


FREE_SEAT = Seat()


@dataclass(frozen=True, slots=True)
class Table:
    """A table; times are milliseconds since 1970 UTC, teams are groups of seats, `version` counts the changes.

    `network` is that of the player who created it; empty if it is not known, or after the end. `changes` has the rates
    of changes: when a player, or all of them, may make as many at once as ever. `revision` counts the changes by its
    host, each of which the engine prepared. `hidden_version` is the version with which it ceased to be public; 0 if it
    is public or never was. From `bots_at_milliseconds` on bots take free seats.
    """

    table_id: str
    state: TableState
    game: str
    options: Mapping[str, OptionValue]
    time_control: TimeControl
    seats: tuple[Seat, ...]
    host_player_id: str
    access: TableAccess
    created_milliseconds: int
    updated_milliseconds: int
    invite_code: str = ""
    seed_commitment: str = ""
    rules_version: int = 0
    teams: tuple[tuple[int, ...], ...] = ()
    network: str = ""
    version: int = 1
    bots_at_milliseconds: int | None = None
    changes: Mapping[str, int] = field(default_factory=dict)
    previous_table_id: str = ""
    next_table_id: str = ""
    revision: int = 0
    hidden_version: int = 0

    @property
    def is_running(self) -> bool:
        """Whether the table has not ended."""
        return self.state in RUNNING

    def seat_of(self, player_id: str) -> int | None:
        """Return the number of a player's seat, or None."""
        return next((number for number, seat in enumerate(self.seats) if seat.player_id == player_id), None)

    def seat_reserved_for(self, player_id: str) -> int | None:
        """Return the number of the seat that is reserved for a player, or None."""
        return next((number for number, seat in enumerate(self.seats) if seat.reserved_player_id == player_id), None)

    def is_shown_to(self, player_id: str) -> bool:
        """Return whether a player may see the table by its id."""
        if self.state is TableState.PREPARING or self.access.is_removed(player_id):
            return False
        has_seat = self.seat_of(player_id) is not None or self.seat_reserved_for(player_id) is not None
        return self.access.is_public or has_seat


def players_of(table: Table) -> set[str]:
    """Return the ids of the players at a table."""
    return {seat.player_id for seat in table.seats if seat.player_id}


def seat_of_player(seats: Sequence[Seat], player: Player) -> Seat:
    """Return a seat for a player, whose name looks like that of no other seat, and of no bot that may follow."""
    others = [*(seat.name for seat in seats if not seat.is_free), *map(bot_name, range(len(seats)))]
    return Seat(player.player_id, distinct_name(player.name, others))


def bot_seat(number: int, bot: str) -> Seat:
    """Return a seat with a bot, which is always ready."""
    return Seat(name=bot_name(number), bot=bot, is_ready=True)


def first_seats(host: Player, count: int, bots: Sequence[str], is_ready: bool) -> tuple[Seat, ...]:
    """Return the seats of a new table: the host, bots of some kinds, and free ones."""
    first = replace(seat_of_player([FREE_SEAT] * count, host), is_ready=is_ready)
    filled = (bot_seat(number, bot) for number, bot in enumerate(bots, start=1))
    return (first, *filled, *[FREE_SEAT] * (count - 1 - len(bots)))


def join(table: Table, player: Player, number: int | None = None) -> Table:
    """Take a seat, by default the one that is reserved for a player, or else the first free one; or move there.

    Has no effect for a player who has that seat, or any seat if none is given. Refuses players whom the host removed.
    """
    if table.access.is_removed(player.player_id):
        raise unknown_table()
    if number is not None:
        _check_seat(table, number)
    own, reserved = table.seat_of(player.player_id), table.seat_reserved_for(player.player_id)
    if own is not None and number in (None, own) and table.state not in ENDED:
        return table
    check_forming(table)
    seat = seat_of_player(table.seats, player) if own is None else table.seats[own]
    if reserved is not None and number in (None, reserved):
        # The others got ready for a game with this player.
        return _with_seat(table, reserved, seat)
    number = _first_free(table) if number is None else number
    _check_free(table, number)
    left = reserved if own is None else own
    taken = _reseated(table, number, seat, player.player_id)
    return taken if left is None else _with_seat(taken, left, FREE_SEAT)


def leave(table: Table, player_id: str) -> Table:
    """Give up a seat, or one that is reserved: the next player becomes host, and a table without players closes."""
    if table.state is TableState.CLOSED:
        return table
    if (reserved := table.seat_reserved_for(player_id)) is not None:
        return _with_seat(table, reserved, FREE_SEAT)
    if (number := table.seat_of(player_id)) is None:
        return table
    check_forming(table)
    left = _reseated(table, number, FREE_SEAT, player_id)
    seats = [seat for seat in (*left.seats[number:], *left.seats[:number]) if seat.player_id]
    if not seats:
        return closed(left)
    next_host = next((seat for seat in seats if not seat.is_away), seats[0])
    return replace(left, host_player_id=next_host.player_id) if table.host_player_id == player_id else left


def set_ready(table: Table, player_id: str, is_ready: bool, client_seed: bytes) -> Table:
    """Set whether a player is ready; the last one makes the table OPENING."""
    number = table.seat_of(player_id)
    if number is None:
        raise NotPermitted(errors_pb2.ERROR_REASON_NOT_SEATED, "no seat at this table: join it first")
    if is_ready and table.state in (TableState.OPENING, TableState.PLAYING):
        return table
    check_forming(table)
    seed = client_seed if is_ready else b""
    return opening_if_complete(
        _with_seat(table, number, replace(table.seats[number], is_ready=is_ready, client_seed=seed))
    )


def add_bot(table: Table, player_id: str, bot: str, number: int | None = None) -> Table:
    """Fill a seat, by default the first free one, with a bot, which is always ready.

    Has no effect if the given seat has such a bot: the host repeats a call whose answer was lost.
    """
    check_host(table, player_id)
    if number is not None:
        _check_seat(table, number)
        if table.seats[number].bot == bot and table.state not in ENDED:
            return table
    check_forming(table)
    number = _first_free(table) if number is None else number
    _check_free(table, number)
    return opening_if_complete(_reseated(table, number, bot_seat(number, bot), player_id))


def with_bots(table: Table, bot: str) -> Table:
    """Fill all free seats with bots of a kind. Others stay ready: the table was created so."""
    seats = (bot_seat(number, bot) if seat.is_free else seat for number, seat in enumerate(table.seats))
    return opening_if_complete(replace(table, seats=tuple(seats)))


def clear_seat(table: Table, player_id: str, number: int, *, block: bool = False, invite_code: str = "") -> Table:
    """Free a seat other than the host's own; has no effect if it is free.

    With `block` a player who had it, or for whom it was reserved, loses access, and the given invite code replaces the
    one that they know.
    """
    check_host(table, player_id)
    check_forming(table)
    _check_seat(table, number)
    if table.seats[number].player_id == player_id:
        raise IllegalNow(errors_pb2.ERROR_REASON_HOST_SEAT, "the host's own seat cannot be cleared: leave the table")
    if table.seats[number].is_free:
        return table
    freed = _reseated(table, number, FREE_SEAT, player_id)
    removed = table.seats[number].player_id or table.seats[number].reserved_player_id
    if not block or not removed:
        return freed
    access = replace(table.access, removed_players=(*table.access.removed_players, removed)[-MAX_REMOVED_PLAYERS:])
    return replace(freed, access=access, invite_code=invite_code)


def renamed(table: Table, player: Player) -> Table:
    """Give a player's seat at a forming table their name, with a number after it if another seat's looks the same."""
    number = table.seat_of(player.player_id)
    if number is None or table.state is not TableState.FORMING:
        return table
    others = (*table.seats[:number], FREE_SEAT, *table.seats[number + 1 :])
    return _with_seat(table, number, replace(table.seats[number], name=seat_of_player(others, player).name))


def without_player(table: Table, player_id: str) -> Table:
    """Remove a deleted player: their seat at a forming table, their name at any other.

    A table that is being opened stays as it is, because the engine may have it already, with these seats.
    """
    number = table.seat_of(player_id)
    if number is None or table.state is TableState.OPENING:
        return table
    if table.state is TableState.FORMING:
        return leave(table, player_id)
    return _with_seat(table, number, replace(table.seats[number], name=""))


def with_presence(table: Table, seen: Mapping[str, int], since: int) -> Table:
    """Mark the players of a forming table who were not seen since a time; `seen` has a time for each player.

    They are not ready. The host is then the player who was seen last, unless the host is there. A table where nobody is
    stays as it is.
    """
    if table.state is not TableState.FORMING:
        return table
    present = {player: time for player, time in seen.items() if time >= since and table.seat_of(player) is not None}
    if not present:
        return table
    seats = tuple(
        replace(seat if seat.player_id in present else unready(seat), is_away=seat.player_id not in present)
        if seat.player_id
        else seat
        for seat in table.seats
    )
    is_host_there = table.host_player_id in present
    host = table.host_player_id if is_host_there else max(present, key=lambda player: (present[player], player))
    return replace(table, seats=seats, host_player_id=host)


def with_absent_unready(table: Table, seen: Mapping[str, int], since: int) -> Table:
    """Return a table where players are not ready who were not seen since a time, also if nobody is there."""
    seats = (unready(seat) if seat.player_id and seen.get(seat.player_id, 0) < since else seat for seat in table.seats)
    return replace(table, seats=tuple(seats))


def unready(seat: Seat) -> Seat:
    """Return a seat whose player is not ready."""
    return replace(seat, is_ready=False, client_seed=b"")


def closed(table: Table) -> Table:
    """Return the table as CLOSED."""
    return replace(table, state=TableState.CLOSED)


def opening_if_complete(table: Table) -> Table:
    """Return a forming table as OPENING if all its seats are taken and ready."""
    is_complete = all(seat.is_ready and not seat.is_free for seat in table.seats)
    return replace(table, state=TableState.OPENING) if is_complete else table


def _reseated(table: Table, number: int, seat: Seat, actor_id: str) -> Table:
    """Return the table with another occupant of a seat, for which all players but the actor have to get ready again."""
    kept = (other if other.bot or other.player_id == actor_id else unready(other) for other in table.seats)
    return _with_seat(replace(table, seats=tuple(kept)), number, seat)


def _with_seat(table: Table, number: int, seat: Seat) -> Table:
    return replace(table, seats=(*table.seats[:number], seat, *table.seats[number + 1 :]))


def _first_free(table: Table) -> int:
    for number, seat in enumerate(table.seats):
        if seat.is_free:
            return number
    raise IllegalNow(errors_pb2.ERROR_REASON_TABLE_FULL, "every seat is taken or reserved: choose another table")


def _check_free(table: Table, number: int) -> None:
    if not table.seats[number].is_free:
        raise IllegalNow(errors_pb2.ERROR_REASON_SEAT_TAKEN, f"seat {number} is taken or reserved: choose another seat")


def _check_seat(table: Table, number: int) -> None:
    if number >= len(table.seats):
        raise invalid_field("seat", f"invalid seat {number}: expected 0 to {len(table.seats) - 1}")


def check_host(table: Table, player_id: str) -> None:
    """Raise NotPermitted unless a player is the host."""
    if table.host_player_id != player_id:
        raise NotPermitted(errors_pb2.ERROR_REASON_NOT_HOST, "only the host of the table may do this")


def check_forming(table: Table) -> None:
    """Raise IllegalNow unless the table forms."""
    match table.state:
        case TableState.FORMING:
            return
        case TableState.FINISHED:
            raise IllegalNow(errors_pb2.ERROR_REASON_TABLE_FINISHED, "the game is over: choose another table")
        case TableState.CLOSED:
            raise IllegalNow(errors_pb2.ERROR_REASON_TABLE_CLOSED, "the table is closed: choose another table")
        case _:
            raise IllegalNow(errors_pb2.ERROR_REASON_TABLE_STARTED, "the game has begun: its seats no longer change")
