"""Determinization and evaluation of President for searching players."""

from croupier.games.cards import STANDARD_DECK, Card
from croupier.games.facts import Seat, View
from croupier.games.hands import hand_of
from croupier.games.hidden import deal_around
from croupier.games.interface import Observation, RandomSource
from croupier.games.values import CardsValue, WordValue
from croupier_president import scoring
from croupier_president.exchange import pairs_of, worth
from croupier_president.state import NOBODY, Pair, PresidentOptions, PresidentState, Progress


def determinize(observation: Observation, randrange: RandomSource) -> PresidentState:
    """Return a table that looks the same to the seat; what others gave each other is left out."""
    view, order = observation.view, _order(observation.view)
    seats = range(len(view.seats))
    options = PresidentOptions.of(len(seats), observation.options)
    pairs, given = pairs_of(options, order), tuple([_given(view, seat) for seat in seats])
    places = [(held.place, seat) for seat, held in enumerate(view.seats) if held.place is not None]
    dealer = NOBODY if view.dealer is None else view.dealer
    return PresidentState(
        options=options,
        progress=Progress(view.round_number, dealer, tuple([held.score for held in view.seats]), order),
        phase=view.phase,
        hands=_hands(observation, pairs, given, randrange),
        to_act=view.seats_to_act,
        pairs=pairs,
        given=given,
        trick=view.pile("trick"),
        waste=view.pile("waste"),
        out=tuple([seat for _, seat in sorted(places)]),
        passed=frozenset(mark.seat for mark in view.marks if mark.name == "passed" and mark.seat is not None),
    )


def evaluate(before: PresidentState, after: PresidentState) -> tuple[float, ...]:
    """Return places from 1.0 down to 0.0; in the middle of a round fewer cards are better."""
    order = after.progress.order if after.progress.totals != before.progress.totals else _order_so_far(after)
    last = len(order) - 1
    return tuple(1 - order.index(seat) / last for seat in range(len(order)))


def _order_so_far(state: PresidentState) -> tuple[Seat, ...]:
    holders = [seat for seat, hand in enumerate(state.hands) if hand]
    return (*state.out, *sorted(holders, key=lambda seat: state.hands[seat].bit_count()))


def _order(view: View) -> tuple[Seat, ...]:
    """Return a finishing order with the titles of a view, in which citizens follow each other in any way."""
    places = range(1, len(view.seats) + 1)
    titles = [scoring.title(place, len(view.seats)) for place in places]
    named = [
        (titles.index(mark.value.word), mark.seat)
        for mark in view.marks
        if mark.name == "title" and isinstance(mark.value, WordValue) and mark.seat is not None
    ]
    return tuple(seat for _, seat in sorted(named))


def _given(view: View, giver: Seat) -> tuple[Card, ...]:
    values = [mark.value for mark in view.marks if mark.name == "given" and mark.seat == giver]
    return next((value.cards for value in values if isinstance(value, CardsValue)), ())


def _hands(
    observation: Observation, pairs: tuple[Pair, ...], given: tuple[tuple[Card, ...], ...], randrange: RandomSource
) -> tuple[int, ...]:
    """Return possible hands: the partner has what the seat gave and has not seen since, and nothing better than best.

    Before the first lead of the game the seat to act holds the three of clubs itself.
    """
    view, me = observation.view, observation.seat
    barred = [0] * len(view.seats)
    for pair in pairs:
        if me not in pair[:2]:
            continue
        partner, seen = pair.partner(me), view.cards_seen(me)
        held = view.seats[partner]._replace(known_cards=tuple([value for value in given[me] if value not in seen]))
        view = view._replace(seats=(*view.seats[:partner], held, *view.seats[partner + 1 :]))
        if partner == pair.giver and given[partner]:
            barred[partner] = _better_than(min(given[partner], key=worth))
    hands, _ = deal_around(observation._replace(view=view), STANDARD_DECK, barred, randrange)
    return tuple(map(hand_of, hands))


def _better_than(best: Card) -> int:
    """Return the cards as a bit set that a seat would have given before this one (PRES-EXCH-2)."""
    return sum(1 << value for value in STANDARD_DECK if worth(value) > worth(best))
