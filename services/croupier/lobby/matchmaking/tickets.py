"""Tickets: requests to be matched, as plain values."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from croupier.lobby.accounts.players import Player
from croupier.lobby.tables.forming_table import FREE_SEAT, Table, TableState, TimeControl, seat_of_player
from croupier.runtime.table_access import OPEN

HEARTBEAT_TIMEOUT_SECONDS = 15
"""A ticket is matched only if its stream had a heartbeat within this time: its replica may have crashed.

A replica writes a heartbeat every 5 s by its own clock, and another compares it with its clock. Players who wait are
matched as long as these clocks differ by at most 5 s and the database answers within 5 s.
"""

MATCHED_RETENTION_SECONDS = 120
"""The time for which a matched ticket is kept after its delivery or the end of its table: clients repeat a request
whose answer was lost for a minute."""


@dataclass(frozen=True, slots=True)
class MatchCriteria:
    """The game and the number of seats that a player wants."""

    game: str
    seat_count: int


@dataclass(frozen=True, slots=True)
class Ticket:
    """A player's request to be matched; matched once `table_id` is set. Times are milliseconds since 1970 UTC.

    `request_id` and `network` are of the player's newest call, or empty. A ticket is delivered once a
    call was answered with the table, whether or not the answer arrived.
    """

    ticket_id: str
    player_id: str
    name: str
    criteria: MatchCriteria
    client_seed: bytes
    created_milliseconds: int
    table_id: str = ""
    request_id: str = ""
    is_delivered: bool = False
    network: str = ""


def choose(waiting: Sequence[Ticket], seat_count: int) -> list[Ticket]:
    """Return the tickets to seat at a table: of those in order of arrival the first one, and those of other networks.

    Players of one network may be one person, so they are seated together only if too few others wait.
    """
    of_network = Counter[str]()
    before: dict[str, int] = {}
    for ticket in waiting:
        before[ticket.ticket_id] = of_network[ticket.network]
        of_network[ticket.network] += 1
    chosen = sorted(waiting, key=lambda ticket: before[ticket.ticket_id])[:seat_count]
    return sorted(chosen, key=waiting.index)


def matched_table(table_id: str, time_control: TimeControl, now: int, tickets: Sequence[Ticket]) -> Table:
    """Return the table of tickets with equal criteria: PREPARING, all players ready, the first one as host.

    The network of the host pays for the entries of time-outs.
    """
    seats = [FREE_SEAT] * len(tickets)
    for number, ticket in enumerate(tickets):
        seat = seat_of_player(seats, Player(ticket.player_id, ticket.name))
        seats[number] = replace(seat, is_ready=True, client_seed=ticket.client_seed)
    return Table(
        table_id=table_id,
        state=TableState.PREPARING,
        game=tickets[0].criteria.game,
        options={},
        time_control=time_control,
        seats=tuple(seats),
        host_player_id=tickets[0].player_id,
        access=replace(OPEN, is_matched=True),
        created_milliseconds=now,
        updated_milliseconds=now,
        network=tickets[0].network,
    )
