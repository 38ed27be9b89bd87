"""Points, scores, losers and the ranking of 101, as pure functions."""

from typing import NamedTuple

from croupier.games.cards import Card
from croupier.games.facts import Count, Mark, Ranking, RoundScore, Seat
from croupier.games.hands import cards_in
from croupier.games.one_oh_one.effects import IS_QUEEN, POINTS, QUEEN_POINTS
from croupier.games.one_oh_one.state import LOSING_SCORE, OneOhOneOptions, Progress
from croupier.games.standings import ranked
from croupier.games.values import CardsValue, NumberValue, Phrases, SeatsValue, SeatValue, phrase


class Scored(NamedTuple):
    """A finished round: its winner and their last card, the hands left, and the new scores.

    `points` are those of the round (101-POINTS-2 to -5), `reset` the seats whose exact 101 became 0, and `losers` those
    of this round; `floored` are those whose score would be negative; seats that dropped out earlier have no points.
    """

    winner: Seat
    last_card: Card
    hands: tuple[tuple[Card, ...], ...]
    points: tuple[int, ...]
    totals: tuple[int, ...]
    floored: tuple[Seat, ...]
    reset: tuple[Seat, ...]
    losers: tuple[Seat, ...]


def hand_points(hand: tuple[Card, ...], queen_penalty_added: bool) -> int:
    """Return the cost of cards left in a hand (101-POINTS-1, 101-POINTS-3, 101-POINTS-5)."""
    points = sum(POINTS[value] for value in hand)
    if not all(IS_QUEEN[value] for value in hand):
        return points
    return sum(QUEEN_POINTS[value] for value in hand) + points * queen_penalty_added


def scored(
    options: OneOhOneOptions, totals: tuple[int, ...], playing: tuple[Seat, ...], hands: tuple[int, ...], last: Card
) -> Scored:
    """Score a round step by step (101-SCORE-1); `hands` are bit sets, `playing` the seats that are in the game."""
    winner = next(seat for seat in playing if not hands[seat])
    left = tuple(map(cards_in, hands))
    points = [hand_points(hand, options.queen_penalty_added) for hand in left]
    points[winner] = -QUEEN_POINTS.get(last, 0)
    sums = [total + gained for total, gained in zip(totals, points, strict=True)]
    playing = tuple(sorted(playing))
    reset = tuple(seat for seat in playing if options.exact_101_reset and sums[seat] == LOSING_SCORE)
    floored = tuple(seat for seat in playing if options.floor_zero and sums[seat] < 0)
    for seat in reset + floored:
        sums[seat] = 0
    losers = tuple(seat for seat in playing if sums[seat] >= options.losing_score)
    return Scored(winner, last, left, tuple(points), tuple(sums), floored, reset, losers)


def by_score(seats: tuple[Seat, ...], totals: tuple[int, ...]) -> Ranking:
    """Return seats in groups of equal score, the lowest first."""
    return ranked(seats, lambda seat: totals[seat])


def ranking(progress: Progress) -> Ranking:
    """Return the seats in the game by score, then those that dropped out, the latest first (101-END-3, 101-ELIM-3)."""
    totals, dropped = progress.totals, progress.dropped
    out = {seat for group in dropped for seat in group}
    return by_score(tuple(seat for seat in range(len(totals)) if seat not in out), totals) + dropped


def places(seats: int, dropped: Ranking) -> dict[Seat, int]:
    """Return the place, from 1, that each seat that dropped out takes in the end."""
    found, place = {}, seats - sum(map(len, dropped)) + 1
    for group in dropped:
        found.update(dict.fromkeys(group, place))
        place += len(group)
    return found


def end_reason(options: OneOhOneOptions, round_number: int, losers: tuple[Seat, ...], playing: int) -> str:
    """Return why the game is over after a round, "" if it is not (101-END-2, 101-END-4, 101-ELIM-1).

    `playing` counts the seats that are left after the losers of the round dropped out.
    """
    if options.elimination and playing == 1:
        return "one_left"
    if losers and not options.elimination:
        return "loser"
    return "max_rounds" if round_number == options.max_rounds else ""


def sheet_line(before: Progress, result: Scored, elimination: bool) -> RoundScore:
    """Return the line of a round for people and for programs (101-SCORE-5); `before` is as it was before the round."""
    last_card = CardsValue((result.last_card,))
    details = (
        Mark("starter", None, SeatValue(before.starter)),
        Mark("winner", None, SeatValue(result.winner)),
        Mark("last_card", None, last_card),
        *(Mark("hand", seat, CardsValue(hand)) for seat, hand in enumerate(result.hands) if hand),
        Mark("floored", None, SeatsValue(result.floored)),
        Mark("reset", None, SeatsValue(result.reset)),
        Mark("losers", None, SeatsValue(result.losers)),
    )
    notes = tuple(_note(result, seat, elimination) for seat in range(len(result.points)))
    headline = (phrase("finished_with", card=last_card),)
    return RoundScore(before.round_number, result.points, result.totals, notes, headline, details, _counts(result))


def _note(result: Scored, seat: Seat, elimination: bool) -> Phrases:
    hand, points = result.hands[seat], result.points[seat]
    note = []
    if seat == result.winner:
        note.append(phrase("first_out"))
        if points:
            note.append(phrase("last_queen", points=NumberValue(-points)))
    elif hand:
        note.append(phrase("cards_left", count=NumberValue(len(hand))))
        if all(IS_QUEEN[value] for value in hand):
            note.append(phrase("only_queens"))
    if seat in result.floored:
        note.append(phrase("floored"))
    if seat in result.reset:
        note.append(phrase("reset"))
    if seat in result.losers:
        note.append(phrase("dropped_out" if elimination else "lost"))
    return tuple(note)


def _counts(result: Scored) -> tuple[Count, ...]:
    found = [Count("rounds_won", result.winner)]
    if IS_QUEEN[result.last_card]:
        found.append(Count("queen_finishes", result.winner))
    for seat, hand in enumerate(result.hands):
        if hand and all(IS_QUEEN[value] for value in hand):
            found.append(Count("caught_with_queens", seat))
    found += [Count("exact_101", seat) for seat in result.reset]
    return (*found, *(Count("times_lost", seat) for seat in result.losers))
