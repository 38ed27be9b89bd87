"""Waiting items of many keys, of which each key gets one in turn; and streams that send by their networks in turn."""

import asyncio
from collections import OrderedDict
from typing import Generic, TypeVar

Item = TypeVar("Item")
TICK_SECONDS = 0.005


class FairQueue(Generic[Item]):
    """Items that wait by key, each of them once; those of a key are first in, first out."""

    def __init__(self) -> None:
        # The key whose turn is next is the first.
        self._waiting: OrderedDict[str, OrderedDict[Item, None]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def count(self, key: str) -> int:
        """Return the number of items of a key."""
        return len(self._waiting.get(key, ()))

    def put(self, key: str, item: Item) -> None:
        """Add an item of a key."""
        self._waiting.setdefault(key, OrderedDict())[item] = None

    def take(self) -> Item:
        """Remove and return the first item of the key whose turn it is; raises KeyError if nothing waits."""
        key, items = self._waiting.popitem(last=False)
        item, _ = items.popitem(last=False)
        if items:
            self._waiting[key] = items
        return item

    def discard(self, key: str, item: Item) -> None:
        """Remove an item of a key, if it still waits."""
        items = self._waiting.get(key)
        if items is not None and item in items:
            del items[item]
            if not items:
                del self._waiting[key]


class SendingLoop:
    """Lets so many waiting streams send a message in a tick, and each network one in turn.

    A stream waits on a future, which is its place in the queue.
    """

    def __init__(self, messages_per_tick: int) -> None:
        self._messages_per_tick = self._left = messages_per_tick
        self._waiting: FairQueue[asyncio.Future[None]] = FairQueue()
        self._is_scheduled = False

    def put(self, network: str, turn: asyncio.Future[None]) -> None:
        """Add the future of a stream, which may be cancelled while it waits."""
        self._waiting.put(network, turn)
        if not self._is_scheduled:
            # Soon and not now: first all streams of the same step are added.
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._is_scheduled = False
        while self._left and self._waiting:
            turn = self._waiting.take()
            if not turn.done():
                turn.set_result(None)
                self._left -= 1
        if not self._left:
            self._left, self._is_scheduled = self._messages_per_tick, True
            asyncio.get_running_loop().call_later(TICK_SECONDS, self._send)
