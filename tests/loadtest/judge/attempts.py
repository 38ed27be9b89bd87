"""Attempts at a table that was played, some of which must be refused, and the engine's answers to them."""

from random import Random
from typing import NamedTuple

import grpc

from croupier.engine.codec import decode_action, encode_action
from croupier.engine.table import TableState, advance
from croupier.games.bots import random_of
from croupier.games.interface import IllegalAction, SeatActed
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1 import table_pb2
from loadtest.record import Answered, Expected, SeatRecord, Sent
from tests.loadtest.judge.played import PLAYERS_AHEAD, Played, heard_at, play

LEGAL = "legal"
GAME_OVER = "TABLE_FINISHED"
CODES = {
    "ILLEGAL_ACTION": grpc.StatusCode.FAILED_PRECONDITION,
    "NOT_YOUR_TURN": grpc.StatusCode.FAILED_PRECONDITION,
    "TABLE_FINISHED": grpc.StatusCode.FAILED_PRECONDITION,
    "STALE_SEQUENCE": grpc.StatusCode.ABORTED,
    "MALFORMED_ACTION": grpc.StatusCode.INVALID_ARGUMENT,
}


class Judged(NamedTuple):
    """What the engine says of an attempt: the reason, LEGAL if it would take it, and the rule."""

    reason: str
    rule: str = ""


def judged_by_engine(
    table: Played, now: TableState, seat: int, action: table_pb2.Action, expected: int | None
) -> Judged:
    """What the engine answers to an action when it is at this state, in the order in which it looks."""
    try:
        decoded = decode_action(action)
    except MalformedRequest as error:
        return Judged(error.reason)
    if expected is not None and expected != now.sequence:
        return Judged("STALE_SEQUENCE")
    if now.is_over:
        return Judged(GAME_OVER)
    try:
        advance(table.config, now, now.at, SeatActed(seat, decoded))
    except IllegalAction as refusal:
        return Judged("ILLEGAL_ACTION" if seat in now.seats_to_act else "NOT_YOUR_TURN", refusal.rule)
    return Judged(LEGAL)


def attempt(one: SeatRecord, table: Played, random: Random, number: int) -> None:
    """Somebody tries something at some moment, and the table may have moved on when the engine looks at it."""
    assert one.seat is not None
    sequence = random.randint(1, len(table.steps) - 1)
    seen, met = table.steps[sequence - 1].after, random.randint(sequence, min(sequence + 2, len(table.steps)))
    action, expected = _something(one.seat, seen, random), random.choice((sequence, sequence, sequence - 1, None))
    due = judged_by_engine(table, seen, one.seat, action, expected)
    came = judged_by_engine(table, table.steps[met - 1].after, one.seat, action, expected)
    if came.reason == LEGAL:
        return  # The log would be another one.
    must_fail = Expected("attempt", CODES[due.reason].value[0], due.reason) if due.reason != LEGAL else None
    at = max(heard_at(table, sequence) + 1, table.steps[met - 1].entry.at + PLAYERS_AHEAD)
    sent = Sent(heard_at(table, sequence), f"attempt-{number}", action.SerializeToString(), expected, must_fail)
    code: int = CODES[came.reason].value[0]
    one.sent.append(sent)
    one.answered.append(Answered(at, sent.request_id, None, code, came.reason, came.rule, "this cannot be done"))


def _something(seat: int, seen: TableState, random: Random) -> table_pb2.Action:
    """A legal action if there is one, any card, or a verb."""
    if seat in seen.seats_to_act and random.random() < 0.3:
        return encode_action(random_of(seen.game.legal_actions(seat), random.randrange))
    if random.random() < 0.2:
        return table_pb2.Action(draw=table_pb2.DrawAction())
    return play(random.randint(0, 53))
