"""Hands in the order in which players hold them."""

import pytest

from croupier.cli.terminal.hands import hand_text
from croupier.cli.terminal.words import Words
from croupier_client.cards import card_from_text

LETTERS = Words((), symbols=False)
PLAIN = "KC QC JC TC 9C KD QD JD TD KH QH JH TH KS QS JS TS"
SPADES_TRUMP = "5S JS JK AH AS KS QS TS 9S KC QC JC TC KD QD JD TD KH QH JH TH"
HEARTS_TRUMP = "QC 7H QS AH KH QH JH TH AC KC JC TC AD KD QD JD"
NO_TRUMP_YET = f"JK AH {PLAIN}"


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
def test_hands_are_sorted_by_the_game(order: str, hand: str, shown: str) -> None:
    held, ordered = ([card_from_text(word) for word in text.split()] for text in (hand, order))
    assert hand_text(LETTERS, held, ordered) == shown
