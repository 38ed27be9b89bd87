"""Points, the bonus, the winner and the ranking of 110, as pure functions."""

from typing import NamedTuple

from croupier.games.cards import Card, Suit
from croupier.games.facts import Count, Mark, PileCard, Ranking, RoundScore, Seat
from croupier.games.one_ten.state import BONUS_POINTS, TRICK_POINTS, OneTenOptions, Progress
from croupier.games.one_ten.trumps import TRUMP_POWER, Trumps
from croupier.games.standings import ranked
from croupier.games.values import (
    CardsValue,
    NumberValue,
    Phrase,
    Phrases,
    PointsValue,
    SeatValue,
    SuitValue,
    WordValue,
    phrase,
)

TARGET = 110
FORFEIT_FROM = 85


class Top(NamedTuple):
    """The highest trump of a round: in which trick (from 0), by which seat."""

    trick: int
    seat: Seat
    card: Card


class Round(NamedTuple):
    """A finished round as far as it counts: `winners` took the tricks, in their order."""

    bid_winner: Seat
    bid: int
    winners: tuple[Seat, ...]
    top: Top | None


class Line(NamedTuple):
    """A round's line on the score sheet; `bonus` is who really received the bonus."""

    round: Round
    made: bool
    bonus: Seat | None
    tricks: tuple[int, ...]
    points: tuple[int, ...]


def top_trump(trumps: Trumps, taken: tuple[PileCard, ...], seats: int) -> Top | None:
    """Return the highest trump among all cards that were played, the earlier one of two equals (110-SCORE-2)."""
    power = trumps.power[trumps.suit]
    at = max(range(len(taken)), key=lambda at: power[taken[at].card])
    card, seat = taken[at]
    return Top(at // seats, seat, card) if seat is not None and power[card] > TRUMP_POWER else None


def scored(options: OneTenOptions, before: tuple[int, ...], played: Round) -> Line:
    """Return the line of a round (110-SCORE-1 to -5)."""
    bidder, bid, winners, top = played
    tricks = tuple([winners.count(seat) for seat in range(options.seats)])
    bonus = top.seat if top and not _is_forfeit(options, before, played, top.seat) else None
    helps = BONUS_POINTS if bonus == bidder and options.bonus_counts_for_bid else 0
    made = TRICK_POINTS * tricks[bidder] + helps >= bid
    if bonus == bidder and not (made or options.failed_bonus_paid):
        bonus = None
    points = [TRICK_POINTS * count for count in tricks]
    if not made:
        points[bidder] = -bid
    if bonus is not None:
        points[bonus] += BONUS_POINTS
    return Line(played, made, bonus, tricks, tuple(points))


def _is_forfeit(options: OneTenOptions, before: tuple[int, ...], played: Round, seat: Seat) -> bool:
    """Return whether the seat that played the highest trump forfeits the bonus (110-SCORE-3)."""
    if options.bonus_forfeit == "any_seat_85":
        return before[seat] >= FORFEIT_FROM
    reached = before[seat] if options.bonus_forfeit == "score" else played.bid
    return seat == played.bid_winner and reached >= FORFEIT_FROM


def reason_to_end(options: OneTenOptions, round_number: int, totals: tuple[int, ...]) -> str:
    """Return why the game is over after a round, empty if it goes on (110-END-1, 110-END-4)."""
    if max(totals) >= TARGET:
        return "target"
    return "max_rounds" if round_number == options.max_rounds else ""


def game_winner(before: tuple[int, ...], line: Line) -> Seat | None:
    """Return the seat that reached 110 first, counted trick by trick (110-END-2); None if nobody did."""
    count = list(before)
    for trick, seat in enumerate(line.round.winners):
        if seat == line.round.bid_winner and not line.made:
            continue
        count[seat] += TRICK_POINTS
        if line.round.top and line.bonus is not None and line.round.top.trick == trick:
            count[seat] += BONUS_POINTS
        if count[seat] >= TARGET:
            return seat
    return None


def ranking(totals: tuple[int, ...], winner: Seat | None) -> Ranking:
    """Return groups of seats, best first: the winner alone, then by score (110-END-3, 110-END-4)."""

    def merit(seat: Seat) -> tuple[bool, int]:
        return seat != winner, -totals[seat]

    return ranked(range(len(totals)), merit)


def sheet_line(line: Line, progress: Progress, trump: Suit) -> RoundScore:
    """Return the line of a round for people and for programs (110-SCORE-6); `progress` is as it is after it."""
    played = line.round
    won = Count("bids_won", played.bid_winner)
    headline = (_bid(line), phrase("trump", trump=SuitValue(trump)), phrase(_result(line)))
    return RoundScore(
        progress.round_number,
        line.points,
        progress.totals,
        tuple(_note(line, seat) for seat in range(len(line.tricks))),
        headline,
        _details(line, progress.dealer, trump),
        (won, Count("bids_made", played.bid_winner)) if line.made else (won,),  # 110-TABLE-3
    )


def _details(line: Line, dealer: Seat | None, trump: Suit) -> tuple[Mark, ...]:
    played, top = line.round, line.round.top
    details = [] if dealer is None else [Mark("dealer", None, SeatValue(dealer))]
    details += [
        Mark("bid_winner", None, SeatValue(played.bid_winner)),
        Mark("bid", None, NumberValue(played.bid)),
        Mark("trump", None, SuitValue(trump)),
        Mark("tricks", None, PointsValue(line.tricks)),
        Mark("result", None, WordValue(_result(line))),
    ]
    if top:
        details += [
            Mark("top_trump_trick", None, NumberValue(top.trick + 1)),
            Mark("top_trump_seat", None, SeatValue(top.seat)),
            Mark("top_trump_card", None, CardsValue((top.card,))),
        ]
    if line.bonus is not None:
        details.append(Mark("bonus", None, SeatValue(line.bonus)))
    return tuple(details)


def _note(line: Line, seat: Seat) -> Phrases:
    note, top = [phrase("tricks", tricks=NumberValue(line.tricks[seat]))], line.round.top
    if seat == line.round.bid_winner:
        note = [_bid(line), phrase(_result(line)), *note]
    if top and top.seat == seat:
        note.append(phrase("top_trump" if line.bonus == seat else "top_trump_without_bonus"))
    return tuple(note)


def _bid(line: Line) -> Phrase:
    return phrase("bid", bid=NumberValue(line.round.bid))


def _result(line: Line) -> str:
    return "made" if line.made else "failed"
