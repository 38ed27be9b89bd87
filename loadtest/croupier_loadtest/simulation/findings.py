"""The violations that a simulation itself finds, beside those of the judge."""

from collections.abc import Callable

from croupier_loadtest.judge.violations import Invariant, Violation


class Findings:
    """Collects violations that the run itself finds, beside those of the judge, and stops the run at the first.

    It raises nothing, since the calling code belongs to the services, which would handle an exception.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self.violations: list[Violation] = []
        self._stop = stop

    def add(self, invariant: Invariant, detail: str, table_id: str = "", sequence: int = 0) -> None:
        """Add a violation."""
        self.violations.append(Violation(invariant, table_id, sequence, detail))
        self._stop()
