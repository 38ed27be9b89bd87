"""One transaction that appends to many logs: the port, and the code that both databases share."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from sqlalchemy import Connection, and_, insert, or_, select, update

from croupier.engine.core.log import TableConfig
from croupier.engine.core.log_codec import encode_config
from croupier.engine.storage.port import TableChange
from croupier.engine.storage.schema import DEADLINES, ENTRIES, TABLES
from croupier.runtime.outcomes import Callback

REPORT_MILLISECONDS = 2_000
"""After this long any engine may claim reports that were not delivered."""

Row: TypeAlias = tuple[str, int, int, int, str, int, int]
"""The columns of an entry, in their order; the last two are the turn after the append."""


class Append(NamedTuple):
    """An append to one log; `at` and `deadline` are those of the last entry, in milliseconds since 1970 UTC."""

    table_id: str
    rows: Sequence[Row]
    at: int
    deadline: int
    change: TableChange | None

    @property
    def head(self) -> int:
        """The last sequence."""
        return self.rows[-1][1]

    @property
    def ends_game(self) -> bool:
        """Whether the game is over."""
        return self.change is not None and self.change.finished


def deadline_rows(appends: Iterable[Append]) -> list[tuple[str, int]]:
    """Return table and deadline of those of these appends that do not end a game."""
    return [(append.table_id, append.deadline) for append in appends if not append.ends_game]


ChangeRow: TypeAlias = tuple[str, str, int, int, int | None]
"""A TableChange by columns: table, status, reports due, when any engine may claim them, and the end of the game."""


def change_rows(appends: Iterable[Append]) -> list[ChangeRow]:
    """Return the changes of the tables of these appends."""
    return [
        (
            append.table_id,
            "finished" if append.ends_game else "open",
            append.change.reports_due,
            append.at + REPORT_MILLISECONDS,
            append.at if append.ends_game else None,
        )
        for append in appends
        if append.change
    ]


class EntryWriter(Protocol):
    """The port: to the logs, and to the deadlines of open tables, which change with them."""

    async def open(self, append: Append, config: TableConfig) -> bool:
        """Open a prepared table with its first entries; return False if it is not prepared any more."""

    def write(self, appends: Sequence[Append], done: Callback[Sequence[int]]) -> None:
        """Begin to store all appends or none, at most one of each table.

        `done` receives nothing if all are durable; the indexes of those that lost a race, if none was stored; or an
        error, by which either may be true: Unavailable while the database is down.
        """

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        """Claim open tables as TableStore.claim_overdue does."""

    async def postpone(self, table_ids: Sequence[str], until: int) -> None:
        """Postpone claims as TableStore.postpone does."""

    def close(self) -> None:
        """Release all resources; the outcome of a write under way is of no interest any more."""


def lost_races(connection: Connection, appends: Sequence[Append], conflict: Exception) -> list[int]:
    """Return the indexes of appends whose first sequence is taken, or whose table was archived.

    Raises `conflict` if there are none, since it is then unexplained.
    """
    first = [(append.table_id, append.rows[0][1]) for append in appends]
    wanted = or_(*(and_(ENTRIES.c.table_id == table_id, ENTRIES.c.sequence == number) for table_id, number in first))
    taken = {tuple(row) for row in connection.execute(select(ENTRIES.c.table_id, ENTRIES.c.sequence).where(wanted))}
    ids = {table_id for table_id, _ in first}
    present = set(connection.execute(select(TABLES.c.table_id).where(TABLES.c.table_id.in_(ids))).scalars())
    losers = [index for index, key in enumerate(first) if key in taken or key[0] not in present]
    if not losers:
        raise conflict
    return losers


def open_table(connection: Connection, append: Append, config: TableConfig) -> bool:
    """Open a prepared table with its first entries; return False if it is not prepared any more."""
    opened = connection.execute(
        update(TABLES)
        .where(TABLES.c.table_id == append.table_id, TABLES.c.status == "prepared")
        .values(status="open", config=encode_config(config), rules_version=config.rules_version, seed=config.seed)
    )
    if opened.rowcount != 1:
        return False
    names = [column.name for column in ENTRIES.columns]
    connection.execute(insert(ENTRIES), [dict(zip(names, row, strict=True)) for row in append.rows])
    return True


def open_with_deadline(connection: Connection, append: Append, config: TableConfig) -> bool:
    """Open a prepared table as `open_table` does, with its row of deadlines."""
    if is_opened := open_table(connection, append, config):
        connection.execute(insert(DEADLINES).values(deadline_rows([append])[0]))
    return is_opened
