"""Jøssing: say how many tricks you will win, and win exactly so many. The rules are docs/rules/jossing.md."""

from croupier.games.jossing.game import Jossing
from croupier.games.jossing.state import JossingState

__all__ = ["Jossing", "JossingState"]
