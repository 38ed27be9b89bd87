"""The pack, the effects and points of cards, and the scores."""

from loadtest.judge.rules.cards import PACK, RANKS
from loadtest.judge.rules.interface import Card, Options

COSTS = {"T": 10, "J": 2, "Q": 3, "K": 4, "A": 11, **{rank: int(rank) for rank in "23456789"}}


def deck_of(count: int) -> list[Card]:
    """Return 36, 52 or 104 cards, in order."""
    pack = [card for card in PACK if count > 36 or card[0] in RANKS[4:]]
    return in_order(pack + pack if count == 104 else pack)


def in_order(cards: list[Card]) -> list[Card]:
    """Return cards in the order of shuffles: by suit, from the lowest rank up, equal cards side by side."""
    return sorted(cards, key=PACK.index)


def is_queen(card: Card) -> bool:
    """Return whether a card is a queen."""
    return card[0] == "Q"


def cards_taken(card: Card) -> int:
    """Return the number of cards that the next player takes when a card is played: 101-SEVEN-1, 101-KING-1."""
    if card[0] == "7":
        return 2
    return 5 if card == "KS" else 0


def turn_missed(card: Card) -> bool:
    """Return whether the next player misses a turn when a card is played: 101-SEVEN-1, 101-KING-1, 101-ACE-1."""
    return card[0] in "7A" or card == "KS"


def queen_points(card: Card) -> int:
    """Return the points of a queen in a hand of queens, which it takes off as last card: 101-POINTS-3, 101-POINTS-4."""
    return 40 if card == "QH" else 20


def hand_points(hand: list[Card]) -> int:
    """Return the points of a remaining hand: 101-POINTS-1, and 101-POINTS-3 for nothing but queens."""
    if all(is_queen(card) for card in hand):
        return sum(queen_points(card) for card in hand)
    return sum(COSTS[card[0]] for card in hand)


def points_of(seat: int, winner: int, hand: list[Card], last_card: Card) -> int:
    """Return the points of a seat with this hand at the end of a round."""
    if seat != winner:
        return hand_points(hand)  # 101-POINTS-2
    return -queen_points(last_card) if is_queen(last_card) else 0  # 101-POINTS-4


def corrected(score: int, options: Options) -> int:
    """Return a score after the options that set it to 0: 101-SCORE-2, then 101-SCORE-3."""
    if options["floor_zero"] and score < 0:
        score = 0
    return 0 if options["exact_101_reset"] and score == 101 else score
