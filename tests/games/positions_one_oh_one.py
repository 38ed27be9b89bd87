"""Positions in the middle of a round of 101."""

from collections.abc import Sequence
from functools import partial

from croupier.games.cards import SUITS, cards, notation
from croupier.games.facts import PileCard, Seat
from croupier.games.hands import hand_of
from croupier.games.interface import OptionValue, resolve_options
from croupier.games.one_oh_one.game import OneOhOne
from croupier.games.one_oh_one.state import OneOhOneOptions, OneOhOneState, Progress, circle
from tests.games import positions

ONE_OH_ONE = OneOhOne()
new = partial(positions.new, "one_oh_one")
"""Return a table before its first deal."""


def position(
    hands: str,
    pile: str = "",
    stock: str = "",
    *,
    turn: Seat = 0,
    ordered: str | None = None,
    covers: bool = False,
    scores: Sequence[int] = (),
    dropped: tuple[tuple[Seat, ...], ...] = (),
    **options: OptionValue,
) -> OneOhOneState:
    """Return round 1, begun by seat 0, with hands such as "8C 9D | KH"; the stock is drawn from the left."""
    held = tuple(hand_of(cards(text)) for text in hands.split("|"))
    seats = len(held)
    return OneOhOneState(
        options=OneOhOneOptions.of(seats, resolve_options(ONE_OH_ONE, seats, options)),
        progress=Progress(1, 0, tuple(scores) or (0,) * seats, circle(seats, dropped), dropped),
        hands=held,
        stock=cards(stock),
        pile=tuple(PileCard(value, 0) for value in cards(pile)),
        turn=turn,
        ordered=None if ordered is None else SUITS.index(ordered),
        covers=covers,
    )


def stock(state: OneOhOneState) -> str:
    return " ".join(notation(state.stock))
