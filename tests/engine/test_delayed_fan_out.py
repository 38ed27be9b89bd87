"""Spectators of a table with a watch delay see the table as all others saw it that long ago."""

import asyncio
from dataclasses import replace
from random import Random

import pytest

from croupier.engine.api.stream_codec import StreamEncoder
from croupier.engine.core.fold import Transition
from croupier.engine.core.folded_table import MAX_RESUMED_ENTRIES
from croupier.engine.tables.subscribers import MAX_CLOCK_DIFFERENCE_MILLISECONDS, MAX_SPECTATOR_STREAMS
from croupier.engine.tables.subscription import Subscription, encode_transition
from croupier.engine.tables.table import Table
from croupier.games.facts import SPECTATOR
from croupier.games.registry import OWN_GAMES
from croupier.runtime.errors import LimitReached, MalformedRequest, Unavailable
from croupier.runtime.table_access import OPEN
from croupier_api.v1 import engine_pb2
from croupier_api.v1.games_pb2 import REACTION_WOW
from tests.engine.fakes import EngineHarness
from tests.engine.folds import transitions_of
from tests.engine.play import (
    ENDLESS,
    ROUNDS,
    act_once,
    event_of,
    every_game,
    make_config,
    open_table,
    pending_messages,
    play_on,
    reload_table,
    until_end,
)
from tests.waiting import settled

DELAY_SECONDS = 20
DELAY = DELAY_SECONDS * 1000
DELAYED = replace(OPEN, watch_delay_seconds=DELAY_SECONDS)


async def watching(table: Table, after: int | None = None) -> Subscription:
    await table.subscribers.state_for(SPECTATOR)
    return table.subscribe(SPECTATOR, after)


def all_transitions(table: Table) -> list[Transition]:
    return list(transitions_of(table.config, table.entries))


def spectators_update(table: Table, transition: Transition) -> engine_pb2.TableUpdate:
    return event_of(encode_transition(StreamEncoder(), table.config, transition, SPECTATOR, 0)).update


def update_and_time(message: bytes) -> tuple[engine_pb2.TableUpdate, int]:
    """Return an update without the time at which it was made, and that."""
    update = event_of(message).update
    made = update.clock.server_unix_ms
    update.clock.ClearField("server_unix_ms")
    return update, made


@every_game
async def test_a_delayed_spectator_receives_what_others_do_after_the_delay(
    engine: EngineHarness, game: str, seed: int
) -> None:
    random = Random(seed)
    config = make_config(game, OWN_GAMES[game].seats[-1], options=ROUNDS.get(game), access=DELAYED)
    table = await open_table(engine, config)
    received: list[bytes] = []
    stream = await watching(table, 0)
    for _ in range(150):
        if table.state.is_over:
            break
        await act_once(table, random)
        engine.clock.advance(random.choice((0, 10, 1_500, 9_000)))
        await settled()
        received += await pending_messages(stream)
        state = await table.subscribers.state_for(SPECTATOR)
        assert state.at <= engine.clock() - DELAY or state.sequence == 0
        expected = [one for one in all_transitions(table) if one.entry.at <= engine.clock() - DELAY]
        updates = [update_and_time(message) for message in received[1:]]
        assert [update for update, _ in updates] == [spectators_update(table, one) for one in expected]
        # The deadlines that spectators see are as far away as they were for the players.
        assert all(made >= update.stored_unix_ms for update, made in updates)
        assert state == (expected[-1].after if expected else state)
        snapshot = event_of((await pending_messages(await watching(table)))[0]).snapshot
        assert snapshot.clock.server_unix_ms == engine.clock() - DELAY
        assert (snapshot.sequence, snapshot.HasField("viewer_seat")) == (len(expected), False)
    assert event_of(received[0]).turn_state.sequence == 0


async def test_seats_are_not_delayed_and_reactions_are_as_late_as_entries(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config(access=DELAYED))
    seat, spectator = table.subscribe(0, None), await watching(table, 0)
    await pending_messages(seat)
    await pending_messages(spectator)
    table.react("p1", REACTION_WOW)
    await act_once(table, Random(1))
    kinds = [event_of(message).WhichOneof("event_kind") for message in await pending_messages(seat)]
    assert kinds == ["reaction", "update"]
    engine.clock.advance(DELAY - 1)
    await settled()
    assert await pending_messages(spectator) == []
    engine.clock.advance(1)
    await settled()
    kinds = [event_of(message).WhichOneof("event_kind") for message in await pending_messages(spectator)]
    assert kinds == ["update", "reaction", "update"]


