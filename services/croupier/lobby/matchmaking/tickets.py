"""Tickets: requests to be matched, as plain values."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from croupier.lobby.accounts.players import Player
from croupier.lobby.tables.engine_port import Preset
from croupier.lobby.tables.forming_table import FREE_SEAT, Table, TableState, bot_seat, seat_of_player
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
    """The game, the number of seats and the preset that a player wants; without a preset all is as by default."""

    game: str
    seat_count: int
    preset: str = ""


class Waiting(NamedTuple):
    """The number of players who wait with the same criteria, and whether one of them waits for bots by now."""

    players: int
    is_bot_due: bool = False


@dataclass(frozen=True, slots=True)
class Ticket:
    """A player's request to be matched; matched once `table_id` is set. Times are milliseconds since 1970 UTC.

    `request_id`, `network` and `bots_after_seconds` are of the player's newest call, or empty; so many seconds after
    the first one bots may take the place of players. A ticket is delivered once a call was answered with the table,
    whether or not the answer arrived.
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
    bots_after_seconds: int | None = None


def choose(waiting: Sequence[Ticket], seat_count: int, is_bot_due: bool = False) -> list[Ticket]:
    """Return the tickets to seat at a table: of those in order of arrival the first one, and those of other networks.

    Players of one network may be one person, so they are seated together only if too few others wait. If too few wait
    in all, these are the players who allow bots as soon as one of them waits for bots, and none before.
    """
    if len(waiting) < seat_count:
        return [ticket for ticket in waiting if is_bot_due and ticket.bots_after_seconds is not None]
    of_network = Counter[str]()
    before: dict[str, int] = {}
    for ticket in waiting:
        before[ticket.ticket_id] = of_network[ticket.network]
        of_network[ticket.network] += 1
    chosen = sorted(waiting, key=lambda ticket: before[ticket.ticket_id])[:seat_count]
    return sorted(chosen, key=waiting.index)


def matched_table(table_id: str, preset: Preset, bot: str, now: int, tickets: Sequence[Ticket]) -> Table:
    """Return the table of tickets with equal criteria: PREPARING, all players ready, the first one as host.

    Bots of a kind have the seats after those of the players. The network of the host pays for the entries of bots and
    time-outs.
    """
    criteria = tickets[0].criteria
    seats = [FREE_SEAT] * criteria.seat_count
    for number, ticket in enumerate(tickets):
        seat = seat_of_player(seats, Player(ticket.player_id, ticket.name))
        seats[number] = replace(seat, is_ready=True, client_seed=ticket.client_seed)
    for number in range(len(tickets), criteria.seat_count):
        seats[number] = bot_seat(number, bot)
    return Table(
        table_id=table_id,
        state=TableState.PREPARING,
        game=criteria.game,
        options=preset.options,
        time_control=preset.time_control,
        seats=tuple(seats),
        host_player_id=tickets[0].player_id,
        access=replace(OPEN, is_matched=True),
        created_milliseconds=now,
        updated_milliseconds=now,
        network=tickets[0].network,
    )
