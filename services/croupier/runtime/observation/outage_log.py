"""The log of outages of another program, such as the database: a line for each reason, and one for the end."""

from croupier.runtime.admission.budget import MonotonicClock
from croupier.runtime.observation.logs import Logger

QUIET_NANOSECONDS = 5_000_000_000
"""A success so long after the last failure ends an outage: the calls of a moment both fail and succeed."""
MAX_REASONS = 20
"""Further reasons of one outage are not logged."""


class OutageLog:
    """Logs why calls of a program fail: each reason once, without traceback, until the calls have succeeded again."""

    def __init__(self, program: str, logger: Logger, clock: MonotonicClock) -> None:
        self._program = program
        self._logger = logger
        self._clock = clock
        self._reasons: set[str] = set()
        self._began = self._failed = 0

    def failed(self, reason: str) -> None:
        """Report a call that failed as expected of an outage."""
        self._failed = self._clock()
        if not self._reasons:
            self._began = self._failed
        if reason not in self._reasons and len(self._reasons) < MAX_REASONS:
            self._reasons.add(reason)
            self._logger.warning(f"calls to {self._program} fail", reason=reason)

    def succeeded(self) -> None:
        """Report a call that succeeded."""
        if self._reasons and self._clock() - self._failed >= QUIET_NANOSECONDS:
            seconds = round((self._failed - self._began) / 1e9, 1)
            self._logger.info(f"calls to {self._program} succeed again", failed_for_seconds=seconds)
            self._reasons.clear()
