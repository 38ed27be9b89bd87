"""The presence at a table: of its players and spectators, at one engine and at several."""

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from croupier.engine.cluster.catch_up import GONE_SECONDS, CatchUp
from croupier.engine.cluster.notifier import decode_announcements
from croupier.engine.tables.presence import SETTLING_MILLISECONDS, Announcement
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.table import Table
from croupier.games.facts import SPECTATOR, Viewer
from croupier.runtime.table_access import OPEN
from croupier_api.v1 import engine_pb2
from tests.calls import call_of
from tests.engine.fakes import EngineHarness
from tests.engine.play import ENDLESS, act_once, event_of, make_config, open_table, pending_of_all_kinds, play_on
from tests.waiting import settled

DELAY = 20_000
DELAYED = replace(OPEN, watch_delay_seconds=DELAY // 1000)
Shown = list[tuple[list[int], int]]
"""The connected seats and the number of spectators, of each presence that was sent."""


async def pass_time(engine: EngineHarness, milliseconds: int = SETTLING_MILLISECONDS) -> None:
    engine.clock.advance(milliseconds)
    await settled()


def values(presence: engine_pb2.Presence) -> tuple[list[int], int]:
    return list(presence.connected_seats), presence.spectator_count


async def shown(stream: Subscription) -> Shown:
    """Return the presences that a stream has brought since the last call, in snapshots too."""
    events = [event_of(message) for message in await pending_of_all_kinds(stream)]
    parts = [event.snapshot if event.HasField("snapshot") else event for event in events]
    return [values(part.presence) for part in parts if part.HasField("presence")]


@pytest.fixture
async def table(engine: EngineHarness) -> Table:
    return await open_table(engine, make_config(seat_count=4))


async def test_a_snapshot_has_the_presence_and_the_others_get_it_a_second_later(
    engine: EngineHarness, table: Table
) -> None:
    first = table.subscribe(2, None)
    assert await shown(first) == [([2], 0)]
    second = table.subscribe(0, None)
    assert await shown(second) == [([0, 2], 0)]
    await pass_time(engine, SETTLING_MILLISECONDS - 1)
    assert await shown(first) == []
    await pass_time(engine, 1)
    assert await shown(first) == [([0, 2], 0)]
    assert await shown(second) == []


async def test_many_changes_are_one_message_a_second_with_the_latest_state(engine: EngineHarness, table: Table) -> None:
    stream = table.subscribe(0, None)
    await shown(stream)
    for _ in range(3):
        for seat in (1, 2, 3):
            other = table.subscribe(seat, None)
            await pass_time(engine, 100)
            if seat != 3:
                table.subscribers.leave(other)
        await pass_time(engine, SETTLING_MILLISECONDS - 300)
        assert await shown(stream) in ([([0, 3], 0)], [])
    await pass_time(engine)
    assert await shown(stream) == []


async def test_a_stream_that_is_opened_again_within_a_second_changes_nothing_for_others(
    engine: EngineHarness, table: Table
) -> None:
    stream, broken = table.subscribe(0, None), table.subscribe(1, None)
    await pass_time(engine)
    await shown(stream)
    table.subscribers.leave(broken)
    await pass_time(engine, SETTLING_MILLISECONDS - 1)
    resumed = table.subscribe(1, table.state.sequence)
    await pass_time(engine)
    assert await shown(stream) == []
    # It may have missed a change.
    assert await shown(resumed) == [([0, 1], 0)]
    table.subscribers.leave(resumed)
    await pass_time(engine)
    assert await shown(stream) == [([0], 0)]


async def test_several_streams_of_a_player_count_once(engine: EngineHarness, table: Table) -> None:
    stream, again = table.subscribe(0, None), table.subscribe(0, None)
    watching = [table.subscribe(SPECTATOR, None, player_id=who) for who in ("eve", "eve", "mallory")]
    await pass_time(engine)
    assert (await shown(stream))[-1] == ([0], 2)
    for each in (again, watching[0]):
        table.subscribers.leave(each)
    await pass_time(engine)
    assert await shown(stream) == []


async def test_without_changes_nothing_is_sent_and_no_timer_runs(engine: EngineHarness) -> None:
    announced: list[Announcement] = []
    engine.announce = lambda _table_id, announcement: announced.append(announcement)
    table = await open_table(engine, make_config("one_oh_one", 2, options=ENDLESS))
    streams = [table.subscribe(seat, None) for seat in (0, 1)]
    await pass_time(engine)
    for stream in streams:
        await shown(stream)
    announced.clear()
    for _ in range(5):
        await act_once(table, Random(1))
        await pass_time(engine, 2_000)
    assert [await shown(stream) for stream in streams] == [[], []]
    assert announced == []


async def test_the_end_of_a_game_is_no_change(engine: EngineHarness) -> None:
    announced: list[Announcement] = []
    engine.announce = lambda _table_id, announcement: announced.append(announcement)
    table = await open_table(engine, make_config(seat_count=3))
    stream = table.subscribe(0, None)
    await pass_time(engine)
    table.subscribe(1, None)
    await play_on(table, Random(1))
    assert await shown(stream) == [([0], 0)]
    after = table.subscribe(0, None)
    table.subscribers.leave(stream)
    await pass_time(engine)
    assert await shown(after) == []
    assert [announcement.presence.seats for announcement in announced] == [(0,)]


async def test_spectators_with_a_watch_delay_see_the_presence_as_late_as_all_else(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config(seat_count=3, access=DELAYED))
    seat = table.subscribe(0, None)
    await pass_time(engine)
    await table.subscribers.state_for(SPECTATOR)
    spectator = table.subscribe(SPECTATOR, None, player_id="eve")
    assert await shown(spectator) == []
    other = table.subscribe(1, None)
    await pass_time(engine)
    assert (await shown(seat))[-1] == ([0, 1], 1)
    table.subscribers.leave(other)
    await pass_time(engine)
    assert await shown(seat) == [([0], 1)]
    await pass_time(engine, DELAY - 2 * SETTLING_MILLISECONDS - 1)
    assert await shown(spectator) == []
    await pass_time(engine, 1)
    assert await shown(spectator) == [([0], 0)]
    await pass_time(engine)
    assert await shown(spectator) == [([0, 1], 1)]
    await table.subscribers.state_for(SPECTATOR)
    assert await shown(table.subscribe(SPECTATOR, None, player_id="mallory")) == [([0, 1], 1)]
    await pass_time(engine)
    assert await shown(spectator) == [([0], 1)]


async def test_a_view_has_the_presence_where_the_table_is_followed(engine: EngineHarness) -> None:
    await open_table(engine, make_config(seat_count=3))
    tables = engine.tables()
    servicer, request = engine.servicer(tables), engine_pb2.GetViewRequest(table_id="t1")
    view = await servicer.GetView(request, call_of("p0"))
    assert not view.snapshot.HasField("presence")
    (await tables.get("t1")).subscribe(1, None)
    view = await servicer.GetView(request, call_of("p0"))
    assert values(view.snapshot.presence) == ([1], 0)


# Several engines


class Replica:
    """One of several engines: its table, and what it has announced."""

    def __init__(self, engine: EngineHarness, engine_id: str) -> None:
        self.engine, self.engine_id = engine, engine_id
        self.tables: Tables = engine.tables()
        self.worker: CatchUp = engine.catch_up(self.tables)
        self.announced: list[Announcement] = []

    async def subscribe(self, viewer: Viewer, after: int | None = None) -> Subscription:
        return (await self.tables.get("t1")).subscribe(viewer, after)

    async def leave(self, stream: Subscription) -> None:
        (await self.tables.get("t1")).subscribers.leave(stream)


class Cluster:
    """Engines whose announcements reach all others at once, unless they are lost."""

    def __init__(self, *engines: EngineHarness) -> None:
        self.replicas = [Replica(engine, name) for engine, name in zip(engines, ("e", "e2", "e3"), strict=False)]
        self.loses = False
        for replica in self.replicas:
            replica.engine.announce = self.announcing(replica)

    def announcing(self, origin: Replica) -> Callable[[str, Announcement], None]:
        def announce(table_id: str, announcement: Announcement) -> None:
            origin.announced.append(announcement)
            for other in self.replicas if not self.loses else ():
                if other is not origin:
                    payload = json.loads(json.dumps({table_id: announcement}))
                    other.worker.presence_announced(origin.engine_id, decode_announcements(payload))

        return announce


@pytest.fixture
async def cluster(engine: EngineHarness) -> Cluster:
    await open_table(engine, make_config(seat_count=4))
    engine.liveness_store.engines = 2
    await engine.liveness.send_heartbeat()
    return Cluster(engine, engine.another_engine())


async def test_engines_show_the_presence_of_each_other(engine: EngineHarness, cluster: Cluster) -> None:
    one, other = cluster.replicas
    await other.tables.get("t1")
    here = [await one.subscribe(seat) for seat in (0, 1)]
    await pass_time(engine)
    there = await other.subscribe(2)
    assert await shown(there) == [([0, 1, 2], 0)]
    watching = await other.subscribe(SPECTATOR)
    await pass_time(engine)
    assert [(await shown(stream))[-1] for stream in (*here, there, watching)] == [([0, 1, 2], 1)] * 4
    await other.leave(watching)
    await pass_time(engine)
    # The other engine announces the change a second after it, and this one shows it a second later.
    await pass_time(engine)
    assert [await shown(stream) for stream in (*here, there)] == [[([0, 1, 2], 0)]] * 3


async def test_the_first_stream_at_an_engine_asks_the_others(engine: EngineHarness, cluster: Cluster) -> None:
    one, other = cluster.replicas
    await one.subscribe(0)
    await pass_time(engine)
    one.announced.clear()
    moved = await other.subscribe(1, 0)
    assert [announcement.asks for announcement in other.announced] == [True]
    assert [announcement.asks for announcement in one.announced] == [False]
    await pass_time(engine)
    # Nobody seems to have gone in between.
    assert await shown(moved) == [([0, 1], 0)]


async def test_players_who_continue_at_another_engine_were_never_gone(engine: EngineHarness, cluster: Cluster) -> None:
    one, other = cluster.replicas
    streams = [await one.subscribe(seat) for seat in (0, 1)]
    stays = await other.subscribe(2)
    await pass_time(engine)
    await shown(stays)
    (await one.tables.get("t1")).hand_over_streams()
    resumed = [await other.subscribe(seat, 0) for seat in (0, 1)]
    for _ in range(3):
        await pass_time(engine)
    assert await shown(stays) == []
    assert [await shown(stream) for stream in resumed] == [[([0, 1, 2], 0)]] * 2
    assert all(stream.closed for stream in streams)


async def test_the_presence_at_an_engine_that_died_is_forgotten(engine: EngineHarness, cluster: Cluster) -> None:
    one, other = cluster.replicas
    stream = await one.subscribe(0)
    await other.subscribe(1)
    await pass_time(engine)
    assert (await shown(stream))[-1] == ([0, 1], 0)
    engine.liveness_store.engines = 1
    await engine.liveness.send_heartbeat()
    one.worker.notifications_missed()
    await pass_time(engine, round(GONE_SECONDS * 1000) - 1)
    one.worker.notifications_missed()
    await pass_time(engine)
    assert await shown(stream) == []
    one.worker.notifications_missed()
    await settled()
    await pass_time(engine)
    assert await shown(stream) == [([0], 0)]


async def test_an_engine_that_is_unknown_for_a_moment_is_not_forgotten(engine: EngineHarness, cluster: Cluster) -> None:
    one, other = cluster.replicas
    stream = await one.subscribe(0)
    await other.subscribe(1)
    await pass_time(engine)
    await shown(stream)
    for engines in (1, 2, 1):
        engine.liveness_store.engines = engines
        await engine.liveness.send_heartbeat()
        one.worker.notifications_missed()
        await pass_time(engine, round(GONE_SECONDS * 1000))
    assert await shown(stream) == []


@pytest.mark.parametrize("is_engine_new", [False, True])
async def test_a_new_connection_or_engine_makes_up_for_lost_announcements(
    engine: EngineHarness, cluster: Cluster, is_engine_new: bool
) -> None:
    one, other = cluster.replicas
    engine.liveness_store.engines = 1
    await engine.liveness.send_heartbeat()
    one.worker.notifications_missed()
    here, there = await one.subscribe(0), await other.subscribe(1)
    await pass_time(engine)
    cluster.loses = True
    new = await one.subscribe(2), await other.subscribe(3)
    for _ in range(2):
        await pass_time(engine)
    assert [(await shown(stream))[-1] for stream in (here, there)] == [([0, 1, 2], 0), ([0, 1, 3], 0)]
    cluster.loses = False
    engine.liveness_store.engines = 2
    await engine.liveness.send_heartbeat()
    (one.worker.notifications_missed if is_engine_new else one.worker.connected)()
    await settled()
    await pass_time(engine)
    assert [await shown(stream) for stream in (here, there)] == [[([0, 1, 2, 3], 0)]] * 2
    assert not any(stream.closed for stream in new)
