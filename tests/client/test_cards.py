"""Cards, suits and actions as people write them."""

import pytest
from google.protobuf import text_format

from croupier_api.v1 import table_pb2 as pb
from croupier_api.v1.cards_pb2 import CARD_5H, CARD_JK, CARD_TC, CARD_UNSPECIFIED, SUIT_HEARTS, SUIT_UNSPECIFIED, Card
from croupier_client import action_text, card_from_text, card_text, cards_text, suit_from_text, suit_text


def test_every_card_there_and_back() -> None:
    for card in Card.values()[1:]:
        assert card_from_text(card_text(card)) == card
        assert len(card_text(card)) == 2


def test_cards_and_suits() -> None:
    assert cards_text([CARD_5H, CARD_TC, CARD_JK]) == "5H TC JK"
    assert card_from_text(" tc ") == CARD_TC
    assert card_text(CARD_UNSPECIFIED) == "??"
    assert [suit_from_text(text) for text in ("hearts", "H", "h", "Hearts")] == [SUIT_HEARTS] * 4
    assert (suit_text(SUIT_HEARTS), suit_text(SUIT_UNSPECIFIED)) == ("hearts", "no suit")


@pytest.mark.parametrize("text", ["", "1H", "H5", "x", "heart", "unspecified", "10H"])
def test_neither_card_nor_suit(text: str) -> None:
    with pytest.raises(ValueError, match="is no card"):
        card_from_text(text)
    with pytest.raises(ValueError, match="is no suit"):
        suit_from_text(text)


TEXTS = {
    "bid { amount: 60 }": "bid 60",
    "bid { amount: 0 }": "bid 0",
    "bid { contract: 'vip' }": "bid vip",
    "pass {}": "pass",
    "match {}": "match",
    "yield {}": "yield",
    "keep { cards: [CARD_5H, CARD_JK] trump: SUIT_HEARTS }": "keep 5H JK, hearts trump",
    "keep {}": "keep the bid",
    "swap { cards: [CARD_2C, CARD_3D] }": "swap 2C 3D",
    "swap {}": "swap nothing",
    "draw {}": "draw",
    "play { card: CARD_5H }": "play 5H",
    "play { card: CARD_JK suit: SUIT_HEARTS }": "play JK, hearts ordered",
    "call { card: CARD_AS }": "call AS",
    "call {}": "call nobody",
    "name_trump { trump: SUIT_SPADES }": "name spades trump",
    "name_trump { trump: SUIT_SPADES do: true }": "name spades trump and all tricks",
    "throw_down {}": "throw down",
    "": "nothing",
}


@pytest.mark.parametrize(("action", "text"), TEXTS.items())
def test_action(action: str, text: str) -> None:
    assert action_text(text_format.Parse(action, pb.Action())) == text


def test_every_verb_has_a_text() -> None:
    written = {text_format.Parse(action, pb.Action()).WhichOneof("verb") for action in TEXTS}
    assert written - {None} == {field.name for field in pb.Action.DESCRIPTOR.fields}
