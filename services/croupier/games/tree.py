"""The tree of a search: its nodes, and comparisons of alternatives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, log, sqrt

from croupier.games.actions import Action

COMPARISON_EXPLORATION = 0.2
"""The weight of the uncertainty about the seat's own alternatives, against gains from -1 to 1."""
TREE_EXPLORATION = 0.7
"""The weight of uncertainty, against rewards from 0 to 1."""
MIN_COMPARISONS = 3
"""An action that was tried at fewer tables is not preferred."""
MIN_VARIANCE = 0.01
"""A lower bound: gains that happen to have been equal so far are not certain."""


@dataclass(slots=True)
class Node:
    """The statistics of an action at its place in the tree; rewards are those of the seat that chose it."""

    visits: int = 0
    available: int = 0
    rewards: float = 0.0
    children: dict[Action, "Node"] = field(default_factory=dict)

    def upper_bound(self) -> float:
        """Return the upper confidence bound of a node that was visited."""
        return self.rewards / self.visits + TREE_EXPLORATION * sqrt(log(self.available) / self.visits)

    def update(self, reward: float) -> None:
        """Count a visit and its reward."""
        self.visits += 1
        self.rewards += reward

    def select(self, actions: Sequence[Action], new: Action | None) -> Action:
        """Return the new action, or else the one with the highest bound; all known children count as available."""
        children = self.children
        if new is not None:
            children[new] = Node()
        for action in actions:
            if action in children:
                children[action].available += 1
        return max(actions, key=lambda action: children[action].upper_bound()) if new is None else new


@dataclass(slots=True)
class Comparison:
    """The gains of an alternative over the proposal at the same tables, one after the other."""

    tables: int = 0
    gains: float = 0.0
    squares: float = 0.0

    def add(self, gain: float) -> None:
        """Count a table."""
        self.tables += 1
        self.gains += gain
        self.squares += gain * gain

    def upper_bound(self, tables: int) -> float:
        """Return the upper confidence bound of the average gain after so many tables in all."""
        return (
            self.gains / self.tables + COMPARISON_EXPLORATION * sqrt(log(tables) / self.tables) if self.tables else inf
        )

    def standard_score(self) -> float:
        """Return the average gain in standard errors."""
        if self.tables < MIN_COMPARISONS:
            return 0.0
        mean = self.gains / self.tables
        variance = max(self.squares / self.tables - mean * mean, MIN_VARIANCE)
        return mean / sqrt(variance / self.tables)
