"""Solo once more, as the judge reads its page."""

from loadtest.judge.rules.solo.table import SoloTable

__all__ = ["SoloTable"]
