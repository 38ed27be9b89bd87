"""Streams receive changed tables that their player may see, and no others, and are never silent."""

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.feed.heartbeats import with_heartbeats
from croupier.lobby.feed.subscriptions import MESSAGES_PER_TICK
from croupier.lobby.tables.forming_table import Table, TableState
from croupier.lobby.tables.table_service import MAX_PAGE_READS, WatchedTable
from croupier.runtime.database.drivers import POOL_SIZE
from croupier.runtime.errors import NotFound
from croupier.runtime.fair_queue import TICK_SECONDS
from tests.lobby.fakes import HIDDEN_PAIRS, PAIRS, FakeClock, LobbyDeployment
from tests.lobby.matches import ADA, BOB, EVE, next_message
from tests.waiting import settled

LIST_COMPLETE = WatchedTable(None, True)


async def next_table(stream: AsyncGenerator[WatchedTable, None]) -> Table | None:
    """Return the table of the next message after the first tables."""
    watched = await next_message(stream)
    assert watched.is_list_complete
    return watched.table


async def test_a_stream_of_one_table_ends_with_the_table(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    async with aclosing(lobby.tables.watch_table(EVE.player_id, table.table_id)) as stream:
        assert [await next_message(stream), await next_message(stream)] == [WatchedTable(table, False), LIST_COMPLETE]
        joined = await lobby.tables.join(BOB, table.table_id)
        assert await next_table(stream) == joined
        await lobby.tables.leave(ADA.player_id, table.table_id)
        await lobby.tables.leave(BOB.player_id, table.table_id)
        closed = await next_table(stream)
        assert closed is not None
        assert closed.state is TableState.CLOSED
        with pytest.raises(StopAsyncIteration):
            await next_message(stream)


async def test_a_stream_of_public_tables_begins_with_forming_tables(lobby: Lobby, clock: FakeClock) -> None:
    old = await lobby.tables.create(ADA, PAIRS)
    clock.advance(1)
    new = await lobby.tables.create(BOB, PAIRS)
    await lobby.tables.create(BOB, replace(PAIRS, game="alone"))
    await lobby.tables.create(BOB, HIDDEN_PAIRS)
    async with aclosing(lobby.tables.watch_public(EVE.player_id, "pairs")) as stream:
        firsts = [await next_message(stream) for _ in range(3)]
        assert firsts == [WatchedTable(new, False), WatchedTable(old, False), LIST_COMPLETE]
        newest = await lobby.tables.create(BOB, PAIRS)
        assert await next_table(stream) == newest


async def test_a_stream_of_public_tables_leaves_out_those_from_which_the_host_removed_the_player(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    await lobby.tables.join(EVE, table.table_id)
    await lobby.tables.clear_seat(ADA.player_id, table.table_id, 1, block=True)
    other = await lobby.tables.create(BOB, PAIRS)
    async with aclosing(lobby.tables.watch_public(EVE.player_id, "pairs")) as stream:
        assert [await next_message(stream), await next_message(stream)] == [WatchedTable(other, False), LIST_COMPLETE]
        await lobby.tables.join(BOB, table.table_id)
        newest = await lobby.tables.create(BOB, PAIRS)
        assert await next_table(stream) == newest


async def test_an_empty_list_is_complete_at_once(lobby: Lobby) -> None:
    async with aclosing(lobby.tables.watch_public(EVE.player_id, "")) as stream:
        assert await next_message(stream) == LIST_COMPLETE


async def test_only_seated_players_can_watch_a_table_that_is_not_public(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, HIDDEN_PAIRS)
    with pytest.raises(NotFound):
        await next_message(lobby.tables.watch_table(BOB.player_id, table.table_id))
    await lobby.tables.join_by_invite_code(BOB, table.invite_code)
    async with aclosing(lobby.tables.watch_table(BOB.player_id, table.table_id)) as stream:
        assert [(await next_message(stream)).is_list_complete for _ in range(2)] == [False, True]
        await lobby.tables.clear_seat(ADA.player_id, table.table_id, 1)
        with pytest.raises(NotFound):
            await next_message(stream)


async def test_new_streams_read_few_pages_at_a_time_and_take_turns(
    lobby: Lobby, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    reads, may_read = 0, asyncio.Event()

    async def list_public(*_: Any) -> list[Table]:
        nonlocal reads
        reads += 1
        await may_read.wait()
        return [table]

    monkeypatch.setattr(lobby.tables.store, "list_public", list_public)
    clock.drive()
    streams = [lobby.tables.watch_public(EVE.player_id, "") for _ in range(MESSAGES_PER_TICK + MAX_PAGE_READS)]
    firsts = [asyncio.ensure_future(anext(stream)) for stream in streams]
    await settled()
    assert reads == MAX_PAGE_READS < POOL_SIZE
    may_read.set()
    await settled()
    assert sum(first.done() for first in firsts) == MESSAGES_PER_TICK
    clock.advance(TICK_SECONDS)
    assert await asyncio.gather(*firsts) == [WatchedTable(table, False)] * len(streams)
    for stream in streams:
        await stream.aclose()


async def test_changes_of_another_replica_arrive(deployment: LobbyDeployment, clock: FakeClock) -> None:
    async with deployment.lobby() as one, deployment.lobby() as other:
        table = await one.tables.create(ADA, PAIRS)
        async with aclosing(other.tables.watch_table(EVE.player_id, table.table_id)) as stream:
            assert [(await next_message(stream)).is_list_complete for _ in range(2)] == [False, True]
            await other.catch_up_worker.catch_up()
            clock.advance(3)
            joined = await one.tables.join(BOB, table.table_id)
            await other.catch_up_worker.catch_up()
            assert await next_table(stream) == joined


NEVER = 1e6


class Source:
    """A stream of the items that a test puts into it; None ends it, an exception is raised."""

    def __init__(self) -> None:
        self.items: asyncio.Queue[str | Exception | None] = asyncio.Queue()
        self.headers = asyncio.Event()
        self.is_closed = False

    async def stream(self) -> AsyncGenerator[str, None]:
        try:
            while (item := await self.items.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            self.is_closed = True

    async def send_headers(self) -> None:
        self.headers.set()

    def heard(
        self, last: str | None = None, *, interval: float = NEVER, headers: float = NEVER
    ) -> AsyncGenerator[str, None]:
        return with_heartbeats(self.stream(), last, lambda item: f"{item} again", self.send_headers, interval, headers)


async def test_a_silent_stream_repeats_its_last_item_until_the_next() -> None:
    source = Source()
    async with aclosing(source.heard(interval=0.001)) as stream:
        source.items.put_nowait("one")
        assert [await next_message(stream) for _ in range(3)] == ["one", "one again", "one again"]
        source.items.put_nowait("two")
        while (item := await next_message(stream)) != "two":
            assert item == "one again"
        assert await next_message(stream) == "two again"
    assert source.is_closed


async def test_a_stream_may_have_a_heartbeat_before_its_first_item() -> None:
    async with aclosing(Source().heard("nothing", interval=0.001, headers=0.001)) as stream:
        assert await next_message(stream) == "nothing again"


async def test_headers_are_sent_soon_without_an_item_and_never_after_one() -> None:
    silent, speaking = Source(), Source()
    waiting = asyncio.ensure_future(anext(silent.heard(headers=0.001)))
    await silent.headers.wait()
    waiting.cancel()
    speaking.items.put_nowait("one")
    async with aclosing(speaking.heard()) as stream:
        assert await next_message(stream) == "one"
    assert not speaking.headers.is_set()


async def test_the_end_and_errors_of_a_stream_are_its_own() -> None:
    ending, failing = Source(), Source()
    ending.items.put_nowait(None)
    with pytest.raises(StopAsyncIteration):
        await next_message(ending.heard())
    failing.items.put_nowait(ValueError("a fault"))
    with pytest.raises(ValueError, match="a fault"):
        await next_message(failing.heard())


async def test_an_error_of_a_stream_whose_reader_has_gone_is_not_reported() -> None:
    reported: list[Any] = []
    readers: list[asyncio.Future[str]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))

    async def failing() -> AsyncGenerator[str, None]:
        readers[0].cancel()
        raise ValueError("a fault")
        yield ""

    readers.append(asyncio.ensure_future(anext(with_heartbeats(failing(), None, str, Source().send_headers))))
    await asyncio.wait(readers)
    assert readers.pop().cancelled()
    gc.collect()
    assert reported == []


async def test_a_cancelled_wait_closes_the_stream() -> None:
    source = Source()
    waiting = asyncio.ensure_future(anext(source.heard(headers=0)))
    await source.headers.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert source.is_closed
