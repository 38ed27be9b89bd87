"""The view of a table of 101 for each viewer."""

from croupier.games.cards import suit_of
from croupier.games.facts import Mark, Pile, SeatView, View, Viewer, open_piles
from croupier.games.hands import cards_in
from croupier.games.one_oh_one import scoring
from croupier.games.one_oh_one.effects import PENALTY_WORDS
from croupier.games.one_oh_one.state import OneOhOneState
from croupier.games.values import NumberValue, SeatValue, SuitValue, WordValue


def view(state: OneOhOneState, viewer: Viewer) -> View:
    """Return the whole view; hands are open once a round has ended (101-VIS-4), the stock never is (101-VIS-3)."""
    progress, phase = state.progress, state.phase
    places, are_open = scoring.places(state.options.seats, progress.dropped), phase in ("deal", "over")
    seats = [
        SeatView(
            hand.bit_count(),
            cards_in(hand) if are_open or seat == viewer else (),
            progress.totals[seat],
            is_out=seat in places,
            place=places.get(seat),
        )
        for seat, hand in enumerate(state.hands)
    ]
    stock = (Pile("stock", len(state.stock), (), face_down=True),) if state.stock else ()
    return View(
        round_number=progress.round_number,
        phase=phase,
        dealer=None,
        seats=tuple(seats),
        piles=(*open_piles(pile=state.pile), *stock),
        marks=_marks(state),
        seats_to_act=(state.turn,) if state.turn >= 0 else (),
        ranking=scoring.ranking(progress) if progress.reason else (),
    )


def _marks(state: OneOhOneState) -> tuple[Mark, ...]:
    """Return the marks by name: public values that no other field of a view has (101-VIS-1)."""
    found = []
    if state.covers:
        found.append(Mark("cover", state.turn, SuitValue(suit_of(state.pile[-1].card))))
    if state.ordered is not None:
        found.append(Mark("ordered_suit", None, SuitValue(state.ordered)))
    if state.penalized >= 0:
        found.append(Mark("penalty", state.penalized, WordValue(PENALTY_WORDS[state.pile[-1].card])))
    if state.progress.round_number:
        found.append(Mark("starter", None, SeatValue(state.progress.starter)))
    if state.owed:
        found.append(Mark("to_take", state.owed.seat, NumberValue(state.owed.card_count)))
    return tuple(found)
