"""The view of a table of Solo for each viewer."""

from croupier.games.actions import CallPartner
from croupier.games.cards import Card, cards_of_mask
from croupier.games.facts import Call, Contract, Mark, SeatView, View, Viewer, open_piles
from croupier.games.solo import scoring
from croupier.games.solo.deck import ORDER, ORDER_WITHOUT_TRUMP
from croupier.games.solo.state import NOBODY, UNKNOWN_CARD, UNSETTLED, SoloState, called_card, out_since


def view(state: SoloState, viewer: Viewer) -> View:
    """Return the whole view; hands stay closed when a hand has ended (SOLO-VIS-1), unless thrown down (SOLO-VIS-5)."""
    totals = state.progress.totals
    card_order: tuple[Card, ...] = ORDER_WITHOUT_TRUMP if any(state.hands) or state.taken else ()
    if state.contract.trump != UNSETTLED:
        card_order = ORDER[state.contract.trump]
    open_seats = (*state.shown_seats, viewer)
    seats = [
        SeatView(
            hand.bit_count(),
            cards_of_mask(hand) if seat in open_seats else (),
            totals[seat],
            state.tricks[seat],
        )
        for seat, hand in enumerate(state.hands)
    ]
    return View(
        round_number=state.progress.hand_number,
        phase=state.phase,
        dealer=_known(state.progress.dealer),
        seats=tuple(seats),
        piles=open_piles(taken=state.taken, trick=state.trick),
        calls=_calls(state, viewer),
        contract=_contract(state, viewer),
        marks=marks(state),
        card_order=card_order,
        seats_to_act=() if state.to_act == NOBODY else (state.to_act,),
        ranking=scoring.ranking(state) if state.phase == "over" else (),
    )


def marks(state: SoloState) -> tuple[Mark, ...]:
    """Return the marks by name: public values that no other field of a view has.

    What is known of an unknown card, clean or dirty, do or through, and the hands in which seats went out.
    """
    contract, found = state.contract, []
    if contract.called != UNSETTLED and state.is_called_unknown:
        found.append(UNKNOWN_CARD if state.partner_hidden else called_card(contract.called))
    if contract.trump != UNSETTLED:
        found += contract.marks(state.through)
    found += [out_since(seat, hand) for seat, hand in enumerate(state.progress.went_out) if hand]
    return tuple(found)


def _calls(state: SoloState, viewer: Viewer) -> tuple[Call, ...]:
    """Return the calls; declarer and holder know which card an unknown one is (SOLO-CALL-4)."""
    contract = state.contract
    if not state.is_called_unknown or viewer not in contract.side:
        return state.calls
    known = Call(contract.declarer, CallPartner(contract.called))
    return tuple([known if call.action == CallPartner(None) else call for call in state.calls])


def _contract(state: SoloState, viewer: Viewer) -> Contract:
    contract = state.contract
    if not contract.stands:
        return Contract()
    amount = None if contract.trump == UNSETTLED else scoring.value(state.options, contract, state.through)
    hidden = state.partner_hidden and state.to_act != NOBODY and viewer != contract.partner
    partner = None if hidden else _known(contract.partner)
    return Contract(contract.declarer, partner, contract.bid, amount, _known(contract.trump))


def _known(value: int) -> int | None:
    return None if value == UNSETTLED else value
