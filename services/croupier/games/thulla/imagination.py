"""What a searching player of Thulla makes of what it sees: a table as it may be, and how good a moment is."""

from croupier.games.cards import cards_of_mask, mask_of
from croupier.games.facts import Seat, View
from croupier.games.hidden import Hidden, deal_hidden
from croupier.games.interface import Choose, Seen
from croupier.games.thulla.deal import ACE_OF_SPADES
from croupier.games.thulla.state import Laid, Match, ThullaState
from croupier.games.thulla.table import Table


def imagine(seen: Seen, choose: Choose) -> ThullaState:
    """A table that looks the same to the seat that is to act; finished games count with any finishing order."""
    view = seen.view
    table = Table.of(len(view.seats), seen.options)
    piles = {pile.name: tuple(Laid(lies.card, lies.seat or 0) for lies in pile.cards) for pile in view.piles}
    marks = {(mark.name, mark.seat): int(mark.value) for mark in view.marks if mark.value.isdecimal()}
    trick, waste = piles.get("trick", ()), piles.get("waste", ())
    starter, stalled = marks["starter", None], marks.get(("stall", None), 0)
    untouched = not stalled and not any(seat.out for seat in view.seats) and _cards_held(view) == len(table.deck)
    forced = table.start == "ace_of_spades" and untouched
    known = mask_of(laid.card for laid in trick + waste)
    return ThullaState(
        table=table,
        match=Match(view.round_number, starter, tuple(seat.score for seat in view.seats), _orders(table, view, marks)),
        hands=_hands(seen, table, known, starter if forced else None, choose),
        trick=trick,
        queue=_queue(view, trick),
        waste=waste,
        out=tuple(sorted((s for s, seat in enumerate(view.seats) if seat.out), key=lambda s: view.seats[s].place)),
        stalled=stalled,
        points=tuple(marks.get(("points", seat), 0) for seat in range(table.seats)),
        forced=forced,
    )


def rate(before: ThullaState, after: ThullaState) -> tuple[float, ...]:
    """Places from 1.0 down to 0.0 (THU-END-4); in the middle of a game fewer cards are better."""
    orders = after.match.orders[len(before.match.orders) :]
    holding = [seat for seat, hand in enumerate(after.hands) if hand and seat not in after.out]
    order = orders[0] if orders else (*after.out, *sorted(holding, key=lambda seat: after.hands[seat].bit_count()))
    last = max(len(order) - 1, 1)
    return tuple(1 - order.index(seat) / last if seat in order else 0.0 for seat in range(len(after.hands)))


def _cards_held(view: View) -> int:
    return sum(seat.card_count for seat in view.seats)


def _hands(seen: Seen, table: Table, known: int, holder: Seat | None, choose: Choose) -> tuple[int, ...]:
    """Hands with the seat's own cards; `holder` is the seat that surely holds the ace of spades."""
    seats = seen.view.seats
    own = mask_of(seats[seen.seat].cards)
    ace = 1 << ACE_OF_SPADES
    places = [
        Hidden(0 if seat == seen.seat else held.card_count, ace if holder not in (None, seat) else 0)
        for seat, held in enumerate(seats)
    ]
    unseen = cards_of_mask(mask_of(table.deck) & ~known & ~own)
    dealt = deal_hidden(unseen, places, choose)
    return tuple(own if seat == seen.seat else mask_of(cards) for seat, cards in enumerate(dealt))


def _queue(view: View, trick: tuple[Laid, ...]) -> tuple[Seat, ...]:
    first, played = view.seats_to_act[0], {laid.seat for laid in trick}
    clockwise = (*range(first, len(view.seats)), *range(first))
    return tuple(seat for seat in clockwise if view.seats[seat].card_count and seat not in played)


def _orders(table: Table, view: View, marks: dict[tuple[str, Seat | None], int]) -> tuple[tuple[Seat, ...], ...]:
    """Finishing orders of the games so far that have the winners they had."""
    won = [
        seat.score if table.scoring == "none" else marks.get(("wins", number), 0)
        for number, seat in enumerate(view.seats)
    ]
    seats = range(table.seats)
    return tuple((winner, *(seat for seat in seats if seat != winner)) for winner in seats for _ in range(won[winner]))
