"""What the judge says of single records: what is no violation, and where one is."""

from random import Random

import pytest
from grpc import StatusCode

from croupier.engine.log import ActedBy
from croupier.games.actions import Play
from croupier.games.facts import SPECTATOR
from croupier.games.interface import SeatActed
from croupier_client.cards import CardValue
from loadtest.judge.verdict import judge
from loadtest.judge.violations import Invariant
from loadtest.record import Answered, Expected, Sent
from tests.loadtest.judge.falsified_answers import ILLEGAL, RULE, answer, own, sent_for, tell_all, tried
from tests.loadtest.judge.falsified_records import RECORDS, replayed
from tests.loadtest.judge.falsified_streams import SEAT, SEQUENCE, STREAMS
from tests.loadtest.judge.played import (
    EVENTFUL,
    Played,
    found,
    hears_instead,
    play,
    played,
    record_of,
    refused,
    seat_record,
)


def test_an_attempt_that_is_refused_as_it_must_be_is_no_violation() -> None:
    record, table = record_of(played()), played()
    tried(answer("ILLEGAL_ACTION", rule=RULE), ILLEGAL)(record, table)
    assert not judge(record).violations


@pytest.mark.parametrize("code", [StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED])
def test_a_connection_that_fails_is_no_refusal(code: StatusCode) -> None:
    record, table = record_of(played()), played()
    tried(answer("", code))(record, table)
    assert not judge(record).violations


def test_an_action_whose_answer_was_lost_may_stand_in_the_log() -> None:
    record, table = record_of(played()), played()
    one, name = record.viewers[SEAT], own(table).request_id
    one.answered = [answer for answer in one.answered if answer.request_id != name]
    assert not judge(record).violations


