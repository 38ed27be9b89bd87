"""Solo once more, as the referee reads its page."""

from loadtest.referee.rules.solo.table import SoloTable

__all__ = ["SoloTable"]
