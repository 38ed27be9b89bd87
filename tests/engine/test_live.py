"""A live table: durable before visible, each request once, refusals that change nothing, two replicas, lost clients."""

import asyncio
from random import Random

import pytest

from croupier.engine.history import CHUNK
from croupier.engine.live import LiveTable
from croupier.engine.store import StoredTable
from croupier.games.actions import PLAYS, Action, Draw, Pass
from croupier.games.facts import SPECTATOR
from croupier.runtime.errors import AlreadyExists, IllegalNow, StaleSequence, Unavailable
from tests.engine.fakes import Bench, Outcome
from tests.engine.play import (
    choice,
    make_config,
    open_table,
    parsed,
    play_on,
    soon,
    take_up,
    taken,
)
from tests.waiting import settled


async def ready(engine: Bench, seed: int = 1) -> tuple[LiveTable, int, Action]:
    """A table and something that a seat may do there."""
    table = await open_table(engine, make_config(seat_count=3))
    return table, *choice(table.state, Random(seed))


async def stored(engine: Bench) -> StoredTable:
    kept = await engine.store.load("t1")
    assert kept
    return kept


async def test_nothing_is_shown_or_acknowledged_before_it_is_stored(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    stream = table.subscribe(SPECTATOR, 1)
    engine.store.gate.clear()
    acting = asyncio.create_task(table.act(seat, action, "r", None))
    await soon(engine.store.held.wait())
    assert not acting.done()
    assert await taken(stream) == []
    assert table.state.sequence == 1
    engine.store.gate.set()
    assert await soon(acting) == 2
    (message,) = await taken(stream)
    assert parsed(message).update.sequence == 2
    assert (await stored(engine)).entries[-1].sequence == 2


@pytest.mark.parametrize("outcome", [Outcome.FAILS_BEFORE, Outcome.FAILS_AFTER])
async def test_a_failed_append_shows_nothing_and_the_same_request_then_works_once(
    engine: Bench, outcome: Outcome
) -> None:
    table, seat, action = await ready(engine)
    stream = table.subscribe(SPECTATOR, 1)
    engine.store.outcomes.append(outcome)
    with pytest.raises(Unavailable) as refusal:
        await table.act(seat, action, "r", None)
    assert refusal.value.reason == "STORE_FAILED"
    assert await taken(stream) == []
    assert table.state.sequence == 1
    assert await table.act(seat, action, "r", None) == 2
    assert await table.act(seat, action, "r", 1) == 2
    assert [parsed(message).update.sequence for message in await taken(stream)] == [2]
    assert len((await stored(engine)).entries) == 2


async def test_an_append_that_failed_but_was_stored_is_shown_soon_though_nobody_asks_again(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    stream = table.subscribe(SPECTATOR, 1)
    engine.store.outcomes.append(Outcome.FAILS_AFTER)
    with pytest.raises(Unavailable):
        await table.act(seat, action, "r", None)
    engine.clock.advance(1_000)
    message = await soon(stream.next())
    assert message is not None
    assert parsed(message).update.sequence == 2


async def test_what_cannot_be_read_is_looked_at_again_until_it_can(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    stream = table.subscribe(SPECTATOR, 1)
    engine.store.outcomes.append(Outcome.FAILS_AFTER)
    engine.store.reads_fail = True
    for _ in range(2):
        with pytest.raises(Unavailable):
            await table.act(seat, action, "r", None)
    for _ in range(3):
        engine.clock.advance(1_000)
        await settled()
    assert await taken(stream) == []
    engine.store.reads_fail = False
    engine.clock.advance(1_000)
    assert await soon(stream.next()) is not None


async def test_a_request_of_long_ago_is_known_though_its_entry_is_packed(engine: Bench, seed: int) -> None:
    table = await open_table(engine, make_config("jossing"))
    actor, action = choice(table.state, Random(seed))
    sequence = await table.act(actor, action, "long ago", None)
    await play_on(table, Random(seed), most=3 * CHUNK)
    assert len(table.entries) > sequence + 2 * CHUNK
    assert await table.act(actor, action, "long ago", None) == sequence
    with pytest.raises(AlreadyExists) as refusal:
        await table.act(actor, Draw(), "long ago", None)
    assert refusal.value.reason == "REQUEST_ID_REUSED"


async def test_another_action_under_the_same_request_id_is_refused(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    await table.act(seat, action, "r", None)
    for each in (table, await take_up(engine, "t1")):
        with pytest.raises(AlreadyExists) as refusal:
            await each.act(seat, Pass(), "r", None)
        assert refusal.value.reason == "REQUEST_ID_REUSED"
        assert refusal.value.metadata == {"sequence": "2"}
        assert each.state.sequence == 2


async def test_the_same_request_id_of_another_seat_is_another_request(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    await table.act(seat, action, "r", None)
    other, other_action = choice(table.state, Random(1))
    assert other != seat
    assert await table.act(other, other_action, "r", None) == 3
    for each in (table, await take_up(engine, "t1")):
        assert await each.act(seat, action, "r", None) == 2
        assert await each.act(other, other_action, "r", None) == 3


async def test_a_repeat_is_answered_also_when_the_game_is_over(engine: Bench, seed: int) -> None:
    table, seat, action = await ready(engine, seed)
    await table.act(seat, action, "first", None)
    await play_on(table, Random(seed))
    assert await table.act(seat, action, "first", None) == 2
    with pytest.raises(IllegalNow) as refusal:
        await table.act(seat, action, "new", None)
    assert refusal.value.reason == "TABLE_FINISHED"


async def test_an_action_for_another_sequence_is_stale(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    for expected in (0, 2, 2**63):
        with pytest.raises(StaleSequence) as refusal:
            await table.act(seat, action, "r", expected)
        assert refusal.value.metadata == {"sequence": "1"}
    assert await table.act(seat, action, "r", 1) == 2


async def test_what_the_rules_refuse_names_the_rule_and_changes_nothing(engine: Bench) -> None:
    table, seat, _ = await ready(engine)
    stream = table.subscribe(SPECTATOR, 1)
    hand = table.state.game.view(seat).seats[seat].cards
    not_held = next(played for played in PLAYS if played.card not in hand)
    before = table.state
    attempts: list[tuple[int, Action, str]] = [
        (seat, Pass(), "ILLEGAL_ACTION"),
        (seat, not_held, "ILLEGAL_ACTION"),
        ((seat + 1) % 3, PLAYS[0], "NOT_YOUR_TURN"),
    ]
    for number, (who, action, reason) in enumerate(attempts):
        with pytest.raises(IllegalNow) as refusal:
            await table.act(who, action, f"r{number}", None)
        assert refusal.value.reason == reason
        assert refusal.value.rule.startswith("THU-")
    assert table.state is before
    assert await taken(stream) == []
    assert len((await stored(engine)).entries) == 1


async def test_a_refused_request_id_can_be_used_again(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    with pytest.raises(IllegalNow):
        await table.act(seat, Pass(), "r", None)
    assert await table.act(seat, action, "r", None) == 2


async def test_of_two_replicas_the_loser_catches_up_and_answers_from_what_happened(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    other = await take_up(engine.another_engine(), "t1")
    stream = other.subscribe(SPECTATOR, 1)
    assert await table.act(seat, action, "r", None) == 2
    with pytest.raises(IllegalNow) as refusal:
        await other.act(seat, action, "another request", None)
    assert refusal.value.reason == "NOT_YOUR_TURN"
    assert [parsed(message).update.sequence for message in await taken(stream)] == [2]
    assert other.state == table.state


async def test_a_race_that_was_lost_makes_the_expected_sequence_stale(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    other = await take_up(engine.another_engine(), "t1")
    await table.act(seat, action, "r", None)
    next_seat, next_action = choice(table.state, Random(1))
    with pytest.raises(StaleSequence):
        await other.act(next_seat, next_action, "r", 1)
    assert await other.act(next_seat, next_action, "r", 2) == 3


async def test_an_action_whose_client_has_gone_becomes_visible_to_the_others(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    stream = table.subscribe(SPECTATOR, 1)
    engine.store.gate.clear()
    acting = asyncio.create_task(table.act(seat, action, "r", None))
    await soon(engine.store.held.wait())
    acting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await acting
    await settled()
    assert await taken(stream) == []
    engine.store.gate.set()
    await settled()
    (message,) = await taken(stream)
    assert parsed(message).update.sequence == 2
    assert await table.act(seat, action, "r", None) == 2
    assert len((await stored(engine)).entries) == 2


async def test_others_who_act_while_a_lost_action_is_stored_see_it(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    engine.store.gate.clear()
    acting = asyncio.create_task(table.act(seat, action, "r", None))
    await soon(engine.store.held.wait())
    repeating = asyncio.create_task(table.act(seat, action, "r", None))
    await settled()
    acting.cancel()
    await settled()
    engine.store.gate.set()
    assert await soon(repeating) == 2
    await soon(engine.services.background.close(1.0))
    assert table.state.sequence == 2
    assert len((await stored(engine)).entries) == 2
    assert engine.logger.events("error") == []


async def test_a_client_that_goes_before_its_turn_at_the_lock_changes_nothing(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    engine.store.gate.clear()
    first = asyncio.create_task(table.act(seat, action, "r", None))
    await soon(engine.store.held.wait())
    second = asyncio.create_task(table.act(seat, Pass(), "other", None))
    await settled()
    second.cancel()
    engine.store.gate.set()
    assert await soon(first) == 2
