"""Values, totals, who is out and the ranking of Solo, as pure functions."""

from croupier.games.facts import Ranking, Seat
from croupier.games.solo.state import SEATS, SoloContract, SoloOptions, SoloState

OUT = 36
"""The score with which a seat is out (SOLO-END-1)."""

Totals = tuple[int, ...]


def value(options: SoloOptions, contract: SoloContract, through: bool, made: bool = True) -> int:
    """Return the points that each seat of the winning side gets (SOLO-SCORE-1, SOLO-SCORE-2, SOLO-SCORE-4)."""
    base = contract.kind.value * (2 if contract.is_clean else 1)
    if not made and not options.fails_with_factor:
        return base
    # A do counts, or else a through, never both.
    return base * (options.do_factor if contract.do else options.through_factor if through else 1)


def settled(options: SoloOptions, totals: Totals, scorers: tuple[Seat, ...], value: int) -> Totals | None:
    """Return the totals after a hand, None if it is void (SOLO-SCORE-3, SOLO-SCORE-5, SOLO-LAST-3)."""
    after = tuple([min(OUT, total + value) if seat in scorers else total for seat, total in enumerate(totals)])
    if min(after) < OUT:
        return after
    lowest = min(totals)
    if not options.lowest_gets_buck or totals.count(lowest) > 1:
        return None
    return tuple([lowest if total == lowest else OUT for total in totals])


def remaining(totals: Totals) -> tuple[Seat, ...]:
    """Return the seats that are not out."""
    return tuple([seat for seat, total in enumerate(totals) if total < OUT])


def buck(totals: Totals) -> Seat | None:
    """Return the one seat that is not out, if only one is left (SOLO-END-2)."""
    last = remaining(totals)
    return last[0] if len(last) == 1 else None


def last_two(options: SoloOptions, totals: Totals, side: tuple[Seat, ...]) -> bool:
    """Return whether a call makes a hand of the last two that may not be played (SOLO-LAST-1, SOLO-LAST-2)."""
    last, others = remaining(totals), tuple([seat for seat in range(SEATS) if seat not in side])
    return last == side or (options.either_pair and last == others)


def ranking(state: SoloState) -> Ranking:
    """Return groups of seats, best first: those that are out, then the others, at the end the Buck (SOLO-END-4, -6)."""
    totals, went_out = state.progress.totals, state.progress.went_out
    last = remaining(totals)
    safe = tuple([seat for seat in range(SEATS) if seat not in last])
    if not state.options.out_order:
        return safe, last
    groups = (tuple(seat for seat in safe if went_out[seat] == hand) for hand in sorted({went_out[s] for s in safe}))
    return *groups, last
