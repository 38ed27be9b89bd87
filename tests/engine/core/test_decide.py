"""Decisions on a table, without store and event loop: the transitions of requests and time-outs, and all refusals."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import pytest

from croupier.engine.core import decide
from croupier.engine.core.compensation import Outage
from croupier.engine.core.decide import MAX_ASKED, PROPOSAL_MILLISECONDS, WINDOW_MILLISECONDS, TableLimits
from croupier.engine.core.fold import ABANDONED, TableState, Transition, advance
from croupier.engine.core.log import (
    ActedBy,
    AwaySet,
    ClockCompensated,
    LoggedEvent,
    Proposed,
    TableConfig,
    TableEnded,
    Voted,
)
from croupier.games.actions import Pass
from croupier.games.facts import Seat
from croupier.games.interface import CardsShuffled, IllegalAction, ProposalAgreed, SeatActed
from croupier.runtime.errors import IllegalNow, LimitReached, MalformedRequest, ServiceError, StaleSequence
from tests.engine.fakes import START
from tests.engine.play import CLOCK, FULL_MILLISECONDS, bots, dealt, make_config, people, some_action

NOW = START + 1_000
LATE = START + CLOCK.action_milliseconds + 2_000
OUTAGE = [Outage(START + 1_000, START + 6_000)]
SOLO = make_config("solo")
"""A table with proposals."""
PROPOSED = Proposed(0, "restart_same", 0)
Found: TypeAlias = list[tuple[LoggedEvent, ActedBy, str]]


def after(transitions: Sequence[Transition]) -> TableState:
    return transitions[-1].after


def found(transitions: Sequence[Transition]) -> Found:
    return [(made.entry.event, made.entry.acted_by, str(made.entry.request_id)) for made in transitions]


def timed_out(config: TableConfig, table: TableState, now: int) -> TableState:
    return after(decide.time_out(config, table, now, some_action(table), []))


def refused(decided: Callable[[], object], kind: type[ServiceError]) -> str:
    with pytest.raises(kind) as refusal:
        decided()
    return refusal.value.reason_name


def test_an_action_in_time_is_one_transition_whatever_outages_there_were() -> None:
    table = dealt(SOLO)
    acted = some_action(table)
    transitions = decide.action(SOLO, table, NOW, acted, "r", 1, OUTAGE)
    assert found(transitions) == [(acted, ActedBy.PLAYER, "r")]
    assert transitions[0].entry.at == NOW


def test_a_late_action_comes_after_the_compensation_of_its_outages() -> None:
    table = dealt(SOLO)
    acted = some_action(table)
    given, own = decide.action(SOLO, table, LATE, acted, "r", 1, OUTAGE)
    assert found([given, own]) == [(ClockCompensated(5_000), ActedBy.PLAYER, ""), (acted, ActedBy.PLAYER, "r")]
    assert own.after.clock.reserves[acted.seat] == CLOCK.reserve_milliseconds
    (own,) = decide.action(SOLO, table, LATE, acted, "r", 1, [])
    assert own.after.clock.reserves[acted.seat] == CLOCK.reserve_milliseconds - 2_000


def test_a_seat_that_is_away_gets_no_compensation() -> None:
    config = make_config(seats=people(2))
    table, at = dealt(config), START
    seat = table.seats_to_act[0]
    at += FULL_MILLISECONDS
    table = timed_out(config, table, at)
    while table.seats_to_act != (seat,):
        table = after(advance(config, table, at, some_action(table)))
    acted = some_action(table)
    later = at + 2 * CLOCK.action_milliseconds
    transitions = decide.action(config, table, later, acted, "r", None, [Outage(at, later)])
    assert found(transitions)[0] == (acted, ActedBy.PLAYER, "r")
    assert not after(transitions).clock.absences[seat]


def test_an_action_for_another_sequence_is_stale() -> None:
    table = dealt(SOLO)
    for expected in (0, 2, 2**63):
        with pytest.raises(StaleSequence) as refusal:
            decide.action(SOLO, table, NOW, some_action(table), "r", expected, [])
        assert refusal.value.metadata == {"sequence": "1"}


def test_a_refused_action_names_the_rule() -> None:
    config = make_config(seat_count=3)
    table = dealt(config)
    (seat,) = table.seats_to_act
    for who, reason in ((seat, "ILLEGAL_ACTION"), ((seat + 1) % 3, "NOT_YOUR_TURN")):
        with pytest.raises(IllegalNow) as refusal:
            decide.action(config, table, NOW, SeatActed(who, Pass()), "r", None, [])
        assert refusal.value.reason_name == reason
        assert refusal.value.rule.startswith("THU-")


def test_nothing_is_decided_after_the_end() -> None:
    table = after(advance(SOLO, dealt(SOLO), NOW, TableEnded("entries")))
    decisions: list[Callable[[], object]] = [
        lambda: decide.action(SOLO, table, NOW, SeatActed(0, Pass()), "r", None, []),
        lambda: decide.proposal(SOLO, table, NOW, PROPOSED, "r", []),
        lambda: decide.vote(SOLO, table, NOW, Voted(0, 1, agree=True), "r"),
        lambda: decide.refuse_if_over(table),
    ]
    assert {refused(decided, IllegalNow) for decided in decisions} == {"TABLE_FINISHED"}
    assert decide.end(SOLO, table, 1_000, TableLimits(1, 1)) == []


def proposed(config: TableConfig, now: int = NOW) -> TableState:
    """Return a table with a proposal of its first seat, in entry 2."""
    return after(decide.proposal(config, dealt(config), now, PROPOSED, "p", []))


def test_a_proposal_lasts_half_a_minute_and_is_executed_with_the_last_vote() -> None:
    (made,) = decide.proposal(SOLO, dealt(SOLO), NOW, PROPOSED, "p", [])
    lasting = PROPOSED._replace(expires_at=NOW + PROPOSAL_MILLISECONDS)
    assert found([made]) == [(lasting, ActedBy.PLAYER, "p")]
    table = made.after
    for seat in (1, 2):
        (vote,) = decide.vote(SOLO, table, NOW, Voted(seat, 2, agree=True), "v")
        assert not decide.is_agreed(SOLO, vote.after, NOW)
        assert decide.agreement(SOLO, vote.after, NOW) == []
        table = vote.after
    last = Voted(3, 2, agree=True)
    assert found(decide.vote(SOLO, table, NOW, last, "v")) == [
        (last, ActedBy.PLAYER, "v"),
        (ProposalAgreed("restart_same"), ActedBy.PLAYER, ""),
    ]


def test_a_proposal_that_only_computer_players_would_vote_on_is_executed_with_its_shuffles() -> None:
    config = make_config("solo", seats=(*people(1), *bots(3)))
    transitions = decide.proposal(config, dealt(config), NOW, Proposed(0, "restart_new", 0), "p", [])
    assert [type(made.entry.event) for made in transitions] == [Proposed, ProposalAgreed, CardsShuffled]


def test_a_seat_that_is_away_agrees() -> None:
    table = dealt(SOLO)
    (slow,) = table.seats_to_act
    first, *others = (seat for seat in range(4) if seat != slow)
    at = START + FULL_MILLISECONDS
    table = after(decide.proposal(SOLO, table, at - 1, Proposed(first, "restart_same", 0), "p", []))
    for seat in others:
        table = after(decide.vote(SOLO, table, at - 1, Voted(seat, 2, agree=True), "v"))
    assert not decide.is_agreed(SOLO, table, at)
    table = timed_out(SOLO, table, at)
    assert decide.is_agreed(SOLO, table, at)
    assert found(decide.agreement(SOLO, table, at)) == [(ProposalAgreed("restart_same"), ActedBy.PLAYER, "")]
    assert not decide.is_agreed(SOLO, table, at + PROPOSAL_MILLISECONDS)


Decision: TypeAlias = Callable[[TableConfig, TableState], object]


def proposing(seat: Seat, name: str) -> Decision:
    return lambda config, table: decide.proposal(config, table, NOW, Proposed(seat, name, 0), "x", [])


def voting(seat: Seat, sequence: int, agree: bool, now: int = NOW) -> Decision:
    return lambda config, table: decide.vote(config, table, now, Voted(seat, sequence, agree), "x")


REFUSED: dict[str, tuple[Decision, type[ServiceError], str]] = {
    "an unknown proposal": (proposing(1, "redeal"), MalformedRequest, "UNKNOWN_PROPOSAL"),
    "a second proposal": (proposing(1, "restart_new"), IllegalNow, "PROPOSAL_PENDING"),
    "the same again": (proposing(0, "restart_same"), IllegalNow, "PROPOSAL_PENDING"),
    "a vote on another": (voting(1, 1, agree=True), IllegalNow, "PROPOSAL_REPLACED"),
    "a vote on one to come": (voting(1, 2**64 - 1, agree=True), IllegalNow, "PROPOSAL_REPLACED"),
    "a vote of the proposer": (voting(0, 2, agree=True), IllegalNow, "ALREADY_VOTED"),
    "a vote against the own proposal": (voting(0, 2, agree=False), IllegalNow, "ALREADY_VOTED"),
    "a second vote": (voting(3, 2, agree=False), IllegalNow, "ALREADY_VOTED"),
    "a late vote": (voting(1, 2, agree=True, now=NOW + PROPOSAL_MILLISECONDS), IllegalNow, "PROPOSAL_EXPIRED"),
}


@pytest.mark.parametrize(("decision", "kind", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_refused_proposal_or_vote(decision: Decision, kind: type[ServiceError], reason: str) -> None:
    table = after(decide.vote(SOLO, proposed(SOLO), NOW, Voted(3, 2, agree=True), "v"))
    assert refused(lambda: decision(SOLO, table), kind) == reason


def test_a_vote_in_the_last_moment_and_the_next_proposal_after_it_are_accepted() -> None:
    table = proposed(SOLO)
    expiry = NOW + PROPOSAL_MILLISECONDS
    assert decide.vote(SOLO, table, expiry - 1, Voted(1, 2, agree=True), "v")
    assert decide.proposal(SOLO, table, expiry, Proposed(1, "restart_new", 0), "x", [])


def test_without_a_proposal_there_is_no_vote() -> None:
    assert refused(lambda: decide.vote(SOLO, dealt(SOLO), NOW, Voted(0, 1, agree=True), "v"), IllegalNow) == (
        "NO_PROPOSAL"
    )


def test_a_proposal_that_the_rules_do_not_allow_names_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = IllegalAction("SOLO-RESTART-2", "no hand is in progress")
    monkeypatch.setattr(decide, "refusal_of", lambda *_: refusing)
    with pytest.raises(IllegalNow) as refusal:
        proposed(SOLO)
    assert (refusal.value.reason_name, refusal.value.rule) == ("ILLEGAL_ACTION", "SOLO-RESTART-2")


def test_proposals_have_a_rate() -> None:
    table = dealt(SOLO)
    before = [NOW - WINDOW_MILLISECONDS, *(NOW - 3_000 + 1_000 * number for number in range(MAX_ASKED - 1))]
    assert decide.proposal(SOLO, table, NOW, PROPOSED, "p", before)
    with pytest.raises(LimitReached) as refusal:
        decide.proposal(SOLO, table, NOW - 1, PROPOSED, "p", before)
    assert (refusal.value.reason_name, refusal.value.retry_after_seconds) == ("TOO_MANY_PROPOSALS", 0.001)


def test_a_player_leaves_and_returns_and_a_repeat_changes_nothing() -> None:
    table, leave, back = dealt(SOLO), AwaySet(1, is_away=True), AwaySet(1, is_away=False)
    assert decide.away(SOLO, table, NOW, back, "b", []) == []
    transitions = decide.away(SOLO, table, NOW, leave, "a", [])
    assert after(transitions).turn == (1 << table.seats_to_act[0], 0b10)
    assert found(transitions) == [(leave, ActedBy.PLAYER, "a")]
    assert decide.away(SOLO, after(transitions), NOW, leave, "c", []) == []
    transitions = decide.away(SOLO, after(transitions), NOW, back, "b", [])
    assert found(transitions) == [(back, ActedBy.PLAYER, "b")]
    assert not any(after(transitions).clock.absences)


def test_leaving_has_a_rate_and_returning_has_none() -> None:
    table = dealt(SOLO)
    before = [NOW - 3_000 + 1_000 * number for number in range(MAX_ASKED)]
    with pytest.raises(LimitReached) as refusal:
        decide.away(SOLO, table, NOW, AwaySet(1, is_away=True), "a", before)
    assert (refusal.value.reason_name, refusal.value.metadata) == ("TOO_MANY_DEPARTURES", {"limit": "seat_requests"})
    left = after(decide.away(SOLO, table, NOW, AwaySet(1, is_away=True), "a", []))
    assert decide.away(SOLO, left, NOW, AwaySet(1, is_away=False), "b", before)


def test_the_last_seat_that_has_to_agree_agrees_by_leaving() -> None:
    table = proposed(SOLO)
    for seat in (1, 2):
        table = after(decide.vote(SOLO, table, NOW, Voted(seat, 2, agree=True), f"v{seat}"))
    transitions = decide.away(SOLO, table, NOW, AwaySet(3, is_away=True), "a", [])
    assert [type(event) for event, *_ in found(transitions)[:2]] == [AwaySet, ProposalAgreed]


def test_nobody_leaves_after_the_end() -> None:
    config, table = deserted()
    ended = after(decide.time_out(config, table, table.deadline, some_action(table), []))
    assert refused(lambda: decide.away(config, ended, NOW, AwaySet(0, is_away=True), "a", []), IllegalNow) == (
        "TABLE_FINISHED"
    )


def test_a_seat_whose_time_has_run_out_acts_by_the_engine() -> None:
    config = make_config(seats=people(3))
    table = dealt(config)
    acted = some_action(table)
    transitions = decide.time_out(config, table, START + FULL_MILLISECONDS, acted, [])
    assert found(transitions)[0] == (acted, ActedBy.TIMEOUT, "")
    assert after(transitions).clock.absences[acted.seat]


def test_a_time_out_gives_the_time_of_outages_back_first_and_only_once() -> None:
    config = make_config(seats=people(3))
    table, now = dealt(config), START + FULL_MILLISECONDS
    acted = some_action(table)
    assert decide.counts_outages(config, table, acted.seat)
    transitions = decide.time_out(config, table, now, acted, OUTAGE)
    assert found(transitions) == [(ClockCompensated(5_000), ActedBy.PLAYER, "")]
    assert after(transitions).deadline == now + 5_000
    transitions = decide.time_out(config, after(transitions), now + 5_000, acted, OUTAGE)
    assert found(transitions)[0] == (acted, ActedBy.TIMEOUT, "")


def deserted() -> tuple[TableConfig, TableState]:
    """Return a table of two people who are away, where the one who went away last is to act."""
    config = make_config(seats=people(2))
    table = dealt(config)
    while not decide.is_abandoned(config, table):
        table = timed_out(config, table, table.deadline)
    return config, table


def test_an_abandoned_table_ends_after_the_time_of_outages_has_been_given_back() -> None:
    config, table = deserted()
    acted, now = some_action(table), table.deadline
    assert table.clock.absences[acted.seat]
    assert decide.counts_outages(config, table, acted.seat)
    outage = [Outage(now - 3_000, now - 1_000)]
    assert found(decide.time_out(config, table, now, acted, outage)) == [(ClockCompensated(2_000), ActedBy.PLAYER, "")]
    transitions = decide.time_out(config, table, now, acted, [])
    assert found(transitions) == [(TableEnded(ABANDONED), ActedBy.PLAYER, "")]
    assert after(transitions).is_over


def test_a_seat_that_is_away_at_a_table_with_people_is_not_delayed_by_outages() -> None:
    config = make_config(seats=people(2))
    table = timed_out(config, dealt(config), START + FULL_MILLISECONDS)
    (seat,) = (seat for seat, is_away in enumerate(table.clock.absences) if is_away)
    while table.seats_to_act != (seat,):
        table = after(advance(config, table, table.at, some_action(table)))
    acted, now = some_action(table), table.deadline
    assert not decide.counts_outages(config, table, seat)
    transitions = decide.time_out(config, table, now, acted, [Outage(table.at, now)])
    assert found(transitions)[0] == (acted, ActedBy.TIMEOUT, "")


@pytest.mark.parametrize(
    ("entries", "rounds", "limit"), [(1, 0, "entries"), (2, 1, "rounds"), (1, 1, "rounds"), (2, 0, "")]
)
def test_a_table_ends_at_the_first_limit_that_it_has_reached(entries: int, rounds: int, limit: str) -> None:
    table = dealt(SOLO)
    assert table.sequence == 1
    transitions = decide.end(SOLO, table, rounds, TableLimits(max_entries=entries, max_rounds=1))
    assert found(transitions) == ([(TableEnded(limit), ActedBy.PLAYER, "")] if limit else [])
    assert all(made.entry.at == table.at for made in transitions)
