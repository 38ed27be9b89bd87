"""Streams are told of changed tables, and of nothing that they may not know."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.tables import TableState
from croupier.lobby.watching import PENDING_LIMIT, TableFeed
from croupier.runtime.errors import LimitReached, NotFound, Unavailable
from tests.lobby.fakes import PAIRS, FakeClock, forming_table
from tests.lobby.house import House
from tests.lobby.matches import ADA, BOB, EVE, following


async def test_one_table_is_followed_to_its_end(lobby: Lobby) -> None:
    table = await lobby.forming.create(ADA, PAIRS)
    async with aclosing(lobby.forming.watch_one(EVE.player_id, table.table_id)) as stream:
        assert await following(stream) == table
        joined = await lobby.forming.join(BOB, table.table_id)
        assert await following(stream) == joined
        await lobby.forming.leave(ADA.player_id, table.table_id)
        await lobby.forming.leave(BOB.player_id, table.table_id)
        assert (await following(stream)).state is TableState.CLOSED
        with pytest.raises(StopAsyncIteration):
            await following(stream)


async def test_changes_that_wait_become_one_and_never_go_back() -> None:
    feed = TableFeed()
    with feed.subscribed(lambda _: True) as subscription:
        for version in (2, 4, 3):
            feed.publish(forming_table(version=version))
        async with aclosing(subscription.changes()) as changes:
            assert (await following(changes)).version == 4
            for version in (4, 3):
                feed.publish(forming_table(version=version))
            feed.publish(forming_table(version=1, number=2))
            assert (await following(changes)).table_id == forming_table(number=2).table_id
            feed.publish(forming_table(version=5))
            assert (await following(changes)).version == 5
    assert not feed.followed


async def test_public_tables_begin_with_those_that_form(lobby: Lobby, clock: FakeClock) -> None:
    old = await lobby.forming.create(ADA, PAIRS)
    clock.advance(1)
    new = await lobby.forming.create(BOB, PAIRS)
    await lobby.forming.create(BOB, replace(PAIRS, game="alone"))
    await lobby.forming.create(BOB, replace(PAIRS, private=True))
    async with aclosing(lobby.forming.watch_public(EVE.player_id, "pairs")) as stream:
        assert [await following(stream), await following(stream)] == [new, old]
        await lobby.forming.create(BOB, replace(PAIRS, game="alone"))
        await lobby.forming.create(BOB, replace(PAIRS, private=True))
        newest = await lobby.forming.create(BOB, PAIRS)
        assert await following(stream) == newest


async def test_a_private_table_is_followed_by_those_who_sit_there_only(lobby: Lobby) -> None:
    table = await lobby.forming.create(ADA, replace(PAIRS, private=True))
    with pytest.raises(NotFound):
        await following(lobby.forming.watch_one(BOB.player_id, table.table_id))
    await lobby.forming.join_invited(BOB, table.invite_code)
    async with aclosing(lobby.forming.watch_one(BOB.player_id, table.table_id)) as stream:
        await following(stream)
        await lobby.forming.remove_seat(ADA.player_id, table.table_id, 1)
        with pytest.raises(NotFound):
            await following(stream)


async def test_a_stream_that_is_read_too_slowly_ends() -> None:
    feed = TableFeed()
    with feed.subscribed(lambda _: True) as subscription:
        for number in range(PENDING_LIMIT + 1):
            feed.publish(forming_table(number=number))
        with pytest.raises(LimitReached, match="slowly"):
            await following(subscription.changes())


async def test_changes_of_another_replica_arrive(house: House, clock: FakeClock) -> None:
    async with house.lobby() as one, house.lobby() as other:
        table = await one.forming.create(ADA, PAIRS)
        async with aclosing(other.forming.watch_one(EVE.player_id, table.table_id)) as stream:
            await following(stream)
            await other.follower.catch_up()
            clock.advance(3)
            joined = await one.forming.join(BOB, table.table_id)
            await other.follower.catch_up()
            assert await following(stream) == joined


async def test_streams_end_when_the_server_stops(lobby: Lobby) -> None:
    table = await lobby.forming.create(ADA, PAIRS)
    stream = lobby.forming.watch_one(EVE.player_id, table.table_id)
    await following(stream)
    lobby.end_streams()
    for ending in (stream, lobby.forming.watch_public(EVE.player_id, "")):
        with pytest.raises(Unavailable, match="stop"):
            await following(ending)
