"""The players of a demonstration: clients that sign in, form their tables and play them to the end."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from croupier.cli.bot_player import BotPlayer
from croupier.cli.demo_plan import DemoPlan
from croupier.cli.faults import CommandFault
from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_api.v1 import table_pb2 as pb
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.endpoints import Endpoints
from croupier_client.errors import StaleSequence, Unavailable

SIGN_INS_AT_ONCE = 8
PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.1
MOVE_SECONDS = 300.0
CLOCK = pb.Clock(action_seconds=120, reserve_seconds=60)

Result = TypeVar("Result")


Show: TypeAlias = Callable[[Sequence[AsyncTable], engine_pb2.TableUpdate], None]
"""Is shown every entry of every table's log, with the table as each seat knows it."""
Pace: TypeAlias = Callable[[], Awaitable[None]]
"""Is awaited by players before they act."""


async def at_once() -> None:
    """The pace of those who wait for nobody."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """An action that the services promised to have stored at this place of the log."""

    sequence: int
    seat: int
    action: pb.Action


@dataclass(frozen=True, slots=True)
class Party:
    """The players of one table, in the order of their seats."""

    number: int
    clients: tuple[Client, ...]


@dataclass(frozen=True, slots=True)
class PlayedTable:
    """A finished table as its players saw it: ranking and totals by stream, which should all be the same."""

    number: int
    table_id: str
    players: tuple[str, ...]
    names: tuple[str, ...]
    rankings: tuple[tuple[tuple[int, ...], ...], ...]
    totals: tuple[tuple[int, ...], ...]
    acknowledged: tuple[Acknowledged, ...]
    credits: tuple[int, ...] = ()
    """The entries by which time was given back, which a replay leaves out."""


async def until_available(ask: Callable[[], Awaitable[Result]]) -> Result:
    """The answer to a call that may be repeated by hand only, while services come back; raises CroupierError."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                return await ask()
            except Unavailable:
                await asyncio.sleep(POLL_SECONDS)


async def sign_in(plan: DemoPlan, endpoints: Endpoints, stack: AsyncExitStack) -> list[Party]:
    """All players of all tables, signed in, a few at a time; the stack closes their clients."""
    few = asyncio.Semaphore(SIGN_INS_AT_ONCE)

    async def player(table: int, seat: int) -> Client:
        client = Client(endpoints, plan.device_secret(table, seat), plan.player_name(table, seat))
        await stack.enter_async_context(client)
        async with few:
            await client.sign_in()
        return client

    async def party(table: int) -> Party:
        return Party(table, tuple(await asyncio.gather(*(player(table, seat) for seat in range(plan.seats)))))

    return list(await asyncio.gather(*(party(table) for table in range(1, plan.tables + 1))))


async def play_table(plan: DemoPlan, party: Party, show: Show, pace: Pace = at_once) -> PlayedTable:
    """Form a table, play it to the end, and tell what its players saw; raises CroupierError or CommandFault."""
    table_id = await _form(plan, party)
    async with AsyncExitStack() as stack:
        tables = [await stack.enter_async_context(client.play(table_id)) for client in party.clients]
        players = [BotPlayer(at.info, plan.decisions(party.number, seat)) for seat, at in enumerate(tables)]
        watching = asyncio.create_task(_watch(tables, show))
        try:
            acted = await asyncio.gather(*(play_seat(*at, pace) for at in zip(tables, players, strict=True)))
            given_back = await watching
        finally:
            watching.cancel()
    return PlayedTable(
        number=party.number,
        table_id=table_id,
        players=tuple(client.player.player_id if client.player else "" for client in party.clients),
        names=tuple(plan.player_name(party.number, seat) for seat in range(plan.seats)),
        rankings=tuple(table.ranking for table in tables),
        totals=tuple(tuple(seat.score for seat in table.view.seats) for table in tables),
        acknowledged=tuple(one for actions in acted for one in actions),
        credits=given_back,
    )


async def _form(plan: DemoPlan, party: Party) -> str:
    host, *others = party.clients
    created = await until_available(
        lambda: host.create_table(game=plan.game, seats=plan.seats, options=plan.options, clock=CLOCK)
    )
    table_id = created.table.table_id
    # One after the other: so each player has the seat that the plan gives him.
    for client in others:
        await client.join_table(table_id=table_id)
    for seat, client in enumerate(party.clients):
        await client.set_ready(table_id=table_id, client_seed=plan.client_seed(party.number, seat))
    await _until_open(host, table_id)
    return table_id


async def _until_open(client: Client, table_id: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await _is_forming(client, table_id):  # noqa: ASYNC110 - the answer comes from a service
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise CommandFault(f"table {table_id} was not opened within {PATIENCE_SECONDS:g} seconds") from None


async def _is_forming(client: Client, table_id: str) -> bool:
    return (await client.get_table(table_id=table_id)).table.state == lobby_pb2.TABLE_STATE_FORMING


async def _watch(tables: Sequence[AsyncTable], show: Show) -> tuple[int, ...]:
    """Show every entry; gives those by which time was given back."""
    given_back = []
    async for event in tables[0]:
        if isinstance(event, engine_pb2.TableUpdate):
            show(tables, event)
            given_back += [event.sequence] if event.credited_milliseconds else []
    return tuple(given_back)


async def play_seat(table: AsyncTable, player: BotPlayer, pace: Pace = at_once) -> list[Acknowledged]:
    """Play one seat to the end of the game; gives what was acknowledged, in order."""
    acknowledged: list[Acknowledged] = []
    while await table.your_turn(timeout_seconds=MOVE_SECONDS):
        if table.seat != min(table.view.seats_to_act):
            # Several may act: they do so in the order of seats, so that the same seed gives the same log.
            await table.changed(timeout_seconds=MOVE_SECONDS)
            continue
        await pace()
        if not table.to_act:
            continue
        action = player.decide(table)
        try:
            sequence = await table.act(action, expected_sequence=table.sequence)
        except StaleSequence:
            continue
        acknowledged.append(Acknowledged(sequence, table.seat, action))
    return acknowledged
