"""What a round adds to scores, who loses, and who ranks before whom."""

from loadtest.judge.rules.interface import Card, Options
from loadtest.judge.rules.one_oh_one.cards import hand_points, is_queen, queen_points


def points_of(seat: int, winner: int, hand: list[Card], last_card: Card) -> int:
    """What a round adds to the score of a seat that holds this hand when the winner has played his last card."""
    if seat != winner:
        return hand_points(hand)  # 101-POINTS-2
    return -queen_points(last_card) if is_queen(last_card) else 0  # 101-POINTS-4


def corrected(score: int, options: Options) -> int:
    """A score after the options that set it to 0: 101-SCORE-2, then 101-SCORE-3."""
    if options["floor_zero"] and score < 0:
        score = 0
    if options["exact_101_reset"] and score == 101:
        score = 0
    return score


def has_lost(score: int, options: Options) -> bool:
    """Whether a score loses: 101-END-1."""
    return score >= 101 if options["lose_at"] == "reach" else score > 101


def by_score(seats: list[int], scores: list[int]) -> list[list[int]]:
    """Seats in groups of equal score, the lowest first: 101-END-3."""
    found = sorted({scores[seat] for seat in seats})
    return [[seat for seat in seats if scores[seat] == score] for score in found]
