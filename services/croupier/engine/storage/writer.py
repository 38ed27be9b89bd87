"""One transaction that appends to many logs: the port, and what both databases share."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from sqlalchemy import Connection, and_, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from croupier.engine.storage.port import TableMark
from croupier.engine.storage.schema import DEADLINES, ENTRIES, TABLES

REPORT_MILLISECONDS = 2_000
"""Reports that the engine which made them has not handed over by then are looked for by all."""

Row: TypeAlias = tuple[str, int, int, int, str]
"""The columns of an entry, in their order."""


class Append(NamedTuple):
    """What goes to one log; `at` and `deadline` are those of the last entry, in milliseconds since 1970 UTC."""

    table_id: str
    rows: Sequence[Row]
    at: int
    deadline: int
    mark: TableMark | None

    @property
    def head(self) -> int:
        """The last sequence."""
        return self.rows[-1][1]

    @property
    def is_last(self) -> bool:
        """Whether the game is over."""
        return self.mark is not None and self.mark.finished


class Mark(NamedTuple):
    """What an append changes about its table: status, reports due and when to look for them, and when it ended."""

    marked_table: str
    status: str
    reports_due: int
    reports_at: int
    finished_at: int | None


def marks_of(appends: Iterable[Append]) -> list[Mark]:
    """The changes of the tables that are appended to."""
    return [
        Mark(
            append.table_id,
            "finished" if append.is_last else "open",
            append.mark.reports_due,
            append.at + REPORT_MILLISECONDS,
            append.at if append.is_last else None,
        )
        for append in appends
        if append.mark
    ]


class EntryWriter(Protocol):
    """The port."""

    async def write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all of it durably and give nothing, or store nothing and give the places of those that came too late.

        There is one append at most of each table. Raises what the database raises.
        """

    async def close(self) -> None:
        """Give back what the writer holds."""


def late(connection: Connection, appends: Sequence[Append], conflict: IntegrityError) -> list[int]:
    """The places of appends whose first sequence is taken, or whose table has gone to the archive.

    Raises the conflict that led here if there are none, since then it is not known why nothing was stored.
    """
    first = [(append.table_id, append.rows[0][1]) for append in appends]
    wanted = or_(*(and_(ENTRIES.c.table_id == table_id, ENTRIES.c.sequence == number) for table_id, number in first))
    taken = {tuple(row) for row in connection.execute(select(ENTRIES.c.table_id, ENTRIES.c.sequence).where(wanted))}
    ids = {table_id for table_id, _ in first}
    present = set(connection.execute(select(TABLES.c.table_id).where(TABLES.c.table_id.in_(ids))).scalars())
    places = [place for place, key in enumerate(first) if key in taken or key[0] not in present]
    if not places:
        raise conflict
    return places


def open_table(connection: Connection, append: Append, config: str) -> bool:
    """Open a prepared table with its first entries; False if it was not prepared any more."""
    opened = connection.execute(
        update(TABLES)
        .where(TABLES.c.table_id == append.table_id, TABLES.c.status == "prepared")
        .values(status="open", config=config)
    )
    if opened.rowcount != 1:
        return False
    names = [column.name for column in ENTRIES.columns]
    connection.execute(insert(ENTRIES), [dict(zip(names, row, strict=True)) for row in append.rows])
    connection.execute(insert(DEADLINES).values(table_id=append.table_id, at=append.deadline))
    return True
