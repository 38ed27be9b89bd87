"""The judge's verdicts on single records."""

from random import Random

import pytest
from grpc import StatusCode

from croupier.engine.core.log import ActedBy, TableEnded
from croupier.games.actions import Action, Play, ThrowDown
from croupier.games.cards import NOTATION
from croupier.games.facts import SPECTATOR
from croupier.games.interface import Observation, SeatActed
from croupier.games.registry import OWN_GAMES
from croupier_api.v1 import engine_pb2
from croupier_client.cards import CardValue
from croupier_loadtest.judge.clock import PublicEntry
from croupier_loadtest.judge.verdict import judge
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import Answered, Expected, Opened, Sent, TableRecord
from tests.loadtest.judge.falsified_records import (
    ILLEGAL,
    RECORDS,
    RULE,
    add_attempt,
    answer,
    change_all,
    change_replay,
    own,
    sent_for,
)
from tests.loadtest.judge.falsified_streams import SEQUENCE, STREAMS
from tests.loadtest.judge.played import EVENTFUL, EventRates, PlayedTable, append, played
from tests.loadtest.judge.viewer_records import (
    SEAT,
    Falsify,
    change_message,
    delay,
    found,
    play,
    reason_of,
    received_at,
    record_of,
    refused,
    seat_record,
    stored_record,
)

LATE_MILLISECONDS = 800
REUSED = Expected("reused request id", StatusCode.ALREADY_EXISTS.value[0], reason_of("REQUEST_ID_REUSED"))


@pytest.mark.parametrize(
    "falsify",
    [
        add_attempt(answer("ILLEGAL_ACTION", rule=RULE), ILLEGAL),
        add_attempt(answer("UNSPECIFIED", StatusCode.UNAVAILABLE)),
        add_attempt(answer("UNSPECIFIED", StatusCode.DEADLINE_EXCEEDED)),
    ],
    ids=["expected", "unavailable", "late"],
)
def test_an_expected_refusal_and_a_failed_connection_are_no_violation(falsify: Falsify) -> None:
    record = record_of(played())
    falsify(record, played())
    assert not judge(record).violations


def test_an_unanswered_action_may_be_in_the_log() -> None:
    record, table = record_of(played()), played()
    viewer, name = record.viewers[SEAT], own(table).request_id
    viewer.answered = [answer for answer in viewer.answered if answer.request_id != name]
    assert not judge(record).violations


