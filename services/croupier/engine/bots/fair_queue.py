"""Waiting items of many tables, of which each table gets one in turn."""

from collections import OrderedDict, deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """Items that wait by table, with a maximum for each table and for all; those of a table are first in, first out."""

    def __init__(self, max_items: int, max_table_items: int) -> None:
        self._max_items = max_items
        self._max_table_items = max_table_items
        # The table whose turn is next is the first.
        self._tables: OrderedDict[str, deque[Item]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, table_id: str, item: Item) -> bool:
        """Add an item of a table, and return True; without room return False."""
        if self._count >= self._max_items or len(self._tables.get(table_id, ())) >= self._max_table_items:
            return False
        self._tables.setdefault(table_id, deque()).append(item)
        self._count += 1
        return True

    def take(self) -> Item:
        """Remove and return the first item of the table whose turn it is; raises KeyError if nothing waits."""
        table_id, items = self._tables.popitem(last=False)
        self._count -= 1
        item = items.popleft()
        if items:
            self._tables[table_id] = items
        return item

    def discard(self, table_id: str, item: Item) -> None:
        """Remove an item of a table, if it still waits."""
        items = self._tables.get(table_id)
        if items is None or item not in items:
            return
        items.remove(item)
        self._count -= 1
        if not items:
            del self._tables[table_id]
