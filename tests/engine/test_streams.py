"""Streams: a snapshot and then every entry, the same bytes live and resumed, and no patience for slow readers."""

import asyncio
from functools import partial
from random import Random

import pytest

from croupier.engine import streams
from croupier.engine.audience import MOST_SPECTATORS_STREAMS, MOST_STREAMS_OF_A_SEAT
from croupier.engine.fact_codec import encode_accepted
from croupier.engine.streams import LONGEST_QUEUE_MESSAGES, Subscription
from croupier.games.catalogue import GAMES
from croupier.games.facts import SPECTATOR, Viewer
from croupier.runtime.errors import LimitReached, Unavailable
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import Bench
from tests.engine.play import (
    ROUNDS,
    act_once,
    every_game,
    make_config,
    open_table,
    parsed,
    play_on,
    soon,
    take_up,
    taken,
    until_end,
    viewers,
)
from tests.waiting import settled


def a_stream() -> Subscription:
    return Subscription(0, lambda: None)


@every_game
async def test_a_stream_that_is_resumed_or_joined_at_any_time_goes_on_with_the_bytes_of_the_live_one(
    engine: Bench, monkeypatch: pytest.MonkeyPatch, game: str, seed: int
) -> None:
    monkeypatch.setattr(streams, "LONGEST_QUEUE_MESSAGES", 10**6)
    random = Random(seed)
    config = make_config(game, GAMES[game].seats[-1], options=ROUNDS.get(game))
    table = await open_table(engine, config)
    live = {viewer: table.subscribe(viewer, 0) for viewer in viewers(config)}
    await play_on(table, random, most=random.randrange(20))
    at, joined = table.state.sequence, {viewer: table.subscribe(viewer, None) for viewer in live}
    await play_on(table, random)
    again = await take_up(engine, "t1")
    last = table.state.sequence
    points = sorted({*range(12), *random.sample(range(last), min(last, 12)), last - 1, last})
    for viewer, stream in live.items():
        messages = await until_end(stream)
        assert [parsed(message).update.sequence for message in messages] == list(range(1, last + 1))
        for after in points:
            assert await until_end(table.subscribe(viewer, after)) == messages[after:]
        assert await until_end(again.subscribe(viewer, last // 2)) == messages[last // 2 :]
        snapshot, *rest = await until_end(joined[viewer])
        assert parsed(snapshot).snapshot.sequence == at
        assert rest == messages[at:]


async def test_a_snapshot_says_everything_about_the_table_and_who_looks(engine: Bench) -> None:
    table = await open_table(engine, make_config(seat_count=3))
    (seat,) = table.state.seats_to_act
    (message,) = await taken(table.subscribe(seat, None))
    snapshot = parsed(message).snapshot
    assert snapshot.viewer_seat == seat
    assert [info.player_id for info in snapshot.table.seats] == ["p0", "p1", "p2"]
    assert snapshot.table.commitment == table.config.commitment
    assert snapshot.clock.deadline_milliseconds == table.state.deadline
    assert list(snapshot.clock.reserve_milliseconds) == [10_000] * 3
    assert snapshot.legal_actions.actions
    for other in (SPECTATOR, (seat + 1) % 3):
        (message,) = await taken(table.subscribe(other, None))
        assert not parsed(message).snapshot.HasField("legal_actions")


async def test_a_stream_holds_so_many_messages_and_answers_beside_what_it_has_missed() -> None:
    stream = a_stream()
    missed, new = [b"missed"] * 2 * LONGEST_QUEUE_MESSAGES, [b"new"] * LONGEST_QUEUE_MESSAGES
    stream.preload(missed)
    for message in new:
        stream.push(message)
    assert await taken(stream) == missed + new
    for put in (*[stream.answer] * LONGEST_QUEUE_MESSAGES, stream.push):
        assert not stream.closed
        put(b"x")
    assert stream.closed
    with pytest.raises(LimitReached) as refusal:
        await soon(stream.next())
    assert refusal.value.reason == "SLOW_READER"


async def test_one_who_waits_hears_at_once_of_a_message_and_of_the_end() -> None:
    stream = a_stream()
    for put, expected in ((partial(stream.push, b"1"), b"1"), (stream.close, None)):
        waiting = asyncio.create_task(stream.next())
        await settled()
        put()
        assert await soon(waiting) == expected
    assert await soon(stream.next()) is None


async def test_what_waits_is_given_before_the_error_and_nothing_after_it() -> None:
    stream = a_stream()
    stream.push(b"1")
    stream.close(Unavailable("DRAINING", "this engine stops"))
    stream.push(b"2")
    assert await soon(stream.next()) == b"1"
    with pytest.raises(Unavailable):
        await soon(stream.next())


async def test_an_answer_joins_the_message_that_waits_but_never_another_answer() -> None:
    """Also that of the last action, which has ended the stream."""
    stream = a_stream()
    stream.push(engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=9)).SerializeToString())
    for name in ("a", "b"):
        stream.answer(encode_accepted(name, 1))
    stream.push(engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=10)).SerializeToString())
    stream.close()
    stream.answer(encode_accepted("c", 1))
    messages = [parsed(message) for message in await until_end(stream)]
    assert [(each.heartbeat.sequence, each.answer.request_id) for each in messages] == [(9, "a"), (0, "b"), (10, "c")]


async def test_quiet_streams_get_heartbeats_and_others_none(engine: Bench) -> None:
    table = await open_table(engine, make_config())
    stream = table.subscribe(SPECTATOR, None)
    table.audience.beat(table.state.sequence)
    assert [parsed(message).WhichOneof("event") for message in await taken(stream)] == ["snapshot"]
    table.audience.beat(table.state.sequence)
    (message,) = await taken(stream)
    assert parsed(message).heartbeat.sequence == 1
    await act_once(table, Random(1))
    table.audience.beat(table.state.sequence)
    assert [parsed(message).WhichOneof("event") for message in await taken(stream)] == ["update"]
    table.audience.beat(table.state.sequence)
    assert [parsed(message).heartbeat.sequence for message in await taken(stream)] == [2]


@pytest.mark.parametrize(("viewer", "most"), [(SPECTATOR, MOST_SPECTATORS_STREAMS), (0, MOST_STREAMS_OF_A_SEAT)])
async def test_a_viewer_has_so_many_streams_a_closed_one_makes_room_and_others_have_theirs(
    engine: Bench, viewer: Viewer, most: int
) -> None:
    table = await open_table(engine, make_config())
    followed = [table.subscribe(viewer, None) for _ in range(most)]
    with pytest.raises(LimitReached) as refusal:
        table.subscribe(viewer, None)
    assert refusal.value.reason == "TOO_MANY_STREAMS"
    for other in {*viewers(table.config)} - {viewer}:
        table.subscribe(other, None)
    table.audience.leave(followed[0])
    table.subscribe(viewer, None)
