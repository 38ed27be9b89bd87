"""The view of a table of President for each viewer."""

from croupier.games.facts import Mark, Seat, SeatView, View, Viewer, open_piles
from croupier.games.hands import cards_in
from croupier.games.values import WordValue
from croupier_president import scoring
from croupier_president.exchange import given_mark
from croupier_president.state import BY_RANK, PresidentState


def view(state: PresidentState, viewer: Viewer) -> View:
    """Return the whole view; hands are open once a round has ended (PRES-VIS-1 to -4)."""
    progress = state.progress
    return View(
        round_number=progress.round_number,
        phase=state.phase,
        dealer=progress.dealer if progress.round_number else None,
        seats=tuple([_seat_view(state, seat, viewer) for seat in range(state.options.seats)]),
        piles=open_piles(trick=state.trick, waste=state.waste),
        marks=(*_given_marks(state, viewer), *map(passed_mark, sorted(state.passed)), *title_marks(state)),
        card_order=BY_RANK if progress.round_number else (),
        seats_to_act=state.to_act,
        ranking=scoring.ranking(progress) if progress.reason else (),
    )


def _seat_view(state: PresidentState, seat: Seat, viewer: Viewer) -> SeatView:
    hand, is_out = state.hands[seat], seat in state.out
    return SeatView(
        hand.bit_count(),
        cards_in(hand) if seat == viewer or not state.to_act else (),
        state.progress.totals[seat],
        is_out=is_out,
        place=state.out.index(seat) + 1 if is_out else None,
    )


def passed_mark(seat: Seat) -> Mark:
    """Return the mark of a seat whose pass counts."""
    return Mark("passed", seat, WordValue("passed"))


def title_marks(state: PresidentState) -> list[Mark]:
    """Return the titles of the seats from the latest complete round (PRES-TITLE-2)."""
    found = scoring.titles(state.progress.order)
    return [Mark("title", seat, WordValue(name)) for seat, name in found.items()]


def _given_marks(state: PresidentState, viewer: Viewer) -> list[Mark]:
    """Return the cards that were given in the viewer's pair (PRES-VIS-3)."""
    pair = state.pair_of(viewer)
    if pair is None:
        return []
    return [given_mark(seat, state.given[seat]) for seat in sorted(pair[:2]) if state.given[seat]]
