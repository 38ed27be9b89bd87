"""Several lobbies on one database together keep the limits and guarantees of one, even if their clocks differ."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import asyncpg
import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.matchmaking.tickets import MatchCriteria
from croupier.lobby.tables.forming_table import Table
from croupier.lobby.tables.table_service import WatchedTable
from croupier.runtime.database.database import Database
from croupier.runtime.errors import IllegalNow, LimitReached, Unauthenticated, Unavailable
from croupier.runtime.server.service import now_milliseconds
from croupier.runtime.server.tasks import end_tasks
from croupier_api.v1 import errors_pb2
from tests.databases import execute, on_both_databases, on_postgresql
from tests.lobby.fakes import HIDDEN_PAIRS, PAIRS, FakeEngine, LobbyDeployment, player
from tests.lobby.matches import ADA, BOB
from tests.waiting import TIMEOUT_SECONDS

SKEWS_MILLISECONDS = (0, 5_000, -5_000)
RECONNECTING_SECONDS = 5 * TIMEOUT_SECONDS
"""The test takes a tenth of it on a machine that runs ten other programs."""
Result = TypeVar("Result")


@asynccontextmanager
async def lobbies(deployment: LobbyDeployment, *, running: bool = False, **changes: int) -> AsyncIterator[list[Lobby]]:
    """Run three lobbies whose clocks differ by up to ten seconds, with their background tasks if they are `running`."""
    async with AsyncExitStack() as stack:
        replicas = []
        for skew in SKEWS_MILLISECONDS:
            lobby = await stack.enter_async_context(deployment.lobby(partial(skewed_now, skew), **changes))
            replicas.append(lobby)
            if running:
                tasks = [asyncio.create_task(work()) for work in lobby.background_tasks.values()]
                stack.push_async_callback(end_tasks, tasks)
        yield replicas


def skewed_now(skew_milliseconds: int) -> int:
    return now_milliseconds() + skew_milliseconds


async def outcomes(*calls: Awaitable[Result]) -> list[Result | BaseException]:
    return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), TIMEOUT_SECONDS)


def count_types(outcomes: Sequence[object]) -> Counter[str]:
    return Counter(type(one).__name__ for one in outcomes)


@on_both_databases
@pytest.mark.parametrize(("limit", "network"), [({"max_player_tables": 4}, ""), ({"max_network_tables": 4}, "near")])
async def test_tables_of_a_player_or_a_network_are_limited(
    deployment: LobbyDeployment, engine: FakeEngine, limit: dict[str, Any], network: str
) -> None:
    hosts = [player(number) if network else ADA for number in range(5)]
    async with lobbies(deployment, **limit) as replicas:
        found = await outcomes(*(lobby.tables.create(host, PAIRS, network) for host in hosts for lobby in replicas))
        engine.calls.clear()
        with pytest.raises(LimitReached) as refusal:
            await replicas[0].tables.create(hosts[0], PAIRS, network)
        # The engine is not asked to prepare a table beyond the limit.
        assert engine.calls == []
        await replicas[0].tables.create(BOB, PAIRS)
    assert refusal.value.reason_name == "TOO_MANY_TABLES"
    assert count_types(found) == {Table.__name__: 4, LimitReached.__name__: 11}


@on_both_databases
async def test_the_last_seats_are_taken_once(deployment: LobbyDeployment) -> None:
    """Every guest calls each lobby."""
    async with lobbies(deployment) as replicas:
        table = await replicas[0].tables.create(ADA, replace(HIDDEN_PAIRS, seat_count=5))
        guests = [player(number) for number in range(2, 14)]
        found = await outcomes(
            *(lobby.tables.join_by_invite_code(guest, table.invite_code) for guest in guests for lobby in replicas)
        )
        seated = await replicas[1].tables.get(ADA.player_id, table.table_id)
    assert count_types(found) == {Table.__name__: 12, IllegalNow.__name__: 24}
    assert len({seat.player_id for seat in seated.seats}) == 5


@on_both_databases
async def test_a_device_is_one_player(deployment: LobbyDeployment) -> None:
    async with lobbies(deployment) as replicas:
        calls = [lobby.auth.sign_in("a secret of one device", "Ada") for _ in range(4) for lobby in replicas]
        found = await asyncio.wait_for(asyncio.gather(*calls), TIMEOUT_SECONDS)
    assert len({signed_in.player_id for signed_in, _, _ in found}) == 1
    assert sum(new for _, _, new in found) == 1


@on_both_databases
async def test_a_refresh_token_is_valid_once(deployment: LobbyDeployment) -> None:
    async with lobbies(deployment) as replicas:
        _, tokens, _ = await replicas[0].auth.sign_in("a secret of one device", "Ada")
        found = await outcomes(*(lobby.auth.refresh(tokens.refresh_token) for lobby in replicas))
    assert count_types(found) == {"tuple": 1, Unauthenticated.__name__: 2}


@on_postgresql
@pytest.mark.parametrize("cut", [False, True])
async def test_a_stream_sees_what_another_lobby_changed(
    deployment: LobbyDeployment, database: Database, cut: bool
) -> None:
    """Immediately, or as soon as the lobby receives notifications again."""
    async with lobbies(deployment, running=True, housekeeping_seconds=60) as replicas, asyncio.timeout(TIMEOUT_SECONDS):
        table = await replicas[0].tables.create(ADA, PAIRS)
        async with aclosing(replicas[1].tables.watch_table(BOB.player_id, table.table_id)) as stream:
            assert [await anext(stream) for _ in range(2)] == [WatchedTable(table, False), WatchedTable(None, True)]
            if cut:
                await cut_connections(database)
            joined = await replicas[2].tables.join(BOB, table.table_id)
            assert await anext(stream) == WatchedTable(joined, True)


@on_postgresql
async def test_a_connection_that_is_lost_before_it_is_set_up_is_reported_as_unavailable(
    deployment: LobbyDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = asyncpg.connect

    async def and_lose(*arguments: Any, **options: Any) -> Any:
        connection = await connect(*arguments, **options)
        connection.terminate()
        return connection

    monkeypatch.setattr(asyncpg, "connect", and_lose)
    async with deployment.lobby() as lobby:
        with pytest.raises(Unavailable):
            await lobby.auth.sign_in("a secret of one device", "Ada")


async def cut_connections(database: Database) -> None:
    """End every connection to the database but this one, and wait until they are gone."""
    await execute(
        database,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )


@on_postgresql
async def test_the_first_player_to_come_is_seated_first_at_any_lobby(
    deployment: LobbyDeployment, engine: FakeEngine
) -> None:
    async with AsyncExitStack() as stack, lobbies(deployment) as replicas:
        streams = []
        for number in range(9):
            stream = replicas[number % 3].matchmaker.find_match(player(number), MatchCriteria("pairs", 3), b"")
            streams.append(await stack.enter_async_context(aclosing(stream)))
            assert (await anext(stream)).table is None
            # Players who come within the same millisecond come at the same time.
            await asyncio.sleep(0.002)
        await asyncio.gather(*(lobby.matchmaker.tick() for _ in range(3) for lobby in replicas))
        await asyncio.gather(*(lobby.matchmaker.settled() for lobby in replicas))
    together = {frozenset(seat.name for seat in seats) for seats in engine.opened.values()}
    assert together == {frozenset(f"Player {first + n}" for n in range(3)) for first in (0, 3, 6)}


@dataclass(frozen=True, slots=True)
class ReconnectingPlayers:
    """Players who call any lobby, disconnect, and call another one until they are seated.

    Every third answer that brings a table is lost as well.
    """

    lobbies: Sequence[Lobby]
    random_source: random.Random

    bots_after_seconds: int | None = None

    async def seated(self, number: int, criteria: MatchCriteria) -> Table:
        """Return the table of one player, who disconnects a few times."""
        for _ in range(self.random_source.randrange(4)):
            with suppress(TimeoutError):
                async with asyncio.timeout(self.random_source.choice([0.0, 0.01, 0.1, 0.5])):
                    return await self._called(number, criteria)
            await asyncio.sleep(self.random_source.random() / 10)
        return await self._called(number, criteria)

    async def _called(self, number: int, criteria: MatchCriteria) -> Table:
        while True:
            try:
                return await self._table(self.random_source.choice(self.lobbies), number, criteria)
            except Unavailable:
                await asyncio.sleep(0.05)

    async def _table(self, lobby: Lobby, number: int, criteria: MatchCriteria) -> Table:
        table = None
        stream = lobby.matchmaker.find_match(
            player(number), criteria, b"", f"request of {number}", bots_after_seconds=self.bots_after_seconds
        )
        async with aclosing(stream):
            async for progress in stream:
                table = progress.table
        if table is None:
            raise AssertionError("the stream ended without a table")
        if self.random_source.randrange(3) == 0:
            raise Unavailable(errors_pb2.ERROR_REASON_TABLE_MOVED, "the answer was lost on its way")
        return table


PLAYERS_BY_CRITERIA = {
    MatchCriteria("pairs", 2): 16,
    MatchCriteria("pairs", 3): 15,
    MatchCriteria("pairs", 3, "blitz"): 6,
    MatchCriteria("pairs", 5): 15,
    MatchCriteria("alone", 3): 12,
}
"""The number of players by match criteria."""


@pytest.mark.parametrize(
    ("database_url", "cut"),
    [
        ("sqlite", False),
        pytest.param("postgresql", False, marks=pytest.mark.postgres),
        pytest.param("postgresql", True, marks=[pytest.mark.postgres, pytest.mark.slow]),
    ],
    indirect=["database_url"],
)
async def test_players_who_reconnect_to_three_lobbies_are_seated_once_each(
    deployment: LobbyDeployment, engine: FakeEngine, database: Database, seed: int, cut: bool
) -> None:
    wanted = [each for each, count in PLAYERS_BY_CRITERIA.items() for _ in range(count)]
    random_source = random.Random(seed)
    random_source.shuffle(wanted)
    async with lobbies(deployment, running=True, housekeeping_seconds=1) as replicas:
        players = ReconnectingPlayers(replicas, random_source)
        calls = [asyncio.create_task(players.seated(number, criteria)) for number, criteria in enumerate(wanted)]
        for _ in range(5 if cut else 0):
            await asyncio.sleep(0.3)
            await cut_connections(database)
        tables = await asyncio.wait_for(asyncio.gather(*calls), RECONNECTING_SECONDS)
    seated_players = Counter(seat.player_id for seats in engine.opened.values() for seat in seats)
    assert seated_players == Counter(player(number).player_id for number in range(len(wanted)))
    assert len(engine.opened) == sum(count // each.seat_count for each, count in PLAYERS_BY_CRITERIA.items())
    together = defaultdict(set)
    for number, table in enumerate(tables):
        assert (table.game, len(table.seats)) == (wanted[number].game, wanted[number].seat_count)
        assert (table.options.get("rounds") == 1) is bool(wanted[number].preset)
        together[table.table_id].add(player(number).player_id)
    assert together == {table_id: {seat.player_id for seat in seats} for table_id, seats in engine.opened.items()}


@on_both_databases
async def test_players_who_allow_bots_at_three_lobbies_are_seated_once_each(
    deployment: LobbyDeployment, engine: FakeEngine, seed: int
) -> None:
    wanted, random_source = MatchCriteria("pairs", 4), random.Random(seed)
    async with lobbies(deployment, running=True, housekeeping_seconds=1) as replicas:
        players = ReconnectingPlayers(replicas, random_source, bots_after_seconds=0)
        calls = [players.seated(number, wanted) for number in range(18)]
        tables = await asyncio.wait_for(asyncio.gather(*calls), RECONNECTING_SECONDS)
    seated_players = Counter(seat.player_id for seats in engine.opened.values() for seat in seats if not seat.bot)
    assert seated_players == Counter(player(number).player_id for number in range(len(tables)))
    for number, table in enumerate(tables):
        seats = engine.opened[table.table_id]
        assert player(number).player_id in {seat.player_id for seat in seats}
        assert len(seats) == wanted.seat_count
