"""The seat to act in Solo, and the refusals for all others."""

from typing import TypeAlias

from croupier.games.facts import Fact, Seat, turns_of
from croupier.games.interface import IllegalAction
from croupier.games.solo.state import SoloState

Transition: TypeAlias = tuple[SoloState, tuple[Fact, ...]]
"""A state and the facts that led to it."""


def turn(state: SoloState, phase: str, seat: Seat, facts: list[Fact]) -> Transition:
    """Let a seat act in a phase, after the facts that led to it."""
    return state._replace(phase=phase, to_act=seat), (*facts, _TURNS[phase][seat])


def not_to_act(state: SoloState, seat: Seat) -> IllegalAction:
    """Return the refusal of an action of a seat that is not to act."""
    rule = _TURN_RULES[state.phase]
    if state.phase == "over":
        return IllegalAction(rule, "the game is over and nobody may act")
    if state.phase == "deal":
        return IllegalAction(rule, "a deal is due, so no hand is in progress and nobody may act")
    return IllegalAction(rule, f"it is not seat {seat} that is to act but seat {state.to_act}")


_TURNS = {phase: turns_of(phase) for phase in ("auction", "wedding", "keep", "name_trump", "call", "play")}
_TURN_RULES = {
    "deal": "SOLO-DEAL-3",
    "auction": "SOLO-BID-1",
    "wedding": "SOLO-WED-2",
    "keep": "SOLO-KEEP-1",
    "name_trump": "SOLO-TRUMP-1",
    "call": "SOLO-CALL-1",
    "play": "SOLO-PLAY-1",
    "over": "SOLO-END-2",
}
