"""101 (Sto odno): shed your cards before the others do, and stay below 101. The rules are docs/rules/one_oh_one.md."""

from croupier.games.one_oh_one.game import OneOhOne
from croupier.games.one_oh_one.state import OneOhOneState

__all__ = ["OneOhOne", "OneOhOneState"]
