"""Events that a reader has folded and the caller has not read."""

from collections import deque

import grpc

from croupier_client.errors import LimitReached
from croupier_client.table import Event

MAX_UNREAD = 4096
"""The maximum number of unread events. Beyond it the oldest are dropped, which does not affect a caller who never reads
events."""


class Backlog:
    """The unread events of a table, oldest first."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque(maxlen=MAX_UNREAD)
        self._dropped = 0

    def __bool__(self) -> bool:
        return bool(self._events)

    def put(self, event: Event | None) -> None:
        """Keep an event, if there is one."""
        if event is not None:
            self._dropped += len(self._events) == self._events.maxlen
            self._events.append(event)

    def take(self) -> Event:
        """Return the oldest event; raises LimitReached once if older ones were dropped."""
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            raise LimitReached(
                grpc.StatusCode.RESOURCE_EXHAUSTED, f"{dropped} events were dropped: read them faster than they come"
            )
        return self._events.popleft()
