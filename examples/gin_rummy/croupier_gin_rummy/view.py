"""The view of a table of Gin Rummy for each viewer."""

from collections.abc import Iterator

from croupier.games.cards import cards_of_mask
from croupier.games.facts import Mark, Pile, SeatView, View, Viewer
from croupier.games.values import CardsValue, NumberValue, WordValue
from croupier_gin_rummy import scoring
from croupier_gin_rummy.state import MELD_NAMES, NOBODY, SEATS, GinState


def view(state: GinState, viewer: Viewer) -> View:
    """Return all that a viewer may know; hands are open after a knock (GIN-VIS-1 to GIN-VIS-5)."""
    progress = state.progress
    return View(
        round_number=progress.round_number,
        phase=state.phase,
        dealer=None if progress.dealer == NOBODY else progress.dealer,
        seats=tuple(_seat_view(state, seat, viewer) for seat in range(SEATS)),
        piles=tuple(_piles(state)),
        calls=state.calls,
        marks=tuple(_marks(state)),
        seats_to_act=(state.turn,) if state.turn >= 0 else (),
        ranking=scoring.ranking(progress) if progress.reason else (),
    )


def _seat_view(state: GinState, seat: int, viewer: Viewer) -> SeatView:
    hand, is_seen = state.hands[seat], seat == viewer or state.knocker >= 0
    return SeatView(
        hand.bit_count(),
        cards_of_mask(hand) if is_seen else (),
        state.progress.totals[seat],
        known_cards=() if is_seen else cards_of_mask(state.known[seat]),
    )


def _piles(state: GinState) -> Iterator[Pile]:
    """Yield the piles with cards, by name and owner."""
    if state.discards:
        yield Pile("discard", len(state.discards), state.discards)
    for number, name in enumerate(MELD_NAMES):
        for owner, melds in enumerate(state.melds):
            for meld in melds[number : number + 1]:
                yield Pile(name, len(meld), meld, owner)
    if state.stock:
        yield Pile("stock", len(state.stock), (), face_down=True)


def _marks(state: GinState) -> Iterator[Mark]:
    """Yield the marks by name: public values that no other field of a view has."""
    if not state.progress.round_number:
        return
    yield from scoring.box_marks(state.progress.boxes)
    if state.knocker >= 0:
        yield Mark("knock", state.knocker, WordValue(state.knock))
    yield Mark("knock_limit", None, NumberValue(state.limit))
    if state.taken is not None:
        yield Mark("taken", state.turn, CardsValue((state.taken,)))
