"""Streams: a snapshot and then every entry, the same bytes live and resumed, and limits for slow readers."""

import asyncio
from collections.abc import Iterable
from functools import partial
from random import Random

import pytest

from croupier.engine.api.stream_codec import StreamEncoder, encode_acceptance
from croupier.engine.core.fold import Transition
from croupier.engine.core.folded_table import MAX_RESUMED_ENTRIES
from croupier.engine.core.log import TableConfig
from croupier.engine.tables.subscribers import (
    MAX_NETWORK_SPECTATOR_STREAMS,
    MAX_SEAT_STREAMS,
    MAX_SPECTATOR_STREAMS,
    RETRY_SECONDS,
)
from croupier.engine.tables.subscription import MAX_QUEUE_MESSAGES, Subscription
from croupier.engine.tables.table import Table
from croupier.games.facts import SPECTATOR, Fact
from croupier.games.interface import SeatActed
from croupier.games.registry import OWN_GAMES
from croupier.runtime.errors import LimitReached, StaleSequence, Unavailable
from croupier_api.v1 import engine_pb2, errors_pb2
from croupier_api.v1.games_pb2 import REACTION_CLAP
from tests.engine.fakes import EngineHarness
from tests.engine.play import (
    ENDLESS,
    ROUNDS,
    act_once,
    draw,
    event_of,
    every_game,
    live_stream,
    make_config,
    open_table,
    parsed,
    pending_messages,
    pending_of_all_kinds,
    play_on,
    reload_table,
    until_end,
    viewers,
    within_timeout,
)
from tests.games.laws import TABLES
from tests.waiting import settled


def a_stream() -> Subscription:
    return Subscription(0, lambda: None)


@every_game
async def test_a_stream_that_is_resumed_or_joined_at_any_time_continues_as_the_live_one(
    engine: EngineHarness, game: str, seed: int
) -> None:
    engine.max_queue_messages = 10**6
    random = Random(seed)
    config = make_config(game, OWN_GAMES[game].seats[-1], options=ROUNDS.get(game))
    table = await open_table(engine, config)
    live = {viewer: table.subscribe(viewer, 0) for viewer in viewers(config)}
    await play_on(table, random, max_actions=random.randrange(20))
    at, joined = table.state.sequence, {viewer: table.subscribe(viewer, None) for viewer in live}
    await play_on(table, random)
    again = await reload_table(engine, "t1")
    last = table.state.sequence
    oldest = max(0, last - MAX_RESUMED_ENTRIES)
    points = {oldest, *random.choices(range(oldest, last), k=2 * TABLES), last - 1, last}
    for viewer, stream in live.items():
        messages = await until_end(stream)
        assert [event_of(message).update.sequence for message in messages] == list(range(1, last + 1))
        for after in sorted(points):
            resumed = await until_end(table.subscribe(viewer, after))
            if after == last:
                assert [event_of(message).turn_state.sequence for message in resumed] == [last]
            else:
                assert [*map(without_legal_actions, resumed)] == [*map(without_legal_actions, messages[after:])]
        middle = (oldest + last) // 2
        assert len(await until_end(again.subscribe(viewer, middle))) == last - middle
        snapshot, *rest = await until_end(joined[viewer])
        assert event_of(snapshot).snapshot.sequence == at
        assert rest == messages[at:]


def without_legal_actions(message: bytes) -> engine_pb2.TableUpdate:
    update = event_of(message).update
    update.ClearField("legal_actions")
    return update


async def test_messages_have_the_time_at_which_they_were_made(engine: EngineHarness, seed: int) -> None:
    """A missed entry is made into a message when the resumed stream is read."""
    table, random = await open_table(engine, make_config()), Random(seed)
    live = table.subscribe(0, None)
    opened = engine.clock()
    engine.clock.advance(1_000)
    await act_once(table, random)
    played = engine.clock()
    resumed = table.subscribe(0, 0)
    engine.clock.advance(5_000)
    snapshot, update = (event_of(message) for message in await pending_messages(live))
    assert (snapshot.snapshot.clock.server_unix_ms, update.update.clock.server_unix_ms) == (opened, played)
    missed = [event_of(message).update for message in await pending_messages(resumed)]
    assert {one.clock.server_unix_ms for one in missed} == {played + 5_000}
    now = await pending_messages(table.subscribe(0, table.state.sequence))
    assert event_of(now[0]).turn_state.clock.server_unix_ms == played + 5_000


