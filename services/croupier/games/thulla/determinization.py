"""Determinization and evaluation of Thulla for searching players."""

from croupier.games.cards import mask_of
from croupier.games.facts import Ranking, Seat, View
from croupier.games.hidden import deal_around
from croupier.games.interface import Observation, RandomSource
from croupier.games.thulla.play import ACE_OF_SPADES, holders
from croupier.games.thulla.state import PlayedCard, Progress, ThullaOptions, ThullaState
from croupier.games.values import NumberValue, SeatValue


def determinize(observation: Observation, randrange: RandomSource) -> ThullaState:
    """Return a table that looks the same to the seat to act; finished games have any possible finishing order."""
    view = observation.view
    seats = range(len(view.seats))
    options = ThullaOptions.of(len(seats), observation.options)
    piles = {pile.name: tuple(PlayedCard(lies.card, lies.seat or 0) for lies in pile.cards) for pile in view.piles}
    marks = {(mark.name, mark.seat): mark.value.number for mark in view.marks if isinstance(mark.value, NumberValue)}
    starter = next(mark.value.seat for mark in view.marks if isinstance(mark.value, SeatValue))
    trick, stalled = piles.get("trick", ()), marks.get(("stall", None), 0)
    out = sorted((held.place, seat) for seat, held in enumerate(view.seats) if held.place is not None)
    untouched = not stalled and not out and sum(held.card_count for held in view.seats) == len(options.deck)
    forced = options.start == "ace_of_spades" and untouched
    played = {laid.seat for laid in trick}
    holding = holders(tuple(held.card_count for held in view.seats), view.seats_to_act[0])
    totals = tuple(held.score for held in view.seats)
    # Before the first trick the starter surely holds the ace of spades.
    barred = [1 << ACE_OF_SPADES if forced and seat != starter else 0 for seat in seats]
    hands, _ = deal_around(observation, options.deck, barred, randrange)
    return ThullaState(
        options=options,
        progress=Progress(view.round_number, starter, totals, _orders(options, view, marks)),
        hands=tuple(map(mask_of, hands)),
        trick=trick,
        queue=tuple(seat for seat in holding if seat not in played),
        waste=piles.get("waste", ()),
        out=tuple(seat for _, seat in out),
        stalled=stalled,
        points=tuple(marks.get(("points", seat), 0) for seat in seats),
        forced=forced,
        known=tuple([mask_of(held.known_cards) for held in view.seats]),
    )


def evaluate(before: ThullaState, after: ThullaState) -> tuple[float, ...]:
    """Return places from 1.0 down to 0.0 (THU-END-4); in the middle of a game fewer cards are better."""
    orders = after.progress.orders[len(before.progress.orders) :]
    holding = [seat for seat, hand in enumerate(after.hands) if hand and seat not in after.out]
    order = orders[0] if orders else (*after.out, *sorted(holding, key=lambda seat: after.hands[seat].bit_count()))
    last = max(len(order) - 1, 1)
    return tuple(1 - order.index(seat) / last if seat in order else 0.0 for seat in range(len(after.hands)))


def _orders(options: ThullaOptions, view: View, marks: dict[tuple[str, Seat | None], int]) -> Ranking:
    """Return finishing orders of the games so far that have the winners they had."""
    won = [
        seat.score if options.scoring == "none" else marks.get(("wins", number), 0)
        for number, seat in enumerate(view.seats)
    ]
    seats = range(options.seats)
    return tuple((winner, *(seat for seat in seats if seat != winner)) for winner in seats for _ in range(won[winner]))
