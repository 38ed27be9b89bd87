"""The score of a round of 110, and who has won."""

from typing import NamedTuple, TypeAlias

from loadtest.judge.rules.interface import Card
from loadtest.judge.rules.one_ten.cards import best_card, highest_trump

TARGET = 110

Trick: TypeAlias = list[tuple[Card, int]]
"""Cards with the seats that played them, in the order in which they were played."""


class PlayedRound(NamedTuple):
    """A round whose tricks are all played."""

    tricks: list[Trick]
    trump: str
    bid_winner: int
    bid: int
    scores_before: list[int]
    bonus_forfeit: str
    bonus_counts_for_bid: bool


class Gain(NamedTuple):
    """Points that a seat earned with a trick."""

    seat: int
    points: int


def taker(trick: Trick, trump: str) -> int:
    """The seat that takes a trick."""
    return trick[best_card([card for card, _ in trick], trump)][1]


def bonus_trick(played: PlayedRound) -> int | None:
    """The index of the trick that the bonus comes with; None if nobody gets it (110-SCORE-2, 110-SCORE-3)."""
    cards = [card for trick in played.tricks for card, _ in trick]
    top = highest_trump(cards, played.trump)
    if top is None:
        return None
    index = top // len(played.tricks[0])
    if taker(played.tricks[index], played.trump) == played.bid_winner:
        reached = {"bid": played.bid, "score": played.scores_before[played.bid_winner]}[played.bonus_forfeit]
        if reached >= 85:
            return None
    return index


def is_made(played: PlayedRound) -> bool:
    """Whether the bid winner has reached his bid (110-SCORE-4)."""
    points = 0
    for index, trick in enumerate(played.tricks):
        if taker(trick, played.trump) == played.bid_winner:
            points += 5
            if index == bonus_trick(played) and played.bonus_counts_for_bid:
                points += 5
    return points >= played.bid


def gains(played: PlayedRound) -> list[Gain]:
    """What counts, trick by trick: nothing of a bid winner who failed (110-SCORE-1, 110-SCORE-5, 110-END-2)."""
    earned = []
    for index, trick in enumerate(played.tricks):
        seat = taker(trick, played.trump)
        if seat != played.bid_winner or is_made(played):
            earned.append(Gain(seat, 10 if index == bonus_trick(played) else 5))
    return earned


def round_points(played: PlayedRound) -> list[int]:
    """The change of each seat's score."""
    points = [0] * len(played.scores_before)
    for gain in gains(played):
        points[gain.seat] += gain.points
    if not is_made(played):
        points[played.bid_winner] = -played.bid  # 110-SCORE-5
    return points


def first_at_target(played: PlayedRound) -> int | None:
    """The seat that reached 110 first, counting trick by trick (110-END-2); None if no seat did."""
    counts = list(played.scores_before)
    for gain in gains(played):
        counts[gain.seat] += gain.points
        if counts[gain.seat] >= TARGET:
            return gain.seat
    return None


def ranking_of(scores: list[int], winner: int | None) -> list[list[int]]:
    """The winner alone, then the others by their scores, equal ones together (110-END-3, 110-END-4)."""
    groups = [[winner]] if winner is not None else []
    others = [seat for seat in range(len(scores)) if seat != winner]
    different_scores = sorted({scores[seat] for seat in others}, reverse=True)
    return groups + [[seat for seat in others if scores[seat] == score] for score in different_scores]