@every_game
async def test_legal_actions_come_with_the_update_that_is_the_last_for_now(
    engine: EngineHarness, game: str, seed: int
) -> None:
    """Live after each append, and in a resumed stream with the last of the missed updates."""
    random = Random(seed)
    table = await open_table(engine, make_config(game, options=ROUNDS.get(game)))
    seats = range(table.config.seat_count)
    for _ in range(30):
        if table.state.is_over:
            break
        live = {seat: await live_stream(table, seat) for seat in seats}
        before = table.state.sequence
        await act_once(table, random)
        for seat, stream in live.items():
            updates = [event_of(message).update for message in await pending_messages(stream)]
            missed = [event_of(message).update for message in await pending_messages(table.subscribe(seat, before - 1))]
            for each in (updates, missed):
                *earlier, last = each
                assert not any(update.HasField("legal_actions") for update in earlier)
                assert last.HasField("legal_actions") == (seat in table.state.seats_to_act)
            assert missed[-1] == updates[-1]
            (message,) = await pending_messages(table.subscribe(seat, table.state.sequence))
            state = event_of(message).turn_state
            assert (state.sequence, state.clock) == (table.state.sequence, updates[-1].clock)
            assert state.legal_actions == updates[-1].legal_actions
            assert state.HasField("legal_actions") == updates[-1].HasField("legal_actions")
        for stream in live.values():
            table.subscribers.leave(stream)


async def test_a_stream_holds_a_maximum_of_messages_beside_its_missed_entries() -> None:
    stream = a_stream()
    missed, new = [b"missed"] * 2 * MAX_QUEUE_MESSAGES, [b"new"] * MAX_QUEUE_MESSAGES
    stream.preload(iter(missed))
    for message in new:
        stream.push(message)
    assert await pending_of_all_kinds(stream) == missed + new
    for put in (*[stream.answer] * MAX_QUEUE_MESSAGES, stream.push):
        assert not stream.closed
        put(b"x")
    assert stream.closed
    with pytest.raises(LimitReached) as refusal:
        await within_timeout(stream.next())
    assert refusal.value.reason_name == "SLOW_READER"


async def play_to(table: Table, random: Random, sequence: int) -> None:
    """Play a game that does not end until the table has this many entries."""
    while table.state.sequence < sequence:
        seat, action = draw(table.state, random)
        await table.append_once(SeatActed(seat, action), f"r{table.state.sequence}")


async def test_a_stream_that_missed_too_much_begins_with_a_snapshot(engine: EngineHarness, seed: int) -> None:
    random = Random(seed)
    table = await open_table(engine, make_config("one_oh_one", 4, options=ENDLESS))
    await play_to(table, random, MAX_RESUMED_ENTRIES + 44)
    last, resumed = table.state.sequence, engine.count("croupier_resumes_total")
    oldest = last - MAX_RESUMED_ENTRIES
    streams_after = {after: table.subscribe(SPECTATOR, after) for after in (0, oldest - 1, oldest)}
    assert engine.count("croupier_resumes_total") == resumed + 3
    await play_to(table, random, last + 3)
    for after, stream in streams_after.items():
        first, *rest = [event_of(message) for message in await pending_messages(stream)]
        if after == oldest:
            assert first.update.sequence == oldest + 1
            sequences = range(oldest + 2, table.state.sequence + 1)
        else:
            assert first.snapshot.sequence == last
            sequences = range(last + 1, table.state.sequence + 1)
        assert [event.update.sequence for event in rest] == list(sequences)


class CountingEncoder(StreamEncoder):
    updates = 0

    def update(self, config: TableConfig, transition: Transition, known: Iterable[Fact], now: int) -> bytes:
        self.updates += 1
        return super().update(config, transition, known, now)


async def test_missed_entries_are_encoded_when_they_are_read(engine: EngineHarness, seed: int) -> None:
    """Also after later entries have been added and packed; those follow."""
    random = Random(seed)
    encoder = CountingEncoder()
    engine.encoder = encoder
    table = await open_table(engine, make_config("one_oh_one", 4, options=ENDLESS))
    await play_to(table, random, 150)
    missed = table.state.sequence - 20
    stream, expected = table.subscribe(0, 20), await pending_messages(table.subscribe(0, 20))
    assert len(expected) == missed
    before = encoder.updates
    for message in expected[:60]:
        assert await within_timeout(stream.next()) == message
    assert encoder.updates == before + 60
    later = table.subscribe(0, table.state.sequence)
    await play_to(table, random, 300)
    _, *live = await pending_messages(later)
    assert await pending_messages(stream) == expected[60:] + live


async def test_a_waiting_reader_is_woken_by_a_message_and_by_the_end() -> None:
    stream = a_stream()
    for put, expected in ((partial(stream.push, b"1"), b"1"), (stream.close, None)):
        waiting = asyncio.create_task(stream.next())
        await settled()
        put()
        assert await within_timeout(waiting) == expected
    assert await within_timeout(stream.next()) is None


