"""The view of a table of Jøssing for each viewer."""

from croupier.games.actions import Bid
from croupier.games.facts import Call, Contract, Mark, Pile, PileCard, Seat, SeatView, View, Viewer
from croupier.games.hands import cards_in
from croupier.games.jossing import scoring
from croupier.games.jossing.state import JossingState


def view(state: JossingState, viewer: Viewer) -> View:
    """Return all that a viewer may know; before the first deal there is nothing but the seats."""
    section = state.section
    seats = tuple([_seat(state, seat, viewer) for seat in range(state.options.seats)])
    if not section.number:
        return View(0, state.phase, None, seats)
    return View(
        round_number=section.number,
        phase=state.phase,
        dealer=section.dealer,
        seats=seats,
        piles=_piles(state),
        calls=_calls(state, viewer),
        contract=Contract(trump=section.trump),
        marks=marks(state),
        seats_to_act=state.queue[:1] or state.bidders,
        ranking=scoring.ranking(state.totals) if state.phase == "over" else (),
    )


def marks(state: JossingState) -> tuple[Mark, ...]:
    """Return the marks by name: the cards per seat of this section, and the sections of the game."""
    return Mark("cards", None, str(state.section.size)), Mark("sections", None, str(state.options.sections))


def _seat(state: JossingState, seat: Seat, viewer: Viewer) -> SeatView:
    hand = state.hands[seat]
    return SeatView(
        card_count=hand.bit_count(),
        cards=cards_in(hand) if seat == viewer else (),
        score=state.totals[seat],
        tricks_taken=state.won[seat],
    )


def _piles(state: JossingState) -> tuple[Pile, ...]:
    piles = (
        ("indicator", (PileCard(state.section.indicator, None),)),
        ("taken", state.taken),
        ("trick", state.trick),
    )
    return tuple([Pile(name, len(cards), cards) for name, cards in piles if cards])


def _calls(state: JossingState, viewer: Viewer) -> tuple[Call, ...]:
    """Return the bids in the order of their arrival; secret ones are known to their seats only (JOS-BID-4)."""
    secret = state.has_secret_bids
    return tuple([Call(seat, None if secret and seat != viewer else Bid(said)) for seat, said in state.bids])
