"""Titles, points, the end and the ranking of President, as pure functions."""

from croupier.games.facts import Count, Mark, Ranking, RoundScore, Seat
from croupier.games.hands import cards_in
from croupier.games.standings import ranked
from croupier.games.values import NumberValue, Phrases, SeatsValue, SeatValue, phrase
from croupier_president.state import PresidentOptions, Progress

TITLE_POINTS = (2, 1)
"""The points of the first places with `scoring` at `titles` (PRES-SCORE-2)."""


def title(place: int, seats: int) -> str:
    """Return the title of a place, counted from 1 (PRES-TITLE-1)."""
    if place <= 2:
        return ("president", "vice_president")[place - 1]
    if place == seats:
        return "scum"
    return "vice_scum" if place == seats - 1 else "citizen"


def titles(order: tuple[Seat, ...]) -> dict[Seat, str]:
    """Return the title of each seat, ascending, after a round with this finishing order."""
    return {seat: title(order.index(seat) + 1, len(order)) for seat in range(len(order))}


def points(options: PresidentOptions, order: tuple[Seat, ...]) -> tuple[int, ...]:
    """Return the points of each seat for a round (PRES-SCORE-1, PRES-SCORE-2)."""
    by_place = tuple(range(options.seats - 1, -1, -1))
    if options.titles_score:
        by_place = (*TITLE_POINTS, *[0] * (options.seats - 2))
    return tuple(by_place[order.index(seat)] for seat in range(options.seats))


def end_reason(options: PresidentOptions, round_number: int, totals: tuple[int, ...]) -> str:
    """Return why the game is over after a round, "" if it is not (PRES-END-1, PRES-END-2)."""
    if 0 < options.target <= max(totals):
        return "target"
    return "rounds" if round_number == options.rounds else ""


def ranking(progress: Progress) -> Ranking:
    """Return groups of seats, best first: more points rank higher (PRES-END-3)."""
    return ranked(range(len(progress.totals)), lambda seat: -progress.totals[seat])


def after_round(options: PresidentOptions, before: Progress, order: tuple[Seat, ...]) -> Progress:
    """Return the progress after a round with this finishing order."""
    gained = points(options, order)
    totals = tuple(total + more for total, more in zip(before.totals, gained, strict=True))
    return before._replace(totals=totals, order=order, reason=end_reason(options, before.round_number, totals))


def sheet_line(options: PresidentOptions, after: Progress, hands: tuple[int, ...]) -> RoundScore:
    """Return the line of a round for people and for programs; `after` is as it is after the round."""
    order = after.order
    by_seat = titles(order)
    return RoundScore(
        after.round_number,
        points(options, order),
        after.totals,
        tuple(_note(by_seat[seat], hand) for seat, hand in enumerate(hands)),
        (phrase("elected", seat=SeatValue(order[0])),),
        (Mark("order", None, SeatsValue(order)),),
        tuple(Count(by_seat[seat], seat) for seat in order if by_seat[seat] != "citizen"),
    )


def _note(name: str, hand: int) -> Phrases:
    left = len(cards_in(hand))
    return (phrase(name), phrase("cards_left", count=NumberValue(left))) if left else (phrase(name),)
