"""The seat of a player at a table, as they see it in the list of their tables."""

from typing import NamedTuple

from croupier.lobby.tables.engine_port import Turn
from croupier.lobby.tables.forming_table import Table, TableState


class MySeat(NamedTuple):
    """A player's own seat, with None for what is not known, or is not so before or after the game.

    `deadline` is in milliseconds since 1970 UTC, 0 if the seat is not to act.
    """

    seat: int
    is_to_act: bool | None = None
    deadline: int = 0
    is_away: bool | None = None


def my_seat(table: Table, player_id: str, turn: Turn | None) -> MySeat | None:
    """Return the seat of a player, None if they have none; `turn` is that of the game, None if it is not known."""
    number = table.seat_of(player_id)
    if number is None:
        return None
    if table.state in (TableState.FORMING, TableState.OPENING):
        return MySeat(number, is_away=table.seats[number].is_away)
    if table.state is not TableState.PLAYING or turn is None:
        return MySeat(number)
    is_to_act, is_away = (bool(seats >> number & 1) for seats in (turn.to_act, turn.away))
    return MySeat(number, is_to_act, turn.deadline if is_to_act else 0, is_away)
