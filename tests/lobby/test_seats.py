"""Seats are shared: players and networks have a limited number, and those of players who are not ready fall free."""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import select

from croupier.lobby.accounts.players import Player
from croupier.lobby.assembly import Lobby
from croupier.lobby.matchmaking.tickets import MatchCriteria, Ticket, matched_table
from croupier.lobby.storage import seat_store
from croupier.lobby.storage.schema import SEATS
from croupier.lobby.storage.seat_store import TableLimits
from croupier.lobby.storage.store import Store
from croupier.lobby.storage.ticket_store import TicketStore
from croupier.lobby.tables.forming_table import Table, TableState, players_of
from croupier.lobby.tables.table_service import WatchedTable
from croupier.runtime.database.database import Database
from croupier.runtime.errors import LimitReached
from tests.databases import execute, on_both_databases
from tests.lobby.fakes import (
    FAR,
    HIDDEN_PAIRS,
    NEAR,
    PAIRS,
    START,
    USUAL,
    FakeClock,
    FakeEngine,
    LobbyDeployment,
    player,
)
from tests.lobby.matches import ADA, BOB, EVE, TWO, match_all, next_message, waiting
from tests.lobby.test_replicas import count_types, lobbies, outcomes
from tests.waiting import TIMEOUT_SECONDS

GRIEFERS = [player(number) for number in range(50, 60)]
MANY_SEATS = replace(PAIRS, seat_count=5)


async def tables_of(lobby: Lobby, count: int, network: str = FAR) -> list[Table]:
    """Return forming tables, each of another host."""
    return [await lobby.tables.create(player(100 + number), MANY_SEATS, network) for number in range(count)]


async def refusal_of(call: Awaitable[object]) -> str:
    with pytest.raises(LimitReached) as refusal:
        await asyncio.wait_for(call, TIMEOUT_SECONDS)
    assert (refusal.value.reason_name, refusal.value.limit) == ("TOO_MANY_TABLES", "tables")
    return str(refusal.value)


async def seats_in(database: Database) -> Sequence[tuple[str, str | None]]:
    rows = await execute(database, select(SEATS.c.player_id, SEATS.c.network).order_by(SEATS.c.player_id))
    return [(row.player_id, row.network) for row in rows]


@on_both_databases
async def test_a_guest_takes_few_seats_also_by_calls_at_once_to_several_lobbies(deployment: LobbyDeployment) -> None:
    async with lobbies(deployment, max_player_tables=3) as replicas:
        tables = await tables_of(replicas[0], 6)
        found = await outcomes(*(lobby.tables.join(EVE, table.table_id) for table in tables for lobby in replicas))
        stored = await replicas[0].tables.store.list_by_ids([table.table_id for table in tables])
    assert sum(table.seat_of(EVE.player_id) is not None for table in stored) == 3
    assert count_types(found)[LimitReached.__name__] >= 9


@on_both_databases
async def test_hosted_joined_and_matched_tables_count_and_ended_ones_do_not(
    deployment: LobbyDeployment, database: Database
) -> None:
    async with deployment.lobby(max_player_tables=3) as lobby, AsyncExitStack() as stack:
        own = await lobby.tables.create(EVE, PAIRS)
        joined, other = await tables_of(lobby, 2)
        await lobby.tables.join(EVE, joined.table_id)
        await match_on(stack, lobby, (EVE, ""), (BOB, ""))
        for call in (
            lobby.tables.join(EVE, other.table_id),
            lobby.tables.create(EVE, PAIRS),
        ):
            assert await refusal_of(call) == "too many tables: expected at most 3 of one player"
        for _ in range(3):
            await lobby.tables.create(ADA, PAIRS)
        await refusal_of(anext(lobby.matchmaker.find_match(ADA, TWO, b"")))
        # A repeated call needs no further seat.
        await lobby.tables.join(EVE, joined.table_id)
        await lobby.tables.leave(EVE.player_id, joined.table_id)
        await lobby.tables.join(EVE, other.table_id)
        await lobby.tables.clear_seat(other.host_player_id, other.table_id, 1)
        await lobby.tables.leave(EVE.player_id, own.table_id)
        for _ in range(2):
            await lobby.tables.create(EVE, PAIRS)
        await refusal_of(lobby.tables.create(EVE, PAIRS))
        assert [player_id for player_id, _ in await seats_in(database)].count(EVE.player_id) == 3


async def match_on(stack: AsyncExitStack, lobby: Lobby, *players: tuple[Player, str]) -> list[Table]:
    """Match players, whose streams the stack then closes."""
    for one, network in players:
        [call] = await waiting(lobby, one, network=network)
        stack.push_async_callback(call.aclose)
    await match_all(lobby)
    return await lobby.tables.store.list_in_states([TableState.PLAYING], "", 100)


@on_both_databases
async def test_a_matched_table_counts_for_the_networks_of_all_its_players(
    deployment: LobbyDeployment, database: Database, engine: FakeEngine
) -> None:
    async with deployment.lobby(max_network_tables=1) as lobby, AsyncExitStack() as stack:
        (table,) = await match_on(stack, lobby, (ADA, FAR), (BOB, NEAR))
        assert await seats_in(database) == [(ADA.player_id, FAR), (BOB.player_id, NEAR)]
        for network in (NEAR, FAR):
            assert "of one network" in await refusal_of(lobby.tables.create(EVE, PAIRS, network))
            await refusal_of(anext(lobby.matchmaker.find_match(EVE, TWO, b"", "", network)))
        engine.finished.add(table.table_id)
        await lobby.housekeeper.finish_tables()
        # Those of ended tables stay, and count for nothing.
        assert {network for _, network in await seats_in(database)} == {None}
        await lobby.tables.create(EVE, PAIRS, NEAR)


