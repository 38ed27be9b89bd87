"""Changes reach streams soon and in order, with any number of streams at a bounded cost."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

import pytest

from croupier.lobby.api.codec import EncodedTables
from croupier.lobby.feed.subscriptions import INTERVAL_SECONDS, MAX_PENDING, MESSAGES_PER_TICK, Subscription, TableFeed
from croupier.lobby.tables.forming_table import Seat, Table, TableState
from croupier.lobby.tables.revision import withdrawn
from croupier.lobby.tables.table_changes import FormingLifetime
from croupier.runtime.errors import LimitReached, Unavailable
from croupier.runtime.fair_queue import TICK_SECONDS
from croupier.runtime.server.tasks import end_tasks
from croupier.runtime.table_access import SEATED
from croupier_api.v1 import tables_pb2
from croupier_api.v1.lobby_pb2 import WatchTablesResponse
from croupier_api.v1.tables_pb2 import Table as PublicTable
from tests.lobby.fakes import FakeClock, forming_table
from tests.lobby.matches import ADA, BOB, EVE, next_message
from tests.waiting import settled

MANY_STREAMS = 1000
TABLE_ID = forming_table().table_id


class Readers:
    """Streams of a feed that are read at once, and the versions that each has received."""

    def __init__(self, clock: FakeClock) -> None:
        self.feed = TableFeed()
        self._clock = clock
        self._stack = ExitStack()
        self._tasks: list[asyncio.Task[None]] = []

    async def watch(self, table_id: str = "", viewer: str = EVE.player_id, network: str = "") -> list[tuple[str, int]]:
        """Read a table's stream, or that of public tables; returns the list to which its messages are added."""
        received: list[tuple[str, int]] = []
        await self.read(self._subscribe(table_id, viewer, network), received)
        return received

    def _subscribe(self, table_id: str, viewer: str, network: str) -> Subscription:
        if table_id:
            return self._stack.enter_context(self.feed.subscribe_table(table_id, viewer, network))
        return self._stack.enter_context(self.feed.subscribe_public("", viewer, network))

    async def read(self, subscription: Subscription, received: list[tuple[str, int]]) -> None:
        async def read() -> None:
            async for _, table, _ in subscription.changes():
                received.append((table.table_id, table.version))

        self._tasks.append(asyncio.create_task(read()))
        await asyncio.sleep(0)

    async def begin(self, tables: Sequence[Table], network: str) -> list[str]:
        """Read a page of a new stream of public tables; returns the list to which its tables are added."""
        subscription, received = self._subscribe("", EVE.player_id, network), []

        async def read() -> None:
            for table in tables:
                await subscription.turn_for(table)
                received.append(table.table_id)

        self._tasks.append(asyncio.create_task(read()))
        return received

    async def publish(self, *tables: Table) -> None:
        for table in tables:
            self.feed.publish(table)
        await settled()

    async def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)
        await settled()

    async def close(self) -> None:
        await end_tasks(self._tasks)
        self._stack.close()
        assert not self.feed.has_subscribers


@pytest.fixture
async def readers(clock: FakeClock) -> AsyncIterator[Readers]:
    clock.drive()
    readers = Readers(clock)
    yield readers
    await readers.close()


async def test_the_first_change_comes_at_once_and_then_the_newest_of_each_interval(readers: Readers) -> None:
    public, own = await readers.watch(), await readers.watch(TABLE_ID)
    await readers.publish(forming_table(version=2))
    assert public == own == [(TABLE_ID, 2)]
    await readers.publish(*(forming_table(version=version) for version in (3, 5, 4)))
    await readers.advance(INTERVAL_SECONDS - 0.001)
    assert public == own == [(TABLE_ID, 2)]
    await readers.advance(0.001)
    assert public == own == [(TABLE_ID, 2), (TABLE_ID, 5)]
    await readers.publish(forming_table(version=4), forming_table(version=5))
    await readers.advance(INTERVAL_SECONDS)
    await readers.publish(forming_table(version=6))
    assert public == own == [(TABLE_ID, 2), (TABLE_ID, 5), (TABLE_ID, 6)]


