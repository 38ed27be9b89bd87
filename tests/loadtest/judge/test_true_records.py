"""The judge finds no violation in correct records."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import grpc
import pytest

from croupier.engine.api.action_codec import decode_action, encode_action
from croupier.engine.core.fold import TableState, advance
from croupier.engine.core.log import ActedBy, TableEnded
from croupier.games.bots import random_of
from croupier.games.facts import SPECTATOR
from croupier.games.interface import IllegalAction, SeatActed
from croupier.games.registry import OWN_GAMES
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1 import actions_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_loadtest.judge.streams import MAX_RESUMED_ENTRIES
from croupier_loadtest.judge.verdict import Verdict, judge
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import Answered, DeliveryLimit, Expected, SeatRecord, Sent, TableRecord
from tests.loadtest.judge import viewer_records
from tests.loadtest.judge.played import (
    CLOCK_OFFSET,
    EVENTFUL,
    EVERYBODY_LEAVES,
    LEAVING,
    PLAIN,
    EventRates,
    PlayedTable,
    append,
    leave_or_return,
    played,
    played_with,
)
from tests.loadtest.judge.viewer_records import (
    add_delayed_spectator,
    add_views,
    found,
    play,
    reason_of,
    received_at,
    record_of,
    seat_record,
    stored_record,
    unreliable_record,
)

SEEDS = (1, pytest.param(3, marks=pytest.mark.slow))


def clean(record: TableRecord, *, is_verified: bool = True) -> Verdict:
    """Return the verdict on a correct record."""
    verdict = judge(record)
    assert not verdict.violations, "\n".join(map(str, verdict.violations[:10]))
    assert verdict.is_verified == is_verified
    return verdict


def viewed_record(table: PlayedTable, step: int) -> TableRecord:
    record = stored_record(table)
    for viewer in record.viewers:
        add_views(viewer, table, step)
    return record


@pytest.mark.parametrize("game", OWN_GAMES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rates", [PLAIN, EVENTFUL, LEAVING], ids=["plain", "eventful", "leaving"])
def test_a_correct_table_is_verified_without_violations(game: str, seed: int, rates: EventRates) -> None:
    table = played(game, seed, rates)
    verdict = clean(viewed_record(table, 7))
    assert min(verdict.checks_made[name] for name in ("entries", "views", "acknowledgements", "deals", "replays")) > 0
    assert len(verdict.seen_by_all_milliseconds) >= 0.9 * len(table.accepted)


@pytest.mark.parametrize("game", OWN_GAMES)
@pytest.mark.parametrize("limit", [6, 40, 120])
def test_a_table_that_ends_at_a_limit_is_verified(game: str, limit: int) -> None:
    table = played(game, 1, replace(EVENTFUL, limit=limit))
    outcome = clean(viewed_record(table, 1)).outcome
    assert outcome is not None
    if limit == min(6, len(table.transitions)):
        assert not outcome.outcomes


@pytest.mark.parametrize("game", OWN_GAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_unreliable_viewers_are_no_violation(game: str, seed: int) -> None:
    clean(unreliable_record(played(game, seed, EVENTFUL), seed))


@pytest.mark.parametrize("missed", [MAX_RESUMED_ENTRIES, MAX_RESUMED_ENTRIES + 1])
def test_a_snapshot_replaces_missed_entries_only_if_they_are_many(missed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer_records, "MAX_RESUMED_ENTRIES", missed - 1)
    table = played("jossing", 1, PLAIN)
    last = len(table.transitions)
    record = record_of(table)
    record.viewers[2] = seat_record(table, 2, drops={last - 3: last - 3 - missed})
    assert found(record) == (set() if missed > MAX_RESUMED_ENTRIES else {Invariant.SEQUENCE_GAP})


@pytest.mark.parametrize("game", OWN_GAMES)
@pytest.mark.parametrize("has_rows", [True, False])
def test_an_abandoned_table_is_no_violation(game: str, has_rows: bool) -> None:
    # With other seeds a game of Solo is over before the time of all has run out.
    table = played(game, 2 if game == "solo" else 1, EVERYBODY_LEAVES)
    record = stored_record(table) if has_rows else record_of(table)
    if has_rows:
        add_delayed_spectator(record, table)
    assert table.last.entry.event == TableEnded("abandoned")
    outcome = clean(record).outcome
    assert outcome is not None
    assert not outcome.outcomes


@pytest.mark.parametrize("has_rows", [True, False])
def test_a_seat_that_waited_at_a_deserted_table_is_played_for_once_another_player_returns(*, has_rows: bool) -> None:
    random = Random(1)
    table = played_with(played("thulla").config, random, replace(PLAIN, max_entries=5))
    (last,) = table.last.after.seats_to_act
    others = [seat for seat in table.people if seat != last]
    for seat in (*others, last):
        leave_or_return(table, seat, is_away=True)
    leave_or_return(table, others[0], is_away=False, milliseconds=5_000)
    now = table.last.after
    append(table, now.at, SeatActed(last, random_of(now.legal_actions(last), random.randrange)), ActedBy.TIMEOUT)
    record = (stored_record if has_rows else record_of)(table)
    assert not found(record)


def with_a_leaver_until_they_left(game: str) -> TableRecord:
    table = played(game, 1, replace(EVENTFUL, leavers=(2,)))
    record = record_of(table, (0, 2, 3))
    leaver, at = record.viewers[1], received_at(table, min(20, len(table.transitions)))
    leaver.received, leaver.left_milliseconds = [it for it in leaver.received if it.at_milliseconds <= at], at
    return record


def with_a_viewer_who_left_just_after_the_end(game: str) -> TableRecord:
    table = played(game, 1, PLAIN)
    record = stored_record(table)
    record.viewers[0].received.pop()
    record.viewers[0].left_milliseconds = table.transitions[-1].entry.at + 4_000
    return record


def with_a_delayed_spectator(game: str, *, is_alone: bool = False, **about: Any) -> TableRecord:
    """Return a record with one, who is alone if the players of that process sit at other tables."""
    table = played(game, 1, EVENTFUL)
    record = record_of(table, ()) if is_alone else stored_record(table)
    add_delayed_spectator(record, table, **about)
    record.delivery = DeliveryLimit(1_000)
    return record


TRUE_RECORDS: Mapping[str, Callable[[str], TableRecord]] = {
    "a leaver": with_a_leaver_until_they_left,
    "left after the end": with_a_viewer_who_left_just_after_the_end,
    "a delayed spectator": with_a_delayed_spectator,
    "nobody else": partial(with_a_delayed_spectator, is_alone=True),
    "resumed before the first entry": partial(with_a_delayed_spectator, begins_at=0, drops={0: 0}),
}


@pytest.mark.parametrize("game", OWN_GAMES)
@pytest.mark.parametrize("name", TRUE_RECORDS)
def test_a_correct_record_is_no_violation(game: str, name: str) -> None:
    clean(TRUE_RECORDS[name](game))


@pytest.mark.parametrize("game", OWN_GAMES)
def test_players_who_come_late_are_no_violation(game: str) -> None:
    table = played(game, 1, PLAIN)
    for begins_at in range(2, len(table.transitions), len(table.transitions) // 4):
        record = record_of(table)
        record.viewers = [seat_record(table, viewer.seat or 0, begins_at) for viewer in record.viewers]
        clean(record)


@pytest.mark.parametrize("has_replay", [True, False])
def test_a_late_spectator_may_see_which_cards_of_hands_all_know(has_replay: bool) -> None:
    table = played("thulla", 1, PLAIN)
    record = record_of(table)
    add_delayed_spectator(record, table, begins_at=31)
    assert any(seat.known_cards for seat in table.snapshot(SPECTATOR, 31).view.seats)
    if not has_replay:
        record.replays, record.sheet = [], None
    clean(record, is_verified=has_replay)


@pytest.mark.parametrize("game", OWN_GAMES)
def test_a_table_without_a_replay_is_judged(game: str) -> None:
    clean(record_of(played(game, 1, replace(EVENTFUL, max_entries=6))), is_verified=False)


@pytest.mark.parametrize("game", OWN_GAMES)
@pytest.mark.parametrize("max_entries", [1, 30, 100_000])
def test_rows_alone_are_verified(game: str, max_entries: int) -> None:
    table = played(game, 1, replace(EVENTFUL, max_entries=max_entries))
    record = stored_record(table)
    record.replays, record.sheet = [], None
    assert clean(record, is_verified=table.last.after.is_over).checks_made["deals"] > 0


# Attempts, some of which must be refused, and the engine's answers to them

CODES = {
    ErrorReason.ERROR_REASON_ILLEGAL_ACTION: grpc.StatusCode.FAILED_PRECONDITION,
    ErrorReason.ERROR_REASON_NOT_YOUR_TURN: grpc.StatusCode.FAILED_PRECONDITION,
    ErrorReason.ERROR_REASON_TABLE_FINISHED: grpc.StatusCode.FAILED_PRECONDITION,
    ErrorReason.ERROR_REASON_STALE_SEQUENCE: grpc.StatusCode.ABORTED,
    ErrorReason.ERROR_REASON_INVALID_ACTION: grpc.StatusCode.INVALID_ARGUMENT,
}


def judged_by_engine(
    table: PlayedTable, now: TableState, seat: int, action: actions_pb2.Action, expected: int | None
) -> tuple[ErrorReason.ValueType, str]:
    """Return the reason, 0 for a legal action, and the rule of the engine's verdict, with its order of checks."""
    try:
        decoded = decode_action(action)
    except MalformedRequest as error:
        return error.reason, ""
    if expected is not None and expected != now.sequence:
        return ErrorReason.ERROR_REASON_STALE_SEQUENCE, ""
    if now.is_over:
        return ErrorReason.ERROR_REASON_TABLE_FINISHED, ""
    try:
        advance(table.config, now, now.at, SeatActed(seat, decoded))
    except IllegalAction as refusal:
        name = "ILLEGAL_ACTION" if seat in now.seats_to_act else "NOT_YOUR_TURN"
        return reason_of(name), refusal.rule
    return ErrorReason.ERROR_REASON_UNSPECIFIED, ""


