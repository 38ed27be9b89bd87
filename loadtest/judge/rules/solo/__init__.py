"""Solo once more, as the referee reads its page."""

from loadtest.judge.rules.solo.table import SoloTable

__all__ = ["SoloTable"]
