"""The log of refused calls: a sample, so that a flood of refusals does not fill it."""

from collections import Counter

from croupier.runtime.admission.budget import Budget, MonotonicClock
from croupier.runtime.errors import ServiceError
from croupier.runtime.observation.logs import Logger

LINES_PER_SECOND, MAX_LINES_AT_ONCE = 1, 10


class RefusalLog:
    """Logs at most MAX_LINES_AT_ONCE refusals at once, and one a second, for each limit and each other reason."""

    def __init__(self, logger: Logger, clock: MonotonicClock) -> None:
        self._logger = logger
        self._budget = Budget("log", LINES_PER_SECOND, MAX_LINES_AT_ONCE, clock)
        self._suppressed: Counter[str] = Counter()

    def add(self, error: ServiceError, network: str) -> None:
        """Log a refused call, with the number of those before it that were not logged, or count it for the next line.

        The network shows whether floods come from one.
        """
        kind = error.limit or error.reason_name
        if self._budget.wait(kind, 1) > 0:
            self._suppressed[kind] += 1
            return
        self._budget.take(kind, 1)
        details = {"limit": error.limit, "network": network, "suppressed": self._suppressed.pop(kind, 0)}
        shown = {name: value for name, value in details.items() if value}
        self._logger.info("call refused", reason=error.reason_name, code=error.code.name, **shown)
