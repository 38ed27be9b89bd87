"""Streams: a snapshot and then every entry, the same bytes live and resumed, and no patience for slow readers."""

import asyncio
from collections.abc import Iterable
from random import Random

import pytest

from croupier.engine import streams
from croupier.engine.audience import MOST_SPECTATORS_STREAMS, MOST_STREAMS_OF_A_SEAT
from croupier.engine.log import TableConfig
from croupier.engine.streams import LONGEST_QUEUE_MESSAGES, Subscription
from croupier.engine.table import Step, TableState, advance, new_table
from croupier.games.catalogue import GAMES
from croupier.games.facts import SPECTATOR, Fact, Seat, TrickTaken, Viewer
from croupier.runtime.errors import LimitReached, Unavailable
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import Bench
from tests.engine.play import (
    ROUNDS,
    act_once,
    choice,
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
async def test_a_stream_resumed_after_any_sequence_gives_the_bytes_of_the_live_one(
    engine: Bench, monkeypatch: pytest.MonkeyPatch, game: str, seed: int
) -> None:
    monkeypatch.setattr(streams, "LONGEST_QUEUE_MESSAGES", 10**6)
    config = make_config(game, GAMES[game].seats[-1], options=ROUNDS.get(game))
    table = await open_table(engine, config)
    live = {viewer: table.subscribe(viewer, 0) for viewer in viewers(config)}
    await play_on(table, Random(seed))
    again = await take_up(engine, "t1")
    last = table.state.sequence
    points = sorted({*range(12), *Random(seed).sample(range(last), min(last, 12)), last - 1, last})
    for viewer, stream in live.items():
        messages = await until_end(stream)
        assert [parsed(message).update.sequence for message in messages] == list(range(1, last + 1))
        for after in points:
            assert await until_end(table.subscribe(viewer, after)) == messages[after:]
        assert await until_end(again.subscribe(viewer, last // 2)) == messages[last // 2 :]


@every_game
async def test_a_stream_joined_at_any_time_begins_with_the_view_and_goes_on_without_a_gap(
    engine: Bench, game: str, seed: int
) -> None:
    random = Random(seed)
    config = make_config(game)
    table = await open_table(engine, config)
    for _ in range(20):
        if table.state.is_over:
            return
        stream = table.subscribe(random.choice(viewers(config)), None)
        at = table.state.sequence
        await act_once(table, random)
        first, *rest = [parsed(message) for message in await taken(stream)]
        assert first.snapshot.sequence == at
        assert [message.update.sequence for message in rest] == list(range(at + 1, table.state.sequence + 1))
        table.audience.leave(stream)


async def test_a_snapshot_says_everything_about_the_table_and_who_looks(engine: Bench) -> None:
    table = await open_table(engine, make_config(seat_count=3))
    (seat,) = table.state.seats_to_act
    (message,) = await taken(table.subscribe(seat, None))
    snapshot = parsed(message).snapshot
    assert snapshot.viewer_seat == seat
    assert snapshot.HasField("viewer_seat")
    assert [info.player_id for info in snapshot.table.seats] == ["p0", "p1", "p2"]
    assert snapshot.table.commitment == table.config.commitment
    assert snapshot.clock.deadline_milliseconds == table.state.deadline
    assert list(snapshot.clock.reserve_milliseconds) == [10_000] * 3
    assert snapshot.legal_actions.actions
    assert snapshot.revealed_seed == ""
    for other in (SPECTATOR, (seat + 1) % 3):
        (message,) = await taken(table.subscribe(other, None))
        snapshot = parsed(message).snapshot
        assert snapshot.HasField("viewer_seat") == (other != SPECTATOR)
        assert not snapshot.HasField("legal_actions")


@every_game
async def test_the_seed_is_revealed_with_the_last_entry_and_not_before(engine: Bench, game: str, seed: int) -> None:
    table = await open_table(engine, make_config(game))
    secret = table.config.seed
    before = []
    for _ in range(20):
        if table.state.is_over:
            break
        before += await taken(table.subscribe(SPECTATOR, None)) + await taken(table.subscribe(SPECTATOR, 0))
        await act_once(table, Random(seed))
    for message in before:
        assert secret not in message
        assert secret.hex().encode() not in message
    await play_on(table, Random(seed))
    *earlier, last = await until_end(table.subscribe(SPECTATOR, 0))
    assert parsed(last).update.revealed_seed == secret.hex()
    assert not any(parsed(message).update.revealed_seed for message in earlier)
    (snapshot,) = await until_end(table.subscribe(SPECTATOR, None))
    assert parsed(snapshot).snapshot.revealed_seed == secret.hex()


class Spelling:
    """An encoder that says what it was asked for."""

    def update(self, config: TableConfig, step: Step, facts: Iterable[Fact]) -> bytes:
        return b"update:" + ",".join(str(fact[0]) for fact in facts).encode()

    def legal_actions(self, table: TableState, seat: Seat) -> bytes:
        return b" legal:%d" % seat

    def snapshot(self, config: TableConfig, table: TableState, viewer: Viewer) -> bytes:
        return b"snapshot"

    def reaction(self, seat: Seat, reaction: str) -> bytes:
        return b"reaction"

    def heartbeat(self, sequence: int) -> bytes:
        return b"heartbeat"

    def resume_notice(self) -> bytes:
        return b"notice"


async def test_each_of_several_seats_to_act_gets_its_own_facts_and_its_own_actions() -> None:
    config = make_config(seat_count=3)
    made = advance(config, new_table(config), 0, None)[-1]
    told = (TrickTaken(5), TrickTaken(6, 1 << 0), TrickTaken(7, ~(1 << 0)))
    made = made._replace(facts=told, public=False, after=made.after._replace(seats_to_act=(0, 2)))
    expected = {0: b"update:5,6 legal:0", 1: b"update:5,7", 2: b"update:5,7 legal:2", SPECTATOR: b"update:5,7"}
    followers = [Subscription(viewer, lambda: None) for viewer in expected]
    for order in (followers, followers[::-1]):
        streams.send(Spelling(), config, made, order)
        for stream in followers:
            assert await taken(stream) == [expected[stream.viewer]]
            assert streams.message_of(Spelling(), config, made, stream.viewer) == expected[stream.viewer]


async def test_a_reader_that_stands_still_is_closed_and_the_others_are_not_slowed(engine: Bench) -> None:
    table = await open_table(engine, make_config("thulla", 4, options={"best_of": 5, "scoring": "cards"}))
    asleep, awake = table.subscribe(SPECTATOR, None), table.subscribe(SPECTATOR, 1)
    seen: list[bytes] = []
    random = Random(1)
    while len(seen) < LONGEST_QUEUE_MESSAGES + 10 and not table.state.is_over:
        await act_once(table, random)
        seen += await taken(awake)
    assert [parsed(message).update.sequence for message in seen] == list(range(2, table.state.sequence + 1))
    assert asleep.closed
    with pytest.raises(LimitReached) as refusal:
        await soon(asleep.next())
    assert refusal.value.reason == "SLOW_READER"
    assert not awake.closed
    assert engine.count("croupier_slow_readers_closed_total") == 1


async def test_what_a_resumed_stream_has_missed_does_not_count_as_falling_behind() -> None:
    stream = a_stream()
    missed = [b"%d" % number for number in range(2 * LONGEST_QUEUE_MESSAGES)]
    stream.preload(missed)
    for _ in range(LONGEST_QUEUE_MESSAGES):
        stream.push(b"new")
    assert not stream.closed
    assert (await taken(stream))[: len(missed)] == missed
    for _ in range(LONGEST_QUEUE_MESSAGES):
        stream.push(b"new")
    assert not stream.closed
    stream.push(b"one too many")
    assert stream.closed


async def test_one_who_waits_gets_a_message_at_once() -> None:
    stream = a_stream()
    waiting = asyncio.create_task(stream.next())
    await settled()
    stream.push(b"1")
    assert await soon(waiting) == b"1"
    waiting = asyncio.create_task(stream.next())
    await settled()
    stream.close()
    assert await soon(waiting) is None
    assert await soon(stream.next()) is None


async def test_what_waits_is_given_before_the_end_and_before_the_error() -> None:
    stream = a_stream()
    stream.push(b"1")
    stream.close(Unavailable("DRAINING", "this engine stops"))
    stream.push(b"2")
    assert await soon(stream.next()) == b"1"
    with pytest.raises(Unavailable):
        await soon(stream.next())


async def test_an_answer_joins_the_message_that_waits_but_never_another_answer() -> None:
    def answer(name: str) -> bytes:
        return engine_pb2.PlayResponse(answer=engine_pb2.ActionAnswer(request_id=name, sequence=1)).SerializeToString()

    stream = a_stream()
    stream.push(engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=9)).SerializeToString())
    for name in ("a", "b", "c"):
        stream.answer(answer(name))
    messages = [parsed(message) for message in await taken(stream)]
    assert [message.answer.request_id for message in messages] == ["a", "b", "c"]
    assert messages[0].heartbeat.sequence == 9


async def test_answers_that_nobody_takes_are_bounded() -> None:
    stream = a_stream()
    for _ in range(LONGEST_QUEUE_MESSAGES + 1):
        stream.answer(b"x")
    assert stream.closed
    with pytest.raises(LimitReached):
        await soon(stream.next())


async def test_the_action_that_ends_the_game_is_answered_on_the_stream_that_it_ends(engine: Bench) -> None:
    table = await open_table(engine, make_config())
    random = Random(1)
    while True:
        seat, action = choice(table.state, random)
        stream = table.subscribe(seat, table.state.sequence)
        await table.act(seat, action, f"r{table.state.sequence}", None)
        if table.state.is_over:
            break
        table.audience.leave(stream)
    answer = engine_pb2.ActionAnswer(request_id="last", sequence=table.state.sequence)
    stream.answer(engine_pb2.PlayResponse(answer=answer).SerializeToString())
    message = parsed((await until_end(stream))[-1])
    assert message.answer.request_id == "last"
    assert message.update.revealed_seed


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


async def test_a_table_has_so_many_streams_and_a_closed_one_makes_room(engine: Bench) -> None:
    table = await open_table(engine, make_config())
    streams = [table.subscribe(SPECTATOR, None) for _ in range(MOST_SPECTATORS_STREAMS)]
    with pytest.raises(LimitReached) as refusal:
        table.subscribe(SPECTATOR, None)
    assert refusal.value.reason == "TOO_MANY_STREAMS"
    table.audience.leave(streams[0])
    table.subscribe(SPECTATOR, None)


async def test_spectators_never_keep_a_player_from_his_table(engine: Bench) -> None:
    table = await open_table(engine, make_config())
    for _ in range(MOST_SPECTATORS_STREAMS):
        table.subscribe(SPECTATOR, None)
    for seat in (0, 1):
        for _ in range(MOST_STREAMS_OF_A_SEAT):
            table.subscribe(seat, None)
    with pytest.raises(LimitReached):
        table.subscribe(0, None)
