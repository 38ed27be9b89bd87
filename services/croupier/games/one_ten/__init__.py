"""110: bid for the right to name trump, and be the first with 110 points. The rules are docs/rules/one_ten.md."""

from croupier.games.one_ten.game import OneTen
from croupier.games.one_ten.state import OneTenState

__all__ = ["OneTen", "OneTenState"]
