"""Attempts that must be refused, each with the refusal that is expected."""

from random import Random
from typing import NamedTuple, TypeAlias

import grpc

from croupier_api.v1 import actions_pb2 as pb
from croupier_api.v1 import cards_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_client import FollowedTable, choose_random_action
from croupier_loadtest.record import Expected

Reason: TypeAlias = ErrorReason.ValueType
Refusal: TypeAlias = tuple[grpc.StatusCode, Reason]
NO_REASON = ErrorReason.ERROR_REASON_UNSPECIFIED
ILLEGAL_ACTION = ErrorReason.ERROR_REASON_ILLEGAL_ACTION
TWO_OF_CLUBS, THREE_OF_CLUBS = cards_pb2.CARD_TWO_OF_CLUBS, cards_pb2.CARD_THREE_OF_CLUBS
ACE_OF_SPADES = cards_pb2.CARD_ACE_OF_SPADES
BARE_VERBS = (
    pb.Action(throw_down=pb.ThrowDownAction()),
    pb.Action(match_bid=pb.MatchBidAction()),
    pb.Action(draw=pb.DrawAction()),
)
MAX_REQUEST_BYTES = 64 * 1024
SUBMIT_ACTION = "/croupier_api.v1.EngineService/SubmitAction"


class Attempt(NamedTuple):
    """An action to send, with the refusal that is expected, if any."""

    action: pb.Action
    expected_sequence: int | None = None
    expected: Expected | None = None


class InvalidRequest(NamedTuple):
    """A request that cannot be parsed or is too large, and its correct refusals."""

    name: str
    body: bytes
    refusals: frozenset[Refusal]


INVALID_REQUESTS = (
    InvalidRequest(
        "malformed",
        b"\xff\xff\xff",
        frozenset({(grpc.StatusCode.INVALID_ARGUMENT, ErrorReason.ERROR_REASON_MALFORMED_REQUEST)}),
    ),
    InvalidRequest(
        "oversized",
        bytes(MAX_REQUEST_BYTES + 1024),
        # Of a service's gRPC library, and of the gateway.
        frozenset(
            (grpc.StatusCode.RESOURCE_EXHAUSTED, reason)
            for reason in (NO_REASON, ErrorReason.ERROR_REASON_REQUEST_TOO_LARGE)
        ),
    ),
)
FOREIGN_REFUSALS: frozenset[Refusal] = frozenset(
    {
        (grpc.StatusCode.PERMISSION_DENIED, ErrorReason.ERROR_REASON_NOT_SEATED),
        (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_TABLE_FINISHED),
    }
)
"""The correct refusals of an action by a player without a seat at a public table."""
PRIVATE_REFUSALS: frozenset[Refusal] = frozenset({(grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_UNKNOWN_TABLE)})
"""The correct refusals of an action by a player without a seat at any other table."""


def on_turn(table: FollowedTable, random: Random) -> Attempt:
    """Return an attempt for the viewer's own turn."""
    legal = {action.play.card for action in table.legal_actions.actions}
    illegal = [card for card in hand_of(table) if card not in legal]
    # The only attempt that finds a rule that is applied wrongly: as often as all others together.
    if illegal and random.random() < 0.5:
        return _illegal("illegal card", table, random.choice(illegal))
    match random.randrange(4):
        case 0:
            held = hand_of(table)
            others = [card for card in range(TWO_OF_CLUBS, ACE_OF_SPADES + 1) if card not in held]
            return _illegal("card not in hand", table, random.choice(others))
        case 1:
            action, code = choose_random_action(table, random), grpc.StatusCode.ABORTED
            reason = ErrorReason.ERROR_REASON_STALE_SEQUENCE
            return _refused("stale sequence", action, table.sequence - 1, code, reason)
        case 2:
            action = random.choice([verb for verb in BARE_VERBS if verb not in table.legal_actions.actions])
            return _refused("wrong verb", action, table.sequence, grpc.StatusCode.FAILED_PRECONDITION, ILLEGAL_ACTION)
        case _:
            action, code = _play(cards_pb2.CARD_UNSPECIFIED), grpc.StatusCode.INVALID_ARGUMENT
            reason = ErrorReason.ERROR_REASON_INVALID_ACTION
            return _refused("impossible card", action, table.sequence, code, reason)


def out_of_turn(table: FollowedTable, random: Random) -> Attempt:
    """Return a card out of turn."""
    return _illegal(
        "out of turn", table, random.choice(hand_of(table) or [ACE_OF_SPADES]), ErrorReason.ERROR_REASON_NOT_YOUR_TURN
    )


def other_action(action: pb.Action) -> Attempt:
    """Return another action under the request id of an accepted one."""
    other = TWO_OF_CLUBS if action.play.card != TWO_OF_CLUBS else THREE_OF_CLUBS
    code, reason = grpc.StatusCode.ALREADY_EXISTS, ErrorReason.ERROR_REASON_REQUEST_ID_REUSED
    return _refused("reused request id", _play(other), None, code, reason)


def hand_of(table: FollowedTable) -> list[int]:
    """Return the cards in the viewer's hand."""
    return list(table.view.seats[table.seat].cards) if table.seat is not None else []


def _illegal(name: str, table: FollowedTable, card: int, reason: Reason = ILLEGAL_ACTION) -> Attempt:
    return _refused(name, _play(card), table.sequence, grpc.StatusCode.FAILED_PRECONDITION, reason)


def _play(card: int) -> pb.Action:
    return pb.Action(play=pb.PlayAction(card=cards_pb2.Card.ValueType(card)))


def _refused(name: str, action: pb.Action, sequence: int | None, code: grpc.StatusCode, reason: Reason) -> Attempt:
    number: int = code.value[0]
    return Attempt(action, sequence, Expected(name, number, reason))