async def test_waiting_messages_precede_the_error() -> None:
    stream = a_stream()
    stream.push(b"1")
    stream.close(Unavailable(errors_pb2.ERROR_REASON_SERVER_STOPPING, "this engine stops"))
    stream.push(b"2")
    assert await within_timeout(stream.next()) == b"1"
    with pytest.raises(Unavailable):
        await within_timeout(stream.next())


async def test_an_answer_joins_a_waiting_message_but_not_another_answer() -> None:
    """Also the answer to the last action, which has ended the stream."""
    stream = a_stream()
    stream.push(StreamEncoder().heartbeat(9))
    for name in ("a", "b"):
        stream.answer(encode_acceptance(name, 1))
    stream.push(StreamEncoder().heartbeat(10))
    stream.close()
    stream.answer(encode_acceptance("c", 1))
    messages = [parsed(message) for message in await until_end(stream)]
    assert [(each.table_event.heartbeat.sequence, each.answer.request_id) for each in messages] == [
        (9, "a"),
        (0, "b"),
        (10, "c"),
    ]


async def test_quiet_streams_get_heartbeats_and_others_none(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config())
    stream = table.subscribe(SPECTATOR, None)
    table.subscribers.send_heartbeats(table.state.sequence)
    assert [event_of(message).WhichOneof("event_kind") for message in await pending_messages(stream)] == ["snapshot"]
    table.subscribers.send_heartbeats(table.state.sequence)
    (message,) = await pending_messages(stream)
    assert event_of(message).heartbeat.sequence == 1
    await act_once(table, Random(1))
    table.subscribers.send_heartbeats(table.state.sequence)
    assert [event_of(message).WhichOneof("event_kind") for message in await pending_messages(stream)] == ["update"]
    table.subscribers.send_heartbeats(table.state.sequence)
    assert [event_of(message).heartbeat.sequence for message in await pending_messages(stream)] == [2]


async def test_a_new_stream_of_a_seat_replaces_its_oldest_one(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config())
    followed = [table.subscribe(0, None) for _ in range(MAX_SEAT_STREAMS)]
    others = {viewer: table.subscribe(viewer, None) for viewer in (1, SPECTATOR)}
    newest = [table.subscribe(0, after) for after in (None, 1)]
    for replaced in followed[:2]:
        (snapshot,) = await pending_messages(replaced)
        assert event_of(snapshot).HasField("snapshot")
        with pytest.raises(StaleSequence) as superseded:
            await within_timeout(replaced.next())
        assert superseded.value.reason_name == "SUPERSEDED"
    for stream in (*followed[2:], *newest, *others.values()):
        assert not stream.closed
        await pending_messages(stream)
    await act_once(table, Random(1))
    for stream in (*followed[2:], *newest, *others.values()):
        assert [event_of(message).update.sequence for message in await pending_messages(stream)] == [2]
    table.subscribers.leave(followed[2])
    table.subscribe(0, None)
    assert not followed[3].closed


@pytest.mark.parametrize(
    ("limit", "network_id", "scope"),
    [(MAX_SPECTATOR_STREAMS, "", "table$"), (MAX_NETWORK_SPECTATOR_STREAMS, "a network", "table for one network$")],
)
async def test_spectators_have_their_own_limits_of_open_streams(
    engine: EngineHarness, limit: int, network_id: str, scope: str
) -> None:
    table = await open_table(engine, make_config())
    followed = [table.subscribe(SPECTATOR, None, network_id) for _ in range(limit)]
    with pytest.raises(LimitReached, match=scope) as refusal:
        table.subscribe(SPECTATOR, 1, network_id)
    assert (refusal.value.reason_name, refusal.value.limit) == ("TOO_MANY_STREAMS", "streams")
    assert refusal.value.retry_after_seconds == RETRY_SECONDS
    for _ in range(MAX_SPECTATOR_STREAMS - limit):
        table.subscribe(SPECTATOR, None, "another network")
    for seat in range(table.config.seat_count):
        table.subscribe(seat, None, network_id)
    table.subscribers.leave(followed[0])
    table.subscribe(SPECTATOR, None, network_id)


async def test_each_message_to_a_spectator_waits_for_its_turn_and_those_to_players_for_none(
    engine: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, waiting = await open_table(engine, make_config()), dict[asyncio.Future[None], str]()
    monkeypatch.setattr(engine.spectator_sending, "put", lambda network, turn: waiting.setdefault(turn, network))
    player, spectator = (table.subscribe(viewer, None, "a network") for viewer in (0, SPECTATOR))
    await within_timeout(player.next())
    for messages in range(1, 4):
        reading = asyncio.ensure_future(spectator.next())
        await settled()
        table.subscribers.publish_reaction(0, REACTION_CLAP)
        await within_timeout(player.next())
        assert not reading.done()
        assert list(waiting.values()) == ["a network"] * messages
        [*waiting][-1].set_result(None)
        await within_timeout(reading)
