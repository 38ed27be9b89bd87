"""Tricks, points, the section sheet and the ranking of Jøssing, as pure functions."""

from collections.abc import Sequence

from croupier.games.cards import Card, Suit
from croupier.games.facts import Count, Mark, Ranking, RoundScore, Seat
from croupier.games.jossing.state import JossingOptions, Section
from croupier.games.standings import ranked
from croupier.games.values import CardsValue, NumberValue, PointsValue, SeatValue, SuitValue, phrase


def winner(cards: Sequence[Card], trump: Suit, last_copy_wins: bool) -> int:
    """Return the index of the card that wins a trick: the highest trump, or else of the led suit (JOS-WIN-1 to -4)."""
    value_of = WORTH[trump][cards[0] // 13]
    values = [value_of[value] for value in cards]
    best = max(values)
    return len(values) - 1 - values[::-1].index(best) if last_copy_wins else values.index(best)


def hit_points(bid: int, modern: bool) -> int:
    """Return the points of a bid that was hit (JOS-SCORE-2, JOS-SCORE-3)."""
    return 5 * (bid + 1) if modern else 10 + bid


def section_points(bids: Sequence[int], won: Sequence[int], modern: bool) -> tuple[int, ...]:
    """Return points of a section by seat (JOS-SCORE-1 to -3)."""
    return tuple(hit_points(bid, modern) if bid == tricks else 0 for bid, tricks in zip(bids, won, strict=True))


def first_leader(options: JossingOptions, dealer: Seat, bids: Sequence[int]) -> Seat:
    """Return the leader of the first trick; `bids` are by seat (JOS-LEAD-1 to -4)."""
    left = options.left_of(dealer)
    if options.leader == "left_of_dealer":
        return left
    is_dealer_first = options.leader == "highest_bidder_dealer_first"
    return max(options.clockwise(dealer if is_dealer_first else left), key=lambda seat: bids[seat])


def ranking(totals: Sequence[int]) -> Ranking:
    """Return groups of seats, the highest total first; equal totals share a place (JOS-END-2, JOS-END-3)."""
    return ranked(range(len(totals)), lambda seat: -totals[seat])


def sheet_line(
    section: Section,
    leader: Seat,
    bids: Sequence[int],
    won: Sequence[int],
    points: tuple[int, ...],
    totals: tuple[int, ...],
) -> RoundScore:
    """Return the line of a section that was led by a seat at first; bids, tricks, points and totals are by seat."""
    counts = [Count("bids", seat) for seat in range(len(bids))]
    counts += [Count("bids_hit", seat) for seat, bid in enumerate(bids) if bid == won[seat]]
    counts += [Count("tricks_won", seat, tricks) for seat, tricks in enumerate(won) if tricks]
    return RoundScore(
        section.number,
        points,
        totals,
        tuple(
            [
                (phrase("bid", bid=NumberValue(bid)), phrase("won", tricks=NumberValue(tricks)))
                for bid, tricks in zip(bids, won, strict=True)
            ]
        ),
        (phrase("cards", cards=NumberValue(section.size)), phrase("trump", trump=SuitValue(section.trump))),
        (
            Mark("cards", None, NumberValue(section.size)),
            Mark("dealer", None, SeatValue(section.dealer)),
            Mark("indicator", None, CardsValue((section.indicator,))),
            Mark("trump", None, SuitValue(section.trump)),
            Mark("leader", None, SeatValue(leader)),
            Mark("bids", None, PointsValue(tuple(bids))),
            Mark("tricks", None, PointsValue(tuple(won))),
        ),
        tuple(counts),
    )


def _worth(trump: Suit, led: Suit) -> tuple[int, ...]:
    base = {led: 1, trump: 14} if trump != led else {trump: 14}
    return tuple(base[value // 13] + value % 13 if value // 13 in base else 0 for value in range(52))


WORTH = tuple(tuple(_worth(trump, led) for led in range(4)) for trump in range(4))
"""By trump and suit led: a number for each card; the greatest wins the trick, 0 cannot win (JOS-WIN-1 to -3)."""
