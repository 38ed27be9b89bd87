"""Determinization and evaluation of 101 for searching players."""

from itertools import groupby

from croupier.games.actions import Play
from croupier.games.cards import Suit
from croupier.games.facts import Mark, Seat
from croupier.games.hands import cards_in, hand_of
from croupier.games.hidden import deal_around
from croupier.games.interface import Observation, RandomSource
from croupier.games.one_oh_one import scoring
from croupier.games.one_oh_one.state import NOBODY, OneOhOneOptions, OneOhOneState, Progress, circle
from croupier.games.standings import relative_to_others
from croupier.games.values import SeatValue, SuitValue

COST_SPAN = 120
"""So many points more or less than the others are as bad or as good as it gets."""
COST_OF_LOSING = 60
"""The cost of losing the game, or dropping out, beyond the points."""


def determinize(observation: Observation, randrange: RandomSource) -> OneOhOneState:
    """Return a table that looks the same to the seat to act; hidden cards lie at random."""
    view, first = observation.view, observation.legal.actions[0]
    options = OneOhOneOptions.of(len(view.seats), observation.options)
    pile = view.pile("pile")
    out = sorted((held.place, seat) for seat, held in enumerate(view.seats) if held.place is not None)
    dropped = tuple(tuple(seat for _, seat in group) for _, group in groupby(out, key=lambda placed: placed[0]))
    totals = tuple(held.score for held in view.seats)
    starter, ordered, penalized = _marked(view.marks)
    hands, stock = deal_around(observation, options.deck, (0,) * len(view.seats), randrange)
    return OneOhOneState(
        options=options,
        progress=Progress(view.round_number, starter, totals, circle(len(view.seats), dropped), dropped),
        hands=tuple(map(hand_of, hands)),
        stock=tuple(stock),
        pile=pile,
        turn=observation.seat,
        ordered=ordered,
        covers=any(mark.name == "cover" for mark in view.marks),
        penalized=penalized,
        # Only the legal actions show which card was dealt last (101-LEAD-2).
        forced=first.card if isinstance(first, Play) and not pile and not options.first_move_any else None,
    )


def _marked(marks: tuple[Mark, ...]) -> tuple[Seat, Suit | None, Seat]:
    """Return the starter, the ordered suit and the seat that misses its turn by the top card, or NOBODY."""
    starter, ordered, penalized = NOBODY, None, NOBODY
    for mark in marks:
        match mark:
            case Mark("starter", _, SeatValue(seat)):
                starter = seat
            case Mark("ordered_suit", _, SuitValue(suit)):
                ordered = suit
            case Mark("penalty", int(seat)):
                penalized = seat
    return starter, ordered, penalized


def evaluate(before: OneOhOneState, after: OneOhOneState) -> tuple[float, ...]:
    """Return how much cheaper each seat came off than the others, by scores of finished rounds or points of hands."""
    costs = [_cost(before, after, seat) for seat in range(len(after.hands))]
    playing = [cost for cost in costs if cost is not None]
    if len(playing) < 2:
        return tuple(float(cost is not None) for cost in costs)
    values = iter(relative_to_others([-cost for cost in playing], COST_SPAN))
    return tuple(0.0 if cost is None else next(values) for cost in costs)


def _cost(before: OneOhOneState, after: OneOhOneState, seat: Seat) -> float | None:
    """Return the cost for a seat, in points; None if it was out before."""
    if _is_out(before, seat):
        return None
    cost: float = after.progress.totals[seat] - before.progress.totals[seat]
    if after.phase in ("play", "reshuffle"):
        return cost + scoring.hand_points(cards_in(after.hands[seat]), after.options.queen_penalty_added)
    lost = _is_out(after, seat) or after.progress.totals[seat] >= after.options.losing_score
    return cost + COST_OF_LOSING * lost


def _is_out(state: OneOhOneState, seat: Seat) -> bool:
    return any(seat in group for group in state.progress.dropped)
