"""What a run itself finds wrong, beside what the judge finds in the records afterwards."""

from collections.abc import Callable

from loadtest.judge.violations import Invariant, Violation


class Findings:
    """Keeps violations and stops the run at the first.

    Nothing is raised: what runs at that moment belongs to the services, which would deal with an exception.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self.violations: list[Violation] = []
        self._stop = stop

    def add(self, invariant: Invariant, detail: str, table_id: str = "", sequence: int = 0) -> None:
        """Note that an invariant broke."""
        self.violations.append(Violation(invariant, table_id, sequence, detail))
        self._stop()
