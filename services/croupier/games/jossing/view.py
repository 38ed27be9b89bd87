"""What a viewer may know of a table of Jøssing."""

from typing import TYPE_CHECKING

from croupier.games.actions import Bid
from croupier.games.facts import Called, ContractChanged, Mark, Marked, Pile, PileCard, Seat, SeatView, View, Viewer
from croupier.games.hands import cards_in

if TYPE_CHECKING:
    from croupier.games.jossing.state import JossingState


def view(state: "JossingState", viewer: Viewer) -> View:
    """The whole view; before the first deal there is nothing but the seats."""
    section = state.section
    seats = tuple([_seat(state, seat, viewer) for seat in range(state.table.seats)])
    if not section.number:
        return View(0, state.phase, None, seats)
    return View(
        round_number=section.number,
        phase=state.phase,
        dealer=section.dealer,
        seats=seats,
        piles=_piles(state),
        calls=_calls(state, viewer),
        contract=ContractChanged(trump=section.trump),
        marks=tuple([Mark(mark.name, mark.seat, mark.value) for mark in marks(state)]),
        seats_to_act=state.queue[:1] or state.bidders,
        ranking=state.ranking,
    )


def marks(state: "JossingState") -> tuple[Marked, ...]:
    """The marks that stand, by name: the cards per seat of this section, and the sections of the game."""
    return Marked("cards", None, str(state.section.size)), Marked("sections", None, str(state.table.sections))


def _seat(state: "JossingState", seat: Seat, viewer: Viewer) -> SeatView:
    hand = state.hands[seat]
    return SeatView(
        card_count=hand.bit_count(),
        cards=cards_in(hand) if seat == viewer else (),
        score=state.totals[seat],
        tricks_taken=state.won[seat],
    )


def _piles(state: "JossingState") -> tuple[Pile, ...]:
    piles = (
        ("indicator", (PileCard(state.section.indicator, None),)),
        ("taken", state.taken),
        ("trick", state.trick),
    )
    return tuple([Pile(name, len(cards), cards) for name, cards in piles if cards])


def _calls(state: "JossingState", viewer: Viewer) -> tuple[Called, ...]:
    """The bids in the order of their arrival; secret ones are known to their seats only (JOS-BID-4)."""
    secret = state.secret
    return tuple([Called(seat, None if secret and seat != viewer else Bid(said)) for seat, said in state.bids])
