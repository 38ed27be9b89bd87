"""Events that a reader has folded and nobody has looked at yet."""

from collections import deque

import grpc

from croupier_client.errors import LimitReached
from croupier_client.table import Event

MOST_UNREAD = 4096
"""Beyond this the oldest events are dropped; whoever never reads events loses nothing by it."""


class Backlog:
    """The unread events of a table, oldest first."""

    def __init__(self, limit: int = MOST_UNREAD) -> None:
        self._events: deque[Event] = deque(maxlen=limit)
        self._dropped = 0

    def __bool__(self) -> bool:
        return bool(self._events)

    def put(self, event: Event | None) -> None:
        """Keep an event, if there is one."""
        if event is not None:
            self._dropped += len(self._events) == self._events.maxlen
            self._events.append(event)

    def take(self) -> Event:
        """The oldest event; raises LimitReached, once, if older ones had to be dropped before."""
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            raise LimitReached(
                grpc.StatusCode.RESOURCE_EXHAUSTED, f"{dropped} events were dropped: read them faster than they come"
            )
        return self._events.popleft()
