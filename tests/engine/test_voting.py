"""Proposing and voting at a live table: who is asked, what is refused, and that it happens once."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from croupier.engine.live import LiveTable
from croupier.engine.log import ActedBy, SeatConfig
from croupier.engine.proposals import PROPOSAL_MILLISECONDS
from croupier.engine.streams import Subscription
from croupier.engine.voting import MOST_PROPOSALS, WINDOW_MILLISECONDS
from croupier.games.facts import SPECTATOR
from croupier.games.interface import CardsShuffled, IllegalAction, ProposalAgreed
from croupier.runtime.errors import (
    AlreadyExists,
    IllegalNow,
    LimitReached,
    MalformedRequest,
    NotPermitted,
    ServiceError,
)
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import Bench
from tests.engine.play import CLOCK, act_once, bots, make_config, open_table, parsed, people, play_on, take_up, taken
from tests.waiting import settled


async def seated(engine: Bench, seats: tuple[SeatConfig, ...] = ()) -> LiveTable:
    return await open_table(engine, make_config("solo", seats=seats))


def agreed(table: LiveTable) -> list[str]:
    """What all seats have agreed to, so far."""
    return [entry.event.proposal for entry in table.entries if isinstance(entry.event, ProposalAgreed)]


async def updates(stream: Subscription) -> list[engine_pb2.TableUpdate]:
    return [parsed(message).update for message in await taken(stream)]


async def test_it_happens_once_when_the_last_seat_agrees_connected_or_not(engine: Bench) -> None:
    table = await seated(engine)
    stream = table.subscribe(0, 1)
    assert await table.propose(2, "restart_same", "a") == 2
    for number, seat in enumerate((0, 3), start=3):
        assert await table.vote(seat, 2, True, "b") == number
        assert agreed(table) == []
    assert await table.vote(1, 2, True, "c") == 5
    assert agreed(table) == ["restart_same"]
    assert table.state.sequence == 6
    said, *votes, happened = await updates(stream)
    assert (said.sequence, said.seat, said.proposal.name, said.proposal.proposer) == (2, 2, "restart_same", 2)
    assert said.proposal.expires_milliseconds == engine.clock() + PROPOSAL_MILLISECONDS
    assert [list(update.proposal.agreed_seats) for update in (said, *votes)] == [[2], [0, 2], [0, 2, 3], [0, 1, 2, 3]]
    assert [update.seat for update in votes] == [0, 3, 1]
    assert not any(update.facts for update in (said, *votes))
    assert (happened.HasField("seat"), happened.HasField("proposal")) == (False, False)
    assert happened.facts
    for each in (table, await take_up(engine, "t1")):
        assert await each.propose(2, "restart_same", "a") == 2
        assert await each.vote(1, 2, True, "c") == 5
        assert each.state.sequence == 6


async def test_shuffles_that_follow_are_stored_with_it(engine: Bench) -> None:
    table = await seated(engine, (*people(1), *bots(3)))
    before = table.state.game.view(0).seats[0].cards
    assert await table.propose(0, "restart_new", "a") == 2
    assert [type(entry.event) for entry in table.entries[2:]] == [ProposalAgreed, CardsShuffled]
    assert table.state.game.view(0).seats[0].cards != before
    assert (await take_up(engine, "t1")).state == table.state


async def test_every_update_tells_what_is_proposed_and_play_goes_on_until_one_refuses(engine: Bench) -> None:
    table = await seated(engine)
    stream = table.subscribe(3, 1)
    await table.propose(0, "restart_same", "a")
    await act_once(table, Random(1))
    for viewer in (*range(4), SPECTATOR):
        (message,) = await taken(table.subscribe(viewer, None))
        assert parsed(message).snapshot.proposal.name == "restart_same"
    await table.vote(1, 2, False, "b")
    assert [update.proposal.sequence for update in await updates(stream)] == [2, 2, 0]
    assert await table.propose(1, "restart_new", "c") == 5


Attempt = Callable[[LiveTable], Awaitable[int]]
REFUSED: dict[str, tuple[Attempt, type[ServiceError], str]] = {
    "an unknown proposal": (lambda table: table.propose(1, "redeal", "x"), MalformedRequest, "UNKNOWN_PROPOSAL"),
    "a second proposal": (lambda table: table.propose(1, "restart_new", "x"), IllegalNow, "PROPOSAL_OPEN"),
    "the same again": (lambda table: table.propose(0, "restart_same", "x"), IllegalNow, "PROPOSAL_OPEN"),
    "a vote on another": (lambda table: table.vote(1, 1, True, "x"), IllegalNow, "ANOTHER_PROPOSAL"),
    "a vote on one to come": (lambda table: table.vote(1, 2**64 - 1, True, "x"), IllegalNow, "ANOTHER_PROPOSAL"),
    "a vote of the proposer": (lambda table: table.vote(0, 2, True, "x"), IllegalNow, "ALREADY_VOTED"),
    "the proposer's second thoughts": (lambda table: table.vote(0, 2, False, "x"), IllegalNow, "ALREADY_VOTED"),
    "a second vote": (lambda table: table.vote(3, 2, False, "x"), IllegalNow, "ALREADY_VOTED"),
    "another request": (lambda table: table.vote(3, 2, False, "v"), AlreadyExists, "REQUEST_ID_REUSED"),
    "another kind": (lambda table: table.propose(0, "restart_new", "p"), AlreadyExists, "REQUEST_ID_REUSED"),
    "a vote for a proposal": (lambda table: table.vote(0, 2, True, "p"), AlreadyExists, "REQUEST_ID_REUSED"),
}


@pytest.mark.parametrize(("attempt", "kind", "reason"), REFUSED.values(), ids=REFUSED)
async def test_what_is_refused_changes_nothing(
    engine: Bench, attempt: Attempt, kind: type[ServiceError], reason: str
) -> None:
    table = await seated(engine)
    await table.propose(0, "restart_same", "p")
    await table.vote(3, 2, True, "v")
    before = table.state
    for each in (table, await take_up(engine, "t1")):
        with pytest.raises(kind) as refusal:
            await attempt(each)
        assert refusal.value.reason == reason
        assert each.state == before


async def test_a_proposal_that_the_rules_do_not_allow_names_the_rule(
    engine: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await seated(engine)
    refusing = IllegalAction("SOLO-RESTART-2", "no hand is in progress")
    monkeypatch.setattr("croupier.engine.voting.refusal_of", lambda game, name: refusing)
    with pytest.raises(IllegalNow) as refusal:
        await table.propose(0, "restart_same", "a")
    assert refusal.value.reason == "ILLEGAL_ACTION"
    assert refusal.value.rule == "SOLO-RESTART-2"


async def test_strangers_votes_on_nothing_and_finished_tables_are_refused(engine: Bench) -> None:
    table = await seated(engine)
    with pytest.raises(NotPermitted):
        table.seat_of("stranger")
    for reason in ("NOTHING_PROPOSED", "TABLE_FINISHED"):
        with pytest.raises(IllegalNow) as refusal:
            await table.vote(0, 1, True, "a")
        assert refusal.value.reason == reason
        await play_on(table, Random(1))
    with pytest.raises(IllegalNow) as refusal:
        await table.propose(0, "restart_same", "b")
    assert refusal.value.reason == "TABLE_FINISHED"


async def test_a_vote_that_comes_too_late_is_refused_and_the_next_proposal_is_not(engine: Bench) -> None:
    table = await seated(engine)
    await table.propose(0, "restart_same", "a")
    engine.clock.advance(PROPOSAL_MILLISECONDS - 1)
    assert await table.vote(1, 2, True, "b") == 3
    engine.clock.advance(1)
    with pytest.raises(IllegalNow) as refusal:
        await table.vote(2, 2, True, "c")
    assert refusal.value.reason == "PROPOSAL_EXPIRED"
    assert await table.propose(2, "restart_new", "d") == 4


async def test_a_seat_makes_so_many_proposals_in_so_much_time(engine: Bench) -> None:
    table = await seated(engine)
    for number in range(MOST_PROPOSALS):
        sequence = await table.propose(0, "restart_same", f"a{number}")
        await table.vote(1, sequence, False, f"b{number}")
        engine.clock.advance(1_000)
    for each in (table, await take_up(engine, "t1")):
        with pytest.raises(LimitReached) as refusal:
            await each.propose(0, "restart_same", "c")
        assert refusal.value.reason == "TOO_MANY_PROPOSALS"
        assert refusal.value.retry_after_seconds == (WINDOW_MILLISECONDS - MOST_PROPOSALS * 1_000) / 1_000
    sequence = await table.propose(1, "restart_same", "c")
    await table.vote(2, sequence, False, "d")
    engine.clock.advance(WINDOW_MILLISECONDS - MOST_PROPOSALS * 1_000)
    await table.propose(0, "restart_same", "e")


async def test_seats_that_the_engine_plays_for_count_as_agreeing(engine: Bench) -> None:
    table = await seated(engine)
    (slow,) = table.state.seats_to_act
    proposer, *others = (seat for seat in range(4) if seat != slow)
    engine.clock.advance(CLOCK.action_milliseconds + CLOCK.reserve_milliseconds - 1)
    await table.propose(proposer, "restart_same", "a")
    for seat in others:
        await table.vote(seat, 2, True, f"v{seat}")
    assert agreed(table) == []
    engine.clock.advance(1)
    await settled()
    assert table.state.clock.away[slow]
    assert agreed(table) == ["restart_same"]
    assert [entry.acted_by for entry in table.entries].count(ActedBy.TIMEOUT) == 1


async def test_the_last_votes_at_two_engines_carry_it_once(engine: Bench) -> None:
    table = await seated(engine)
    other = await take_up(engine.another_engine(), "t1")
    await table.propose(0, "restart_same", "a")
    await table.vote(1, 2, True, "b")
    both = await asyncio.gather(table.vote(2, 2, True, "c"), other.vote(3, 2, True, "d"))
    assert sorted(both) == [4, 5]
    await table.catch_up_to(7)
    assert agreed(table) == ["restart_same"]
