"""Several lobbies on one database: what one promises, all of them together keep, whatever their clocks say."""

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
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.lobby.__main__ import now_milliseconds
from croupier.lobby.assembly import Lobby
from croupier.lobby.tables import Table
from croupier.lobby.tickets import Wish
from croupier.runtime.database import transaction
from croupier.runtime.errors import IllegalNow, LimitReached, Unauthenticated, Unavailable
from tests.databases import on_both_databases, on_postgresql
from tests.lobby.fakes import PAIRS, FakeEngine, player
from tests.lobby.house import House
from tests.lobby.matches import ADA, BOB
from tests.waiting import PATIENCE_SECONDS

SKEWS_MILLISECONDS = (0, 5_000, -5_000)
CROWD_SECONDS = 5 * PATIENCE_SECONDS
"""A crowd takes a tenth of it where ten other programs run."""
Result = TypeVar("Result")


@asynccontextmanager
async def lobbies(house: House, *, running: bool = False, **changes: int) -> AsyncIterator[list[Lobby]]:
    """Three lobbies whose clocks differ by up to ten seconds; `running` ones do all that a process does."""
    async with AsyncExitStack() as stack:
        made = []
        for skew in SKEWS_MILLISECONDS:
            lobby = await stack.enter_async_context(house.lobby(partial(skewed_now, skew), **changes))
            made.append(lobby)
            if running:
                stack.push_async_callback(ended, [asyncio.create_task(work) for work in lobby.background()])
        yield made


def skewed_now(skew_milliseconds: int) -> int:
    return now_milliseconds() + skew_milliseconds


async def ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def outcomes(*calls: Awaitable[Result]) -> list[Result | BaseException]:
    return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), PATIENCE_SECONDS)


def kinds(found: Sequence[object]) -> Counter[str]:
    return Counter(type(one).__name__ for one in found)


@on_both_databases
async def test_a_host_has_so_many_tables_and_no_more(house: House, engine: FakeEngine) -> None:
    async with lobbies(house, hosted_tables_limit=4) as made:
        found = await outcomes(*(lobby.forming.create(ADA, PAIRS) for _ in range(5) for lobby in made))
        engine.calls.clear()
        with pytest.raises(LimitReached) as refusal:
            await made[0].forming.create(ADA, PAIRS)
        # The engine is not asked to prepare what cannot be.
        assert engine.calls == []
        await made[0].forming.create(BOB, PAIRS)
    assert refusal.value.reason == "HOSTED_TABLES"
    assert kinds(found) == {Table.__name__: 4, LimitReached.__name__: 11}


@on_both_databases
async def test_the_last_seats_are_taken_once(house: House) -> None:
    """Every guest calls at each lobby."""
    async with lobbies(house) as made:
        table = await made[0].forming.create(ADA, replace(PAIRS, seats=5, private=True))
        guests = [player(number) for number in range(2, 14)]
        found = await outcomes(
            *(lobby.forming.join_invited(guest, table.invite_code) for guest in guests for lobby in made)
        )
        seated = await made[1].forming.get(ADA.player_id, table.table_id)
    assert kinds(found) == {Table.__name__: 12, IllegalNow.__name__: 24}
    assert len({seat.player_id for seat in seated.seats}) == 5


@on_both_databases
async def test_a_device_is_one_player(house: House) -> None:
    async with lobbies(house) as made:
        calls = [lobby.reception.sign_in("a secret of one device", "Ada") for _ in range(4) for lobby in made]
        found = await asyncio.wait_for(asyncio.gather(*calls), PATIENCE_SECONDS)
    assert len({signed_in.player_id for signed_in, _, _ in found}) == 1
    assert sum(new for _, _, new in found) == 1


@on_both_databases
async def test_a_refresh_token_holds_once(house: House) -> None:
    async with lobbies(house) as made:
        _, tokens, _ = await made[0].reception.sign_in("a secret of one device", "Ada")
        found = await outcomes(*(lobby.reception.refresh(tokens.refresh_token) for lobby in made))
    assert kinds(found) == {"Tokens": 1, Unauthenticated.__name__: 2}


@on_postgresql
@pytest.mark.parametrize("cut", [False, True])
async def test_a_stream_sees_what_another_lobby_changed(house: House, database: AsyncEngine, cut: bool) -> None:
    """At once, or as soon as it hears again."""
    async with lobbies(house, running=True, reconcile_seconds=60) as made, asyncio.timeout(PATIENCE_SECONDS):
        table = await made[0].forming.create(ADA, PAIRS)
        async with aclosing(made[1].forming.watch_one(BOB.player_id, table.table_id)) as stream:
            assert await anext(stream) == table
            if cut:
                await cut_connections(database)
            joined = await made[2].forming.join(BOB, table.table_id)
            assert await anext(stream) == joined


