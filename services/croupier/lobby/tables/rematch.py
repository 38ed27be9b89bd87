"""Play again: the table that follows a finished one, with its players and bots one seat further."""

from dataclasses import replace

from croupier.lobby.accounts.players import Player
from croupier.lobby.tables.forming_table import ENDED, Seat, Table, TableState, bot_seat, join
from croupier.runtime.errors import IllegalNow, NotPermitted
from croupier_api.v1 import errors_pb2


def check_finished(table: Table, player_id: str) -> None:
    """Raise IllegalNow unless the game of a table is over, NotPermitted for a player who had no seat."""
    if table.state is TableState.CLOSED:
        raise IllegalNow(errors_pb2.ERROR_REASON_TABLE_CLOSED, "the table is closed: choose another table")
    if table.seat_of(player_id) is None:
        raise NotPermitted(errors_pb2.ERROR_REASON_NOT_SEATED, "no seat at this table: choose another table")
    if table.state is not TableState.FINISHED:
        raise IllegalNow(errors_pb2.ERROR_REASON_TABLE_NOT_FINISHED, "the game is not over: wait for its end")


def next_table(finished: Table, host: Player, table_id: str, now: int, network: str) -> Table:
    """Return the table that follows a finished one, to be prepared; its host, who calls from a network, has a seat."""
    moved = (*finished.seats[-1:], *finished.seats[:-1])
    requested = Table(
        table_id=table_id,
        state=TableState.FORMING,
        game=finished.game,
        options=finished.options,
        time_control=finished.time_control,
        seats=tuple(
            bot_seat(number, seat.bot) if seat.bot else Seat(reserved_player_id=seat.player_id)
            for number, seat in enumerate(moved)
        ),
        host_player_id=host.player_id,
        access=replace(finished.access, is_matched=False),
        created_milliseconds=now,
        updated_milliseconds=now,
        network=network,
        previous_table_id=finished.table_id,
    )
    return join(requested, host)


def join_next(table: Table, player: Player) -> Table:
    """Take a seat of a next table; has no effect if the player has one, or if the table closed before its game."""
    is_settled = table.state is TableState.CLOSED or table.seat_of(player.player_id) is not None
    return table if is_settled else join(table, player)


def has_ended(table: Table, viewer_id: str) -> bool:
    """Return whether a viewer's stream of a table ends; players of a finished one wait for the next."""
    awaits_next = table.state is TableState.FINISHED and not table.next_table_id
    return table.state in ENDED and not (awaits_next and table.seat_of(viewer_id) is not None)
