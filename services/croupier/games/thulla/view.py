"""The view of a table of Thulla for each viewer."""

from croupier.games.cards import cards_of_mask
from croupier.games.facts import LAID, Mark, PileCard, SeatView, View, Viewer, open_piles
from croupier.games.thulla import scoring
from croupier.games.thulla.state import ThullaState
from croupier.games.values import NumberValue, SeatValue, WordValue


def view(state: ThullaState, viewer: Viewer) -> View:
    """Return all that a viewer may know; hands are open once a round has ended (THU-VIS-1 to -4)."""
    progress = state.progress
    places = {seat: place for place, seat in enumerate(state.out, start=1)}
    are_seen = [seat == viewer or not state.queue for seat in range(len(state.hands))]
    seats = [
        SeatView(
            hand.bit_count(),
            cards_of_mask(hand) if is_seen else (),
            progress.totals[seat],
            is_out=seat in places,
            place=places.get(seat),
            known_cards=() if is_seen else cards_of_mask(known),
        )
        for seat, (hand, known, is_seen) in enumerate(zip(state.hands, state.known, are_seen, strict=True))
    ]
    removed = state.options.removed if progress.round_number else ()
    return View(
        round_number=progress.round_number,
        phase=state.phase,
        dealer=state.options.dealer(progress.round_number) if progress.round_number else None,
        seats=tuple(seats),
        piles=open_piles(
            removed=tuple([PileCard(value, None) for value in removed]),
            trick=tuple([LAID[seat][card] for card, seat in state.trick]),
            waste=tuple([LAID[seat][card] for card, seat in state.waste]),
        ),
        marks=marks(state),
        seats_to_act=state.queue[:1],
        ranking=scoring.ranking(state) if progress.over else (),
    )


def marks(state: ThullaState) -> tuple[Mark, ...]:
    """Return the marks by name: public values that no other field of a view holds.

    They are the option that the cutter picks up (THU-CUT-6), points so far (THU-SCORE-3), the stall counter, the first
    leader, and games won where the scores do not show them.
    """
    options, progress = state.options, state.progress
    found: list[Mark] = []
    if progress.round_number and options.cutter_picks_up:
        found.append(Mark("pickup", None, WordValue("cutter")))
    if options.scoring == "cards_each_out":
        found += _by_seat("points", state.points)
    if state.stalled:
        found.append(Mark("stall", None, NumberValue(state.stalled)))
    if progress.round_number:
        found.append(Mark("starter", None, SeatValue(progress.starter)))
    if options.best_of > 1 and options.scoring != "none":
        found += _by_seat("wins", scoring.wins(progress.orders, options.seats))
    return tuple(found)


def _by_seat(name: str, values: tuple[int, ...]) -> list[Mark]:
    return [Mark(name, seat, NumberValue(value)) for seat, value in enumerate(values) if value]
