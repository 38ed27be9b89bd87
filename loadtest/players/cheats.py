"""Attempts that must be refused, each with what the refusal must say."""

from random import Random
from typing import NamedTuple

import grpc

from croupier_api.v1 import cards_pb2
from croupier_api.v1 import table_pb2 as pb
from croupier_client import Table, random_legal
from loadtest.record import Expected

SPADES_ACE = cards_pb2.CARD_AS
BARE_VERBS = (
    pb.Action(throw_down=pb.ThrowDownAction()),
    pb.Action(match=pb.MatchAction()),
    pb.Action(draw=pb.DrawAction()),
)
LONGEST_REQUEST_BYTES = 64 * 1024
SUBMIT_ACTION = "/croupier_api.v1.EngineService/SubmitAction"


class Attempt(NamedTuple):
    """An action to send; one that must be refused says how."""

    action: pb.Action
    expected_sequence: int | None = None
    expected: Expected | None = None


class Rubbish(NamedTuple):
    """Bytes that are no action, and the only refusal that is right."""

    name: str
    body: bytes
    code: grpc.StatusCode
    reason: str


RUBBISH = (
    Rubbish("malformed", b"\xff\xff\xff", grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE"),
    Rubbish("oversized", bytes(LONGEST_REQUEST_BYTES + 1024), grpc.StatusCode.RESOURCE_EXHAUSTED, ""),
)
FOREIGN_REFUSALS = frozenset(
    {(grpc.StatusCode.PERMISSION_DENIED, "NOT_YOUR_TABLE"), (grpc.StatusCode.FAILED_PRECONDITION, "TABLE_FINISHED")}
)
"""How somebody is refused who acts at a table where he has no seat."""


def on_turn(table: Table, random: Random) -> Attempt:
    """One of those that fit while it is the viewer's turn."""
    illegal = _illegal_card(table, random)
    # The only one that tells a rule that is judged wrongly: as often as all others together.
    if illegal is not None and random.random() < 0.5:
        return illegal
    return random.choice((_card_not_in_hand, _stale_sequence, _wrong_verb, _impossible_card))(table, random)


def out_of_turn(table: Table, random: Random) -> Attempt:
    """Any card while others are to act."""
    return _illegal("out of turn", table, random.choice(hand_of(table) or [SPADES_ACE]), "NOT_YOUR_TURN")


def other_action(action: pb.Action) -> Attempt:
    """Something else under the name of what was accepted."""
    other = cards_pb2.CARD_2C if action.play.card != cards_pb2.CARD_2C else cards_pb2.CARD_3C
    return Attempt(_play(other), None, _expected("reused name", grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED"))


def hand_of(table: Table) -> list[int]:
    """The cards in the viewer's hand."""
    return list(table.view.seats[table.seat].cards) if table.seat is not None else []


def _card_not_in_hand(table: Table, random: Random) -> Attempt:
    held = hand_of(table)
    others = [card for card in range(cards_pb2.CARD_2C, cards_pb2.CARD_AS + 1) if card not in held]
    return _illegal("card not in hand", table, random.choice(others))


def _illegal_card(table: Table, random: Random) -> Attempt | None:
    legal = {action.play.card for action in table.legal_actions.actions}
    illegal = [card for card in hand_of(table) if card not in legal]
    return _illegal("illegal card", table, random.choice(illegal)) if illegal else None


def _wrong_verb(table: Table, random: Random) -> Attempt:
    action = random.choice([verb for verb in BARE_VERBS if verb not in table.legal_actions.actions])
    refusal = _expected("wrong verb", grpc.StatusCode.FAILED_PRECONDITION, "ILLEGAL_ACTION")
    return Attempt(action, table.sequence, refusal)


def _impossible_card(table: Table, _random: Random) -> Attempt:
    refusal = _expected("impossible card", grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_ACTION")
    return Attempt(_play(cards_pb2.CARD_UNSPECIFIED), table.sequence, refusal)


def _stale_sequence(table: Table, random: Random) -> Attempt:
    refusal = _expected("stale sequence", grpc.StatusCode.ABORTED, "STALE_SEQUENCE")
    return Attempt(random_legal(table, random), table.sequence - 1, refusal)


def _illegal(name: str, table: Table, card: int, reason: str = "ILLEGAL_ACTION") -> Attempt:
    refusal = _expected(name, grpc.StatusCode.FAILED_PRECONDITION, reason)
    return Attempt(_play(card), table.sequence, refusal)


def _play(card: int) -> pb.Action:
    return pb.Action(play=pb.PlayAction(card=cards_pb2.Card.ValueType(card)))


def _expected(name: str, code: grpc.StatusCode, reason: str) -> Expected:
    number: int = code.value[0]
    return Expected(name, number, reason)
