"""What is wrong with a run: the first invariant that broke."""

from collections.abc import Callable
from typing import NamedTuple


class Violation(NamedTuple):
    """An invariant that broke, by its name, and how."""

    invariant: str
    how: str


class Verdict:
    """Keeps the first violation and stops the run there.

    Nothing is raised: whatever runs at that moment belongs to the services, which would deal with an exception.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self.violation: Violation | None = None
        self._stop = stop

    def fail(self, invariant: str, how: str) -> None:
        """An invariant broke."""
        if self.violation is None:
            self.violation = Violation(invariant, how)
            self._stop()

    def expect(self, holds: bool, invariant: str, *how: object) -> None:
        """Fail unless it holds."""
        if not holds:
            self.fail(invariant, " ".join(map(str, how)))
