"""The view of a table of 110 for each viewer."""

from croupier.games.cards import Card
from croupier.games.facts import Contract, Pile, PileCard, Seat, SeatView, View, Viewer, open_piles
from croupier.games.hands import cards_in
from croupier.games.one_ten.kitty import put_away_mark, trump_known_to
from croupier.games.one_ten.state import KITTY_CARDS, UNNAMED, OneTenState
from croupier.games.one_ten.trumps import TRUMPS


def view(state: OneTenState, viewer: Viewer) -> View:
    """Return the whole view (110-VIS-1 to -7)."""
    progress, auction, trump = state.progress, state.auction, trump_known_to(state, viewer)
    size = state.options.hand_size if _in_kitty_phase(state) else None
    seats = [
        SeatView(
            hand.bit_count() if size is None or seat == viewer else size,
            cards_in(hand) if seat == viewer else (),
            progress.totals[seat],
            state.winners.count(seat),
        )
        for seat, hand in enumerate(state.hands)
    ]
    remembered = state.exchange.remembered if viewer == auction.bidder else ()
    return View(
        round_number=progress.round_number,
        phase=state.phase,
        dealer=progress.dealer,
        seats=tuple(seats),
        piles=_piles(state, viewer),
        calls=auction.calls,
        contract=Contract(
            auction.bidder if auction.amount else None,
            amount=auction.amount or None,
            trump=None if trump == UNNAMED else trump,
        ),
        marks=(put_away_mark(viewer, remembered),) if remembered else (),
        card_order=TRUMPS[trump].order if progress.round_number else (),
        seats_to_act=state.to_act,
        ranking=progress.ranking,
    )


def _in_kitty_phase(state: OneTenState) -> bool:
    """Return whether others may not see yet who took up, put away or swapped how many cards (110-VIS-4)."""
    return state.phase in ("kitty", "reshuffle")


def _piles(state: OneTenState, viewer: Viewer) -> tuple[Pile, ...]:
    """Return the piles by name and owner; in the kitty phase each seat sees only its own of those put aside."""
    exchange, waiting, winner = state.exchange, _in_kitty_phase(state), state.auction.bidder
    piles = [
        _face_down("discards", given, seat, viewer)._replace(owner=seat)
        for seat, given in enumerate(exchange.discards)
        if given and (seat == viewer or not waiting)
    ]
    if exchange.kitty or (waiting and viewer != winner):
        piles.append(Pile("kitty", KITTY_CARDS, (), face_down=True))
    if exchange.put_away and (viewer == winner or not waiting):
        piles.append(_face_down("put_away", exchange.put_away, winner, viewer))
    if exchange.stock:
        piles.append(Pile("stock", len(exchange.stock), (), face_down=True))
    return (*piles, *open_piles(taken=state.taken, trick=state.trick))


def _face_down(name: str, cards: tuple[Card, ...], seat: Seat, viewer: Viewer) -> Pile:
    known = tuple(PileCard(value, seat) for value in cards) if seat == viewer else ()
    return Pile(name, len(cards), known, face_down=True)
