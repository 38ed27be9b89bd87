"""Folds of stored logs: the port, and the bounded steps of a fold."""

from collections.abc import AsyncIterator
from itertools import islice
from typing import Generic, Protocol, TypeVar

from croupier.engine.core.log_codec import LogPart, Row, rows_of

Result = TypeVar("Result")
ResultOut = TypeVar("ResultOut", covariant=True)


class LogFold(Protocol[ResultOut]):
    """A pure fold over the log of one table; the fold and its result can be pickled after any row."""

    @property
    def table_id(self) -> str:
        """The id of the table."""

    def add(self, row: Row) -> None:
        """Add the row of the next entry; a row that was added before changes nothing. Raises UnreadableLog."""

    def result(self) -> ResultOut:
        """Return the result of all rows; called once."""


class Folder(Protocol):
    """The port: folds logs without a long step on the event loop."""

    async def fold(self, fold: LogFold[Result], parts: AsyncIterator[LogPart]) -> Result:
        """Return the result of a fold over the parts of a log.

        Raises UnreadableLog, and what `parts` and the fold raise.
        """

    async def close(self) -> None:
        """End all processes."""


class FoldInSteps(Generic[Result]):
    """A fold of rows that are taken over at once and added in bounded steps."""

    def __init__(self, fold: LogFold[Result]) -> None:
        self._fold = fold
        self._waiting: list[Row] = []

    @property
    def table_id(self) -> str:
        """The id of the table."""
        return self._fold.table_id

    def take(self, part: LogPart) -> None:
        """Take over the rows of a part."""
        self._waiting += rows_of(self._fold.table_id, part)

    def step(self, max_rows: int) -> bool:
        """Add the next rows to the fold; return whether others wait."""
        for row in islice(self._waiting, max_rows):
            self._fold.add(row)
        del self._waiting[:max_rows]
        return bool(self._waiting)

    def result(self) -> Result:
        """Return the result of all added rows."""
        return self._fold.result()
