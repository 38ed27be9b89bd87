"""A table that a player requests, before the engine prepares it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from croupier.lobby.accounts.players import Player
from croupier.lobby.tables.forming_table import OptionValue, Table, TableState, TimeControl, first_seats
from croupier.lobby.tables.games import GameRegistry
from croupier.runtime.errors import invalid_field
from croupier.runtime.table_access import TableAccess


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table to create; the time control is complete, the options are those that differ from the defaults.

    `bots` are the kinds on the seats after that of the host, empty ones for the first. After so many seconds bots
    take the free seats, by default never.
    """

    game: str
    seat_count: int
    options: Mapping[str, OptionValue]
    time_control: TimeControl
    access: TableAccess
    bots: Sequence[str] = ()
    is_ready: bool = False
    bots_after_seconds: int | None = None


async def chosen_bots(games: GameRegistry, spec: TableSpec) -> list[str]:
    """Return the kinds of bots of a table; raises MalformedRequest if the game does not have them or so many seats."""
    await games.check_seat_count(spec.game, spec.seat_count)
    if len(spec.bots) >= spec.seat_count:
        most = spec.seat_count - 1
        raise invalid_field("bots", f"invalid number of bots {len(spec.bots)}: expected at most {most}")
    if spec.bots_after_seconds is not None:
        # It refuses games that have none.
        await games.choose_bot(spec.game, "")
    return [await games.choose_bot(spec.game, bot, "bots") for bot in spec.bots]


def requested_table(host: Player, spec: TableSpec, bots: Sequence[str], table_id: str, now: int, network: str) -> Table:
    """Return the table that a host, who calls from a network, requests at a time."""
    return Table(
        table_id=table_id,
        state=TableState.FORMING,
        game=spec.game,
        options=spec.options,
        time_control=spec.time_control,
        seats=first_seats(host, spec.seat_count, bots, spec.is_ready),
        host_player_id=host.player_id,
        access=spec.access,
        created_milliseconds=now,
        updated_milliseconds=now,
        network=network,
        bots_at_milliseconds=None if spec.bots_after_seconds is None else now + spec.bots_after_seconds * 1000,
    )