@on_both_databases
async def test_a_network_is_matched_no_further_than_its_limit(deployment: LobbyDeployment) -> None:
    near = [(player(number), NEAR) for number in range(10, 20)]
    far = [(one, FAR) for one in (ADA, BOB)]
    async with deployment.lobby(max_network_tables=2) as lobby, AsyncExitStack() as stack:
        tables = await match_on(stack, lobby, *near)
        assert len(tables) == 2
        # Those who wait keep no others from their matches.
        (table,) = [one for one in await match_on(stack, lobby, *far) if one not in tables]
    assert {seat.player_id for seat in table.seats} == {one.player_id for one, _ in far}


@on_both_databases
async def test_matches_at_once_keep_the_limit_of_a_network_together(store: Store) -> None:
    tickets = TicketStore(store, TableLimits(of_player=20, of_network=1))
    counts = range(2, 6)
    for seats in counts:
        for number in range(seats):
            name = f"{seats}{number}"
            ticket = Ticket(name, name, name, MatchCriteria("pairs", seats), b"", START, network=NEAR)
            await tickets.get_or_create(ticket, name, START)
    matches = (
        tickets.match(MatchCriteria("pairs", seats), START, partial(matched_table, f"m{seats}", USUAL, "", START))
        for seats in counts
    )
    found = await outcomes(*matches)
    (table,) = [each for each in found if isinstance(each, Table)]
    left = sum(waiting.players for waiting in (await tickets.count_waiting(START)).values())
    assert left == sum(counts) - len(players_of(table))


@on_both_databases
async def test_a_network_takes_few_seats_at_tables_of_others(
    deployment: LobbyDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seat_store, "MAX_NETWORK_GUESTS", 6)
    async with lobbies(deployment) as replicas:
        tables = await tables_of(replicas[0], 3)
        found = await outcomes(
            *(
                replicas[number % 3].tables.join(griefer, table.table_id, NEAR)
                for number, griefer in enumerate(GRIEFERS[:4])
                for table in tables
            )
        )
        assert count_types(found) == {Table.__name__: 6, LimitReached.__name__: 6}
        refused = await refusal_of(replicas[0].tables.join(player(99), tables[0].table_id, NEAR))
        assert refused == "too many seats at forming tables of other networks: expected at most 6 of one network"
        # Others still find a seat, and so do friends who share the network with their host.
        await replicas[0].tables.join(ADA, tables[0].table_id, "2" * 16)
        own = await replicas[0].tables.create(BOB, HIDDEN_PAIRS, NEAR)
        await replicas[0].tables.join_by_invite_code(EVE, own.invite_code, NEAR)


async def test_a_network_at_its_limit_may_fill_its_tables(deployment: LobbyDeployment) -> None:
    async with deployment.lobby(max_network_tables=2) as lobby:
        first, _ = await tables_of(lobby, 2, NEAR)
        for number in range(4):
            await lobby.tables.join(player(number), first.table_id, NEAR)
        (other,) = await tables_of(lobby, 1)
        await refusal_of(lobby.tables.join(ADA, other.table_id, NEAR))


@on_both_databases
async def test_the_seat_of_a_player_who_is_not_ready_falls_free_for_all_who_watch(
    lobby: Lobby, clock: FakeClock, database: Database
) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    async with aclosing(lobby.tables.watch_table(BOB.player_id, table.table_id)) as stream:
        for _ in range(2):
            await next_message(stream)
        await lobby.tables.join(EVE, table.table_id)
        clock.advance(119)
        await lobby.housekeeper.free_idle_seats()
        full = (await next_message(stream)).table
        assert full is not None
        assert full.seat_of(EVE.player_id) == 1
        clock.advance(1)
        await lobby.housekeeper.free_idle_seats()
        freed = await next_message(stream)
    assert freed == WatchedTable(await lobby.tables.store.get(table.table_id), True)
    assert [one for one, _ in await seats_in(database)] == [ADA.player_id]
    assert (await lobby.tables.join(BOB, table.table_id)).seats[1].player_id == BOB.player_id


@on_both_databases
async def test_changes_of_a_table_are_limited_at_all_lobbies_together(
    deployment: LobbyDeployment, clock: FakeClock
) -> None:
    async with deployment.lobby() as one, deployment.lobby() as other:
        table = await one.tables.create(ADA, PAIRS)
        refused = 0
        for number in range(60):
            lobby = (one, other)[number % 2]
            (found,) = await outcomes(lobby.tables.set_ready(ADA.player_id, table.table_id, number % 4 < 2, b""))
            refused += isinstance(found, LimitReached) and found.limit == "table_changes"
        stored = await one.tables.store.get(table.table_id)
        assert stored is not None
        assert (stored.version, stored.state) == (21, TableState.FORMING)
        assert refused == 10
        await other.tables.join(BOB, table.table_id)
