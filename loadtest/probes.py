"""Requests that must be refused, each with what the refusal must say."""

from dataclasses import dataclass
from random import Random

import grpc

from croupier_api.v1 import cards_pb2
from croupier_api.v1 import table_pb2 as pb
from croupier_client import CroupierError, Table, random_legal
from loadtest.court import Invariant

SPADES_ACE = cards_pb2.CARD_AS
BARE_VERBS = (
    pb.Action(throw_down=pb.ThrowDownAction()),
    pb.Action(match=pb.MatchAction()),
    pb.Action(draw=pb.DrawAction()),
)


@dataclass(frozen=True, slots=True)
class Probe:
    """An action that must be refused with this code and reason, and by a rule if one speaks."""

    name: str
    action: pb.Action
    expected_sequence: int | None
    code: grpc.StatusCode
    reason: str
    by_rule: bool = False


def probe_on_turn(table: Table, random: Random) -> Probe:
    """One of those that fit while it is the viewer's turn."""
    kinds = [card_not_in_hand, stale_sequence, wrong_verb, impossible_card]
    illegal = illegal_card(table, random)
    # The only one that tells a rule that is judged wrongly: as often as all others together.
    if illegal is not None and random.random() < 0.5:
        return illegal
    return random.choice(kinds)(table, random)


def out_of_turn(table: Table, random: Random) -> Probe:
    """Any card while others are to act; refused as stale if they have acted meanwhile."""
    cards = hand_of(table) or [SPADES_ACE]
    return _illegal("out_of_turn", table, random.choice(cards), "NOT_YOUR_TURN")


def card_not_in_hand(table: Table, random: Random) -> Probe:
    """A card that somebody else holds, or that has left the game."""
    others = [card for card in range(cards_pb2.CARD_2C, cards_pb2.CARD_AS + 1) if card not in hand_of(table)]
    return _illegal("card_not_in_hand", table, random.choice(others))


def illegal_card(table: Table, random: Random) -> Probe | None:
    """A card of the hand that the rules do not allow now; None if they allow all."""
    legal = {action.play.card for action in table.legal_actions.actions}
    illegal = [card for card in hand_of(table) if card not in legal]
    return _illegal("illegal_card", table, random.choice(illegal)) if illegal else None


def wrong_verb(table: Table, random: Random) -> Probe:
    """A verb that the game does not have, or not now."""
    action = random.choice([verb for verb in BARE_VERBS if verb not in table.legal_actions.actions])
    return Probe(
        "wrong_verb", action, table.sequence, grpc.StatusCode.FAILED_PRECONDITION, "ILLEGAL_ACTION", by_rule=True
    )


def impossible_card(table: Table, _random: Random) -> Probe:
    """A number that is no card's."""
    action = pb.Action(play=pb.PlayAction(card=cards_pb2.CARD_UNSPECIFIED))
    return Probe("impossible_card", action, table.sequence, grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_ACTION")


def stale_sequence(table: Table, random: Random) -> Probe:
    """A legal action of somebody who has not seen the last entry."""
    action = random_legal(table, random)
    return Probe("stale_sequence", action, table.sequence - 1, grpc.StatusCode.ABORTED, "STALE_SEQUENCE")


def reused_request_id(action: pb.Action) -> Probe:
    """Another action under the name of one that was accepted."""
    other = cards_pb2.CARD_2C if action.play.card != cards_pb2.CARD_2C else cards_pb2.CARD_3C
    return Probe("reused_request_id", play(other), None, grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")


def judge(probe: Probe, error: CroupierError) -> Invariant | None:
    """What is wrong with the refusal of a probe."""
    if (error.code, error.reason) != (probe.code, probe.reason):
        return Invariant.WRONG_REFUSAL
    if probe.by_rule and not error.rule:
        return Invariant.REFUSAL_WITHOUT_RULE
    return None


def hand_of(table: Table) -> list[int]:
    """The cards in the viewer's hand."""
    return list(table.view.seats[table.seat].cards) if table.seat is not None else []


def play(card: int) -> pb.Action:
    """Playing a card."""
    return pb.Action(play=pb.PlayAction(card=cards_pb2.Card.ValueType(card)))


def _illegal(name: str, table: Table, card: int, reason: str = "ILLEGAL_ACTION") -> Probe:
    return Probe(name, play(card), table.sequence, grpc.StatusCode.FAILED_PRECONDITION, reason, by_rule=True)
