"""Seats whose time has come: the engine acts for them, once, and never gives up."""

import asyncio

import pytest

from croupier.engine.clock import AWAY_MILLISECONDS
from croupier.engine.credits import Interruption
from croupier.engine.live import LiveTable
from croupier.engine.log import ActedBy, SeatConfig, TimeCredited
from croupier.engine.steward import FOLLOW_MILLISECONDS, RETRY_MILLISECONDS, UNCERTAIN_MILLISECONDS
from croupier.engine.streams import Subscription
from croupier.games.actions import Pass
from croupier.games.facts import SPECTATOR
from croupier.runtime.errors import IllegalNow
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import Bench, Outcome
from tests.engine.play import CLOCK, bots, every_game, make_config, open_table, parsed, people, soon, take_up, taken
from tests.waiting import settled

FULL_MILLISECONDS = CLOCK.action_milliseconds + CLOCK.reserve_milliseconds


async def update(stream: Subscription) -> engine_pb2.TableUpdate:
    """The next entry that a stream tells of."""
    message = await soon(stream.next())
    assert message is not None
    return parsed(message).update


async def updates(stream: Subscription) -> list[engine_pb2.TableUpdate]:
    """The entries that a stream tells of and that wait in it."""
    return [parsed(message).update for message in await taken(stream)]


async def watched(engine: Bench, seats: tuple[SeatConfig, ...]) -> tuple[LiveTable, Subscription]:
    table = await open_table(engine, make_config(seats=seats))
    return table, table.subscribe(SPECTATOR, table.state.sequence)


async def waiting_for_one_who_is_away(engine: Bench) -> tuple[LiveTable, Subscription, int]:
    """A table of two at which a seat is to act that the engine plays for, with all told before, and this seat."""
    table, stream = await watched(engine, people(2))
    engine.clock.advance(FULL_MILLISECONDS)
    (away,) = (await update(stream)).clock.away_seats
    while table.state.seats_to_act != (away,):
        (seat,) = table.state.seats_to_act
        await table.act(seat, table.state.game.legal_actions(seat).actions[0], f"r{table.state.sequence}", None)
    await taken(stream)
    return table, stream, away