async def test_a_change_that_was_read_before_its_interval_is_not_sent_again(readers: Readers) -> None:
    with readers.feed.subscribe_public("", EVE.player_id) as subscription:
        await readers.publish(forming_table(version=2), forming_table(version=3))
        changes = subscription.changes()
        assert (await next_message(changes)).table.version == 3
        following = asyncio.ensure_future(next_message(changes))
        await settled()
        await readers.advance(INTERVAL_SECONDS)
        assert not following.done()
        await readers.publish(forming_table(version=4))
        await readers.advance(INTERVAL_SECONDS)
        assert (await following).table.version == 4


async def test_changes_before_a_subscription_and_versions_of_its_page_are_not_repeated(readers: Readers) -> None:
    other = await readers.watch()
    await readers.publish(forming_table(version=2))
    received: list[tuple[str, int]] = []
    with readers.feed.subscribe_public("", EVE.player_id) as subscription:
        await readers.publish(forming_table(version=3), forming_table(number=2, version=1))
        subscription.mark_delivered(forming_table(version=3))
        await readers.read(subscription, received)
        await readers.advance(INTERVAL_SECONDS)
    second = forming_table(number=2).table_id
    assert received == [(second, 1)]
    assert other == [(TABLE_ID, 2), (TABLE_ID, 3), (second, 1)]


async def test_streams_get_their_game_or_table_only_and_no_tables_that_are_hidden(readers: Readers) -> None:
    public = await readers.watch()
    with readers.feed.subscribe_public("alone", EVE.player_id) as subscription:
        alone: list[tuple[str, int]] = []
        await readers.read(subscription, alone)
        await readers.publish(
            forming_table(number=1, access=SEATED),
            forming_table(number=2, state=TableState.PREPARING),
            forming_table(number=3, game="pairs"),
            forming_table(number=4, game="alone"),
        )
        await readers.advance(INTERVAL_SECONDS)
    assert [int(table_id, 16) for table_id, _ in public] == [3, 4]
    assert [int(table_id, 16) for table_id, _ in alone] == [4]


