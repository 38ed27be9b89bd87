"""Events in positions of croupier's own games, applied to both implementations of the rules."""

from typing import Any

from croupier.conformance.comparison import ComparedTable
from croupier.games.facts import Fact
from croupier.games.interface import Event, State
from tests.games import dispatch
from tests.games.judge_table import judge_table


def compared(state: State) -> ComparedTable:
    """Return a position by both implementations."""
    return ComparedTable(dispatch.rules(state), state, judge_table(state))


def apply(state: State, event: Event) -> tuple[Any, tuple[Fact, ...]]:
    """Return state and facts after an event, compared with the judge; raises IllegalAction if the engine refuses it."""
    after, facts = compared(state).apply(event)
    return after.state, facts


def rule_against(state: State, event: Event) -> str:
    """Return the rule by which engine and judge refuse an event in a position; "" if both accept it."""
    return compared(state).compare_refusal(event)