async def test_the_engine_acts_for_a_seat_whose_time_has_run_out_and_says_so(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    (seat,) = table.state.seats_to_act
    engine.clock.advance(FULL_MILLISECONDS - 1)
    await settled()
    assert await taken(stream) == []
    engine.clock.advance(1)
    entry = await update(stream)
    assert (entry.sequence, entry.seat) == (2, seat)
    assert entry.acted_by == engine_pb2.ACTED_BY_TIMEOUT
    assert list(entry.clock.away_seats) == [seat]
    assert entry.clock.reserve_milliseconds[seat] == 0
    assert table.entries[-1].acted_by is ActedBy.TIMEOUT
    await settled()
    assert engine.count("croupier_clock_expiries_total", game="thulla") == 1


async def test_who_acts_in_time_is_not_acted_for(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    (seat,) = table.state.seats_to_act
    engine.clock.advance(FULL_MILLISECONDS - 1)
    await table.act(seat, table.state.game.legal_actions(seat).actions[0], "r", None)
    assert (await update(stream)).acted_by == engine_pb2.ACTED_BY_UNSPECIFIED
    engine.clock.advance(1)
    await settled()
    assert await taken(stream) == []


async def test_an_action_that_is_being_stored_when_time_runs_out_is_the_one_that_counts(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    (seat,) = table.state.seats_to_act
    engine.clock.advance(FULL_MILLISECONDS - 1)
    engine.store.gate.clear()
    action = table.state.game.legal_actions(seat).actions[0]
    acting = asyncio.create_task(table.act(seat, action, "r", None))
    await soon(engine.store.held.wait())
    engine.clock.advance(1)
    await settled()
    engine.store.gate.set()
    assert await soon(acting) == 2
    await settled()
    assert [parsed(message).update.acted_by for message in await taken(stream)] == [engine_pb2.ACTED_BY_UNSPECIFIED]


async def test_two_replicas_act_once_for_a_seat(engine: Bench) -> None:
    _table, stream = await watched(engine, people(3))
    other = await take_up(engine.another_engine(), "t1")
    follower = other.subscribe(SPECTATOR, 1)
    engine.clock.advance(FULL_MILLISECONDS)
    assert (await update(stream)).sequence == 2
    await settled()
    assert await taken(follower) == []
    engine.clock.advance(FOLLOW_MILLISECONDS)
    assert (await update(follower)).sequence == 2
    await settled()
    kept = await engine.store.load("t1")
    assert kept
    assert len(kept.entries) == 2


@every_game
async def test_computer_players_play_a_whole_game(engine: Bench, game: str) -> None:
    table = await open_table(engine, make_config(game, seats=bots(make_config(game).seat_count)))
    for _ in range(20_000):
        if table.state.is_over:
            break
        engine.clock.advance(CLOCK.bot_delay_milliseconds)
        await settled()
    assert table.state.is_over
    assert {entry.acted_by for entry in table.entries if "seat" in entry.event._fields} == {ActedBy.BOT}
    assert engine.logger.events("error") == []


async def test_an_action_of_the_engine_that_cannot_be_stored_is_tried_again(engine: Bench) -> None:
    _table, stream = await watched(engine, people(3))
    engine.store.outcomes += [Outcome.FAILS_BEFORE, Outcome.FAILS_BEFORE]
    engine.clock.advance(FULL_MILLISECONDS)
    for _ in range(2):
        await settled()
        assert await taken(stream) == []
        engine.clock.advance(RETRY_MILLISECONDS)
    assert (await update(stream)).sequence == 2


async def test_the_clock_goes_on_though_the_store_was_away_for_long(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    engine.store.outcomes.append(Outcome.FAILS_BEFORE)
    engine.store.reads_fail = True
    engine.clock.advance(FULL_MILLISECONDS)
    for _ in range(4):
        await settled()
        engine.clock.advance(RETRY_MILLISECONDS)
    engine.store.reads_fail = False
    engine.clock.advance(RETRY_MILLISECONDS)
    assert (await update(stream)).sequence == 2
    assert table.state.deadline > engine.clock()


async def test_the_seat_is_handed_back_when_its_player_acts_again(engine: Bench) -> None:
    table, stream, away = await waiting_for_one_who_is_away(engine)
    await table.act(away, table.state.game.legal_actions(away).actions[0], "back", None)
    assert list((await update(stream)).clock.away_seats) == []


# Time that nobody served


async def until_certain(engine: Bench) -> None:
    """Let the engine look again whether it is certain who was there."""
    engine.clock.advance(UNCERTAIN_MILLISECONDS)
    await settled()


async def test_nobodys_time_runs_out_before_it_is_certain_who_was_there(engine: Bench) -> None:
    _table, stream = await watched(engine, people(3))
    engine.clock.advance(FULL_MILLISECONDS)
    engine.roll.certain_until = engine.clock() - 1
    for _ in range(5):
        asked = engine.roll.asked
        await settled()
        assert engine.roll.asked <= asked + 1
        await until_certain(engine)
    assert await taken(stream) == []
    engine.roll.certain_until = None
    await until_certain(engine)
    assert (await update(stream)).acted_by == engine_pb2.ACTED_BY_TIMEOUT


async def test_what_becomes_known_while_it_is_not_certain_is_given_back(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    engine.clock.advance(FULL_MILLISECONDS)
    died = engine.roll.certain_until = engine.clock() - 2_000
    await settled()
    engine.roll.interruptions.append(Interruption(died, died + 2_000 + UNCERTAIN_MILLISECONDS))
    engine.roll.certain_until = None
    await until_certain(engine)
    assert (await update(stream)).credited_milliseconds == 2_000 + UNCERTAIN_MILLISECONDS
    assert table.state.sequence == 2


async def test_whether_it_is_certain_is_asked_again_after_the_database_was_away(engine: Bench) -> None:
    _table, stream = await watched(engine, people(3))
    engine.roll.down = True
    engine.clock.advance(FULL_MILLISECONDS)
    await settled()
    assert await taken(stream) == []
    engine.roll.down = False
    engine.clock.advance(RETRY_MILLISECONDS)
    assert (await update(stream)).acted_by == engine_pb2.ACTED_BY_TIMEOUT


async def test_time_is_given_back_before_it_runs_out_and_runs_out_after_that(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    began, (seat,) = engine.clock(), table.state.seats_to_act
    engine.roll.interruptions.append(Interruption(began + 1_000, began + 8_000))
    engine.clock.advance(FULL_MILLISECONDS)
    given = await update(stream)
    assert (given.sequence, given.credited_milliseconds, given.HasField("seat")) == (2, 7_000, False)
    assert not given.facts
    assert given.clock.deadline_milliseconds == began + FULL_MILLISECONDS + 7_000 == table.state.deadline
    assert list(given.clock.away_seats) == []
    assert table.entries[-1].event == TimeCredited(7_000)
    await settled()
    engine.clock.advance(6_999)
    await settled()
    assert await taken(stream) == []
    engine.clock.advance(1)
    ran_out = await update(stream)
    assert (ran_out.acted_by, ran_out.seat) == (engine_pb2.ACTED_BY_TIMEOUT, seat)
    assert (await take_up(engine, "t1")).state == table.state


async def test_an_interruption_that_goes_on_is_given_back_once_when_it_has_ended(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    deadline = table.state.deadline
    engine.roll.interruptions += [
        Interruption(deadline - 10, deadline + 3_000),
        Interruption(deadline + 2_000, deadline + 5_000),
    ]
    for until in (deadline, deadline + 3_000, deadline + 4_999):
        engine.clock.advance(until - engine.clock())
        await settled()
        assert await taken(stream) == []
    engine.clock.advance(1)
    assert (await update(stream)).credited_milliseconds == 5_010
    assert table.state.deadline == deadline + 5_010
    engine.clock.advance(10)
    assert (await update(stream)).acted_by == engine_pb2.ACTED_BY_TIMEOUT


async def test_who_acts_late_because_nobody_served_him_keeps_his_reserve(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    (seat,) = table.state.seats_to_act
    action = table.state.game.legal_actions(seat).actions[0]
    engine.roll.interruptions.append(Interruption(engine.clock() + 5_000, engine.clock() + 12_000))
    await engine.services.attendance.attend()
    engine.clock.advance(CLOCK.action_milliseconds + 9_000)
    assert await table.act(seat, action, "r", expected_sequence=1) == 3
    given, acted = await updates(stream)
    assert (given.credited_milliseconds, acted.credited_milliseconds, acted.seat) == (7_000, 0, seat)
    assert acted.clock.reserve_milliseconds[seat] == CLOCK.reserve_milliseconds - 2_000
    for each in (table, await take_up(engine, "t1")):
        assert await each.act(seat, action, "r", 1) == 3
    assert table.state.sequence == 3


async def test_who_acts_in_time_gets_nothing_back_that_he_does_not_need(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    (seat,) = table.state.seats_to_act
    engine.roll.interruptions.append(Interruption(engine.clock(), engine.clock() + 5_000))
    await engine.services.attendance.attend()
    engine.clock.advance(CLOCK.action_milliseconds)
    await table.act(seat, table.state.game.legal_actions(seat).actions[0], "r", None)
    assert [made.credited_milliseconds for made in await updates(stream)] == [0]
    assert table.state.clock.reserves[seat] == CLOCK.reserve_milliseconds


async def test_an_action_that_is_refused_gives_nothing_back(engine: Bench) -> None:
    table, _ = await watched(engine, people(3))
    (seat,) = table.state.seats_to_act
    engine.roll.interruptions.append(Interruption(engine.clock(), engine.clock() + 5_000))
    await engine.services.attendance.attend()
    engine.clock.advance(CLOCK.action_milliseconds + 1)
    with pytest.raises(IllegalNow):
        await table.act(seat, Pass(), "r", None)
    assert table.state.sequence == 1


async def test_seats_that_the_engine_plays_for_are_not_held_up(engine: Bench) -> None:
    _, stream, away = await waiting_for_one_who_is_away(engine)
    engine.roll.certain_until = 0
    engine.roll.interruptions.append(Interruption(engine.clock(), engine.clock() + 60_000))
    engine.clock.advance(AWAY_MILLISECONDS)
    entry = await update(stream)
    assert (entry.seat, entry.acted_by, entry.credited_milliseconds) == (away, engine_pb2.ACTED_BY_TIMEOUT, 0)


async def test_computer_players_are_not_held_up(engine: Bench) -> None:
    _table, stream = await watched(engine, bots(3))
    engine.roll.certain_until = 0
    engine.roll.interruptions.append(Interruption(0, engine.clock() + 60_000))
    engine.clock.advance(CLOCK.bot_delay_milliseconds)
    assert (await update(stream)).acted_by == engine_pb2.ACTED_BY_BOT


# Several engines


async def test_an_engine_that_took_a_table_up_acts_a_little_later_than_the_one_that_appended_last(
    engine: Bench,
) -> None:
    await watched(engine, people(3))
    await engine.services.background.close(0)
    other = await take_up(engine.another_engine(), "t1")
    stream = other.subscribe(SPECTATOR, 1)
    engine.clock.advance(FULL_MILLISECONDS + FOLLOW_MILLISECONDS - 1)
    await settled()
    assert await taken(stream) == []
    engine.clock.advance(1)
    assert (await update(stream)).acted_by == engine_pb2.ACTED_BY_TIMEOUT


async def test_whoever_appends_leads_from_then_on(engine: Bench) -> None:
    table, _ = await watched(engine, people(3))
    other = await take_up(engine.another_engine(), "t1")
    stream = other.subscribe(SPECTATOR, 1)
    (seat,) = other.state.seats_to_act
    await other.act(seat, other.state.game.legal_actions(seat).actions[0], "r", None)
    await table.catch_up_to(2)
    assert (table.is_leading, other.is_leading) == (False, True)
    await taken(stream)
    await engine.services.background.close(0)
    engine.clock.advance(FULL_MILLISECONDS)
    assert (await update(stream)).acted_by == engine_pb2.ACTED_BY_TIMEOUT


async def test_two_engines_give_time_back_once(engine: Bench) -> None:
    table, _ = await watched(engine, people(3))
    other = await take_up(engine.another_engine(), "t1")
    engine.roll.interruptions.append(Interruption(engine.clock(), engine.clock() + 5_000))
    other.is_leading = True
    other.look()
    engine.clock.advance(FULL_MILLISECONDS)
    await settled()
    kept = await engine.store.load("t1")
    assert kept
    assert [entry.event for entry in kept.entries[1:]] == [TimeCredited(5_000)]
    await table.catch_up_to(2)
    await other.catch_up_to(2)
    assert table.state == other.state
