"""Records with answers that are wrong, actions that are lost or doubled, and time that is not kept."""

from collections.abc import Callable
from typing import Any

from grpc import StatusCode

from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.judge.violations import Invariant
from loadtest.record import Answered, Expected, SeatRecord, Sent, TableRecord, Viewed
from tests.loadtest.judge.played import Asked, Cases, Falsify, Played, heard_at, hears, hears_instead, play, refused

SEAT = 2
ILLEGAL = Expected("illegal card", StatusCode.FAILED_PRECONDITION.value[0], "ILLEGAL_ACTION")
STALE = Expected("stale", StatusCode.ABORTED.value[0], "STALE_SEQUENCE")
RULE = "THU-PLAY-3"


def own(table: Played, number: int = 5) -> Asked:
    """An action of the seat, some way into the game, when it alone was to act."""
    return [asked for asked in table.asked if asked.seat == SEAT and asked.expected_sequence][number]


def sent_for(one: SeatRecord, asked: Asked) -> Sent:
    return next(sent for sent in one.sent if sent.request_id == asked.request_id)


def illegal_card(table: Played, sequence: int) -> int:
    """A card of the seat's hand that it may not play after an entry, or else one that it does not hold."""
    snapshot = table.snapshot(SEAT, sequence)
    legal = {action.play.card for action in snapshot.legal_actions.actions}
    held = snapshot.view.seats[SEAT].cards
    return next(card for card in (*held, *(card for card in range(1, 53) if card not in held)) if card not in legal)


def answer(reason: str, code: StatusCode = StatusCode.FAILED_PRECONDITION, rule: str = "") -> Answered:
    return refused("", 0, code, reason, rule)


def tried(got: Answered, expected: Expected | None = None, **fields: Any) -> Falsify:
    """Just before what the player did, he tries the same, or an illegal card if a refusal is expected."""

    def falsify(record: TableRecord, table: Played) -> None:
        one, asked = record.viewers[SEAT], own(table)
        sent = sent_for(one, asked)
        illegal = play(illegal_card(table, asked.expected_sequence or 0)).SerializeToString()
        action = illegal if expected else sent.action
        attempt = sent._replace(request_id="try", at_milliseconds=sent.at_milliseconds - 2, action=action)
        one.sent.append(attempt._replace(expected=expected, **fields))
        one.answered.append(got._replace(request_id="try", at_milliseconds=sent.at_milliseconds - 1))

    return falsify


def sends(change: Callable[[Played, Asked], dict[str, Any]]) -> Falsify:
    """The player sent something else than what was accepted."""

    def falsify(record: TableRecord, table: Played) -> None:
        one, asked = record.viewers[SEAT], own(table)
        index = one.sent.index(sent_for(one, asked))
        one.sent[index] = one.sent[index]._replace(**change(table, asked))

    return falsify


def answers_instead(record: TableRecord, asked: Asked, **fields: Any) -> None:
    """The answer to an action is another one."""
    answered = next(one.answered for one in record.viewers if one.seat == asked.seat)
    index = next(index for index, answer in enumerate(answered) if answer.request_id == asked.request_id)
    answered[index] = answered[index]._replace(**fields)


def acknowledged(sequence: Callable[[Played], int]) -> Falsify:
    """What the player did was acknowledged as another entry."""
    return lambda record, table: answers_instead(record, own(table), sequence=sequence(table))


def offer_what_was_not_accepted(record: TableRecord, table: Played) -> None:
    """The seat was told that it may do something else than what is then accepted from it."""
    asked = own(table)
    other = table_pb2.LegalActions(actions=[play(illegal_card(table, asked.sequence))])
    hears_instead(record.viewers[SEAT], asked.sequence - 2, lambda message: message.legal_actions.CopyFrom(other))
    record.replays, record.sheet = [], None


def acknowledge_twice(record: TableRecord, table: Played) -> None:
    again = Answered(heard_at(table, own(table).sequence), own(table).request_id, own(table, 6).sequence)
    record.viewers[SEAT].answered.append(again)


def refuse_the_repeat(record: TableRecord, table: Played) -> None:
    one, asked = record.viewers[SEAT], own(table)
    at = sent_for(one, asked).at_milliseconds + 100
    one.sent.append(sent_for(one, asked)._replace(at_milliseconds=at))
    one.answered.append(refused(asked.request_id, at + 1, StatusCode.ABORTED, "STALE_SEQUENCE"))


def acknowledge_and_forget(record: TableRecord, table: Played) -> None:
    """Nobody ever hears of an action that was acknowledged; all wait, and look at the table now and then."""
    asked = own(table)
    for one in record.viewers:
        del one.heard[asked.sequence - 1 :]
        one.answered = [answer for answer in one.answered if (answer.sequence or 0) <= asked.sequence]
        told = {answer.request_id for answer in one.answered}
        one.sent = [sent for sent in one.sent if sent.request_id in told]
        looked_at = heard_at(table, asked.sequence) + 20_000
        one.viewed = [Viewed(looked_at, table.snapshot(one.seat or 0, asked.sequence - 1).SerializeToString())]
    record.replays, record.sheet, record.is_finished = [], None, False


