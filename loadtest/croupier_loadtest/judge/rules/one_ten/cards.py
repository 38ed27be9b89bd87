"""The cards of 110, what a seat may play to a trick, the score of a round, and who has won."""

from typing import NamedTuple, TypeAlias

from croupier_loadtest.judge.rules.cards import PACK, grouped
from croupier_loadtest.judge.rules.interface import Card, Options

ASCENDING = [*PACK, "JK"]
LED_TRUMP = "trump"
"""The suit that a led trump asks for; a plain card asks for its own."""


# 110-RANK-2, 110-RANK-3: the trumps of each trump suit, the highest first.
TRUMPS = {
    "H": ["5H", "JH", "JK", "AH", "KH", "QH", "TH", "9H", "8H", "7H", "6H", "4H", "3H", "2H"],
    "D": ["5D", "JD", "JK", "AH", "AD", "KD", "QD", "TD", "9D", "8D", "7D", "6D", "4D", "3D", "2D"],
    "C": ["5C", "JC", "JK", "AH", "AC", "KC", "QC", "2C", "3C", "4C", "6C", "7C", "8C", "9C", "TC"],
    "S": ["5S", "JS", "JK", "AH", "AS", "KS", "QS", "2S", "3S", "4S", "6S", "7S", "8S", "9S", "TS"],
}

# 110-RANK-4, 110-RANK-5: the plain cards of each suit, the highest first.
PLAIN = {
    "H": ["KH", "QH", "JH", "TH", "9H", "8H", "7H", "6H", "5H", "4H", "3H", "2H"],
    "D": ["KD", "QD", "JD", "TD", "9D", "8D", "7D", "6D", "5D", "4D", "3D", "2D", "AD"],
    "C": ["KC", "QC", "JC", "AC", "2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C", "TC"],
    "S": ["KS", "QS", "JS", "AS", "2S", "3S", "4S", "5S", "6S", "7S", "8S", "9S", "TS"],
}
TARGET = 110
Trick: TypeAlias = list[tuple[Card, int]]
"""Cards with the seats that played them, in the order in which they were played."""


def pack(decks: int) -> list[Card]:
    """Return all cards of a number of packs, ascending."""
    return [card for card in ASCENDING for _ in range(decks)]


def ascending(cards: list[Card]) -> list[Card]:
    """Return cards that move together, in the order of the pack, as they come to lie."""
    return sorted(cards, key=ASCENDING.index)


def is_trump(card: Card, trump: str) -> bool:
    """Return whether a card is of the trump suit, the joker or the ace of hearts (110-RANK-1)."""
    return card in TRUMPS[trump]


def led_suit(card: Card, trump: str) -> str:
    """Return the suit that this card asks for when it is led (110-TRICK-2)."""
    return LED_TRUMP if is_trump(card, trump) else card[1]


def renege_rank(card: Card, trump: str) -> int:
    """Return 4, 3, 2 and 1 for the four highest trumps, 0 for every other card (110-REN-1)."""
    four_highest = TRUMPS[trump][:4]
    return 4 - four_highest.index(card) if card in four_highest else 0


def highest_trump(cards: list[Card], trump: str) -> int | None:
    """Return the index of the highest trump, None without one; of two equal ones the first (110-RANK-6)."""
    for best in TRUMPS[trump]:
        if best in cards:
            return cards.index(best)
    return None


def forced_out(hand: list[Card], trick: list[Card], trump: str, options: Options) -> list[Card]:
    """Return the reneging cards of a hand that one of higher rank in the trick calls out (110-REN-3 to 110-REN-6)."""
    forcing = trick[:1] if options["forced_out_by"] == "led" else trick
    highest = max([renege_rank(card, trump) for card in forcing], default=0)
    return [card for card in hand if 0 < renege_rank(card, trump) < highest]


def playable(hand: list[Card], trick: list[Card], trump: str, options: Options) -> tuple[str, list[Card]]:
    """Return the cards that may be played, and the id of the rule that decides; read from the top as the page is."""
    if not trick:
        return "110-PLAY-1", hand
    led = led_suit(trick[0], trump)
    forced = forced_out(hand, trick, trump, options)
    if options["force_out"] == "any_trick" and forced:
        return "110-PLAY-2", forced
    trumps = [card for card in hand if is_trump(card, trump)]
    following = [card for card in hand if led_suit(card, trump) == led]
    if led != LED_TRUMP:
        return ("110-PLAY-3", following + trumps) if following else ("110-PLAY-5", hand)
    if any(renege_rank(card, trump) == 0 for card in trumps):
        return "110-PLAY-4", trumps
    if forced:  # only with "trump_led", as 110-PLAY-2 has not decided
        return "110-PLAY-6", trumps
    return "110-PLAY-5", hand


class PlayedRound(NamedTuple):
    """A round whose tricks are all played."""

    tricks: list[Trick]
    trump: str
    bid_winner: int
    bid: int
    scores_before: list[int]
    options: Options


def taker(trick: Trick, trump: str) -> int:
    """Return the seat that takes a trick, the led card first (110-TRICK-5, 110-RANK-6)."""
    cards = [card for card, _ in trick]
    index = highest_trump(cards, trump)
    if index is None:
        index = cards.index(next(best for best in PLAIN[cards[0][1]] if best in cards))
    return trick[index][1]


def top_trump_bonus(played: PlayedRound) -> tuple[int, int] | None:
    """Return the trick that the bonus comes with, from 0, and the seat that took it with the highest trump.

    None if no trump was played, or if this seat forfeits the bonus (110-SCORE-2, 110-SCORE-3).
    """
    cards = [card for trick in played.tricks for card, _ in trick]
    top = highest_trump(cards, played.trump)
    if top is None:
        return None
    index = top // len(played.tricks[0])
    seat = taker(played.tricks[index], played.trump)
    return None if forfeits(played, seat) else (index, seat)


def forfeits(played: PlayedRound, seat: int) -> bool:
    """Return whether a seat that played the highest trump forfeits the bonus (110-SCORE-3)."""
    score = played.scores_before[seat]
    match played.options["bonus_forfeit"]:
        case "any_seat_85":
            return score >= 85
        case "score":
            return seat == played.bid_winner and score >= 85
        case _:
            return seat == played.bid_winner and played.bid >= 85


def gains(played: PlayedRound) -> tuple[bool, list[tuple[int, int]]]:
    """Return whether the bid winner has reached the bid (110-SCORE-4); and what counts, trick by trick, by seat.

    Nothing counts of a bid winner who failed, also where the bonus is paid (110-SCORE-1, 110-SCORE-5, 110-END-2).
    """
    bonus, winner = top_trump_bonus(played), played.bid_winner
    takers = [taker(trick, played.trump) for trick in played.tricks]
    earned = [(seat, 10 if (index, seat) == bonus else 5) for index, seat in enumerate(takers)]
    counted = [points if played.options["bonus_counts_for_bid"] else 5 for seat, points in earned if seat == winner]
    is_made = sum(counted) >= played.bid
    return is_made, [(seat, points) for seat, points in earned if is_made or seat != winner]


def round_points(played: PlayedRound) -> list[int]:
    """Return the change of each seat's score."""
    is_made, earned = gains(played)
    points = [sum(more for seat, more in earned if seat == one) for one in range(len(played.scores_before))]
    if not is_made:
        # 110-SCORE-5
        bonus = top_trump_bonus(played)
        is_paid = played.options["failed_bonus"] == "paid" and bonus is not None and bonus[1] == played.bid_winner
        points[played.bid_winner] = (5 if is_paid else 0) - played.bid
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
