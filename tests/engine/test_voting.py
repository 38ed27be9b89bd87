"""Proposals, votes and reactions at a table in memory: a single execution, repeated requests, and rates."""

import asyncio
from random import Random

import pytest

from croupier.engine.api.reactions import REACTIONS, check_reaction, encode_reactions
from croupier.engine.core.decide import MAX_ASKED, PROPOSAL_MILLISECONDS, WINDOW_MILLISECONDS
from croupier.engine.core.folded_table import Request
from croupier.engine.core.log import ActedBy, Proposed, Voted
from croupier.engine.tables.subscribers import MAX_REACTIONS, REACTION_MILLISECONDS
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.table import Table
from croupier.games.facts import SPECTATOR
from croupier.games.interface import ProposalAgreed
from croupier.runtime.errors import AlreadyExists, IllegalNow, LimitReached, MalformedRequest, NotPermitted
from croupier_api.v1 import engine_pb2
from croupier_api.v1.games_pb2 import REACTION_WOW, Reaction
from tests.engine.fakes import EngineHarness
from tests.engine.play import (
    FULL_MILLISECONDS,
    act_once,
    event_of,
    live_stream,
    make_config,
    open_table,
    pending_messages,
    reload_table,
)
from tests.waiting import settled


@pytest.fixture
async def table(engine: EngineHarness) -> Table:
    """Return a table of Solo, which has proposals."""
    return await open_table(engine, make_config("solo"))


def agreed(table: Table) -> list[str]:
    return [entry.event.proposal for entry in table.entries if isinstance(entry.event, ProposalAgreed)]


async def updates(stream: Subscription) -> list[engine_pb2.TableUpdate]:
    return [event_of(message).update for message in await pending_messages(stream)]


async def test_a_proposal_is_executed_once_when_the_last_seat_agrees(engine: EngineHarness, table: Table) -> None:
    stream = await live_stream(table, 0)
    assert await table.append_once(Proposed(2, "restart_same", 0), "a") == 2
    for number, seat in enumerate((0, 3), start=3):
        assert await table.append_once(Voted(seat, 2, True), "b") == number
        assert agreed(table) == []
    assert await table.append_once(Voted(1, 2, True), "c") == 5
    assert agreed(table) == ["restart_same"]
    assert table.state.sequence == 6
    first, *votes, executed = await updates(stream)
    assert (first.sequence, first.seat, first.proposal.name, first.proposal.proposer) == (2, 2, "restart_same", 2)
    assert first.proposal.expiry_time.ToMilliseconds() == engine.clock() + PROPOSAL_MILLISECONDS
    assert [list(update.proposal.agreed_seats) for update in (first, *votes)] == [[2], [0, 2], [0, 2, 3], [0, 1, 2, 3]]
    assert [update.seat for update in votes] == [0, 3, 1]
    assert not any(update.facts for update in (first, *votes))
    assert (executed.HasField("seat"), executed.HasField("proposal")) == (False, False)
    assert executed.facts
    for each in (table, await reload_table(engine, "t1")):
        assert await each.append_once(Proposed(2, "restart_same", 0), "a") == 2
        assert await each.append_once(Voted(1, 2, True), "c") == 5
        assert each.state.sequence == 6


async def test_every_update_has_the_open_proposal_until_a_seat_refuses(engine: EngineHarness, table: Table) -> None:
    stream = await live_stream(table, 3)
    await table.append_once(Proposed(0, "restart_same", 0), "a")
    await act_once(table, Random(1))
    for viewer in (*range(4), SPECTATOR):
        (message,) = await pending_messages(table.subscribe(viewer, None))
        assert event_of(message).snapshot.proposal.name == "restart_same"
    await table.append_once(Voted(1, 2, False), "b")
    assert [update.proposal.sequence for update in await updates(stream)] == [2, 2, 0]
    assert await table.append_once(Proposed(1, "restart_new", 0), "c") == 5


async def test_a_request_id_of_another_request_is_refused_and_changes_nothing(
    engine: EngineHarness, table: Table
) -> None:
    await table.append_once(Proposed(0, "restart_same", 0), "p")
    await table.append_once(Voted(3, 2, True), "v")
    before = table.state
    attempts: list[tuple[Request, str]] = [
        (Voted(3, 2, False), "v"),
        (Proposed(0, "restart_new", 0), "p"),
        (Voted(0, 2, True), "p"),
    ]
    for each in (table, await reload_table(engine, "t1")):
        for request, request_id in attempts:
            with pytest.raises(AlreadyExists) as refusal:
                await each.append_once(request, request_id)
            assert refusal.value.reason_name == "REQUEST_ID_REUSED"
        with pytest.raises(IllegalNow):
            await each.append_once(Voted(1, 1, True), "x")
        assert each.state == before


