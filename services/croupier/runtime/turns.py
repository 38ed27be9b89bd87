"""Turns of waiting streams to send: so many messages per tick in all, and each network gets one in turn."""

import asyncio
from collections.abc import Iterable
from itertools import islice
from typing import Protocol

from croupier.runtime.fair_queue import FairQueue

TICK_SECONDS = 0.005
MAX_TURN_MESSAGES = 8
QUEUEING_STEP = 500
"""The streams that one step of the event loop adds to the queues of their networks."""


class Waiter(Protocol):
    """A stream that waits for its turn."""

    @property
    def network(self) -> str:
        """The network with which the stream shares its turns."""

    def grant(self, max_messages: int) -> int:
        """Let the stream send so many messages; returns how many of them it has to send."""


class Turns:
    """The waiting streams, first in, first out for each network, and the messages that they may send per tick."""

    def __init__(self, messages_per_tick: int) -> None:
        self._messages_per_tick = messages_per_tick
        self._waiting: FairQueue[Waiter] = FairQueue()
        # Streams that are in no queue yet. While there are some, a step that adds more of them is to come.
        self._arrived: dict[Waiter, None] = {}
        self._left = messages_per_tick
        self._is_ticking = False

    def put(self, waiters: Iterable[Waiter]) -> None:
        """Add streams; turns are given once all of them are in the queues of their networks."""
        is_queueing = bool(self._arrived)
        self._arrived.update(dict.fromkeys(waiters))
        if not is_queueing:
            self._queue()

    def discard(self, waiter: Waiter) -> None:
        """Remove a stream, if it still waits."""
        self._arrived.pop(waiter, None)
        self._waiting.discard(waiter.network, waiter)

    def _queue(self) -> None:
        for waiter in list(islice(self._arrived, QUEUEING_STEP)):
            del self._arrived[waiter]
            self._waiting.put(waiter.network, waiter)
        if self._arrived:
            asyncio.get_running_loop().call_soon(self._queue)
        else:
            self._grant()

    def _grant(self) -> None:
        """Give turns until the messages of this tick are used up, and go on in the next ones while streams wait."""
        while self._waiting and self._left:
            self._left -= self._waiting.take().grant(min(self._left, MAX_TURN_MESSAGES))
        if self._left < self._messages_per_tick and not self._is_ticking:
            self._is_ticking = True
            asyncio.get_running_loop().call_later(TICK_SECONDS, self._next_tick)

    def _next_tick(self) -> None:
        self._left, self._is_ticking = self._messages_per_tick, False
        if not self._arrived:
            self._grant()
