"""Records with wrong answers, lost and duplicate actions, and wrong times."""

from collections.abc import Callable
from typing import Any

from grpc import StatusCode

from croupier_api.v1 import actions_pb2, engine_pb2
from loadtest.judge.violations import Invariant
from loadtest.record import Answered, Expected, SeatRecord, Sent, TableRecord, Viewed
from tests.loadtest.judge.played import AcceptedAction, PlayedTable
from tests.loadtest.judge.viewer_records import (
    SEAT,
    Cases,
    Falsify,
    change_message,
    play,
    reason_of,
    receive,
    received_at,
    refused,
)

ILLEGAL = Expected("illegal card", StatusCode.FAILED_PRECONDITION.value[0], reason_of("ILLEGAL_ACTION"))
STALE = Expected("stale", StatusCode.ABORTED.value[0], reason_of("STALE_SEQUENCE"))
RULE = "THU-PLAY-3"


def own(table: PlayedTable, number: int = 5) -> AcceptedAction:
    """Return an accepted action of the seat, some way into the game, when it alone was to act."""
    return [accepted for accepted in table.accepted if accepted.seat == SEAT and accepted.expected_sequence][number]


def sent_for(viewer: SeatRecord, accepted: AcceptedAction) -> Sent:
    return next(sent for sent in viewer.sent if sent.request_id == accepted.request_id)


def illegal_card(table: PlayedTable, sequence: int) -> int:
    """Return an illegal card of the seat's hand after an entry, or else one that it does not hold."""
    snapshot = table.snapshot(SEAT, sequence)
    legal = {action.play.card for action in snapshot.legal_actions.actions}
    held = snapshot.view.seats[SEAT].cards
    return next(card for card in (*held, *(card for card in range(1, 53) if card not in held)) if card not in legal)


def answer(reason: str, code: StatusCode = StatusCode.FAILED_PRECONDITION, rule: str = "") -> Answered:
    return refused("", 0, code, reason, rule)


def add_attempt(got: Answered, expected: Expected | None = None, **fields: Any) -> Falsify:
    """Let the player attempt the same before its action, or an illegal card if a refusal is expected."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        viewer, accepted = record.viewers[SEAT], own(table)
        sent = sent_for(viewer, accepted)
        illegal = play(illegal_card(table, accepted.expected_sequence or 0)).SerializeToString()
        action = illegal if expected else sent.action
        attempt = sent._replace(request_id="try", at_milliseconds=sent.at_milliseconds - 2, action=action)
        viewer.sent.append(attempt._replace(expected=expected, **fields))
        viewer.answered.append(got._replace(request_id="try", at_milliseconds=sent.at_milliseconds - 1))

    return falsify


def change_sent(
    change: Callable[[PlayedTable, AcceptedAction], dict[str, Any]],
    choose: Callable[[PlayedTable], AcceptedAction] = own,
) -> Falsify:
    """Let a player have sent another action than the accepted one."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        accepted = choose(table)
        viewer = record.viewers[accepted.seat]
        index = viewer.sent.index(sent_for(viewer, accepted))
        viewer.sent[index] = viewer.sent[index]._replace(**change(table, accepted))

    return falsify


def change_answer(record: TableRecord, accepted: AcceptedAction, **fields: Any) -> None:
    answered = next(viewer.answered for viewer in record.viewers if viewer.seat == accepted.seat)
    index = next(index for index, answer in enumerate(answered) if answer.request_id == accepted.request_id)
    answered[index] = answered[index]._replace(**fields)


def acknowledge_as(sequence: Callable[[PlayedTable], int]) -> Falsify:
    """Acknowledge the player's action as another entry."""
    return lambda record, table: change_answer(record, own(table), sequence=sequence(table))


def offer_an_illegal_action(record: TableRecord, table: PlayedTable) -> None:
    """Replace the legal actions of the seat, of which one is then accepted."""
    accepted = own(table)
    other = actions_pb2.LegalActions(actions=[play(illegal_card(table, accepted.sequence))])
    change_message(
        record.viewers[SEAT], accepted.sequence - 2, lambda message: message.update.legal_actions.CopyFrom(other)
    )
    record.replays, record.sheet = [], None


def acknowledge_twice(record: TableRecord, table: PlayedTable) -> None:
    again = Answered(received_at(table, own(table).sequence), own(table).request_id, own(table, 6).sequence)
    record.viewers[SEAT].answered.append(again)


def refuse_the_repeat(record: TableRecord, table: PlayedTable) -> None:
    viewer, accepted = record.viewers[SEAT], own(table)
    at = sent_for(viewer, accepted).at_milliseconds + 100
    viewer.sent.append(sent_for(viewer, accepted)._replace(at_milliseconds=at))
    viewer.answered.append(refused(accepted.request_id, at + 1, StatusCode.ABORTED, "STALE_SEQUENCE"))


def lose_an_acknowledged_action(record: TableRecord, table: PlayedTable) -> None:
    """Let no viewer receive an acknowledged action; all wait, and ask for views."""
    accepted = own(table)
    for viewer in record.viewers:
        del viewer.received[accepted.sequence - 1 :]
        viewer.answered = [answer for answer in viewer.answered if (answer.sequence or 0) <= accepted.sequence]
        answered = {answer.request_id for answer in viewer.answered}
        viewer.sent = [sent for sent in viewer.sent if sent.request_id in answered]
        looked_at = received_at(table, accepted.sequence) + 20_000
        viewer.viewed = [Viewed(looked_at, table.snapshot(viewer.seat or 0, accepted.sequence - 1).SerializeToString())]
    record.replays, record.sheet, record.is_finished = [], None, False


