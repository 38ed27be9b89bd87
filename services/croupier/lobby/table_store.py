"""The store of tables."""

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    Row,
    ScalarSelect,
    Select,
    String,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.dml import Insert

from croupier.lobby.presence_store import record_seen
from croupier.lobby.schema import TABLES
from croupier.lobby.store import Store, acquire_advisory_lock, select_unlocked
from croupier.lobby.tables import FREE_SEAT, RUNNING, Seat, Table, TableState, TimeControl
from croupier.runtime.steps import in_steps
from croupier.runtime.table_access import TableAccess, Visibility, WatchPolicy

DECODING_STEP = 25
MAX_DELETED = 1000
MAX_LISTED = 2000
"""Of about 4 KiB each."""


class RunningTables(NamedTuple):
    """Numbers of tables that have not ended: those of one host, and those that players of one network created."""

    of_host: int
    of_network: int


class InviteCodeTaken(Exception):
    """The invite code belongs to another table."""


class TableStore:
    """Tables by id; an update is conditional on the version that it has read, so of two at once one is refused."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listed: OrderedDict[str, Table] = OrderedDict()
        """The tables that were listed last: decoding one costs more than the rest of its place in a list."""

    async def add(self, table: Table, limits: RunningTables) -> RunningTables | None:
        """Store a new table; returns the numbers of running tables instead if one of them has reached its limit.

        Its host was seen. Raises InviteCodeTaken if another table has the code.
        """

        def insert_within(connection: Connection) -> RunningTables | None:
            acquire_advisory_lock(connection, "host", table.host_player_id)
            if table.network:
                acquire_advisory_lock(connection, "network", table.network)
            if connection.execute(_INSERT_WITHIN, _row_within(table, limits)).rowcount == 0:
                return _running_of(connection, table.host_player_id, table.network)
            record_seen(connection, [(table.table_id, table.host_player_id)], table.created_milliseconds)
            return None

        try:
            running = await self._store.write(insert_within)
        except IntegrityError:
            raise InviteCodeTaken from None
        if running is None:
            self._store.notify(table.table_id)
        return running

    async def count_running_of(self, host_player_id: str, network: str) -> RunningTables:
        """Return the numbers of running tables of a host and a network."""
        return await self._store.read(_running_of, host_player_id, network)

    async def update(self, table: Table, player_id: str = "") -> bool:
        """Store the next version of a table; returns False if the stored one is not the version before.

        A player who made the change at a forming table was seen. Raises InviteCodeTaken if another table has its code.
        """
        row = {"id_before": table.table_id, "version_before": table.version - 1, **to_row(table)}

        def store(connection: Connection) -> bool:
            is_stored = connection.execute(_UPDATE, row).rowcount == 1
            if is_stored and player_id and table.state is TableState.FORMING:
                record_seen(connection, [(table.table_id, player_id)], table.updated_milliseconds)
            return is_stored

        try:
            is_stored = await self._store.write(store)
        except IntegrityError:
            raise InviteCodeTaken from None
        if is_stored:
            self._store.notify(table.table_id)
        return is_stored

    async def get(self, table_id: str) -> Table | None:
        """Return a table, or None."""
        return await self._one(_BY_ID, table_id=table_id)

    async def get_by_invite_code(self, invite_code: str) -> Table | None:
        """Return the table with an invite code, or None."""
        return await self._one(_BY_INVITE_CODE, invite_code=invite_code)

    async def list_public(
        self, game: str, states: Collection[TableState], before: tuple[int, str] | None, limit: int
    ) -> list[Table]:
        """Return public tables, newest first, after (created, table_id) of the page before; `game` empty for all."""
        query = _newest_public(tuple(sorted(states)), is_of_game=bool(game), is_first=before is None)
        created, table_id = before or (0, "")
        wanted = {"game": game, "created": created, "table_id": table_id, "max_rows": limit}
        page = await self._store.read(lambda connection: connection.execute(query, wanted).all())
        tables = {row.table_id: self._listed.get(row.table_id) for row in page}
        changed = [
            row.table_id for row in page if (known := tables[row.table_id]) is None or known.version != row.version
        ]
        for table in await self.list_by_ids(changed) if changed else ():
            tables[table.table_id] = table
            self._remember(table)
        return [table for table in tables.values() if table is not None]

    async def list_in_states(
        self,
        states: Collection[TableState],
        after: str,
        limit: int,
        updated_before: int | None = None,
        created_before: int | None = None,
    ) -> list[Table]:
        """Return tables in some states, ordered by id, with ids greater than `after`.

        With times, those that were updated before the one or created before the other.
        """
        conditions = [TABLES.c.state.in_(states), TABLES.c.table_id > after]
        times = ((TABLES.c.updated_milliseconds, updated_before), (TABLES.c.created_milliseconds, created_before))
        if old := [column < before for column, before in times if before is not None]:
            conditions.append(or_(*old))
        return await self._many(select(TABLES).where(*conditions).order_by(TABLES.c.table_id).limit(limit))

    async def list_by_ids(self, table_ids: Collection[str]) -> list[Table]:
        """Return those of some tables that exist."""
        return await self._many(select(TABLES).where(TABLES.c.table_id.in_(table_ids)))

    async def list_updated_since(self, milliseconds: int, limit: int) -> list[Table]:
        """Return tables that were updated at or after a time, in the order of their updates."""
        updated = TABLES.c.updated_milliseconds
        return await self._many(select(TABLES).where(updated >= milliseconds).order_by(updated).limit(limit))

    async def count_running(self) -> dict[tuple[str, TableState], int]:
        """Return the number of running tables, by game and state."""
        query = (
            select(TABLES.c.game, TABLES.c.state, func.count())
            .where(TABLES.c.state.in_(RUNNING))
            .group_by(TABLES.c.game, TABLES.c.state)
        )
        rows = await self._store.read(lambda connection: connection.execute(query).all())
        return {(game, TableState(state)): count for game, state, count in rows}

    async def delete_ended(self, state: TableState, updated_before: int) -> None:
        """Delete tables that came to this state, FINISHED or CLOSED, before a time; at most MAX_DELETED."""
        is_old = TABLES.c.updated_milliseconds < updated_before
        keys = select_unlocked(TABLES.c.table_id, TABLES.c.state == state, is_old).limit(MAX_DELETED)
        deleted = delete(TABLES).where(TABLES.c.table_id.in_(keys))
        await self._store.write(lambda connection: connection.execute(deleted))

    def _remember(self, table: Table) -> None:
        self._listed[table.table_id] = table
        self._listed.move_to_end(table.table_id)
        if len(self._listed) > MAX_LISTED:
            self._listed.popitem(last=False)

    async def _one(self, query: Select[Any], **wanted: str) -> Table | None:
        found = await self._many(query, wanted)
        return found[0] if found else None

    async def _many(self, query: Select[Any], wanted: Mapping[str, str] | None = None) -> list[Table]:
        rows = await self._store.read(lambda connection: connection.execute(query, wanted).all())
        return [from_row(row) async for row in in_steps(rows, DECODING_STEP)]


@cache
def _newest_public(states: tuple[TableState, ...], *, is_of_game: bool, is_first: bool) -> Select[tuple[int, str, int]]:
    """Return the query of a page, with the values as parameters: building it takes longer than its execution."""
    created, table_id = TABLES.c.created_milliseconds, TABLES.c.table_id
    limit = bindparam("max_rows", type_=Integer)
    page = select(created, table_id, TABLES.c.version).where(TABLES.c.visibility == Visibility.PUBLIC)
    if is_of_game:
        page = page.where(TABLES.c.game == bindparam("game", type_=String))
    if not is_first:
        before = tuple_(bindparam("created", type_=BigInteger), bindparam("table_id", type_=String))
        page = page.where(tuple_(created, table_id) < before)
    page = page.order_by(created.desc(), table_id.desc()).limit(limit)
    # A page of each state is one range of an index; of all states at once it would be a search.
    pages = (page.where(TABLES.c.state == state).subquery() for state in states)
    keys = union_all(*(select(one) for one in pages)).subquery()
    return select(keys).order_by(keys.c.created_milliseconds.desc(), keys.c.table_id.desc()).limit(limit)


def _counts() -> tuple[ScalarSelect[int], ScalarSelect[int]]:
    """Return the queries of the numbers of RunningTables; ended tables have no network."""
    is_hosted = (TABLES.c.host_player_id == bindparam("of_host", type_=String)) & TABLES.c.state.in_(RUNNING)
    return (
        select(func.count()).where(is_hosted).scalar_subquery(),
        select(func.count()).where(TABLES.c.network == bindparam("of_network", type_=String)).scalar_subquery(),
    )


def _running_of(connection: Connection, host_player_id: str, network: str) -> RunningTables:
    counts = connection.execute(_COUNTS, {"of_host": host_player_id, "of_network": network})
    return RunningTables(*counts.one())


def _insert_within() -> Insert:
    values = [bindparam(column.name, type_=column.type) for column in TABLES.c]
    limits = (bindparam("max_of_host", type_=Integer), bindparam("max_of_network", type_=Integer))
    is_within = [count < limit for count, limit in zip(_counts(), limits, strict=True)]
    return insert(TABLES).from_select(list(TABLES.c), select(*values).where(*is_within))


def _row_within(table: Table, limits: RunningTables) -> dict[str, Any]:
    return to_row(table) | {
        "of_host": table.host_player_id,
        "of_network": table.network,
        "max_of_host": limits.of_host,
        "max_of_network": limits.of_network,
    }


# The statements have their values as parameters: building one takes longer than its execution.
_BY_ID = select(TABLES).where(TABLES.c.table_id == bindparam("table_id", type_=String))
_BY_INVITE_CODE = select(TABLES).where(TABLES.c.invite_code == bindparam("invite_code", type_=String))
_COUNTS = select(*_counts())
_INSERT_WITHIN = _insert_within()
_UPDATE = update(TABLES).where(
    TABLES.c.table_id == bindparam("id_before", type_=String),
    TABLES.c.version == bindparam("version_before", type_=Integer),
)


def to_row(table: Table) -> dict[str, Any]:
    """Return the columns of a table."""
    return {
        "table_id": table.table_id,
        "version": table.version,
        "state": table.state.value,
        "game": table.game,
        "rules_version": table.rules_version,
        "options": dict(table.options),
        "time_control": asdict(table.time_control),
        "seats": _encode_seats(table.seats),
        "teams": table.teams,
        "host_player_id": table.host_player_id,
        "visibility": table.access.visibility.value,
        "watch_policy": table.access.watch_policy.value,
        "watch_delay_seconds": table.access.watch_delay_seconds,
        "removed_players": table.access.removed_players,
        "is_matched": table.access.is_matched,
        "invite_code": table.invite_code or None,
        "network": table.network if table.network and table.state in RUNNING else None,
        "seed_commitment": table.seed_commitment,
        "created_milliseconds": table.created_milliseconds,
        "updated_milliseconds": table.updated_milliseconds,
    }


def from_row(row: Row[Any]) -> Table:
    """Return the table of a row, which may have further columns."""
    stored = row._mapping
    columns = {name: stored[name] for name in TABLES.c.keys()}  # noqa: SIM118 - a column collection is no mapping
    access = TableAccess(
        Visibility(columns.pop("visibility")),
        WatchPolicy(columns.pop("watch_policy")),
        columns.pop("watch_delay_seconds"),
        tuple(columns.pop("removed_players")),
        columns.pop("is_matched"),
    )
    return Table(
        access=access,
        **columns
        | {
            "state": TableState(columns["state"]),
            "time_control": TimeControl(**columns["time_control"]),
            "teams": tuple(map(tuple, columns["teams"])),
            "seats": tuple(_decode_seat(seat) for seat in columns["seats"]),
            "invite_code": columns["invite_code"] or "",
            "network": columns["network"] or "",
        },
    )


def _encode_seats(seats: Sequence[Seat]) -> list[dict[str, Any]]:
    return [{} if seat.is_free else asdict(seat) | {"client_seed": seat.client_seed.hex()} for seat in seats]


def _decode_seat(stored: Mapping[str, Any]) -> Seat:
    return Seat(**{**stored, "client_seed": bytes.fromhex(stored["client_seed"])}) if stored else FREE_SEAT
