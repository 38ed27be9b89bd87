"""Seats whose time has come: the engine acts for them, once, and never gives up."""

import asyncio

from croupier.engine.live import LiveTable
from croupier.engine.log import ActedBy, SeatConfig
from croupier.engine.steward import FOLLOW_MILLISECONDS, RETRY_MILLISECONDS
from croupier.engine.streams import Subscription
from croupier.games.facts import SPECTATOR
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import Bench, Outcome
from tests.engine.play import CLOCK, bots, every_game, make_config, open_table, parsed, people, soon, take_up, taken

FULL_MILLISECONDS = CLOCK.action_milliseconds + CLOCK.reserve_milliseconds


async def update(stream: Subscription) -> engine_pb2.TableUpdate:
    """The next entry that a stream tells of."""
    message = await soon(stream.next())
    assert message is not None
    return parsed(message).update


async def turns(count: int = 20) -> None:
    """Let everything happen that can."""
    for _ in range(count):
        await asyncio.sleep(0)


async def watched(engine: Bench, seats: tuple[SeatConfig, ...]) -> tuple[LiveTable, Subscription]:
    table = await open_table(engine, make_config(seats=seats))
    return table, table.subscribe(SPECTATOR, table.state.sequence)


async def test_the_engine_acts_for_a_seat_whose_time_has_run_out_and_says_so(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    (seat,) = table.state.seats_to_act
    engine.clock.advance(FULL_MILLISECONDS - 1)
    await turns()
    assert await taken(stream) == []
    engine.clock.advance(1)
    entry = await update(stream)
    assert (entry.sequence, entry.seat) == (2, seat)
    assert entry.acted_by == engine_pb2.ACTED_BY_TIMEOUT
    assert list(entry.clock.away_seats) == [seat]
    assert entry.clock.reserve_milliseconds[seat] == 0
    assert table.entries[-1].acted_by is ActedBy.TIMEOUT
    await turns()
    assert engine.count("croupier_clock_expiries_total", game="thulla") == 1


async def test_who_acts_in_time_is_not_acted_for(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    (seat,) = table.state.seats_to_act
    engine.clock.advance(FULL_MILLISECONDS - 1)
    await table.act(seat, table.state.game.legal_actions(seat).actions[0], "r", None)
    assert (await update(stream)).acted_by == engine_pb2.ACTED_BY_UNSPECIFIED
    engine.clock.advance(1)
    await turns()
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
    await turns()
    engine.store.gate.set()
    assert await soon(acting) == 2
    await turns()
    assert [parsed(message).update.acted_by for message in await taken(stream)] == [engine_pb2.ACTED_BY_UNSPECIFIED]


async def test_two_replicas_act_once_for_a_seat(engine: Bench) -> None:
    _, stream = await watched(engine, people(3))
    other = await take_up(engine.another_engine(), "t1")
    follower = other.subscribe(SPECTATOR, 1)
    engine.clock.advance(FULL_MILLISECONDS)
    assert (await update(stream)).sequence == 2
    await turns()
    assert await taken(follower) == []
    engine.clock.advance(FOLLOW_MILLISECONDS)
    assert (await update(follower)).sequence == 2
    await turns()
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
        await turns(12)
    assert table.state.is_over
    assert {entry.acted_by for entry in table.entries if "seat" in entry.event._fields} == {ActedBy.BOT}
    assert engine.logger.events("error") == []


async def test_a_computer_player_waits_for_its_delay(engine: Bench) -> None:
    _, stream = await watched(engine, bots(3))
    engine.clock.advance(CLOCK.bot_delay_milliseconds - 1)
    await turns()
    assert await taken(stream) == []
    engine.clock.advance(1)
    assert (await update(stream)).acted_by == engine_pb2.ACTED_BY_BOT


async def test_an_action_of_the_engine_that_cannot_be_stored_is_tried_again(engine: Bench) -> None:
    _, stream = await watched(engine, people(3))
    engine.store.outcomes += [Outcome.FAILS_BEFORE, Outcome.FAILS_BEFORE]
    engine.clock.advance(FULL_MILLISECONDS)
    for _ in range(2):
        await turns()
        assert await taken(stream) == []
        engine.clock.advance(RETRY_MILLISECONDS)
    assert (await update(stream)).sequence == 2


async def test_the_clock_goes_on_though_the_store_was_away_for_long(engine: Bench) -> None:
    table, stream = await watched(engine, people(3))
    engine.store.outcomes.append(Outcome.FAILS_BEFORE)
    engine.store.reads_fail = True
    engine.clock.advance(FULL_MILLISECONDS)
    for _ in range(4):
        await turns()
        engine.clock.advance(RETRY_MILLISECONDS)
    engine.store.reads_fail = False
    engine.clock.advance(RETRY_MILLISECONDS)
    assert (await update(stream)).sequence == 2
    assert table.state.deadline > engine.clock()


async def test_a_table_that_drains_lets_no_time_run_out(engine: Bench) -> None:
    table, _ = await watched(engine, people(3))
    await table.drain()
    engine.clock.advance(10 * FULL_MILLISECONDS)
    await turns()
    assert table.state.sequence == 1


async def test_the_seat_is_handed_back_when_its_player_acts_again(engine: Bench) -> None:
    table, stream = await watched(engine, people(2))
    engine.clock.advance(FULL_MILLISECONDS)
    (away,) = (await update(stream)).clock.away_seats
    while table.state.seats_to_act != (away,):
        (seat,) = table.state.seats_to_act
        await table.act(seat, table.state.game.legal_actions(seat).actions[0], f"r{table.state.sequence}", None)
    await taken(stream)
    await table.act(away, table.state.game.legal_actions(away).actions[0], "back", None)
    assert list((await update(stream)).clock.away_seats) == []
