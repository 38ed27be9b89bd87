"""Determinization and evaluation of Thulla for searching players."""

from croupier.games.cards import cards_of_mask, mask_of
from croupier.games.facts import Ranking, Seat, View
from croupier.games.hidden import HiddenPlace, deal_hidden
from croupier.games.interface import Observation, RandomSource
from croupier.games.thulla.deal import ACE_OF_SPADES
from croupier.games.thulla.state import PlayedCard, Progress, ThullaOptions, ThullaState


def determinize(observation: Observation, randrange: RandomSource) -> ThullaState:
    """Return a table that looks the same to the seat to act; finished games have any possible finishing order."""
    view = observation.view
    options = ThullaOptions.of(len(view.seats), observation.options)
    piles = {pile.name: tuple(PlayedCard(lies.card, lies.seat or 0) for lies in pile.cards) for pile in view.piles}
    marks = {(mark.name, mark.seat): int(mark.value) for mark in view.marks if mark.value.isdecimal()}
    trick, waste = piles.get("trick", ()), piles.get("waste", ())
    starter, stalled = marks["starter", None], marks.get(("stall", None), 0)
    untouched = not stalled and not any(seat.is_out for seat in view.seats) and _cards_held(view) == len(options.deck)
    forced = options.start == "ace_of_spades" and untouched
    known = mask_of(laid.card for laid in trick + waste)
    return ThullaState(
        options=options,
        progress=Progress(
            view.round_number, starter, tuple(seat.score for seat in view.seats), _orders(options, view, marks)
        ),
        hands=_hands(observation, options, known, starter if forced else None, randrange),
        trick=trick,
        queue=_queue(view, trick),
        waste=waste,
        out=_out(view),
        stalled=stalled,
        points=tuple(marks.get(("points", seat), 0) for seat in range(options.seats)),
        forced=forced,
    )


def evaluate(before: ThullaState, after: ThullaState) -> tuple[float, ...]:
    """Return places from 1.0 down to 0.0 (THU-END-4); in the middle of a game fewer cards are better."""
    orders = after.progress.orders[len(before.progress.orders) :]
    holding = [seat for seat, hand in enumerate(after.hands) if hand and seat not in after.out]
    order = orders[0] if orders else (*after.out, *sorted(holding, key=lambda seat: after.hands[seat].bit_count()))
    last = max(len(order) - 1, 1)
    return tuple(1 - order.index(seat) / last if seat in order else 0.0 for seat in range(len(after.hands)))


def _out(view: View) -> tuple[Seat, ...]:
    placed = [(held.place, seat) for seat, held in enumerate(view.seats) if held.place is not None]
    return tuple(seat for _, seat in sorted(placed))


def _cards_held(view: View) -> int:
    return sum(seat.card_count for seat in view.seats)


def _hands(
    observation: Observation, options: ThullaOptions, known: int, holder: Seat | None, randrange: RandomSource
) -> tuple[int, ...]:
    """Return hands with the seat's own cards; `holder` is the seat that surely holds the ace of spades."""
    seats = observation.view.seats
    own = mask_of(seats[observation.seat].cards)
    ace = 1 << ACE_OF_SPADES
    places = [
        HiddenPlace(0 if seat == observation.seat else held.card_count, ace if holder not in (None, seat) else 0)
        for seat, held in enumerate(seats)
    ]
    unseen = cards_of_mask(mask_of(options.deck) & ~known & ~own)
    dealt = deal_hidden(unseen, places, randrange)
    return tuple(own if seat == observation.seat else mask_of(cards) for seat, cards in enumerate(dealt))


def _queue(view: View, trick: tuple[PlayedCard, ...]) -> tuple[Seat, ...]:
    first, played = view.seats_to_act[0], {laid.seat for laid in trick}
    clockwise = (*range(first, len(view.seats)), *range(first))
    return tuple(seat for seat in clockwise if view.seats[seat].card_count and seat not in played)


def _orders(options: ThullaOptions, view: View, marks: dict[tuple[str, Seat | None], int]) -> Ranking:
    """Return finishing orders of the games so far that have the winners they had."""
    won = [
        seat.score if options.scoring == "none" else marks.get(("wins", number), 0)
        for number, seat in enumerate(view.seats)
    ]
    seats = range(options.seats)
    return tuple((winner, *(seat for seat in seats if seat != winner)) for winner in seats for _ in range(won[winner]))
