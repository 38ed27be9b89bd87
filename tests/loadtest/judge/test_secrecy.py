"""What the judge takes for public, and what a snapshot may show its viewer."""

from types import MappingProxyType

from croupier_api.v1 import engine_pb2, facts_pb2
from croupier_api.v1.cards_pb2 import SUIT_SPADES
from croupier_client import card_from_text
from croupier_client.cards import CardValue
from croupier_loadtest.judge.knowledge import shown_by
from croupier_loadtest.judge.notation import Deck
from croupier_loadtest.judge.secrecy import public_part

DECK = Deck(MappingProxyType({}))
KING, NINE = card_from_text("KS"), card_from_text("9H")


def update_with(*facts: facts_pb2.Fact) -> engine_pb2.TableUpdate:
    return engine_pb2.TableUpdate(sequence=7, facts=facts)


def of_cards(*cards: CardValue) -> facts_pb2.Value:
    return facts_pb2.Value(cards=facts_pb2.CardList(cards=cards))


def marked(value: facts_pb2.Value, seat: int | None = None) -> facts_pb2.Fact:
    return facts_pb2.Fact(mark_changed=facts_pb2.MarkChanged(mark=facts_pb2.Mark(name="m", seat=seat, value=value)))


def test_a_mark_of_a_seat_that_names_cards_may_be_private_and_no_other() -> None:
    nothing = public_part(update_with(), ())
    assert public_part(update_with(marked(of_cards(KING, NINE), 1)), ()) == nothing
    assert public_part(update_with(marked(of_cards(KING))), ()) != nothing
    # The number of a card, and its notation as a word, are no cards.
    for value in (facts_pb2.Value(number=KING), facts_pb2.Value(word="KS"), facts_pb2.Value(suit=SUIT_SPADES)):
        assert public_part(update_with(marked(value, 1)), ()) != nothing


def test_cards_that_leave_a_pile_are_public_unless_it_lies_face_down() -> None:
    place = facts_pb2.Place(pile="any")
    taken = facts_pb2.Fact(
        cards_moved=facts_pb2.CardsMoved(source=place, target=facts_pb2.Place(hand=1), cards=[KING], count=1)
    )
    laid = facts_pb2.Fact(cards_moved=facts_pb2.CardsMoved(target=place, count=1, face_down=True))
    nothing = public_part(update_with(), ())
    assert public_part(update_with(taken), ()) != nothing
    assert public_part(update_with(taken), {("any", None)}) == nothing
    assert public_part(update_with(laid, taken), ()) == nothing


def test_a_snapshot_may_show_a_seat_its_hand_open_piles_its_hidden_cards_and_its_marks() -> None:
    view = facts_pb2.TableView(
        seats=[facts_pb2.SeatView(cards=[KING]), facts_pb2.SeatView(cards=[NINE], known_cards=[NINE])],
        piles=[
            facts_pb2.Pile(name="a", cards=[facts_pb2.PileCard(card=card_from_text("2C"))]),
            facts_pb2.Pile(name="b", face_down=True, cards=[facts_pb2.PileCard(card=card_from_text("3C"))]),
            facts_pb2.Pile(name="c", face_down=True, cards=[facts_pb2.PileCard(card=card_from_text("4C"), seat=0)]),
            facts_pb2.Pile(name="d", face_down=True, owner=0, cards=[facts_pb2.PileCard(card=card_from_text("5C"))]),
            facts_pb2.Pile(name="e", face_down=True, owner=1, cards=[facts_pb2.PileCard(card=card_from_text("6C"))]),
        ],
        marks=[
            facts_pb2.Mark(name="m", seat=seat, value=of_cards(card_from_text(text)))
            for seat, text in enumerate(("7C", "8C"))
        ],
    )
    shown = shown_by(engine_pb2.Snapshot(view=view, viewer_seat=0), DECK)
    assert shown == {KING, *map(card_from_text, ("2C", "4C", "5C", "7C"))}
    assert shown_by(engine_pb2.Snapshot(view=view), DECK) == {card_from_text("2C")}
