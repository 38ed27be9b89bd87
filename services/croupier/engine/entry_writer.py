"""One transaction that appends to many logs: the port, and what both databases share."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from sqlalchemy import Connection, and_, bindparam, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from croupier.engine.schema import DEADLINES, ENTRIES, TABLES
from croupier.engine.store import TableMark

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


class EntryWriter(Protocol):
    """The port."""

    async def write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all of it durably and give nothing, or store nothing and give the places of those that came too late.

        There is one append at most of each table. Raises what the database raises.
        """

    async def close(self) -> None:
        """Give back what the writer holds."""


_MARK = (
    update(TABLES)
    .where(TABLES.c.table_id == bindparam("marked_table"))
    .values(
        status=bindparam("new_status"),
        reports_due=bindparam("new_due"),
        reports_at=bindparam("new_at"),
        finished_at=bindparam("new_end"),
    )
)


def write_marks(connection: Connection, appends: Iterable[Append]) -> None:
    """Change the tables of appends that say so."""
    marked = [append for append in appends if append.mark]
    if marked:
        connection.execute(_MARK, [_mark_values(append) for append in marked])
    if ended := [append.table_id for append in marked if append.is_last]:
        connection.execute(delete(DEADLINES).where(DEADLINES.c.table_id.in_(ended)))


def _mark_values(append: Append) -> dict[str, Any]:
    is_last = append.is_last
    return {
        "marked_table": append.table_id,
        "new_status": "finished" if is_last else "open",
        "new_due": append.mark.reports_due if append.mark else 0,
        "new_at": append.at + REPORT_MILLISECONDS,
        "new_end": append.at if is_last else None,
    }


def late(connection: Connection, appends: Sequence[Append], conflict: IntegrityError | None) -> list[int]:
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
        raise conflict or RuntimeError("nothing was stored, though every sequence is free")
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
