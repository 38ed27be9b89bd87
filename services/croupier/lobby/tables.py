"""A table of the lobby as a frozen value, and who may do what with it.

A change gives a new value, or the same one where nothing is to be done, or raises a ServiceError and changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from croupier.lobby.players import Player
from croupier.runtime.errors import IllegalNow, MalformedRequest, NotPermitted


class TableState(StrEnum):
    """Where a table stands."""

    PREPARING = "PREPARING"
    """Matched, but not yet known to the engine; nobody sees it."""
    FORMING = "FORMING"
    OPENING = "OPENING"
    """Complete, and to be opened at the engine; shown as FORMING."""
    PLAYING = "PLAYING"
    FINISHED = "FINISHED"
    CLOSED = "CLOSED"


RUNNING = frozenset({TableState.PREPARING, TableState.FORMING, TableState.OPENING, TableState.PLAYING})
ENDED = frozenset({TableState.FINISHED, TableState.CLOSED})


@dataclass(frozen=True, slots=True)
class TableClock:
    """How much time there is for an action."""

    action_seconds: int
    reserve_seconds: int
    bot_delay_milliseconds: int = 0


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat: free, taken by a player, or by a computer player of kind `bot`."""

    player_id: str = ""
    name: str = ""
    bot: str = ""
    ready: bool = False
    client_seed: bytes = b""

    @property
    def free(self) -> bool:
        """Whether nobody sits there."""
        return not (self.player_id or self.bot)


FREE_SEAT = Seat()


@dataclass(frozen=True, slots=True)
class Table:
    """A table; times are milliseconds since 1970 UTC, `version` counts the changes."""

    table_id: str
    state: TableState
    game: str
    options: Mapping[str, str]
    clock: TableClock
    seats: tuple[Seat, ...]
    host_player_id: str
    private: bool
    invite_code: str
    commitment: str
    created_milliseconds: int
    touched_milliseconds: int
    version: int = 1

    def seat_of(self, player_id: str) -> int | None:
        """The number of a player's seat, or None."""
        return next((number for number, seat in enumerate(self.seats) if seat.player_id == player_id), None)

    def is_shown_to(self, player_id: str) -> bool:
        """Whether a player may know of it by its id."""
        if self.state is TableState.PREPARING:
            return False
        return not self.private or self.seat_of(player_id) is not None


def join(table: Table, player: Player) -> Table:
    """Take the first free seat; nothing changes for one who sits there already."""
    if table.seat_of(player.player_id) is not None and table.state not in ENDED:
        return table
    _must_form(table)
    return _seated(table, _first_free(table), Seat(player.player_id, player.name))


def leave(table: Table, player_id: str) -> Table:
    """Give up a seat: the next player becomes host, and a table without players closes."""
    number = table.seat_of(player_id)
    if number is None or table.state is TableState.CLOSED:
        return table
    _must_form(table)
    left = _seated(table, number, FREE_SEAT)
    players = [seat.player_id for seat in (*left.seats[number:], *left.seats[:number]) if seat.player_id]
    if not players:
        return closed(left)
    return replace(left, host_player_id=players[0]) if table.host_player_id == player_id else left


def set_ready(table: Table, player_id: str, ready: bool, client_seed: bytes) -> Table:
    """Say whether one is ready; the last seat to get ready makes the table OPENING."""
    number = table.seat_of(player_id)
    if number is None:
        raise NotPermitted("NOT_SEATED", "only those who sit at the table get ready: join it first")
    if ready and table.state in (TableState.OPENING, TableState.PLAYING):
        return table
    _must_form(table)
    seed = client_seed if ready else b""
    return _complete(_seated(table, number, replace(table.seats[number], ready=ready, client_seed=seed)))


def add_bot(table: Table, player_id: str, bot: str, number: int | None = None) -> Table:
    """Fill a seat, the first free one unless it is named, with a computer player, who is always ready.

    Nothing changes if such a computer player has the named seat: a host whose answer got lost asks again.
    """
    _must_host(table, player_id)
    if number is not None:
        _must_have(table, number)
        if table.seats[number].bot == bot and table.state not in ENDED:
            return table
    _must_form(table)
    number = _first_free(table) if number is None else number
    if not table.seats[number].free:
        raise IllegalNow("SEAT_TAKEN", f"seat {number} of the table is taken: choose another seat")
    return _complete(_seated(table, number, Seat(name=f"Bot {number + 1}", bot=bot, ready=True)))


def remove_seat(table: Table, player_id: str, number: int) -> Table:
    """Free a seat, but not the host's own; nothing changes if it is free."""
    _must_host(table, player_id)
    _must_form(table)
    _must_have(table, number)
    if table.seats[number].player_id == player_id:
        raise IllegalNow("OWN_SEAT", "the host's own seat cannot be removed: leave the table instead")
    return _seated(table, number, FREE_SEAT)


def closed(table: Table) -> Table:
    """The table without a game."""
    return replace(table, state=TableState.CLOSED)


def _complete(table: Table) -> Table:
    ready = all(seat.ready and not seat.free for seat in table.seats)
    return replace(table, state=TableState.OPENING) if ready else table


def _seated(table: Table, number: int, seat: Seat) -> Table:
    return replace(table, seats=(*table.seats[:number], seat, *table.seats[number + 1 :]))


def _first_free(table: Table) -> int:
    for number, seat in enumerate(table.seats):
        if seat.free:
            return number
    raise IllegalNow("TABLE_FULL", "every seat of the table is taken: choose another table")


def _must_have(table: Table, number: int) -> None:
    if number >= len(table.seats):
        raise MalformedRequest("SEAT", f"seat is {number}: 0 to {len(table.seats) - 1} are at this table", field="seat")


def _must_host(table: Table, player_id: str) -> None:
    if table.host_player_id != player_id:
        raise NotPermitted("NOT_HOST", "only the host of the table may do this")


def _must_form(table: Table) -> None:
    match table.state:
        case TableState.FORMING:
            return
        case TableState.FINISHED:
            raise IllegalNow("TABLE_FINISHED", "the game at this table is over: choose another table")
        case TableState.CLOSED:
            raise IllegalNow("TABLE_CLOSED", "the table has closed: choose another table")
        case _:
            raise IllegalNow("TABLE_STARTED", "the game at this table has begun: seats cannot be changed any more")
