"""Tables, stored."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, func, insert, literal, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.dml import Insert

from croupier.lobby.schema import TABLES
from croupier.lobby.store import Store, unlocked
from croupier.lobby.tables import ENDED, FREE_SEAT, RUNNING, Seat, Table, TableClock, TableState


class TableStore:
    """Tables by id; every change names the version that it saw, so that of two at the same time one is refused."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add(self, table: Table, hosted_limit: int) -> bool:
        """Store a new table; False if the host has too many that run.

        Raises InviteCodeTaken if another table has the code.
        """
        try:
            async with self._store.writing() as connection:
                await self._store.one_at_a_time(connection, "host", table.host_player_id)
                is_stored = (await connection.execute(_insert_within(table, hosted_limit))).rowcount == 1
                if is_stored:
                    await self._store.tell(connection, table.table_id)
                return is_stored
        except IntegrityError:
            raise InviteCodeTaken from None

    async def hosted(self, player_id: str) -> int:
        """How many tables that run a player hosts."""
        async with self._store.reading() as connection:
            count: int = (await connection.execute(_hosted(player_id))).scalar_one()
            return count

    async def update(self, table: Table) -> bool:
        """Store the next version of a table; False if the stored one is not the version before."""
        statement = (
            update(TABLES)
            .where(TABLES.c.table_id == table.table_id, TABLES.c.version == table.version - 1)
            .values(to_row(table))
        )
        async with self._store.writing() as connection:
            is_stored = (await connection.execute(statement)).rowcount == 1
            if is_stored:
                await self._store.tell(connection, table.table_id)
            return is_stored

    async def table(self, table_id: str) -> Table | None:
        """A table by id."""
        return await self._one(TABLES.c.table_id == table_id)

    async def invited(self, invite_code: str) -> Table | None:
        """A table by invite code."""
        return await self._one(TABLES.c.invite_code == invite_code)

    async def public(
        self, game: str, states: Collection[TableState], before: tuple[int, str] | None, limit: int
    ) -> list[Table]:
        """Public tables, newest first, after (created, table_id) of the page before; `game` empty for all."""
        age, table_id = TABLES.c.created_milliseconds, TABLES.c.table_id
        wanted: list[ColumnElement[bool]] = [TABLES.c.private.is_(False), TABLES.c.state.in_(states)]
        if game:
            wanted.append(TABLES.c.game == game)
        if before:
            wanted.append(or_(age < before[0], and_(age == before[0], table_id < before[1])))
        return await self._many(select(TABLES).where(*wanted).order_by(age.desc(), table_id.desc()).limit(limit))

    async def in_states(
        self, states: Collection[TableState], after: str, limit: int, touched_before: int | None = None
    ) -> list[Table]:
        """Tables in some states by id, from the one after `after` on."""
        wanted = [TABLES.c.state.in_(states), TABLES.c.table_id > after]
        if touched_before is not None:
            wanted.append(TABLES.c.touched_milliseconds < touched_before)
        return await self._many(select(TABLES).where(*wanted).order_by(TABLES.c.table_id).limit(limit))

    async def tables(self, table_ids: Collection[str]) -> list[Table]:
        """Those of some tables that there are."""
        return await self._many(select(TABLES).where(TABLES.c.table_id.in_(table_ids)))

    async def touched_since(self, milliseconds: int, limit: int) -> list[Table]:
        """Tables that were changed at or after a time, the longest ago first."""
        touched = TABLES.c.touched_milliseconds
        return await self._many(select(TABLES).where(touched >= milliseconds).order_by(touched).limit(limit))

    async def count_running(self) -> dict[tuple[str, TableState], int]:
        """How many tables run, by game and state."""
        query = (
            select(TABLES.c.game, TABLES.c.state, func.count())
            .where(TABLES.c.state.in_(RUNNING))
            .group_by(TABLES.c.game, TABLES.c.state)
        )
        async with self._store.reading() as connection:
            return {(game, TableState(state)): count for game, state, count in await connection.execute(query)}

    async def forget_ended(self, touched_before: int) -> None:
        """Remove tables that ended long ago."""
        old = unlocked(TABLES.c.table_id, TABLES.c.state.in_(ENDED), TABLES.c.touched_milliseconds < touched_before)
        async with self._store.writing() as connection:
            await connection.execute(delete(TABLES).where(TABLES.c.table_id.in_(old)))

    async def _one(self, condition: ColumnElement[bool]) -> Table | None:
        found = await self._many(select(TABLES).where(condition))
        return found[0] if found else None

    async def _many(self, query: Any) -> list[Table]:
        async with self._store.reading() as connection:
            return [from_row(row) for row in await connection.execute(query)]


class InviteCodeTaken(Exception):
    """The invite code belongs to another table."""


def _hosted(player_id: str) -> Any:
    return select(func.count()).where(TABLES.c.host_player_id == player_id, TABLES.c.state.in_(RUNNING))


def _insert_within(table: Table, hosted_limit: int) -> Insert:
    row = to_row(table)
    values = [literal(value, TABLES.c[name].type) for name, value in row.items()]
    few = _hosted(table.host_player_id).scalar_subquery() < hosted_limit
    return insert(TABLES).from_select(list(row), select(*values).where(few))


def to_row(table: Table) -> dict[str, Any]:
    """The columns of a table."""
    return {
        "table_id": table.table_id,
        "version": table.version,
        "state": table.state.value,
        "game": table.game,
        "options": dict(table.options),
        "clock": asdict(table.clock),
        "seats": _write_seats(table.seats),
        "host_player_id": table.host_player_id,
        "private": table.private,
        "invite_code": table.invite_code or None,
        "commitment": table.commitment,
        "created_milliseconds": table.created_milliseconds,
        "touched_milliseconds": table.touched_milliseconds,
    }


def from_row(row: Row[Any]) -> Table:
    """The table of its columns; the row may have others too."""
    columns = {name: row._mapping[name] for name in TABLES.c.keys()}  # noqa: SIM118 - a column collection is no mapping
    return Table(
        **columns
        | {
            "state": TableState(columns["state"]),
            "clock": TableClock(**columns["clock"]),
            "seats": tuple(_read_seat(seat) for seat in columns["seats"]),
            "invite_code": columns["invite_code"] or "",
        }
    )


def _write_seats(seats: Sequence[Seat]) -> list[dict[str, Any]]:
    return [{} if seat.free else asdict(seat) | {"client_seed": seat.client_seed.hex()} for seat in seats]


def _read_seat(stored: Mapping[str, Any]) -> Seat:
    return Seat(**{**stored, "client_seed": bytes.fromhex(stored["client_seed"])}) if stored else FREE_SEAT
