"""Thulla: get rid of all cards; who still holds some at the end loses. The rules are docs/rules/thulla.md."""

from croupier.games.thulla.game import Thulla
from croupier.games.thulla.state import ThullaState

__all__ = ["Thulla", "ThullaState"]