@pytest.mark.parametrize("is_unavailable_first", [False, True])
def test_the_same_sent_twice_and_answered_alike_is_no_violation(is_unavailable_first: bool) -> None:
    record, table = record_of(played()), played()
    one, asked = record.viewers[SEAT], own(table)
    sent = sent_for(one, asked)
    if is_unavailable_first:
        # The client sends it again by itself.
        unavailable = refused(asked.request_id, sent.at_milliseconds + 1, StatusCode.UNAVAILABLE, "STORE_FAILED")
        one.answered.insert(0, unavailable)
    one.sent.append(sent._replace(at_milliseconds=sent.at_milliseconds + 9, expected_sequence=None))
    one.answered.append(Answered(sent.at_milliseconds + 12, asked.request_id, asked.sequence))
    reused = Expected("reused name", StatusCode.ALREADY_EXISTS.value[0], "REQUEST_ID_REUSED")
    other = play(2 if asked.action == Play(0) else 1).SerializeToString()
    one.sent.append(Sent(sent.at_milliseconds + 20, asked.request_id, other, None, reused))
    one.answered.append(
        refused(asked.request_id, sent.at_milliseconds + 22, StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")
    )
    assert not judge(record).violations


def test_a_reused_name_that_is_accepted_is_found() -> None:
    record, table = record_of(played()), played()
    one, asked = record.viewers[SEAT], own(table)
    sent = sent_for(one, asked)
    reused = Expected("reused name", StatusCode.ALREADY_EXISTS.value[0], "REQUEST_ID_REUSED")
    one.sent.append(Sent(sent.at_milliseconds + 20, asked.request_id, play(53).SerializeToString(), None, reused))
    one.answered.append(Answered(sent.at_milliseconds + 22, asked.request_id, asked.sequence))
    assert Invariant.ILLEGAL_ACCEPTED in found(record)


def test_computer_players_who_act_before_their_time_are_found() -> None:
    table = played("thulla", 1, EVENTFUL)
    record = record_of(table)
    acted = [made.entry.sequence for made in table.steps if isinstance(made.entry.event, SeatActed)]
    sequence = next(one for one in acted if table.steps[one - 1].entry.acted_by is ActedBy.BOT)
    at = table.steps[sequence - 2].entry.at
    tell_all(record, sequence, at_milliseconds=at)
    assert Invariant.PLAYED_FOR_TOO_EARLY in found(record)


def test_a_table_with_a_fault_is_not_proved() -> None:
    record = record_of(played())
    RECORDS[Invariant.ILLEGAL_ACCEPTED]["play_a_foreign_card"](record, played())
    assert not judge(record).is_proved


def test_a_fault_of_the_replay_is_told_where_it_stands_in_the_log() -> None:
    """Time that is given back, proposals and votes have numbers in the log and none in the replay."""
    table = played("solo", 2, EVENTFUL)
    record, asides = record_of(table), [made.entry.sequence for made in table.steps if not made.facts]
    acted = [made.entry for made in table.steps if made.entry.request_id and made.entry.sequence > asides[0]]
    entry = next(one for one in acted if one.acted_by is ActedBy.PLAYER)
    number = entry.sequence - sum(aside < entry.sequence for aside in asides)
    draw = {"type": "draw"}
    replayed(lambda lines: next(one for one in lines if one.get("seq") == number).update(action=draw))(record, table)
    sequences = [one.sequence for one in judge(record).violations if one.invariant is Invariant.ILLEGAL_ACCEPTED]
    assert sequences == [entry.sequence]


def test_a_game_without_rules_here_is_judged_on_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadtest.judge.proof.RULES", {})
    record, table = record_of(played()), played()
    verdict = judge(record)
    assert not verdict.violations
    assert not verdict.is_proved
    RECORDS[Invariant.REPLAY_UNTRUE]["write_another_time"](record, table)
    RECORDS[Invariant.DEAL_UNFAIR]["commit_to_another_seed"](record, table)
    assert found(record) == {Invariant.REPLAY_UNTRUE, Invariant.DEAL_UNFAIR}


@pytest.mark.parametrize(
    ("invariant", "name"),
    [
        (Invariant.DEAL_UNFAIR, "leave_out_what_a_player_added"),
        (Invariant.RESULT_DIFFERS, "rank_otherwise"),
        (Invariant.RESULT_DIFFERS, "score_otherwise"),
    ],
)
def test_records_that_do_not_agree_are_found_without_rules(
    monkeypatch: pytest.MonkeyPatch, invariant: Invariant, name: str
) -> None:
    monkeypatch.setattr("loadtest.judge.proof.RULES", {})
    record = record_of(played())
    record.sheet = None
    RECORDS[invariant][name](record, played())
    assert invariant in found(record)


def test_hands_that_stay_hidden_after_the_last_round_are_not_shown() -> None:
    """Solo never shows the cards that were left over (SOLO-VIS-1), though everything else of the game is told."""
    table = next(one for one in (played("solo", seed) for seed in range(1, 9)) if any(_left_over(one)))
    record, last = record_of(table), len(table.steps)
    onlooker = seat_record(table, SPECTATOR, begins_at=last)
    record.viewers.append(onlooker)
    assert not found(record)
    seat, cards = next((seat, cards) for seat, cards in enumerate(_left_over(table)) if cards)
    hears_instead(onlooker, 0, lambda message: message.snapshot.view.seats[seat].cards.extend(cards))
    assert Invariant.HIDDEN_CARD_SEEN in found(record)


def _left_over(table: Played) -> list[list[CardValue]]:
    """The hands at the end, each as its own seat sees it."""
    return [list(table.snapshot(seat, len(table.steps)).view.seats[seat].cards) for seat in range(4)]


def test_a_violation_names_its_table_and_place() -> None:
    record = record_of(played())
    STREAMS[Invariant.SEQUENCE_GAP]["leave_out"](record, played())
    (violation,) = [one for one in judge(record).violations if one.invariant is Invariant.SEQUENCE_GAP]
    assert (violation.table_id, violation.sequence) == ("table-1", SEQUENCE + 1)
    assert f"seat {SEAT}" in violation.detail


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_card_told_at_any_moment_is_found(seed: int) -> None:
    random, table = Random(seed), played("one_ten", seed, EVENTFUL)
    record = record_of(table, (2,))
    index = random.randrange(1, 12)
    held = table.snapshot(3, index + 1).view.seats[3].cards
    card = next(card for card in held if card not in table.snapshot(2, index + 1).view.seats[2].cards)
    moved = {"target": {"hand": 3}, "cards": [card], "count": 1}
    hears_instead(record.viewers[0], index, lambda message: message.update.facts.add(cards_moved=moved))
    assert Invariant.HIDDEN_CARD_SEEN in found(record)