async def test_a_table_that_is_loaded_again_delays_what_its_log_has(engine: EngineHarness, seed: int) -> None:
    table, random = await open_table(engine, make_config(access=DELAYED)), Random(seed)
    for _ in range(10):
        engine.clock.advance(4_000)
        await act_once(table, random)
    again = await reload_table(engine.another_engine(), "t1")
    known = sum(one.entry.at + DELAY <= engine.clock() for one in all_transitions(table))
    assert (await again.subscribers.state_for(SPECTATOR)).sequence == known < again.state.sequence
    stream = await watching(again, known - 1)
    (message,) = await pending_messages(stream)
    assert event_of(message).update.sequence == known
    engine.clock.advance(DELAY)
    await settled()
    updates = [event_of(message).update.sequence for message in await pending_messages(stream)]
    assert updates == list(range(known + 1, again.state.sequence + 1))


async def test_a_spectator_who_missed_too_much_gets_a_snapshot(engine: EngineHarness) -> None:
    config = make_config("one_oh_one", 4, access=DELAYED)
    table, random = await open_table(engine, config), Random(3)
    while table.state.sequence <= MAX_RESUMED_ENTRIES + 1 and not table.state.is_over:
        await act_once(table, random)
    assert not table.state.is_over
    engine.clock.advance(DELAY)
    first = event_of((await pending_messages(await watching(table, 1)))[0])
    assert first.snapshot.sequence == table.state.sequence
    assert len(await pending_messages(await watching(table, 2))) == table.state.sequence - 2


async def test_a_sequence_that_spectators_do_not_know_is_refused(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config(access=DELAYED))
    with pytest.raises(MalformedRequest) as refusal:
        await watching(table, 1)
    assert refusal.value.reason_name == "SEQUENCE_AHEAD"
    # The clock of another engine may be ahead of this one's.
    engine.clock.advance(DELAY - MAX_CLOCK_DIFFERENCE_MILLISECONDS)
    with pytest.raises(Unavailable) as moved:
        await watching(table, 1)
    assert moved.value.retry_after_seconds == MAX_CLOCK_DIFFERENCE_MILLISECONDS / 1000
    with pytest.raises(MalformedRequest):
        await watching(table, 2)


async def test_spectators_of_a_delayed_table_are_limited_and_handed_over(engine: EngineHarness) -> None:
    table = await open_table(engine, make_config(access=DELAYED))
    streams = [await watching(table) for _ in range(MAX_SPECTATOR_STREAMS)]
    with pytest.raises(LimitReached):
        await watching(table)
    table.subscribers.leave(streams.pop())
    streams.append(await watching(table))
    table.subscribers.send_heartbeats(table.state.sequence)
    table.subscribers.send_heartbeats(table.state.sequence)
    table.subscribers.hand_over()
    for stream in streams:
        events = [event_of(message) for message in await until_end(stream)]
        assert [event.WhichOneof("event_kind") for event in events] == ["snapshot", "heartbeat", "resume_notice"]
        assert events[1].heartbeat.sequence == 0


async def test_a_finished_table_stays_in_memory_until_its_spectators_have_seen_the_end(engine: EngineHarness) -> None:
    await open_table(engine, make_config(access=DELAYED))
    tables = engine.tables(3)
    table = await tables.get("t1")
    stream = await watching(table)
    await play_on(table, Random(1))
    await tables.evict(0)
    assert set(tables.in_memory) == {"t1"}
    engine.clock.advance(DELAY - 1)
    await settled()
    assert not stream.closed
    engine.clock.advance(1)
    await settled()
    *_, last = await until_end(stream)
    assert event_of(last).update.revealed_seed == table.config.seed.hex()
    assert not table.subscribers
    await tables.evict(0)
    assert set(tables.in_memory) == set()


async def test_a_table_that_goes_on_can_be_watched_soon(engine: EngineHarness) -> None:
    config = make_config("one_oh_one", options=ENDLESS, access=DELAYED)
    table, random = await open_table(engine, config), Random(1)
    await play_on(table, random, max_actions=300)
    opening = asyncio.create_task(table.subscribers.state_for(SPECTATOR))
    for _ in range(100):
        await act_once(table, random)
        await asyncio.sleep(0)
    assert not table.state.is_over
    assert opening.done()