def attempt(viewer: SeatRecord, table: PlayedTable, random: Random, number: int) -> None:
    """Add a random attempt and its answer; the table may advance before the engine judges it."""
    assert viewer.seat is not None
    sequence = random.randint(1, len(table.transitions) - 1)
    seen, last = table.transitions[sequence - 1].after, len(table.transitions)
    judged = random.randint(sequence, min(sequence + 2, last))
    action, expected = _any_action(viewer.seat, seen, random), random.choice((sequence, sequence, sequence - 1, None))
    due, _ = judged_by_engine(table, seen, viewer.seat, action, expected)
    reason, rule = judged_by_engine(table, table.transitions[judged - 1].after, viewer.seat, action, expected)
    if not reason:
        return  # It would change the log.
    must_fail = Expected("attempt", CODES[due].value[0], due) if due else None
    at = max(received_at(table, sequence) + 1, table.transitions[judged - 1].entry.at + CLOCK_OFFSET)
    sent = Sent(received_at(table, sequence), f"attempt-{number}", action.SerializeToString(), expected, must_fail)
    code: int = CODES[reason].value[0]
    viewer.sent.append(sent)
    viewer.answered.append(Answered(at, sent.request_id, None, code, reason, rule, "this cannot be done"))


def _any_action(seat: int, seen: TableState, random: Random) -> actions_pb2.Action:
    """Return a legal action if there is one, any card, or a draw."""
    if seat in seen.seats_to_act and random.random() < 0.3:
        return encode_action(random_of(seen.legal_actions(seat), random.randrange))
    if random.random() < 0.2:
        return actions_pb2.Action(draw=actions_pb2.DrawAction())
    return play(random.randint(0, 53))


@pytest.mark.parametrize("game", OWN_GAMES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("has_replay", [True, False])
def test_the_engines_refusals_are_no_violation(game: str, seed: int, has_replay: bool) -> None:
    table, random = played(game, seed, EVENTFUL), Random(f"attempts {game} {seed}")
    record = record_of(table)
    if not has_replay:
        record.replays = []
    for number in range(200):
        attempt(random.choice(record.viewers), table, random, number)
    assert clean(record, is_verified=has_replay).checks_made["refusals"] > 50
