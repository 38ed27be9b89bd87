"""Hands as players sort them, by the order that the game gives."""

import pytest

from croupier.cli.hands import hand_text
from croupier.cli.words import Words
from croupier_client.cards import CardValue, card_from_text

WORDS = Words((), symbols=False)
PLAIN = "KC QC JC TC 9C KD QD JD TD KH QH JH TH KS QS JS TS"
SPADES_TRUMP = "5S JS JK AH AS KS QS TS 9S KC QC JC TC KD QD JD TD KH QH JH TH"
HEARTS_TRUMP = "QC 7H QS AH KH QH JH TH AC KC JC TC AD KD QD JD"
NO_TRUMP_YET = f"JK AH {PLAIN}"


def cards(text: str) -> list[CardValue]:
    return [card_from_text(word) for word in text.split()]


@pytest.mark.parametrize(
    ("order", "hand", "shown"),
    [
        ("", "AS JK KC 5H 2C", "2C KC   5H   AS   JK"),
        (PLAIN, "TS KC TC KS QD", "KC TC   QD   KS TS"),
        (SPADES_TRUMP, "KH AS AH KC 5S JK TH", "5S JK AH AS   KC   KH TH"),
        (HEARTS_TRUMP, "JD KC QS AH AC QC 7H", "QC 7H QS AH   AC KC   JD"),
        (NO_TRUMP_YET, "KC AH TH JK QH", "JK AH   KC   QH TH"),
        (PLAIN, "3D KC AS 2D QC", "KC QC   2D 3D   AS"),
        (PLAIN, "KC KC QD", "KC KC   QD"),
        ("JH QC KC", "KC JH 2S", "JH KC   2S"),
    ],
)
def test_hands_are_sorted_as_the_game_says(order: str, hand: str, shown: str) -> None:
    assert hand_text(WORDS, cards(hand), cards(order)) == shown