async def test_the_proposals_of_a_seat_are_limited(engine: EngineHarness, table: Table) -> None:
    for number in range(MAX_ASKED):
        sequence = await table.append_once(Proposed(0, "restart_same", 0), f"a{number}")
        await table.append_once(Voted(1, sequence, False), f"b{number}")
        engine.clock.advance(1_000)
    for each in (table, await reload_table(engine, "t1")):
        with pytest.raises(LimitReached) as refusal:
            await each.append_once(Proposed(0, "restart_same", 0), "c")
        assert refusal.value.retry_after_seconds == (WINDOW_MILLISECONDS - MAX_ASKED * 1_000) / 1_000
    assert await table.append_once(Proposed(1, "restart_same", 0), "c")


async def test_seats_that_are_away_count_as_agreeing(engine: EngineHarness, table: Table) -> None:
    (slow,) = table.state.seats_to_act
    proposer, *others = (seat for seat in range(4) if seat != slow)
    engine.clock.advance(FULL_MILLISECONDS - 1)
    await table.append_once(Proposed(proposer, "restart_same", 0), "a")
    for seat in others:
        await table.append_once(Voted(seat, 2, True), f"v{seat}")
    assert agreed(table) == []
    engine.clock.advance(1)
    await settled()
    assert table.state.clock.absences[slow]
    assert agreed(table) == ["restart_same"]
    assert [entry.acted_by for entry in table.entries].count(ActedBy.TIMEOUT) == 1


async def test_concurrent_last_votes_execute_a_proposal_once(engine: EngineHarness, table: Table) -> None:
    other = await reload_table(engine.another_engine(), "t1")
    await table.append_once(Proposed(0, "restart_same", 0), "a")
    await table.append_once(Voted(1, 2, True), "b")
    both = await asyncio.gather(table.append_once(Voted(2, 2, True), "c"), other.append_once(Voted(3, 2, True), "d"))
    assert sorted(both) == [4, 5]
    await table.catch_up_to(7)
    assert agreed(table) == ["restart_same"]


def test_the_reactions_are_those_of_the_contract() -> None:
    assert list(REACTIONS) == [number for number in Reaction.values() if number]
    assert [shown.reaction for shown in encode_reactions("ru")] == list(REACTIONS)
    for shown in encode_reactions("en"):
        assert (shown.emoji, shown.text) == REACTIONS[shown.reaction]
        assert shown.emoji
        assert shown.text


@pytest.mark.parametrize("reaction", [0, 11, -1, 2**31 - 1])
def test_an_unknown_reaction_is_refused_with_the_known_ones(reaction: int) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        check_reaction(reaction)
    assert (refusal.value.reason_name, refusal.value.field) == ("UNKNOWN_REACTION", "reaction")
    assert f"invalid reaction {reaction}: expected one of REACTION_THUMBS_UP, " in refusal.value.message
    check_reaction(REACTION_WOW)


async def test_open_streams_show_a_reaction_and_a_resumed_stream_does_not(engine: EngineHarness, table: Table) -> None:
    followers = [await live_stream(table, viewer) for viewer in (0, 1, SPECTATOR)]
    table.react("p1", REACTION_WOW)
    for stream in followers:
        (message,) = await pending_messages(stream)
        assert (event_of(message).reaction.seat, event_of(message).reaction.reaction) == (1, REACTION_WOW)
    assert len(await pending_messages(table.subscribe(0, 0))) == 1
    assert engine.count("croupier_reactions_total") == 1


async def test_reactions_of_a_seat_are_limited_and_others_are_refused(engine: EngineHarness, table: Table) -> None:
    stream = await live_stream(table, SPECTATOR)
    with pytest.raises(NotPermitted):
        table.react("stranger", REACTION_WOW)
    for _ in range(MAX_REACTIONS):
        table.react("p0", REACTION_WOW)
        engine.clock.advance(10)
    table.react("p1", REACTION_WOW)
    engine.clock.advance(REACTION_MILLISECONDS - MAX_REACTIONS * 10 - 1)
    with pytest.raises(LimitReached) as refusal:
        table.react("p0", REACTION_WOW)
    assert refusal.value.retry_after_seconds == 0.001
    assert len(await pending_messages(stream)) == MAX_REACTIONS + 1
    engine.clock.advance(1)
    table.react("p0", REACTION_WOW)
    with pytest.raises(LimitReached):
        table.react("p0", REACTION_WOW)
