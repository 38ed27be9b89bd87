"""The players of a demonstration: clients that sign in, form their tables and play them to the end, all on record."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from math import ceil
from random import Random
from typing import TypeAlias

from google.protobuf.duration_pb2 import Duration

from croupier.cli.bot_player import BotPlayer
from croupier.cli.faults import CommandFault
from croupier.games.interface import OptionValue
from croupier_api.v1 import engine_pb2, tables_pb2
from croupier_client.aio_table import AsyncTable
from croupier_client.endpoints import Endpoints
from croupier_client.errors import CroupierError, StaleSequence
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.measures import Measures
from croupier_loadtest.players.client import Connections, PlayerClient
from croupier_loadtest.players.forming import OPENING_SECONDS, open_table
from croupier_loadtest.players.leaving import read_replay_and_sheet
from croupier_loadtest.players.table import read_again
from croupier_loadtest.record import DescribedGame, ReportedViolation, SeatRecord, TableRecord

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jana")
SIGN_INS_AT_ONCE = 8
SHEET_SECONDS = 60.0
MOVE_SECONDS = 300.0
STREAMS_OF_A_CONNECTION = 40
TIME_CONTROL = tables_pb2.TimeControl(action_time=Duration(seconds=120), reserve_time=Duration(seconds=60))
Group: TypeAlias = Sequence[PlayerClient]
"""The players of one table, in the order of their seats."""
Show: TypeAlias = Callable[[Sequence[AsyncTable], engine_pb2.TableUpdate], None]
"""Receives every entry of every table's log, with the table as each seat knows it."""


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """Tables of one game with the same options, and players of their own. Tables count from 1, seats from 0."""

    game: str
    seats: int
    tables: int
    options: Mapping[str, OptionValue]
    seed: str = field(repr=False)

    def device_secret(self, table: int, seat: int) -> str:
        """Return the secret of a player's device."""
        return self._drawn("device", table, seat).hex()

    def client_seed(self, table: int, seat: int) -> bytes:
        """Return the bytes that a player adds to the shuffles, 32 of them."""
        return self._drawn("shuffle", table, seat)

    def decisions(self, table: int, seat: int) -> Random:
        """Return the random source of a player's decisions."""
        return Random(self._drawn("decisions", table, seat))

    def player_name(self, table: int, seat: int) -> str:
        """Return the name to show."""
        name = NAMES[seat % len(NAMES)]
        return name if self.tables == 1 else f"{name} {table}"

    def _drawn(self, what: str, table: int, seat: int) -> bytes:
        return hashlib.sha256(f"{self.seed}/{self.game}/{what}/{table}/{seat}".encode()).digest()


@asynccontextmanager
async def signed_in(plan: DemoPlan, endpoints: Endpoints) -> AsyncIterator[list[Group]]:
    """Sign in the players of all tables, a few at a time, and close their connections at the end."""
    few, measures = asyncio.Semaphore(SIGN_INS_AT_ONCE), Measures()
    connections = Connections(endpoints, ceil(plan.tables * plan.seats / STREAMS_OF_A_CONNECTION))

    async def player(table: int, seat: int) -> PlayerClient:
        secret, name = plan.device_secret(table, seat), plan.player_name(table, seat)
        client = PlayerClient(connections, secret, name, measures, asyncio.sleep)
        async with few:
            await client.sign_in()
        return client

    async def group(table: int) -> Group:
        return await asyncio.gather(*(player(table, seat) for seat in range(plan.seats)))

    try:
        yield await asyncio.gather(*(group(table) for table in range(1, plan.tables + 1)))
    finally:
        await connections.close()


async def play_table(plan: DemoPlan, described: DescribedGame, number: int, group: Group, show: Show) -> TableRecord:
    """Form a table, play it, and read its results; raises CroupierError if it cannot be formed.

    A table that cannot be played to its end is reported in its record.
    """
    seeds = [plan.client_seed(number, seat) for seat in range(plan.seats)]
    created = await group[0].create_table(
        game=plan.game, seat_count=plan.seats, options=plan.options, time_control=TIME_CONTROL
    )
    table_id = created.table.table_id
    formed = await open_table(table_id, [*zip(group, seeds, strict=True)])
    if formed is None:
        raise CommandFault(f"table {table_id} was not opened within {OPENING_SECONDS:g} seconds")
    record = TableRecord(table_id, formed.game, len(formed.seats), formed.seed_commitment, described)
    for client, seed in zip(group, seeds, strict=True):
        assert client.player is not None
        record.viewers.append(SeatRecord(client.player.player_id, client_seed=seed))
    try:
        await _play(plan, number, group, record, show)
        record.is_finished = True
        for client, viewer in zip(group, record.viewers, strict=True):
            await read_again(client, table_id, viewer)
        await read_replay_and_sheet(group[0], record, SHEET_SECONDS)
    except CroupierError as error:
        record.viewers[0].reported.append(
            ReportedViolation(Invariant.TABLE_STUCK, 0, f"a player cannot go on: {error}")
        )
    return record


async def _play(plan: DemoPlan, number: int, group: Group, record: TableRecord, show: Show) -> None:
    async with AsyncExitStack() as stack:
        seats = zip(group, record.viewers, strict=True)
        tables = [
            await stack.enter_async_context(client.recorded_table(record.table_id, viewer)) for client, viewer in seats
        ]
        players = [BotPlayer(at.table, plan.decisions(number, seat)) for seat, at in enumerate(tables)]
        seated = zip(tables, players, strict=True)
        await asyncio.gather(_watch(tables, show), *(play_seat(*at) for at in seated))


async def _watch(tables: Sequence[AsyncTable], show: Show) -> None:
    async for event in tables[0]:
        if isinstance(event, engine_pb2.TableUpdate):
            show(tables, event)


async def play_seat(table: AsyncTable, player: BotPlayer) -> None:
    """Play one seat to the end of the game; raises CroupierError."""
    while await table.wait_for_turn(timeout_seconds=MOVE_SECONDS):
        if table.seat != min(table.view.seats_to_act):
            # Several may act: they do so in the order of seats, so that the same seed yields the same log.
            await table.wait_for_change(timeout_seconds=MOVE_SECONDS)
            continue
        try:
            await table.submit_action(player.decide(table), expected_sequence=table.sequence)
        except StaleSequence:
            continue