@on_postgresql
async def test_a_connection_that_is_lost_before_it_is_set_up_is_called_unavailable(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = asyncpg.connect

    async def and_lose(*arguments: Any, **options: Any) -> Any:
        connection = await connect(*arguments, **options)
        connection.terminate()
        return connection

    monkeypatch.setattr(asyncpg, "connect", and_lose)
    async with house.lobby() as lobby:
        with pytest.raises(Unavailable):
            await lobby.reception.sign_in("a secret of one device", "Ada")


async def cut_connections(database: AsyncEngine) -> None:
    """End every connection to the database but this one."""
    async with transaction(database) as connection:
        await connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )


@on_postgresql
async def test_who_came_first_is_seated_first_wherever_he_came(house: House, engine: FakeEngine) -> None:
    async with AsyncExitStack() as stack, lobbies(house) as made:
        streams = []
        for number in range(9):
            stream = made[number % 3].matching.quick_match(player(number), Wish("pairs", 3), b"")
            streams.append(await stack.enter_async_context(aclosing(stream)))
            assert (await anext(stream)).table is None
            # Who comes within the same thousandth of a second, comes at the same time.
            await asyncio.sleep(0.002)
        await asyncio.gather(*(lobby.matching.tick() for _ in range(3) for lobby in made))
        await asyncio.gather(*(lobby.matching.settled() for lobby in made))
    together = {frozenset(seat.name for seat in seats) for seats in engine.opened.values()}
    assert together == {frozenset(f"Player {first + n}" for n in range(3)) for first in (0, 3, 6)}


@dataclass(frozen=True, slots=True)
class Crowd:
    """Players who call at any lobby, break off, are cut off, and call again at another, until they are seated.

    Every third answer that brings a table is lost as well.
    """

    lobbies: Sequence[Lobby]
    chance: random.Random

    async def seated(self, number: int, wish: Wish) -> Table:
        """The table of one player, who breaks off a few times."""
        for _ in range(self.chance.randrange(4)):
            with suppress(TimeoutError):
                async with asyncio.timeout(self.chance.choice([0.0, 0.01, 0.1, 0.5])):
                    return await self._called(number, wish)
            await asyncio.sleep(self.chance.random() / 10)
        return await self._called(number, wish)

    async def _called(self, number: int, wish: Wish) -> Table:
        """One call, or several if they fail."""
        while True:
            try:
                return await self._table(self.chance.choice(self.lobbies), number, wish)
            except Unavailable:
                await asyncio.sleep(0.05)

    async def _table(self, lobby: Lobby, number: int, wish: Wish) -> Table:
        table = None
        async with aclosing(lobby.matching.quick_match(player(number), wish, b"", f"wish of {number}")) as stream:
            async for news in stream:
                table = news.table
        if table is None:
            raise AssertionError("the stream ended without a table")
        if self.chance.randrange(3) == 0:
            raise Unavailable("LOST", "the lobby told the table, and nobody heard it")
        return table


WISHES = {Wish("pairs", 2): 16, Wish("pairs", 3): 15, Wish("pairs", 5): 15, Wish("alone", 3): 12}
"""How many players have each."""


@pytest.mark.parametrize(
    ("database_url", "cut"),
    [
        ("sqlite", False),
        pytest.param("postgresql", False, marks=pytest.mark.postgres),
        pytest.param("postgresql", True, marks=[pytest.mark.postgres, pytest.mark.slow]),
    ],
    indirect=["database_url"],
)
async def test_a_crowd_at_three_lobbies_is_seated_once_each(
    house: House, engine: FakeEngine, database: AsyncEngine, seed: int, cut: bool
) -> None:
    wishes = [wish for wish, count in WISHES.items() for _ in range(count)]
    chance = random.Random(seed)
    chance.shuffle(wishes)
    async with lobbies(house, running=True, reconcile_seconds=1) as made:
        crowd = Crowd(made, chance)
        calls = [asyncio.create_task(crowd.seated(number, wish)) for number, wish in enumerate(wishes)]
        for _ in range(5 if cut else 0):
            await asyncio.sleep(0.3)
            await cut_connections(database)
        tables = await asyncio.wait_for(asyncio.gather(*calls), CROWD_SECONDS)
    everybody = Counter(seat.player_id for seats in engine.opened.values() for seat in seats)
    assert everybody == Counter(player(number).player_id for number in range(len(wishes)))
    assert len(engine.opened) == sum(count // wish.seats for wish, count in WISHES.items())
    together = defaultdict(set)
    for number, table in enumerate(tables):
        assert (table.game, len(table.seats)) == (wishes[number].game, wishes[number].seats)
        together[table.table_id].add(player(number).player_id)
    assert together == {table_id: {seat.player_id for seat in seats} for table_id, seats in engine.opened.items()}