@pytest.mark.parametrize("is_unavailable_first", [False, True])
def test_a_repeat_with_the_same_answer_is_no_violation(is_unavailable_first: bool) -> None:
    record, table = record_of(played()), played()
    viewer, accepted = record.viewers[SEAT], own(table)
    sent, name = sent_for(viewer, accepted), accepted.request_id
    at = sent.at_milliseconds
    if is_unavailable_first:
        # The client retries by itself.
        viewer.answered.insert(0, refused(name, at + 1, StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE"))
    viewer.sent.append(sent._replace(at_milliseconds=at + 9, expected_sequence=None))
    viewer.answered.append(Answered(at + 12, name, accepted.sequence))
    other = play(2 if accepted.action == Play(0) else 1).SerializeToString()
    viewer.sent.append(Sent(at + 20, name, other, None, REUSED))
    viewer.answered.append(refused(name, at + 22, StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED"))
    assert not judge(record).violations


@pytest.mark.parametrize("is_on_a_new_stream", [True, False])
def test_an_answer_to_a_reused_request_id_may_come_again_only_on_a_new_stream(is_on_a_new_stream: bool) -> None:
    """While a reuse of its request id is under way: the answer does not say to which of the two it belongs."""
    record = record_of(played())
    viewer, accepted = record.viewers[SEAT], own(played())
    at, name = sent_for(viewer, accepted).at_milliseconds, accepted.request_id
    viewer.sent.append(Sent(at + 20, name, play(53).SerializeToString(), None, REUSED))
    viewer.answered.append(Answered(at + 22, name, accepted.sequence))
    if is_on_a_new_stream:
        viewer.opened.append(Opened(at + 21, accepted.sequence))
        viewer.answered.append(refused(name, at + 23, StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED"))
    assert (Invariant.ILLEGAL_ACCEPTED in found(record)) != is_on_a_new_stream


def test_early_bots_are_found() -> None:
    table = played("thulla", 1, EVENTFUL)
    record = record_of(table)
    acted = [made.entry.sequence for made in table.transitions if isinstance(made.entry.event, SeatActed)]
    sequence = next(one for one in acted if table.transitions[one - 1].entry.acted_by is ActedBy.BOT)
    at = table.transitions[sequence - 2].entry.at
    change_all(record, sequence, stored_unix_ms=at)
    assert Invariant.TIMEOUT_TOO_EARLY in found(record)


def test_a_fault_of_the_replay_has_its_sequence_in_the_log() -> None:
    """Compensations, proposals and votes have sequences in the log, but no numbers in the replay."""
    table = played("solo", 2, EVENTFUL)
    record, meta_entries = record_of(table), [made.entry.sequence for made in table.transitions if not made.facts]
    acted = [made.entry for made in table.transitions[meta_entries[0] :] if isinstance(made.entry.event, SeatActed)]
    entry = next(one for one in acted if one.acted_by is ActedBy.PLAYER)
    number = entry.sequence - sum(sequence < entry.sequence for sequence in meta_entries)
    draw = {"type": "draw"}
    change_replay(lambda lines: next(one for one in lines if one.get("seq") == number).update(action=draw))(
        record, table
    )
    verdict = judge(record)
    sequences = [one.sequence for one in verdict.violations if one.invariant is Invariant.ILLEGAL_ACCEPTED]
    assert (sequences, verdict.is_verified) == ([entry.sequence], False)


@pytest.mark.parametrize(
    ("invariant", "name"),
    [
        (Invariant.REPLAY_DIFFERS, "write_another_time"),
        (Invariant.DEAL_UNFAIR, "commit_to_another_seed"),
        (Invariant.DEAL_UNFAIR, "omit_a_client_seed"),
        (Invariant.RESULT_DIFFERS, "change_the_ranking"),
        (Invariant.RESULT_DIFFERS, "change_the_scores"),
    ],
)
def test_contradictions_are_found_without_rules(
    monkeypatch: pytest.MonkeyPatch, invariant: Invariant, name: str
) -> None:
    monkeypatch.setattr("croupier_loadtest.judge.verification.table_of", lambda *_: None)
    record = record_of(played())
    record.sheet = None
    assert not found(record)
    RECORDS[invariant][name](record, played())
    assert found(record) == {invariant}


def test_a_game_may_move_cards_that_an_action_does_not_name() -> None:
    """Such as the melds of a seat that knocks."""
    shown = PublicEntry(at=1, seat=0, by=0, compensation=0, is_meta=False, is_abandonment=False, cards=("2C",))
    unnamed = shown._replace(cards=())
    assert shown.can_be(unnamed)
    assert unnamed.can_be(shown)
    assert not shown.can_be(shown._replace(cards=("3C",)))
    assert not shown.can_be(unnamed._replace(seat=1))


def test_hidden_hands_after_the_last_round_are_not_shown() -> None:
    """Solo shows remaining cards only if they were thrown down, though everything else is public at the end."""
    table = next(one for one in (played("solo", seed) for seed in range(1, 9)) if any(_final_hands(one)))
    record, last = record_of(table), len(table.transitions)
    spectator = seat_record(table, SPECTATOR, begins_at=last)
    record.viewers.append(spectator)
    assert not found(record)
    seat, cards = next((seat, cards) for seat, cards in enumerate(_final_hands(table)) if cards)
    change_message(spectator, 0, lambda message: message.snapshot.view.seats[seat].cards.extend(cards))
    assert Invariant.HIDDEN_CARD_SEEN in found(record)


def _final_hands(table: PlayedTable) -> list[list[CardValue]]:
    """Return the hands at the end, each in its own seat's view."""
    return [list(table.snapshot(seat, len(table.transitions)).view.seats[seat].cards) for seat in range(4)]


def thrown_down() -> tuple[PlayedTable, int]:
    """Return a table of bots that ends after a hand of Solo was thrown down, and the sequence of that entry."""
    random, bot = Random(1), OWN_GAMES["solo"].bots["sensible"]
    dealt = played("solo", 1, EventRates(bots=(0, 1, 2, 3), max_entries=1))
    table = PlayedTable(dealt.config, [*dealt.transitions])
    action: Action | None = None
    while not isinstance(action, ThrowDown):
        now = table.last.after
        assert now.due is not None
        view, legal = now.view(now.due.seat), now.legal_actions(now.due.seat)
        action = bot(Observation(now.due.seat, table.config.options, view, legal), random.randrange)
        append(table, now.due.at, SeatActed(now.due.seat, action), ActedBy.BOT)
    sequence = next(made.entry.sequence for made in table.transitions[::-1] if isinstance(made.entry.event, SeatActed))
    append(table, table.last.after.at, TableEnded("entries"))
    return table, sequence


def seen_by_a_spectator(table: PlayedTable, begins_at: int) -> TableRecord:
    record = record_of(table, ())
    record.max_entries = table.max_entries
    record.viewers = [seat_record(table, SPECTATOR, begins_at)]
    return record


def shown_in_a_snapshot(table: PlayedTable, sequence: int, hand: int, cards: list[CardValue]) -> set[Invariant]:
    """Return the violations if a spectator is shown these cards of a hand in a snapshot."""
    record = seen_by_a_spectator(table, sequence)

    def show(event: engine_pb2.TableEvent) -> None:
        event.snapshot.view.seats[hand].cards[:] = cards

    change_message(record.viewers[0], 0, show)
    return found(record)


def test_thrown_down_cards_are_shown_to_all_and_no_others_are() -> None:
    table, sequence = thrown_down()
    held = [list(table.snapshot(seat, sequence).view.seats[seat].cards) for seat in range(4)]
    shown = [list(seat.cards) for seat in table.snapshot(SPECTATOR, sequence).view.seats]
    (one, other), closed = [seat for seat in range(4) if shown[seat]], shown.index([])
    assert (shown[one], shown[other]) == (held[one], held[other])
    assert not found(seen_by_a_spectator(table, 1))
    assert not shown_in_a_snapshot(table, sequence, one, held[one])
    assert shown_in_a_snapshot(table, sequence, other, []) == {Invariant.VIEW_DIFFERS}
    assert shown_in_a_snapshot(table, sequence, closed, held[closed]) == {Invariant.HIDDEN_CARD_SEEN}


def test_a_wrong_count_while_cards_of_110_are_exchanged_is_found() -> None:
    """Others are shown with the hands that they were dealt until then (110-VIS-1)."""
    table = played("one_ten")
    record, last = stored_record(table), len(table.transitions)
    sequence = next(one for one in range(1, last) if table.snapshot(SPECTATOR, one).view.phase == "kitty")
    spectator = seat_record(table, SPECTATOR, begins_at=sequence)
    del spectator.received[1:]
    record.viewers, spectator.left_milliseconds = [spectator], received_at(table, sequence)
    assert not found(record)
    change_message(spectator, 0, lambda event: setattr(event.snapshot.view.seats[1], "card_count", 9))
    assert found(record) == {Invariant.VIEW_DIFFERS}


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_hidden_card_in_any_entry_is_found(seed: int) -> None:
    table, index = played("one_ten", seed, EVENTFUL), Random(seed).randrange(1, 12)
    record, held = record_of(table, (SEAT,)), table.snapshot(3, index + 1).view.seats[3].cards
    card = next(card for card in held if card not in table.snapshot(SEAT, index + 1).view.seats[SEAT].cards)
    moved = {"target": {"hand": 3}, "cards": [card], "count": 1}
    change_message(record.viewers[0], index, lambda message: message.update.facts.add(cards_moved=moved))
    assert Invariant.HIDDEN_CARD_SEEN in found(record)


def test_a_violation_has_its_table_and_sequence() -> None:
    record = record_of(played())
    STREAMS[Invariant.SEQUENCE_GAP]["omit"](record, played())
    (violation,) = [one for one in judge(record).violations if one.invariant is Invariant.SEQUENCE_GAP]
    assert (violation.table_id, violation.sequence) == ("table-1", SEQUENCE + 1)
    assert f"seat {SEAT}" in violation.detail


@pytest.mark.parametrize("entries_before", [0, 1], ids=["stored", "not yet stored"])
def test_a_refusal_may_name_a_card_of_an_entry_that_was_stored_and_is_received_later(entries_before: int) -> None:
    """Another engine may send the entry on much later than it refuses an action because of it."""
    table = played()
    record, since = record_of(table), len(table.transitions) // 2
    played_cards = [
        (made.entry.sequence, made.entry.event.action.card)
        for made in table.transitions[since:]
        if isinstance(made.entry.event, SeatActed)
        and made.entry.event.seat != SEAT
        and isinstance(made.entry.event.action, Play)
    ]
    sequence, card = played_cards[0]
    viewer = record.viewers[SEAT]
    later = next(
        index for index, one in enumerate(viewer.received) if one.at_milliseconds >= received_at(table, sequence)
    )
    delay(viewer, LATE_MILLISECONDS, later)
    at = received_at(table, sequence) - entries_before * LATE_MILLISECONDS
    refusal = refused(viewer.sent[0].request_id, at, StatusCode.FAILED_PRECONDITION, "ILLEGAL_ACTION", RULE)
    viewer.answered.append(refusal._replace(message=f"follow suit: {NOTATION[card]} was led"))
    assert (Invariant.HIDDEN_CARD_SEEN in found(record)) == bool(entries_before)
