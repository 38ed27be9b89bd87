"""A live table: durable before visible, each request once, refusals that change nothing, two replicas, lost clients."""

import asyncio
from random import Random

import pytest

from croupier.engine.history import CHUNK
from croupier.engine.live import LiveTable
from croupier.engine.steward import RETRY_MILLISECONDS
from croupier.games.actions import PLAYS, Action, Draw, Pass
from croupier.games.facts import SPECTATOR
from croupier.runtime.errors import AlreadyExists, IllegalNow, StaleSequence, Unavailable
from tests.engine.fakes import Bench, Outcome
from tests.engine.play import choice, make_config, open_table, parsed, play_on, soon, take_up, taken
from tests.waiting import settled


async def ready(engine: Bench) -> tuple[LiveTable, int, Action]:
    """A table and something that a seat may do there."""
    table = await open_table(engine, make_config(seat_count=3))
    return table, *choice(table.state, Random(1))


class Storing:
    """An action that is being stored, and a stream that will show it."""

    def __init__(self, engine: Bench, table: LiveTable, seat: int, action: Action) -> None:
        self.engine, self.table, self.seat, self.action = engine, table, seat, action
        self.stream = table.subscribe(SPECTATOR, 1)
        self.acting = self.act()

    def act(self) -> asyncio.Task[int]:
        return asyncio.create_task(self.table.act(self.seat, self.action, "r", None))

    async def let_go(self) -> None:
        """Let it be stored; nothing was shown or acknowledged before."""
        await settled()
        assert self.acting.cancelled() or not self.acting.done()
        assert await taken(self.stream) == []
        assert self.table.state.sequence == 1
        self.engine.store.gate.set()
        await settled()
        assert [parsed(message).update.sequence for message in await taken(self.stream)] == [2]
        assert len(self.engine.store.tables["t1"].entries) == 2


@pytest.fixture
async def storing(engine: Bench) -> Storing:
    storing = Storing(engine, *await ready(engine))
    engine.store.gate.clear()
    await soon(engine.store.held.wait())
    return storing


async def test_nothing_is_shown_or_acknowledged_before_it_is_stored(storing: Storing) -> None:
    await storing.let_go()
    assert await soon(storing.acting) == 2


@pytest.mark.parametrize("repeats", [0, 1])
async def test_an_action_whose_client_has_gone_is_stored_and_shown_once(storing: Storing, repeats: int) -> None:
    repeating = [storing.act() for _ in range(repeats)]
    await settled()
    storing.acting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await storing.acting
    closing = asyncio.create_task(storing.engine.services.background.close(1.0))
    await storing.let_go()
    await soon(closing)
    assert await soon(asyncio.gather(*repeating, storing.act())) == [2] * (repeats + 1)
    assert storing.engine.logger.events("error") == []


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
    assert len(engine.store.tables["t1"].entries) == 2


async def test_an_append_that_failed_but_was_stored_is_shown_once_it_can_be_read_though_nobody_asks(
    engine: Bench,
) -> None:
    table, seat, action = await ready(engine)
    stream = table.subscribe(SPECTATOR, 1)
    engine.store.outcomes.append(Outcome.FAILS_AFTER)
    engine.store.reads_fail = True
    for _ in range(2):
        with pytest.raises(Unavailable):
            await table.act(seat, action, "r", None)
    for _ in range(3):
        engine.clock.advance(RETRY_MILLISECONDS)
        await settled()
    assert await taken(stream) == []
    engine.store.reads_fail = False
    engine.clock.advance(RETRY_MILLISECONDS)
    await settled()
    assert [parsed(message).update.sequence for message in await taken(stream)] == [2]


async def test_a_request_of_long_ago_is_known_though_its_entry_is_packed_and_the_game_over(
    engine: Bench, seed: int
) -> None:
    table = await open_table(engine, make_config("jossing"))
    seat, action = choice(table.state, Random(seed))
    sequence = await table.act(seat, action, "long ago", None)
    await play_on(table, Random(seed))
    assert len(table.entries) > sequence + 2 * CHUNK
    assert await table.act(seat, action, "long ago", None) == sequence
    with pytest.raises(AlreadyExists):
        await table.act(seat, Draw(), "long ago", None)
    with pytest.raises(IllegalNow) as refusal:
        await table.act(seat, action, "new", None)
    assert refusal.value.reason == "TABLE_FINISHED"


async def test_a_request_id_names_one_request_of_each_seat(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    await table.act(seat, action, "r", None)
    other, other_action = choice(table.state, Random(1))
    assert other != seat
    assert await table.act(other, other_action, "r", None) == 3
    for each in (table, await take_up(engine, "t1")):
        assert await each.act(seat, action, "r", None) == 2
        assert await each.act(other, other_action, "r", None) == 3
        with pytest.raises(AlreadyExists) as refusal:
            await each.act(seat, Pass(), "r", None)
        assert refusal.value.reason == "REQUEST_ID_REUSED"
        assert refusal.value.metadata == {"sequence": "2"}
        assert each.state.sequence == 3


async def test_an_action_for_another_sequence_is_stale(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    for expected in (0, 2, 2**63):
        with pytest.raises(StaleSequence) as refusal:
            await table.act(seat, action, "r", expected)
        assert refusal.value.metadata == {"sequence": "1"}
    assert await table.act(seat, action, "r", 1) == 2


async def test_what_the_rules_refuse_names_the_rule_and_changes_nothing(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    stream = table.subscribe(SPECTATOR, 1)
    hand = table.state.game.view(seat).seats[seat].cards
    not_held = next(played for played in PLAYS if played.card not in hand)
    before = table.state
    attempts: list[tuple[int, Action, str]] = [
        (seat, Pass(), "ILLEGAL_ACTION"),
        (seat, not_held, "ILLEGAL_ACTION"),
        ((seat + 1) % 3, PLAYS[0], "NOT_YOUR_TURN"),
    ]
    for who, refused, reason in attempts:
        with pytest.raises(IllegalNow) as refusal:
            await table.act(who, refused, "r", None)
        assert refusal.value.reason == reason
        assert refusal.value.rule.startswith("THU-")
    assert table.state is before
    assert await taken(stream) == []
    assert len(engine.store.tables["t1"].entries) == 1
    assert await table.act(seat, action, "r", None) == 2


async def test_of_two_replicas_the_loser_catches_up_and_answers_from_what_happened(engine: Bench) -> None:
    table, seat, action = await ready(engine)
    loser, late = [await take_up(engine.another_engine(), "t1") for _ in range(2)]
    streams = [each.subscribe(SPECTATOR, 1) for each in (loser, late)]
    await table.act(seat, action, "r", None)
    with pytest.raises(IllegalNow) as refusal:
        await loser.act(seat, action, "another request", None)
    assert refusal.value.reason == "NOT_YOUR_TURN"
    next_seat, next_action = choice(table.state, Random(1))
    with pytest.raises(StaleSequence):
        await late.act(next_seat, next_action, "r", 1)
    for each, stream in zip((loser, late), streams, strict=True):
        assert [parsed(message).update.sequence for message in await taken(stream)] == [2]
        assert each.state == table.state
    assert await late.act(next_seat, next_action, "r", 2) == 3
