"""Cards, suits and actions as text."""

import pytest
from google.protobuf import text_format

from croupier.games.cards import NOTATION
from croupier_api.v1 import actions_pb2 as pb
from croupier_api.v1.cards_pb2 import (
    CARD_FIVE_OF_HEARTS,
    CARD_JOKER,
    CARD_TEN_OF_CLUBS,
    CARD_UNSPECIFIED,
    SUIT_HEARTS,
    SUIT_UNSPECIFIED,
    Card,
    CardFace,
)
from croupier_client import action_text, card_from_text, card_text, cards_text, suit_from_text, suit_text

DECK = [
    CardFace(number=64, notation="R7", suit="red", rank="7", label="Red seven"),
    CardFace(number=65, notation="RR", suit="red", rank="reverse", label="Red reverse"),
]


def test_every_card_has_the_notation_of_the_rules() -> None:
    assert [card_text(card) for card in Card.values()[1:]] == list(NOTATION)
    assert [card_from_text(text) for text in NOTATION] == Card.values()[1:]


def test_cards_of_a_deck_of_its_own_have_the_notation_of_their_faces() -> None:
    card = card_from_text("r7", DECK)
    assert (card, cards_text([card, CARD_TEN_OF_CLUBS], DECK)) == (64, "R7 TC")
    assert card_from_text("TC", DECK) == CARD_TEN_OF_CLUBS
    with pytest.raises(ValueError, match="invalid card 64"):
        card_text(card)


def test_cards_and_suits() -> None:
    assert cards_text([CARD_FIVE_OF_HEARTS, CARD_TEN_OF_CLUBS, CARD_JOKER]) == "5H TC JK"
    assert card_from_text(" tc ") == CARD_TEN_OF_CLUBS
    assert card_text(CARD_UNSPECIFIED) == "??"
    assert [suit_from_text(text) for text in ("hearts", "H", "h", "Hearts")] == [SUIT_HEARTS] * 4
    assert (suit_text(SUIT_HEARTS), suit_text(SUIT_UNSPECIFIED)) == ("hearts", "no suit")


@pytest.mark.parametrize("text", ["", "1H", "H5", "x", "heart", "unspecified", "10H"])
def test_invalid_cards_and_suits(text: str) -> None:
    with pytest.raises(ValueError, match="invalid card"):
        card_from_text(text)
    with pytest.raises(ValueError, match="invalid suit"):
        suit_from_text(text)


TEXTS = {
    "bid { amount: 60 }": "bid 60",
    "bid { amount: 0 }": "bid 0",
    "bid { contract: 'vip' }": "bid vip",
    "pass_turn {}": "pass",
    "match_bid {}": "match bid",
    "yield_bid {}": "yield bid",
    "keep_cards { cards: [CARD_FIVE_OF_HEARTS, CARD_JOKER] trump: SUIT_HEARTS }": "keep 5H JK, hearts trump",
    "keep_cards { trump: SUIT_HEARTS }": "keep no cards, hearts trump",
    "keep_bid {}": "keep bid",
    "swap_cards { cards: [CARD_TWO_OF_CLUBS, CARD_THREE_OF_DIAMONDS] }": "swap 2C 3D",
    "stand_pat {}": "stand pat",
    "draw {}": "draw",
    "draw { pile: 'waste' }": "draw from waste",
    "play { card: CARD_FIVE_OF_HEARTS }": "play 5H",
    "play { card: 64 }": "play R7",
    "play { card: CARD_JOKER suit: SUIT_HEARTS }": "play JK, hearts ordered",
    "call_partner { card: CARD_ACE_OF_SPADES }": "call AS",
    "call_partner { unnamed {} }": "call unknown",
    "call_partner { nobody {} }": "call nobody",
    "name_trump { trump: SUIT_SPADES }": "name spades trump",
    "name_trump { trump: SUIT_SPADES all_tricks: true }": "name spades trump and all tricks",
    "throw_down {}": "throw down",
    "lay { cards: [64, 65] }": "lay R7 RR",
    "lay { cards: 64 meld: 'run' pile: 'melds' owner: 0 }": "lay R7 as run on melds of seat 0",
    "declare_word { word: 'last card' }": "declare last card",
    "declare_word { word: 'ask' seat: 2 amount: 0 cards: 64 }": "declare ask 0 R7 to seat 2",
    "": "nothing",
}


@pytest.mark.parametrize(("action", "text"), TEXTS.items())
def test_action(action: str, text: str) -> None:
    assert action_text(text_format.Parse(action, pb.Action()), DECK) == text


def test_every_verb_has_a_text() -> None:
    written = {text_format.Parse(action, pb.Action()).WhichOneof("verb") for action in TEXTS}
    assert written - {None} == {field.name for field in pb.Action.DESCRIPTOR.fields}
