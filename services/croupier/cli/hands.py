"""Hands in the order in which a player holds them, what belongs together side by side."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from croupier.cli.words import JOKER, SUITS, Words
from croupier_client.cards import CardValue, card_text

FEW_CARDS = 4
"""Fewer cards of a suit in a row than these are no suit of their own, but for example the trumps of other suits."""


def hand_text(words: Words, cards: Iterable[CardValue], order: Sequence[CardValue] = ()) -> str:
    """A hand in words, for example "2♣ K♣   5♥   JK"; `order` as TableView.card_order."""
    return "   ".join(words.cards(group) for group in grouped(cards, order))


def grouped(cards: Iterable[CardValue], order: Sequence[CardValue]) -> list[list[CardValue]]:
    """The cards in the given order, those that it does not name last by suit, broken into what belongs together."""
    groups = _groups_of(order)
    place = {card: (number, at) for number, group in enumerate(groups) for at, card in enumerate(group)}

    def key(card: CardValue) -> tuple[int, int]:
        return place.get(card) or (len(groups) + (*SUITS, JOKER).index(_suit_of(card)), card)

    return [list(group) for _, group in groupby(sorted(cards, key=key), lambda card: key(card)[0])]


def _groups_of(order: Sequence[CardValue]) -> list[list[CardValue]]:
    """An order broken into suits; a few cards before a suit belong to it if one does, as 5S JK AH to AS KS QS TS."""
    groups: list[list[CardValue]] = []
    before: list[CardValue] = []
    for suit, run in groupby(order, _suit_of):
        cards = list(run)
        if len(cards) < FEW_CARDS:
            before += cards
            continue
        belong = any(_suit_of(card) == suit for card in before)
        groups += [before + cards] if belong else [before, cards]
        before = []
    return [group for group in (*groups, before) if group]


def _suit_of(card: CardValue) -> str:
    text = card_text(card)
    return text if text == JOKER else text[-1]
