"""A computer player of 101: it sheds what costs most, hits a neighbour nearly out, and saves queens for the end."""

from typing import NamedTuple

from croupier.games.actions import Action, Draw, Play
from croupier.games.cards import Card, suit_of
from croupier.games.hands import cards_left
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
    seat, options, view, (actions, _) = observation
    plays = [action for action in actions if isinstance(action, Play)]
    if not plays:
        if not actions:
            raise ValueError(f"seat {seat} has nothing to decide")
        return Draw()
    others = [*view.seats[seat + 1 :], *view.seats[:seat]]
    counts = [other.card_count for other in others if not other.is_out]
    table, hand = _KnownTable(options, counts[0], min(counts), len(counts) == 1), view.seats[seat].cards
    return max(plays, key=lambda play: _estimated_gain(table, play, cards_left(hand, (play.card,))))


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
        # The more cards of the ordered suit are left, the better.
        suited = [left for left in rest if suit_of(left) == play.suit and not IS_QUEEN[left]]
        gain += sum(2 + POINTS[left] / 10 for left in suited) - QUEEN_KEPT
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
