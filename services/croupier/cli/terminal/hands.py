"""Hands in the order in which players hold them, cards that belong together side by side."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from croupier.cli.terminal.words import Words
from croupier_client.cards import CardValue

FEW_CARDS = 4
"""Fewer cards of a suit in a row are no suit of their own, but for example trumps of other suits."""


def hand_text(words: Words, cards: Iterable[CardValue], order: Sequence[CardValue] = ()) -> str:
    """Return a hand in words, for example "2♣ K♣   5♥   JK"; `order` as TableView.card_order."""
    return "   ".join(words.cards(group) for group in _grouped(words, cards, order))


def _grouped(words: Words, cards: Iterable[CardValue], order: Sequence[CardValue]) -> list[list[CardValue]]:
    """Return the cards in the given order, in groups that belong together; cards that it lacks are last, by suit."""
    groups = _groups_of(words, order)
    places = {card: (number, at) for number, group in enumerate(groups) for at, card in enumerate(group)}

    def place(card: CardValue) -> tuple[int, int]:
        # The numbers of cards ascend suit by suit.
        return places.get(card) or (len(groups), card)

    def group_of(card: CardValue) -> tuple[int, str]:
        return place(card)[0], "" if card in places else words.suit_of(card)

    return [list(group) for _, group in groupby(sorted(cards, key=place), group_of)]


def _groups_of(words: Words, order: Sequence[CardValue]) -> list[list[CardValue]]:
    """Return an order as suits; a few cards before a suit belong to it if one does, as 5S JK AH to AS KS QS TS."""
    groups: list[list[CardValue]] = []
    before: list[CardValue] = []
    for suit, run in groupby(order, words.suit_of):
        cards = list(run)
        if len(cards) < FEW_CARDS:
            before += cards
            continue
        belong = any(words.suit_of(card) == suit for card in before)
        groups += [before + cards] if belong else [before, cards]
        before = []
    return [group for group in (*groups, before) if group]
