"""Positions in the middle of a game of Thulla."""

from functools import partial

from croupier.games.cards import cards, mask_of
from croupier.games.facts import Seat
from croupier.games.interface import OptionValue
from croupier.games.thulla.game import Thulla
from croupier.games.thulla.state import PlayedCard, Progress, ThullaState
from tests.games import positions

THULLA = Thulla()
new = partial(positions.new, "thulla")
"""Return a table before its first deal."""


def position(
    hands: str,
    *,
    leader: Seat = 0,
    out: tuple[Seat, ...] = (),
    stalled: int = 0,
    is_first: bool = False,
    **options: OptionValue,
) -> ThullaState:
    """Return game 1 before a trick, with hands such as "5H 2C | KH | 4D"; all other cards are in the waste.

    Before the first trick they are not in play.
    """
    held = tuple(mask_of(cards(text)) for text in hands.split("|"))
    seats = len(held)
    start: ThullaState = new(seats, **options)
    return start._replace(
        progress=Progress(round_number=1, starter=leader, totals=(0,) * seats),
        hands=held,
        queue=tuple(seat % seats for seat in range(leader, leader + seats) if held[seat % seats]),
        waste=()
        if is_first
        else tuple(PlayedCard(value, 0) for value in start.options.deck if not mask_of((value,)) & sum(held)),
        out=out,
        stalled=stalled,
    )
