"""Points, places and the ranking of Thulla, as pure functions."""

from croupier.games.cards import cards_of_mask, strength_of
from croupier.games.facts import Count, Ranking, Seat
from croupier.games.standings import ranked
from croupier.games.thulla.state import ThullaState
from croupier.games.values import NumberValue, Phrases, phrase

CARD_POINTS = {strength: min(strength, 10) for strength in range(2, 14)} | {14: 11}
"""From a card's strength to its points (section "Ranks")."""


def card_points(hand: int) -> int:
    """Return the card points of a hand, given as a bit set."""
    return sum(CARD_POINTS[strength_of(value)] for value in cards_of_mask(hand))


def card_counts(hands: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of cards of each seat."""
    return tuple(hand.bit_count() for hand in hands)


def added(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sums of two lines of points, seat by seat."""
    return tuple(map(sum, zip(left, right, strict=True)))


def game_points(
    scoring: str, hands: tuple[int, ...], order: tuple[Seat, ...], settled: tuple[int, ...], stalled: bool
) -> tuple[int, ...]:
    """Return points by seat (THU-SCORE-1 to -4, THU-STALL-3); `settled` are the charges for seats that went out."""
    match scoring:
        case "cards":
            return card_counts(hands)
        case "points":
            return tuple(map(card_points, hands))
        case "cards_each_out":
            return added(settled, card_counts(hands)) if stalled else settled
        case _:
            return tuple(int(seat == order[0]) for seat in range(len(hands)))


def stall_order(hands: tuple[int, ...], holders: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """Return the holders of a stalled game, best first (THU-STALL-2); they are given clockwise from the next leader."""
    distance = {seat: (seat - holders[0]) % len(hands) for seat in holders}
    return tuple(sorted(holders, key=lambda seat: (hands[seat].bit_count(), card_points(hands[seat]), -distance[seat])))


def label(place: int, seats: int) -> str:
    """Return the name of a place (THU-END-4)."""
    return "loser" if place == seats else ("gold", "silver", "bronze", "safe", "safe")[place - 1]


def headline(best_of: int, stalled: bool) -> Phrases:
    """Return how many games the match has, if it is no single one, and whether this one was called off."""
    match = (phrase("best_of", games=NumberValue(best_of)),) if best_of > 1 else ()
    return (*match, phrase("stall")) if stalled else match


def notes(hands: tuple[int, ...], order: tuple[Seat, ...]) -> tuple[Phrases, ...]:
    """Return for each seat its label and, if it still holds cards, how many."""
    found: list[Phrases] = []
    for seat, hand in enumerate(hands):
        name = phrase(label(order.index(seat) + 1, len(hands)))
        found.append((name, phrase("cards_left", count=NumberValue(hand.bit_count()))) if hand else (name,))
    return tuple(found)


def medals(order: tuple[Seat, ...]) -> tuple[Count, ...]:
    """Return gold, silver and bronze of a game, which the loser never gets, and the loser (THU-END-4)."""
    named = [(label(place, len(order)), seat) for place, seat in enumerate(order, start=1)]
    return tuple(Count(name, seat) for name, seat in named if name != "safe")


def wins(orders: Ranking, seats: int) -> tuple[int, ...]:
    """Return games won by each seat (THU-MATCH-1)."""
    winners = [order[0] for order in orders]
    return tuple(map(winners.count, range(seats)))


def match_over(scoring: str, best_of: int, orders: Ranking, seats: int) -> bool:
    """Return whether no further game is played (THU-MATCH-2, THU-MATCH-3)."""
    majority = scoring == "none" and max(wins(orders, seats)) * 2 > best_of
    return majority or len(orders) == best_of


def ranking(state: ThullaState) -> Ranking:
    """Return groups of seats, best first (THU-MATCH-4): by penalty points, then wins, then the sum of places."""
    totals, orders = state.progress.totals, state.progress.orders
    won = wins(orders, len(totals))

    def merit(seat: Seat) -> tuple[int, int, int]:
        penalty = 0 if state.options.scoring == "none" else totals[seat]
        return penalty, -won[seat], sum(order.index(seat) for order in orders)

    return ranked(range(len(totals)), merit)
