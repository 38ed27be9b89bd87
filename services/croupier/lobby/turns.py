"""Turns of waiting streams to send: so many messages per tick in all, and each network gets one in turn."""

import asyncio
from collections import OrderedDict
from typing import Protocol

TICK_SECONDS = 0.005
MESSAGES_PER_TICK = 25
"""At most 5,000 messages per second, which cost a fraction of a core with any number of streams."""
MAX_TURN_MESSAGES = 8


class Waiter(Protocol):
    """A stream that waits for its turn."""

    @property
    def network(self) -> str:
        """The network with which the stream shares its turns."""

    def grant(self, max_messages: int) -> int:
        """Let the stream send so many messages; returns how many of them it has to send."""


class Turns:
    """The waiting streams, first in, first out for each network."""

    def __init__(self) -> None:
        # The network whose turn is next is the first.
        self._networks: OrderedDict[str, OrderedDict[Waiter, None]] = OrderedDict()
        self._left = MESSAGES_PER_TICK
        self._is_ticking = False

    def put(self, waiter: Waiter) -> None:
        """Add a stream; `grant` gives it a turn."""
        self._networks.setdefault(waiter.network, OrderedDict())[waiter] = None

    def discard(self, waiter: Waiter) -> None:
        """Remove a stream, if it still waits."""
        waiters = self._networks.get(waiter.network)
        if waiters is not None and waiter in waiters:
            del waiters[waiter]
            if not waiters:
                del self._networks[waiter.network]

    def grant(self) -> None:
        """Give turns until the messages of this tick are used up, and go on in the next ones while streams wait."""
        while self._networks and self._left:
            self._left -= self._take().grant(min(self._left, MAX_TURN_MESSAGES))
        if self._left < MESSAGES_PER_TICK and not self._is_ticking:
            self._is_ticking = True
            asyncio.get_running_loop().call_later(TICK_SECONDS, self._next_tick)

    def _next_tick(self) -> None:
        self._left, self._is_ticking = MESSAGES_PER_TICK, False
        self.grant()

    def _take(self) -> Waiter:
        network, waiters = self._networks.popitem(last=False)
        waiter, _ = waiters.popitem(last=False)
        if waiters:
            self._networks[network] = waiters
        return waiter
