"""The score of a round of 110, and who has won."""

from typing import NamedTuple, TypeAlias

from loadtest.judge.rules.cards import grouped
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


def taker(trick: Trick, trump: str) -> int:
    """Return the seat that takes a trick."""
    return trick[best_card([card for card, _ in trick], trump)][1]


def bonus_trick(played: PlayedRound) -> int | None:
    """Return the index of the trick that the bonus comes with; None if no seat gets it (110-SCORE-2, 110-SCORE-3)."""
    cards = [card for trick in played.tricks for card, _ in trick]
    top = highest_trump(cards, played.trump)
    if top is None:
        return None
    index = top // len(played.tricks[0])
    reached = {"bid": played.bid, "score": played.scores_before[played.bid_winner]}[played.bonus_forfeit]
    is_forfeit = taker(played.tricks[index], played.trump) == played.bid_winner and reached >= 85
    return None if is_forfeit else index


def gains(played: PlayedRound) -> tuple[bool, list[tuple[int, int]]]:
    """Return whether the bid winner has reached the bid (110-SCORE-4); and what counts, trick by trick, by seat.

    Nothing counts of a bid winner who failed (110-SCORE-1, 110-SCORE-5, 110-END-2).
    """
    bonus, winner = bonus_trick(played), played.bid_winner
    takers = [taker(trick, played.trump) for trick in played.tricks]
    earned = [(seat, 10 if index == bonus else 5) for index, seat in enumerate(takers)]
    counted = [points if played.bonus_counts_for_bid else 5 for seat, points in earned if seat == winner]
    is_made = sum(counted) >= played.bid
    return is_made, [(seat, points) for seat, points in earned if is_made or seat != winner]


def round_points(played: PlayedRound) -> list[int]:
    """Return the change of each seat's score."""
    is_made, earned = gains(played)
    points = [sum(more for seat, more in earned if seat == one) for one in range(len(played.scores_before))]
    if not is_made:
        points[played.bid_winner] = -played.bid  # 110-SCORE-5
    return points


def first_at_target(played: PlayedRound) -> int | None:
    """Return the seat that reached 110 first, counting trick by trick (110-END-2); None if no seat did."""
    counts = list(played.scores_before)
    for seat, points in gains(played)[1]:
        counts[seat] += points
        if counts[seat] >= TARGET:
            return seat
    return None


def ranking_of(scores: list[int], winner: int | None) -> list[list[int]]:
    """Return the winner alone, then the others by their scores, equal ones together (110-END-3, 110-END-4)."""
    others = grouped([seat for seat in range(len(scores)) if seat != winner], lambda seat: -scores[seat])
    return others if winner is None else [[winner], *others]
