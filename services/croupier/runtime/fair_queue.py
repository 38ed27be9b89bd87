"""Waiting items of many keys, of which each key gets one in turn."""

from collections import OrderedDict
from typing import Generic, TypeVar

Item = TypeVar("Item")


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
