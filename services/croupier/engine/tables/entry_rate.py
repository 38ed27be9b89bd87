"""The rate of entries at one table: a token bucket, so that no table takes an engine from all others."""

from math import ceil
from typing import NamedTuple

from croupier.runtime.errors import LimitReached
from croupier_api.v1 import errors_pb2


class EntryLimit(NamedTuple):
    """So many entries at once, and so many per second in the long run; without a limit for 0 per second."""

    per_second: int
    burst: int


class EntryRate:
    """The token bucket of a table. An entry that is stored always counts, even beyond the limit."""

    def __init__(self, limit: EntryLimit) -> None:
        self._per_second = limit.per_second
        self._milliseconds = 1000 / limit.per_second if limit.per_second else 0.0
        self._burst = limit.burst
        self._full_at = 0.0
        """The time at which the bucket is full, in milliseconds since 1970 UTC."""

    @property
    def next_at(self) -> int:
        """The time from which the next entry is within the limit, in milliseconds since 1970 UTC."""
        return ceil(self._full_at - self._milliseconds * (self._burst - 1)) if self._milliseconds else 0

    def check(self, now: int) -> None:
        """Raise LimitReached if an entry is beyond the limit at this time."""
        if (wait := self.next_at - now) > 0:
            raise LimitReached(
                errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS,
                f"too many entries: expected at most {self._per_second} per second at one table",
                retry_after_seconds=wait / 1000,
                metadata={"limit": "table_changes"},
            )

    def count(self, at: int) -> None:
        """Count an entry that was stored at a time; another engine may have stored it a while ago."""
        self._full_at = max(self._full_at, at) + self._milliseconds
