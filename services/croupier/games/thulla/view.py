"""What a viewer may know of a table of Thulla."""

from typing import TYPE_CHECKING

from croupier.games.cards import cards_of_mask
from croupier.games.facts import Mark, Marked, Pile, PileCard, Seat, SeatView, View, Viewer
from croupier.games.thulla import scoring

if TYPE_CHECKING:
    from croupier.games.thulla.state import ThullaState


def view(state: "ThullaState", viewer: Viewer) -> View:
    """The whole view; hands are open once a game has ended (THU-VIS-4)."""
    match = state.match
    return View(
        round_number=match.round_number,
        phase=state.phase,
        dealer=state.table.dealer(match.round_number) if match.round_number else None,
        seats=tuple(_seat(state, seat, viewer) for seat in range(state.table.seats)),
        piles=_piles(state),
        marks=tuple(Mark(mark.name, mark.seat, mark.value) for mark in marks(state)),
        seats_to_act=state.queue[:1],
        ranking=state.ranking,
    )


def marks(state: "ThullaState") -> tuple[Marked, ...]:
    """The marks that stand, by name: they are what is public and no other field of a view holds.

    The cutter picks up (THU-CUT-6), points so far (THU-SCORE-3), the stall counter, the first leader, and games won
    where the scores do not tell.
    """
    table, match = state.table, state.match
    found: list[Marked] = []
    if match.round_number and table.cutter_picks_up:
        found.append(Marked("pickup", None, "cutter"))
    if table.scoring == "cards_each_out":
        found += _by_seat("points", state.points)
    if state.stalled:
        found.append(Marked("stall", None, str(state.stalled)))
    if match.round_number:
        found.append(Marked("starter", None, str(match.starter)))
    if table.best_of > 1 and table.scoring != "none":
        found += _by_seat("wins", scoring.wins(match.orders, table.seats))
    return tuple(found)


def _by_seat(name: str, values: tuple[int, ...]) -> list[Marked]:
    return [Marked(name, seat, str(value)) for seat, value in enumerate(values) if value]


def _seat(state: "ThullaState", seat: Seat, viewer: Viewer) -> SeatView:
    hand = state.hands[seat]
    out = seat in state.out
    return SeatView(
        card_count=hand.bit_count(),
        cards=cards_of_mask(hand) if seat == viewer or not state.queue else (),
        score=state.scores[seat],
        out=out,
        place=state.out.index(seat) + 1 if out else 0,
    )


def _piles(state: "ThullaState") -> tuple[Pile, ...]:
    removed = state.table.removed if state.match.round_number else ()
    piles = (
        ("removed", tuple(PileCard(value, None) for value in removed)),
        ("trick", tuple(PileCard(card, seat) for card, seat in state.trick)),
        ("waste", tuple(PileCard(card, seat) for card, seat in state.waste)),
    )
    return tuple(Pile(name, len(cards), cards) for name, cards in piles if cards)
