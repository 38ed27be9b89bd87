"""The fold: every kind of fact, as the contract words it."""

from collections.abc import Callable

import pytest
from google.protobuf import text_format

from croupier_api.v1 import table_pb2 as pb
from croupier_client import FoldError, fold

THREE_SEATS = "seats { card_count: 3 cards: [CARD_2C, CARD_5H, CARD_5H] } seats { card_count: 3 } seats { score: 7 }"


def view_of(text: str) -> pb.TableView:
    return text_format.Parse(text, pb.TableView())


def fact_of(text: str) -> pb.Fact:
    return text_format.Parse(text, pb.Fact())


CASES = {
    "a round begins: scores, ranking and phase stay, everything else starts anew": (
        "round: 1 phase: 'score' dealer: 0 seats { card_count: 1 cards: CARD_2C score: 5 tricks_taken: 2 out: true "
        "place: 1 } piles { name: 'kitty' count: 2 } calls { seat: 0 } contract { declarer: 0 } marks { name: 'm' "
        "value: '1' } seats_to_act: 0 ranking { seats: 0 }",
        "round_started { round: 2 dealer: 1 }",
        "round: 2 phase: 'score' dealer: 1 seats { score: 5 } contract {} ranking { seats: 0 }",
    ),
    "a round begins without a dealer": ("round: 1 dealer: 2", "round_started { round: 2 }", "round: 2 contract {}"),
    "dealt from the box to the viewer: known and sorted": (
        THREE_SEATS,
        "cards_moved { target { hand: 0 } cards: [CARD_3H, CARD_2D] count: 2 }",
        "seats { card_count: 5 cards: [CARD_2C, CARD_2D, CARD_3H, CARD_5H, CARD_5H] } seats { card_count: 3 } "
        "seats { score: 7 }",
    ),
    "dealt to another seat: counted only": (
        THREE_SEATS,
        "cards_moved { target { hand: 1 } count: 2 }",
        "seats { card_count: 3 cards: [CARD_2C, CARD_5H, CARD_5H] } seats { card_count: 5 } seats { score: 7 }",
    ),
    "known cards picked up by another seat go out of sight": (
        "seats {} seats { card_count: 1 } piles { name: 'trick' count: 1 cards { card: CARD_9H seat: 0 } }",
        "cards_moved { source { pile: 'trick' } target { hand: 1 } cards: CARD_9H count: 1 }",
        "seats {} seats { card_count: 2 }",
    ),
    "known cards join a hand that lies open": (
        "seats {} seats { card_count: 1 cards: CARD_KS }",
        "cards_moved { target { hand: 1 } cards: CARD_9H count: 1 }",
        "seats {} seats { card_count: 2 cards: [CARD_9H, CARD_KS] }",
    ),
    "the viewer plays one of two equal cards onto a new pile, which goes where its name belongs": (
        THREE_SEATS + " piles { name: 'a' count: 1 } piles { name: 'z' count: 1 }",
        "cards_moved { source { hand: 0 } target { pile: 'trick' } cards: CARD_5H count: 1 }",
        "seats { card_count: 2 cards: [CARD_2C, CARD_5H] } seats { card_count: 3 } seats { score: 7 } "
        "piles { name: 'a' count: 1 } piles { name: 'trick' count: 1 cards { card: CARD_5H seat: 0 } } "
        "piles { name: 'z' count: 1 }",
    ),
    "another seat plays: the card was not visible in its hand": (
        "seats {} seats { card_count: 3 } piles { name: 'trick' count: 1 cards { card: CARD_2C seat: 0 } }",
        "cards_moved { source { hand: 1 } target { pile: 'trick' } cards: CARD_AS count: 1 }",
        "seats {} seats { card_count: 2 } piles { name: 'trick' count: 2 cards { card: CARD_2C seat: 0 } "
        "cards { card: CARD_AS seat: 1 } }",
    ),
    "another seat discards face down": (
        "seats {} seats { card_count: 3 }",
        "cards_moved { source { hand: 1 } target { pile: 'waste' } count: 2 }",
        "seats {} seats { card_count: 1 } piles { name: 'waste' count: 2 }",
    ),
    "from pile to pile: the cards came from no hand": (
        "piles { name: 'stock' count: 5 }",
        "cards_moved { source { pile: 'stock' } target { pile: 'turned' } cards: CARD_JK count: 1 }",
        "piles { name: 'stock' count: 4 } piles { name: 'turned' count: 1 cards { card: CARD_JK } }",
    ),
    "listed cards leave a pile one by one, first match first": (
        "seats {} piles { name: 'p' count: 3 cards { card: CARD_5H seat: 0 } cards { card: CARD_2C seat: 0 } "
        "cards { card: CARD_5H seat: 1 } }",
        "cards_moved { source { pile: 'p' } cards: [CARD_5H] count: 1 }",
        "seats {} piles { name: 'p' count: 2 cards { card: CARD_2C seat: 0 } cards { card: CARD_5H seat: 1 } }",
    ),
    "an empty pile vanishes": (
        "piles { name: 'p' count: 1 cards { card: CARD_5H } } piles { name: 'q' count: 1 }",
        "cards_moved { source { pile: 'p' } cards: CARD_5H count: 1 }",
        "piles { name: 'q' count: 1 }",
    ),
    "from a hand into the box": (
        THREE_SEATS,
        "cards_moved { source { hand: 0 } target {} cards: [CARD_2C, CARD_5H] count: 2 }",
        "seats { card_count: 1 cards: CARD_5H } seats { card_count: 3 } seats { score: 7 }",
    ),
    "seat 0 is a hand like any other": (
        "seats { card_count: 1 } seats {}",
        "cards_moved { source { hand: 0 } target { hand: 1 } count: 1 }",
        "seats {} seats { card_count: 1 }",
    ),
    "a hand is laid open": (
        THREE_SEATS,
        "hand_revealed { seat: 1 cards: [CARD_AS, CARD_2D, CARD_3D] }",
        "seats { card_count: 3 cards: [CARD_2C, CARD_5H, CARD_5H] } seats { card_count: 3 cards: [CARD_2D, CARD_3D, "
        "CARD_AS] } seats { score: 7 }",
    ),
    "a call is added after the others": (
        "calls { seat: 1 action { pass {} } }",
        "called { seat: 1 action { bid { amount: 60 } } }",
        "calls { seat: 1 action { pass {} } } calls { seat: 1 action { bid { amount: 60 } } }",
    ),
    "a secret call is added without action": ("", "called { seat: 1 }", "calls { seat: 1 }"),
    "a call takes the place of the seat's secret one": (
        "calls { seat: 0 } calls { seat: 1 } calls { seat: 2 }",
        "called { seat: 1 action { pass {} } }",
        "calls { seat: 0 } calls { seat: 1 action { pass {} } } calls { seat: 2 }",
    ),
    "the contract becomes known": ("", "contract_changed { declarer: 0 }", "contract { declarer: 0 }"),
    "fields of the contract that are not set stay": (
        "contract { declarer: 0 amount: 60 trump: SUIT_CLUBS }",
        "contract_changed { amount: 0 partner: 0 trump: SUIT_UNSPECIFIED name: '' }",
        "contract { declarer: 0 partner: 0 name: '' amount: 0 trump: SUIT_UNSPECIFIED }",
    ),
    "a trick is taken": (
        "seats {} seats { tricks_taken: 1 }",
        "trick_taken { seat: 1 }",
        "seats {} seats { tricks_taken: 2 }",
    ),
    "a seat is out with a place": ("seats {}", "seat_out { seat: 0 place: 2 }", "seats { out: true place: 2 }"),
    "a seat is out without a place": ("seats {}", "seat_out { seat: 0 }", "seats { out: true }"),
    "a mark of the table goes before those of seats": (
        "marks { name: 'b' seat: 0 value: '1' } marks { name: 'c' value: 'x' }",
        "marked { mark { name: 'b' value: '2' } }",
        "marks { name: 'b' value: '2' } marks { name: 'b' seat: 0 value: '1' } marks { name: 'c' value: 'x' }",
    ),
    "a mark of a seat goes where its name and seat belong": (
        "marks { name: 'b' seat: 0 value: '1' } marks { name: 'b' seat: 2 value: '1' }",
        "marked { mark { name: 'b' seat: 1 value: '1' } }",
        "marks { name: 'b' seat: 0 value: '1' } marks { name: 'b' seat: 1 value: '1' } "
        "marks { name: 'b' seat: 2 value: '1' }",
    ),
    "a mark changes": (
        "marks { name: 'b' seat: 0 value: '1' } marks { name: 'b' seat: 1 value: '1' }",
        "marked { mark { name: 'b' seat: 0 value: '2' } }",
        "marks { name: 'b' seat: 0 value: '2' } marks { name: 'b' seat: 1 value: '1' }",
    ),
    "an empty value takes a mark away, and only that one": (
        "marks { name: 'b' value: '1' } marks { name: 'b' seat: 0 value: '1' }",
        "marked { mark { name: 'b' seat: 0 } }",
        "marks { name: 'b' value: '1' }",
    ),
    "hands are sorted otherwise": (
        "card_order: CARD_2C",
        "card_order { cards: [CARD_AH, CARD_JK] }",
        "card_order: [CARD_AH, CARD_JK]",
    ),
    "cards go from pile to pile and keep the seats that they came from": (
        "piles { name: 'taken' count: 1 cards { card: CARD_3C seat: 2 } } "
        "piles { name: 'trick' count: 2 cards { card: CARD_2C seat: 1 } cards { card: CARD_2C seat: 0 } }",
        "cards_moved { source { pile: 'trick' } target { pile: 'taken' } cards: [CARD_2C, CARD_2C] count: 2 }",
        "piles { name: 'taken' count: 3 cards { card: CARD_3C seat: 2 } "
        "cards { card: CARD_2C seat: 1 } cards { card: CARD_2C seat: 0 } }",
    ),
    "the turn changes": (
        "phase: 'bid' seats_to_act: [0, 1]",
        "turn_changed { phase: 'play' seats_to_act: 2 }",
        "phase: 'play' seats_to_act: 2",
    ),
    "a round ends: totals, not points": (
        "seats { score: 1 } seats { score: 2 }",
        "round_ended { round: 1 points: [4, -9] totals: [5, -7] notes: ['won', 'lost'] }",
        "seats { score: 5 } seats { score: -7 }",
    ),
    "the game ends": (
        "phase: 'play' seats_to_act: 1 ranking { seats: 9 }",
        "game_ended { ranking { seats: [0, 2] } ranking { seats: 1 } reason: 'won' }",
        "phase: 'play' ranking { seats: [0, 2] } ranking { seats: 1 }",
    ),
}