def enter_what_was_not_sent(record: TableRecord, table: Played) -> None:
    one, name = record.viewers[SEAT], own(table).request_id
    one.sent = [sent for sent in one.sent if sent.request_id != name]
    one.answered = [answer for answer in one.answered if answer.request_id != name]


# Time


def tell_all(record: TableRecord, sequence: int, **fields: Any) -> None:
    """All are told other fields of an entry."""
    for one in record.viewers:
        hears_instead(one, sequence - 1, lambda message: message.update.MergeFrom(engine_pb2.TableUpdate(**fields)))


def play_for_somebody_in_time(record: TableRecord, table: Played) -> None:
    tell_all(record, own(table).sequence, acted_by=engine_pb2.ACTED_BY_TIMEOUT)


def promise_less_time(record: TableRecord, table: Played) -> None:
    """The deadline that is told is too early, and the engine keeps to it."""
    sequence = own(table).sequence
    at = table.steps[sequence - 1].entry.at
    tell_all(record, sequence - 1, clock=engine_pb2.TurnClock(deadline_milliseconds=at))
    play_for_somebody_in_time(record, table)


def wait_too_long(record: TableRecord, table: Played) -> None:
    sequence = own(table).sequence
    tell_all(record, sequence, at_milliseconds=table.steps[sequence - 2].entry.deadline + 3_000)


def wait_in_vain(record: TableRecord, table: Played) -> None:
    sequence = own(table).sequence
    deadline = table.steps[sequence - 1].entry.deadline
    for one in record.viewers:
        del one.heard[sequence:]
        hears(one, table, sequence, engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=sequence)))
        one.heard[-1] = one.heard[-1]._replace(at_milliseconds=deadline + 60_000)
    record.replays, record.sheet, record.is_finished = [], None, False


ANSWERS: Cases = {
    Invariant.LEGAL_REFUSED: {
        "refuse_with_ILLEGAL_ACTION": tried(answer("ILLEGAL_ACTION", rule=RULE)),
        "refuse_with_NOT_YOUR_TURN": tried(answer("NOT_YOUR_TURN", rule=RULE)),
        "refuse_with_what_was_so_before": tried(answer("NOT_YOUR_TURN", rule=RULE), expected_sequence=None),
        "refuse_with_STALE_SEQUENCE": tried(answer("STALE_SEQUENCE", StatusCode.ABORTED)),
        "refuse_with_TABLE_FINISHED": tried(answer("TABLE_FINISHED")),
    },
    Invariant.WRONG_REFUSAL: {
        "refuse_with_NOT_YOUR_TABLE": tried(answer("NOT_YOUR_TABLE", StatusCode.PERMISSION_DENIED)),
        "refuse_with_ILLEGAL_ACTION_and_another_code": tried(answer("ILLEGAL_ACTION", StatusCode.INTERNAL, RULE)),
        "refuse_an_illegal_card_with_NOT_YOUR_TURN": tried(answer("NOT_YOUR_TURN", rule=RULE), ILLEGAL),
        "refuse_an_illegal_card_with_STALE_SEQUENCE": tried(answer("STALE_SEQUENCE", StatusCode.ABORTED), ILLEGAL),
        "refuse_an_illegal_card_with_another_code": tried(answer("ILLEGAL_ACTION", StatusCode.ABORTED, RULE), ILLEGAL),
    },
    Invariant.REFUSAL_WITHOUT_REASON: {"refuse_without_a_reason": tried(answer("", StatusCode.UNKNOWN))},
    Invariant.REFUSAL_WITHOUT_RULE: {
        "refuse_without_a_rule": tried(answer("ILLEGAL_ACTION")),
        "refuse_by_a_rule_on_no_page": tried(answer("ILLEGAL_ACTION", rule="THU-PLAY-77")),
        "refuse_an_illegal_card_without_a_rule": tried(answer("ILLEGAL_ACTION"), ILLEGAL),
    },
    Invariant.ILLEGAL_ACCEPTED: {
        "accept_an_attempt": sends(lambda *_: {"expected": ILLEGAL, "action": play(1).SerializeToString()}),
        "accept_what_is_stale": sends(lambda _, asked: {"expected": STALE, "expected_sequence": asked.sequence - 2}),
        "offer_what_was_not_accepted": offer_what_was_not_accepted,
    },
    Invariant.REPEAT_DIFFERS: {"acknowledge_twice": acknowledge_twice, "refuse_the_repeat": refuse_the_repeat},
    Invariant.ACKNOWLEDGED_LOST: {
        "acknowledge_what_is_anothers": acknowledged(
            lambda table: next(asked.sequence for asked in table.asked if asked.seat != SEAT)
        ),
        "acknowledge_what_never_came": acknowledged(lambda table: len(table.steps) + 5),
        "acknowledge_another_card": sends(
            lambda table, asked: {"action": play(illegal_card(table, asked.sequence)).SerializeToString()}
        ),
        "acknowledge_and_forget": acknowledge_and_forget,
    },
    Invariant.ACTION_DOUBLED: {"enter_what_was_not_sent": enter_what_was_not_sent},
    Invariant.PLAYED_FOR_TOO_EARLY: {
        "play_for_somebody_in_time": play_for_somebody_in_time,
        "promise_less_time": promise_less_time,
    },
    Invariant.DEADLINE_MISSED: {"wait_too_long": wait_too_long, "wait_in_vain": wait_in_vain},
}
