"""Tickets: wishes to be matched, as plain values."""

from collections.abc import Sequence
from dataclasses import dataclass

from croupier.lobby.tables import Seat, Table, TableClock, TableState

ATTENDED_SECONDS = 15
"""A ticket is matched only if a stream waited on it within this time: it may have been left by a crash.

Waiting is noted every 5 s by the clock of one replica and judged by that of another. While their clocks differ by no
more than 5 s, and the database answers within 5 s, nobody who waits is passed over.
"""

MATCHED_SECONDS = 120
"""A matched ticket is kept for so long after its table was told or has ended: clients ask for a minute for an answer
that was lost on its way."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A game, and a number of seats."""

    game: str
    seats: int


@dataclass(frozen=True, slots=True)
class Ticket:
    """A player's wish; matched once `table_id` is set. Times are milliseconds since 1970 UTC.

    `request_id` is the name that the player's newest call gave it, or empty; `told`, that a call was answered with the
    table, which does not mean that the answer arrived.
    """

    ticket_id: str
    player_id: str
    name: str
    wish: Wish
    client_seed: bytes
    created_milliseconds: int
    table_id: str = ""
    request_id: str = ""
    told: bool = False

    def is_asked_again_by(self, wanted: "Ticket") -> bool:
        """Whether somebody, whose answer may be lost, calls once more for the same."""
        return bool(self.request_id) and self.request_id == wanted.request_id


def matched_table(table_id: str, clock: TableClock, now: int, tickets: Sequence[Ticket]) -> Table:
    """The table of tickets for the same wish: all are ready, the first is host, and the engine is still to be told."""
    wish = tickets[0].wish
    return Table(
        table_id=table_id,
        state=TableState.PREPARING,
        game=wish.game,
        options={},
        clock=clock,
        seats=tuple(Seat(ticket.player_id, ticket.name, "", True, ticket.client_seed) for ticket in tickets),
        host_player_id=tickets[0].player_id,
        private=False,
        invite_code="",
        commitment="",
        created_milliseconds=now,
        touched_milliseconds=now,
    )
