"""A computer player of 101: it sheds what costs most, hits a neighbour nearly out, and saves queens for the end."""

from collections.abc import Sequence
from typing import NamedTuple

from croupier.games.actions import Action, Draw, Play
from croupier.games.cards import Card, Suit, suit_of
from croupier.games.facts import Seat, View
from croupier.games.interface import Observation, OptionValues, RandomSource
from croupier.games.one_oh_one.effects import FITS, IS_QUEEN, IS_SIX, PENALTIES, POINTS, SUITED, SUITED_OR_QUEEN

FINISH = 1000.0
"""Ending the round is better than anything else."""
QUEEN_KEPT = 14.0
"""The worth of a queen in the hand: she fits everywhere, and as the last card she takes points off."""
QUEENS_CAUGHT = 8.0
"""The risk of each queen of several that are left alone."""
TURN_LOST = 9.0
"""Drawing a card instead of shedding one."""
PENALTY_CARD = 3.0
"""Each card that the next player has to take."""
NEARLY_OUT = 2
"""With so many cards or fewer somebody may end the round soon."""


class _KnownTable(NamedTuple):
    """The options, how many cards the next seat and the others have, and whether two play."""

    options: OptionValues
    next_cards: int
    fewest_cards: int
    two_play: bool


def sensible(observation: Observation, randrange: RandomSource) -> Action:  # noqa: ARG001 - the port's signature
    """Play the card that gains most; draw only without a choice. Raises ValueError if nothing is legal."""
    plays = [action for action in observation.legal.actions if isinstance(action, Play)]
    if not plays:
        if not observation.legal.actions:
            raise ValueError(f"seat {observation.seat} has nothing to decide")
        return Draw()
    table, hand = (
        _table(observation.seat, observation.view, observation.options),
        observation.view.seats[observation.seat].cards,
    )
    return max(plays, key=lambda play: _estimated_gain(table, play, _without(hand, play.card)))


def _table(seat: Seat, view: View, options: OptionValues) -> _KnownTable:
    seats = len(view.seats)
    others = [(seat + step) % seats for step in range(1, seats)]
    counts = [view.seats[other].card_count for other in others if not view.seats[other].is_out]
    return _KnownTable(options, counts[0], min(counts), len(counts) == 1)


def _without(hand: Sequence[Card], value: Card) -> list[Card]:
    rest = list(hand)
    rest.remove(value)
    return rest


def _estimated_gain(table: _KnownTable, play: Play, rest: list[Card]) -> float:
    """Return how good a play is, in points; `rest` is the hand after it."""
    value = play.card
    if not rest and (not IS_SIX[value] or table.options["finish_on_six"]):
        return FINISH
    gain = POINTS[value] * (2.0 if table.fewest_cards <= NEARLY_OUT else 1.0)
    if IS_SIX[value]:
        gain += _six_gain(table, value, rest)
    if (cards := PENALTIES[value]) is not None:
        gain += _penalty_gain(table, value, cards, rest)
    if IS_QUEEN[value]:
        gain += _order_gain(play.suit or 0, rest) - QUEEN_KEPT
    if len(rest) > 1 and all(IS_QUEEN[left] for left in rest):
        gain -= QUEENS_CAUGHT * len(rest)
    return gain + sum(suit_of(left) == suit_of(value) for left in rest)


def _six_gain(table: _KnownTable, six: Card, rest: list[Card]) -> float:
    """Return the gain of a six: it takes its cover along, or costs a turn."""
    covering = (SUITED_OR_QUEEN if table.options["queen_covers_six"] else SUITED)[suit_of(six)]
    covers = [left for left in rest if covering >> left & 1]
    plain = [POINTS[left] for left in covers if not IS_QUEEN[left]]
    return max(plain) if plain else -TURN_LOST / 2 if covers else -TURN_LOST


def _penalty_gain(table: _KnownTable, value: Card, cards: int, rest: list[Card]) -> float:
    """Return the gain of a penalty: the next player takes cards and cannot play; between two the turn comes back."""
    gain = PENALTY_CARD * cards + (TURN_LOST if table.next_cards <= NEARLY_OUT else 1.0)
    if table.two_play:
        gain += TURN_LOST if any(FITS[value] >> left & 1 for left in rest) else -TURN_LOST / 2
    return gain


def _order_gain(suit: Suit, rest: list[Card]) -> float:
    """Return the gain of ordering a suit: the more cards of it, the better."""
    return sum(2 + POINTS[left] / 10 for left in rest if suit_of(left) == suit and not IS_QUEEN[left])
