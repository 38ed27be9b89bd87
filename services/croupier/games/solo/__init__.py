"""Solo: win five tricks with a hidden partner or alone, and do not be left with the Buck. The rules are
docs/rules/solo.md."""

from croupier.games.solo.game import Solo
from croupier.games.solo.state import SoloState

__all__ = ["Solo", "SoloState"]
