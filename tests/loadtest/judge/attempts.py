"""Attempts at a played table, some of which must be refused, and the engine's answers to them."""

from random import Random

import grpc

from croupier.engine.api.action_codec import decode_action, encode_action
from croupier.engine.core.fold import TableState, advance
from croupier.games.bots import random_of
from croupier.games.interface import IllegalAction, SeatActed
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1 import actions_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from loadtest.record import Answered, Expected, SeatRecord, Sent
from tests.loadtest.judge.played import CLOCK_OFFSET, PlayedTable
from tests.loadtest.judge.viewer_records import play, reason_of, received_at

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
