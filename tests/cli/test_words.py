"""Words, values and phrases of a game, with and without texts."""

import pytest

from croupier.cli.terminal.words import words_of
from croupier_api.v1 import actions_pb2 as act
from croupier_api.v1 import facts_pb2 as pb
from croupier_api.v1.cards_pb2 import SUIT_HEARTS, SUIT_UNSPECIFIED, Card, CardFace, Suit
from croupier_api.v1.games_pb2 import GameDescription
from croupier_client.cards import card_from_text as card
from tests.cli.shown_game import GAME, NAMES, WORDED, phrase
from tests.cli.test_screen import rows


def test_words_of_the_game_are_used_by_kind() -> None:
    text = "\n".join(rows(WORDED))
    for part in (
        "thulla, hand 2, the auction",
        "in the middle: K♣",
        "laid (Cleo): 9♠",
        "contract: playing alone, trump ♥, player: Ben",
        "table: idle tricks: 4",
        "your hand: 2♣ (the Low)",
        "said aloud",
    ):
        assert part in text
    unnamed = act.CallPartnerAction(unnamed=act.CallPartnerAction.Unnamed())
    nobody = act.CallPartnerAction(nobody=act.CallPartnerAction.Nobody())
    for action, shown in (
        (act.Action(play=act.PlayAction(card=card("2C"))), "play 2♣ (the Low)"),
        (act.Action(bid=act.BidAction(contract="solo")), "bid playing alone"),
        (act.Action(call_partner=unnamed), "call the holder"),
        (act.Action(call_partner=nobody), "call nobody"),
        (act.Action(call_partner=act.CallPartnerAction(card=card("2C"))), "call 2♣ (the Low)"),
        (act.Action(declare_word=act.DeclareAction(word="last_card")), "last!"),
        (
            act.Action(lay=act.LayAction(cards=[card("9S")], meld="row", pile="melds", owner=2)),
            "lay 9♠, in a row, on laid (Cleo)",
        ),
        (act.Action(name_trump=act.NameTrumpAction(trump=SUIT_HEARTS, all_tricks=True)), "name trump ♥, all tricks"),
        (act.Action(), "unknown"),
    ):
        assert WORDED.action(action) == shown


VALUES = {
    "4": pb.Value(number=4),
    "-4": pb.Value(number=-4),
    "said aloud": pb.Value(word="said"),
    "at once": pb.Value(word="at_once"),
    "Ada": pb.Value(seat=0),
    "Cleo, Ada": pb.Value(seats=pb.SeatList(seats=[2, 0])),
    "♥": pb.Value(suit=SUIT_HEARTS),
    "5♥ 2♣ (the Low)": pb.Value(cards=pb.CardList(cards=[card("5H"), card("2C")])),
    f"Ada 3, {NAMES[1]} 0, Cleo -2": pb.Value(points=pb.PointList(points=[3, 0, -2])),
    "unknown": pb.Value(),
}


@pytest.mark.parametrize(("text", "value"), VALUES.items(), ids=VALUES)
def test_values_are_shown_by_their_kind(text: str, value: pb.Value) -> None:
    assert WORDED.value(value) == text


def test_an_empty_list_and_no_suit_are_shown_as_nothing() -> None:
    for value in (
        pb.Value(cards=pb.CardList()),
        pb.Value(seats=pb.SeatList()),
        pb.Value(suit=SUIT_UNSPECIFIED),
    ):
        assert WORDED.value(value) == "–"


def test_a_suit_of_a_later_version_is_unknown() -> None:
    assert WORDED.value(pb.Value(suit=Suit.ValueType(5))) == "unknown"


def test_phrases_have_their_arguments_in_their_text_and_after_a_word_without_one() -> None:
    known = phrase("bid", bid=pb.Value(number=2), by=pb.Value(seat=0))
    assert WORDED.phrases([known, phrase("gone_through")]) == "bid 2, Ada, gone through"
    assert WORDED.phrases([phrase("newest_word", trump=pb.Value(suit=SUIT_HEARTS), by=pb.Value(seat=2))]) == (
        "newest word ♥ Cleo"
    )
    # A text of a later version may have another placeholder; a name in braces is no placeholder.
    assert WORDED.phrases([phrase("bid", bid=pb.Value(number=2))]) == "bid 2, {by}"
    braces = words_of(GAME, ("{bid}", "{0}"), symbols=True)
    assert braces.phrases([phrase("bid", bid=pb.Value(seat=1), by=pb.Value(seat=0))]) == "bid {0}, {bid}"
    assert WORDED.phrases([]) == ""


def test_cards_of_a_deck_have_their_labels() -> None:
    words = words_of(GameDescription(deck=[CardFace(number=64, notation="S7", suit="stars", label="star 7")]), (), True)
    assert words.cards([Card.ValueType(64), card("5H")]) == "S7 (star 7) 5♥"