async def test_streams_of_one_network_take_turns_and_delay_no_other_network(readers: Readers) -> None:
    crowd = [await readers.watch(network="crowd") for _ in range(MANY_STREAMS)]
    other = await readers.watch(network="other")
    await readers.publish(forming_table(version=2))
    await readers.advance(TICK_SECONDS)
    assert len(other) == 1
    assert sum(map(len, crowd)) == 2 * MESSAGES_PER_TICK - 1
    ticks = 2
    while not all(crowd):
        await readers.advance(TICK_SECONDS)
        ticks += 1
    assert ticks == -(-(MANY_STREAMS + 1) // MESSAGES_PER_TICK)


async def test_messages_are_bounded_with_any_number_of_streams_and_changes(readers: Readers) -> None:
    crowd = [await readers.watch(network=str(number)) for number in range(MANY_STREAMS)]
    ticks = round(1 / TICK_SECONDS)
    for tick in range(ticks):
        await readers.publish(*(forming_table(number=number, version=tick + 1) for number in range(20)))
        await readers.advance(TICK_SECONDS)
    counts = [len(received) for received in crowd]
    assert sum(counts) <= (ticks + 1) * MESSAGES_PER_TICK
    assert max(counts) - min(counts) <= 1
    for received in crowd:
        assert received == sorted(received, key=lambda message: message[1])


async def test_pages_take_turns_with_changes(readers: Readers) -> None:
    page = [forming_table(number=number) for number in range(100, 120)]
    other, neighbour = await readers.watch(network="other"), await readers.watch(network="crowd")
    pages = [await readers.begin(page, "crowd") for _ in range(50)]
    await settled()
    assert sum(map(len, pages)) == MESSAGES_PER_TICK
    await readers.publish(forming_table(version=2))
    ticks = 1
    while any(len(received) < len(page) for received in pages) or not neighbour:
        await readers.advance(TICK_SECONDS)
        ticks += 1
        assert sum(map(len, pages)) + len(other) + len(neighbour) <= ticks * MESSAGES_PER_TICK
        assert other == [(TABLE_ID, 2)]
        # The neighbour waits for one turn of each stream before it.
        assert neighbour or ticks <= 50 / MESSAGES_PER_TICK + 1
    assert ticks == -(-(50 * len(page) + 2) // MESSAGES_PER_TICK)
    assert pages == [[table.table_id for table in page]] * 50


async def test_players_of_a_table_wait_for_no_turn(readers: Readers) -> None:
    crowd = [await readers.watch(TABLE_ID) for _ in range(MANY_STREAMS)]
    seats = (Seat(ADA.player_id), Seat(BOB.player_id))
    player = await readers.watch(TABLE_ID, BOB.player_id)
    for version in range(2, 5):
        await readers.publish(replace(forming_table(version=version), seats=seats))
        assert player[-1] == (TABLE_ID, version)
        await readers.advance(INTERVAL_SECONDS)
    assert sum(map(len, crowd)) < MANY_STREAMS


async def test_a_stream_that_ends_leaves_its_turn_to_others(readers: Readers) -> None:
    with readers.feed.subscribe_public("", EVE.player_id, "crowd") as ending:
        first = [await readers.watch(network="crowd") for _ in range(MESSAGES_PER_TICK)]
        changes = ending.changes()
        waiting = asyncio.ensure_future(anext(changes))
        await settled()
        last = await readers.watch(network="crowd")
        await readers.publish(forming_table(version=2))
        assert all(first)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await readers.advance(TICK_SECONDS)
    assert last == [(TABLE_ID, 2)]


async def test_a_stream_that_is_read_too_slowly_ends() -> None:
    feed = TableFeed()
    with feed.subscribe_public("", EVE.player_id) as slow:
        for number in range(MAX_PENDING + 1):
            feed.publish(forming_table(number=number))
        with pytest.raises(LimitReached, match="slowly"):
            await next_message(slow.changes())


async def test_streams_end_when_the_server_stops() -> None:
    """Those with tables of their page left, with changes left, and those that wait for a change."""
    feed = TableFeed()
    with ExitStack() as stack:
        page, changed, waiting = (stack.enter_context(feed.subscribe_public("", EVE.player_id)) for _ in range(3))
        await page.turn_for(forming_table(number=1))
        feed.publish(forming_table(number=1))
        feed.publish(forming_table(number=2))
        changes = changed.changes()
        await next_message(changes)
        waiting.mark_delivered(forming_table(number=1))
        waiting.mark_delivered(forming_table(number=2))
        wait = asyncio.ensure_future(next_message(waiting.changes()))
        await settled()
        feed.close()
        for ending in (page.turn_for(forming_table(number=2)), next_message(changes), wait):
            with pytest.raises(Unavailable, match="stop"):
                await ending
        with pytest.raises(Unavailable, match="stop"):
            stack.enter_context(feed.subscribe_table(TABLE_ID, EVE.player_id))


def test_a_version_is_encoded_once_and_only_its_players_get_the_invite_code() -> None:
    encoded = EncodedTables(FormingLifetime(1, 2))
    table = forming_table(invite_code="SECRET")
    shown = encoded.message(table, EVE.player_id)
    assert encoded.message(table, BOB.player_id) is shown
    assert WatchTablesResponse.FromString(shown).table.invite_code == ""
    assert WatchTablesResponse.FromString(encoded.message(table, ADA.player_id)).table.invite_code == "SECRET"
    newer = forming_table(invite_code="SECRET", version=2, game="alone")
    assert WatchTablesResponse.FromString(encoded.message(newer, EVE.player_id)).table.game == "alone"
    hidden = forming_table(access=SEATED, invite_code="SECRET", version=3)
    shown = encoded.message(hidden, EVE.player_id)
    assert WatchTablesResponse.FromString(shown).table == PublicTable(table_id=TABLE_ID)


def test_neither_a_hidden_table_nor_its_end_is_encoded_as_the_other() -> None:
    encoded = EncodedTables(FormingLifetime(1, 2))
    table = forming_table(3, access=SEATED, invite_code="SECRET", version=7, hidden_version=7)
    table = replace(table, seats=(*table.seats[:2], Seat(reserved_player_id=BOB.player_id)))
    end = withdrawn(table)
    assert end is not None
    for shown, viewer, seats, state in (
        (table, BOB, 3, tables_pb2.TABLE_STATE_FORMING),
        (end, EVE, 0, tables_pb2.TABLE_STATE_CLOSED),
    ):
        message = WatchTablesResponse.FromString(encoded.message(shown, viewer.player_id)).table
        assert (len(message.seats), message.state, message.invite_code) == (seats, state, "")