@pytest.mark.parametrize(("before", "fact", "after"), CASES.values(), ids=CASES.keys())
def test_fact(before: str, fact: str, after: str) -> None:
    view = view_of(before)
    assert fold(view, [fact_of(fact)], viewer_seat=0) == view_of(after)
    assert view == view_of(before), "the view that was given is not changed"


def test_every_kind_of_fact_has_a_case() -> None:
    covered = {fact_of(fact).WhichOneof("fact") for _, fact, _ in CASES.values()}
    assert covered == {field.name for field in pb.Fact.DESCRIPTOR.fields}


def test_spectator_owns_no_hand() -> None:
    fact = fact_of("cards_moved { target { hand: 0 } cards: CARD_2C count: 1 }")
    assert fold(view_of("seats {}"), [fact], viewer_seat=None) == view_of("seats { card_count: 1 }")


def test_facts_are_folded_in_order() -> None:
    facts = [
        fact_of("cards_moved { target { hand: 1 } count: 1 }"),
        fact_of("hand_revealed { seat: 1 cards: CARD_KS }"),
        fact_of("cards_moved { target { hand: 1 } cards: CARD_2C count: 1 }"),
    ]
    folded = fold(view_of("seats {} seats {}"), facts, viewer_seat=0)
    assert folded == view_of("seats {} seats { card_count: 2 cards: [CARD_2C, CARD_KS] }")


def test_a_view_keeps_no_part_of_a_fact() -> None:
    fact = fact_of("called { seat: 0 action { bid { amount: 60 } } }")
    folded = fold(pb.TableView(), [fact], viewer_seat=0)
    fact.called.action.bid.amount = 70
    assert folded.calls[0].action.bid.amount == 60


MISFITS: dict[str, Callable[[], pb.Fact]] = {
    "a seat that the table does not have": lambda: fact_of("trick_taken { seat: 3 }"),
    "more cards than the hand holds": lambda: fact_of("cards_moved { source { hand: 2 } count: 1 }"),
    "more cards than the pile holds": lambda: fact_of("cards_moved { source { pile: 'none' } count: 1 }"),
    "a total too few": lambda: fact_of("round_ended { totals: [1, 2] }"),
    "a kind from the future": pb.Fact,
}


@pytest.mark.parametrize("make", MISFITS.values(), ids=MISFITS.keys())
def test_misfit(make: Callable[[], pb.Fact]) -> None:
    view = view_of(THREE_SEATS)
    with pytest.raises(FoldError):
        fold(view, [fact_of("turn_changed { phase: 'x' }"), make()], viewer_seat=0)
    assert view == view_of(THREE_SEATS)