def add_an_entry_without_request(record: TableRecord, table: PlayedTable) -> None:
    viewer, name = record.viewers[SEAT], own(table).request_id
    viewer.sent = [sent for sent in viewer.sent if sent.request_id != name]
    viewer.answered = [answer for answer in viewer.answered if answer.request_id != name]


# Time


def change_all(record: TableRecord, sequence: int, **fields: Any) -> None:
    """Change the fields of an entry for all viewers."""
    for viewer in record.viewers:
        change_message(viewer, sequence - 1, lambda message: message.update.MergeFrom(engine_pb2.TableUpdate(**fields)))


def time_out_early(record: TableRecord, table: PlayedTable) -> None:
    change_all(record, own(table).sequence, acted_by=engine_pb2.ACTED_BY_TIMEOUT)


def promise_less_time(record: TableRecord, table: PlayedTable) -> None:
    """Set a deadline that is too early, at which the engine acts."""
    sequence = own(table).sequence
    at = table.transitions[sequence - 1].entry.at
    change_all(record, sequence - 1, clock=engine_pb2.TurnClock(deadline_unix_ms=at))
    time_out_early(record, table)


def wait_too_long(record: TableRecord, table: PlayedTable) -> None:
    sequence = own(table).sequence
    change_all(record, sequence, stored_unix_ms=table.transitions[sequence - 2].entry.deadline + 3_000)


def wait_beyond_the_deadline(record: TableRecord, table: PlayedTable) -> None:
    sequence = own(table).sequence
    deadline = table.transitions[sequence - 1].entry.deadline
    for viewer in record.viewers:
        del viewer.received[sequence:]
        receive(viewer, table, sequence, engine_pb2.TableEvent(heartbeat=engine_pb2.Heartbeat(sequence=sequence)))
        viewer.received[-1] = viewer.received[-1]._replace(at_milliseconds=deadline + 60_000)
    record.replays, record.sheet, record.is_finished = [], None, False


ANSWERS: Cases = {
    Invariant.LEGAL_REFUSED: {
        "refuse_with_ILLEGAL_ACTION": add_attempt(answer("ILLEGAL_ACTION", rule=RULE)),
        "refuse_with_NOT_YOUR_TURN": add_attempt(answer("NOT_YOUR_TURN", rule=RULE)),
        "refuse_with_a_former_reason": add_attempt(answer("NOT_YOUR_TURN", rule=RULE), expected_sequence=None),
        "refuse_with_STALE_SEQUENCE": add_attempt(answer("STALE_SEQUENCE", StatusCode.ABORTED)),
        "refuse_with_TABLE_FINISHED": add_attempt(answer("TABLE_FINISHED")),
    },
    Invariant.WRONG_REFUSAL: {
        "refuse_with_NOT_SEATED": add_attempt(answer("NOT_SEATED", StatusCode.PERMISSION_DENIED)),
        "refuse_with_ILLEGAL_ACTION_and_another_code": add_attempt(answer("ILLEGAL_ACTION", StatusCode.INTERNAL, RULE)),
        "refuse_an_illegal_card_with_NOT_YOUR_TURN": add_attempt(answer("NOT_YOUR_TURN", rule=RULE), ILLEGAL),
        "refuse_an_illegal_card_with_STALE_SEQUENCE": add_attempt(
            answer("STALE_SEQUENCE", StatusCode.ABORTED), ILLEGAL
        ),
        "refuse_an_illegal_card_with_another_code": add_attempt(
            answer("ILLEGAL_ACTION", StatusCode.ABORTED, RULE), ILLEGAL
        ),
    },
    Invariant.REFUSAL_WITHOUT_REASON: {
        "refuse_without_a_reason": add_attempt(answer("UNSPECIFIED", StatusCode.UNKNOWN))
    },
    Invariant.REFUSAL_WITHOUT_RULE: {
        "refuse_without_a_rule": add_attempt(answer("ILLEGAL_ACTION")),
        "refuse_by_a_rule_on_no_page": add_attempt(answer("ILLEGAL_ACTION", rule="THU-PLAY-77")),
        "refuse_an_illegal_card_without_a_rule": add_attempt(answer("ILLEGAL_ACTION"), ILLEGAL),
    },
    Invariant.ILLEGAL_ACCEPTED: {
        "accept_an_attempt": change_sent(lambda *_: {"expected": ILLEGAL, "action": play(1).SerializeToString()}),
        "accept_a_stale_action": change_sent(
            lambda _, accepted: {"expected": STALE, "expected_sequence": accepted.sequence - 2}
        ),
        "offer_an_illegal_action": offer_an_illegal_action,
    },
    Invariant.REPEAT_DIFFERS: {"acknowledge_twice": acknowledge_twice, "refuse_the_repeat": refuse_the_repeat},
    Invariant.ACKNOWLEDGED_LOST: {
        "acknowledge_an_entry_of_another": acknowledge_as(
            lambda table: next(accepted.sequence for accepted in table.accepted if accepted.seat != SEAT)
        ),
        "acknowledge_a_missing_entry": acknowledge_as(lambda table: len(table.transitions) + 5),
        "acknowledge_another_card": change_sent(
            lambda table, accepted: {"action": play(illegal_card(table, accepted.sequence)).SerializeToString()}
        ),
        "lose_an_acknowledged_action": lose_an_acknowledged_action,
    },
    Invariant.ACTION_DUPLICATED: {"add_an_entry_without_request": add_an_entry_without_request},
    Invariant.TIMEOUT_TOO_EARLY: {
        "time_out_early": time_out_early,
        "promise_less_time": promise_less_time,
    },
    Invariant.DEADLINE_MISSED: {"wait_too_long": wait_too_long, "wait_beyond_the_deadline": wait_beyond_the_deadline},
}
