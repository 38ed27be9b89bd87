"""The view of a table of 101 for each viewer."""

from croupier.games.cards import SUITS, suit_of
from croupier.games.facts import Mark, Pile, Seat, SeatView, View, Viewer
from croupier.games.hands import cards_in
from croupier.games.one_oh_one import scoring
from croupier.games.one_oh_one.effects import PENALTY_NAMES
from croupier.games.one_oh_one.state import OneOhOneState


def view(state: OneOhOneState, viewer: Viewer) -> View:
    """Return the whole view; hands are open once a round has ended (101-VIS-4), the stock never is (101-VIS-3)."""
    progress, piles = state.progress, []
    if state.pile:
        piles.append(Pile("pile", len(state.pile), state.pile))
    if state.stock:
        piles.append(Pile("stock", len(state.stock), (), face_down=True))
    places = scoring.places(state.options.seats, progress.dropped)
    return View(
        round_number=progress.round_number,
        phase=state.phase,
        dealer=None,
        seats=tuple([_seat(state, seat, viewer, places.get(seat)) for seat in range(state.options.seats)]),
        piles=tuple(piles),
        marks=_marks(state),
        seats_to_act=(state.turn,) if state.turn >= 0 else (),
        ranking=scoring.ranking(progress) if progress.reason else (),
    )


def _seat(state: OneOhOneState, seat: Seat, viewer: Viewer, place: int | None) -> SeatView:
    hand = state.hands[seat]
    is_open = seat == viewer or state.phase in ("deal", "over")
    cards = cards_in(hand) if is_open else ()
    return SeatView(hand.bit_count(), cards, state.progress.totals[seat], is_out=place is not None, place=place)


def _marks(state: OneOhOneState) -> tuple[Mark, ...]:
    """Return the marks by name: public values that no other field of a view has (101-VIS-1)."""
    found = []
    if state.covers:
        found.append(Mark("cover", state.turn, SUITS[suit_of(state.pile[-1].card)]))
    if state.ordered is not None:
        found.append(Mark("ordered_suit", None, SUITS[state.ordered]))
    if state.penalized >= 0:
        found.append(Mark("penalty", state.penalized, PENALTY_NAMES[state.pile[-1].card]))
    if state.progress.round_number:
        found.append(Mark("starter", None, str(state.progress.starter)))
    if state.owed:
        found.append(Mark("to_take", state.owed.seat, str(state.owed.card_count)))
    return tuple(found)
