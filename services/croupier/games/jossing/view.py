"""The view of a table of Jøssing for each viewer."""

from croupier.games.actions import Bid
from croupier.games.facts import Call, Contract, Mark, PileCard, SeatView, View, Viewer, open_piles
from croupier.games.hands import cards_in
from croupier.games.jossing import scoring
from croupier.games.jossing.state import JossingState
from croupier.games.values import NumberValue


def view(state: JossingState, viewer: Viewer) -> View:
    """Return all that a viewer may know; before the first deal there is nothing but the seats.

    Bids stand in the order of their arrival; secret ones are known to their seats only (JOS-BID-4).
    """
    section, secret = state.section, state.has_secret_bids
    seats = tuple(
        [
            SeatView(hand.bit_count(), cards_in(hand) if seat == viewer else (), state.totals[seat], state.won[seat])
            for seat, hand in enumerate(state.hands)
        ]
    )
    if not section.number:
        return View(0, state.phase, None, seats)
    return View(
        round_number=section.number,
        phase=state.phase,
        dealer=section.dealer,
        seats=seats,
        piles=open_piles(indicator=(PileCard(section.indicator, None),), taken=state.taken, trick=state.trick),
        calls=tuple([Call(seat, None if secret and seat != viewer else Bid(said)) for seat, said in state.bids]),
        contract=Contract(trump=section.trump),
        marks=marks(state),
        seats_to_act=state.queue[:1] or state.bidders,
        ranking=scoring.ranking(state.totals) if state.phase == "over" else (),
    )


def marks(state: JossingState) -> tuple[Mark, ...]:
    """Return the marks by name: the cards per seat of this section, and the sections of the game."""
    size, sections = NumberValue(state.section.size), NumberValue(state.options.sections)
    return Mark("cards", None, size), Mark("sections", None, sections)
