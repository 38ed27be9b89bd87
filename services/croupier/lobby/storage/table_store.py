"""The store of tables."""

from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import asdict, fields, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from croupier.lobby.storage.presence_store import record_seen
from croupier.lobby.storage.schema import SEATS, TABLES
from croupier.lobby.storage.seat_store import (
    TableLimits,
    add_seats,
    check_limits,
    delete_seats,
    free_seats,
    own_tables,
)
from croupier.lobby.storage.store import Store, acquire_advisory_locks, select_unlocked
from croupier.lobby.tables.forming_table import (
    ENDED,
    FREE_SEAT,
    RUNNING,
    Seat,
    Table,
    TableState,
    TimeControl,
    players_of,
    without_player,
)
from croupier.lobby.tables.table_changes import FormingLifetime, seats_due_at
from croupier.runtime.steps import in_steps
from croupier.runtime.table_access import TableAccess, Visibility, WatchPolicy

DECODING_STEP = 25
MAX_DELETED = 1000
MAX_LISTED = 2000
"""Of about 4 KiB each."""
Decoded = TypeVar("Decoded", Seat, TimeControl)


class InviteCodeTaken(Exception):
    """The invite code belongs to another table."""


class TableChanged(Exception):
    """The stored table is not the version that was read."""


class RequestKnown(Exception):
    """A request with the same id of the same player has created a table."""


class CreateRequest(NamedTuple):
    """The id that a player chose for a request to create a table, and the hash of its content."""

    request_id: str
    content_hash: str


class TableStore:
    """Tables by id; an update is conditional on the version that it has read, so of two at once one is refused."""

    def __init__(self, store: Store, limits: TableLimits) -> None:
        self._store = store
        self._limits = limits
        self._listed: OrderedDict[str, Table] = OrderedDict()
        """The tables that were listed last: decoding one costs more than the rest of its place in a list."""

    async def add(
        self, table: Table, previous: tuple[Table, Table] | None = None, request: CreateRequest | None = None
    ) -> None:
        """Store a new table, whose host was seen; with the previous table, as it was read, its next version too.

        Raises LimitReached if host or network have as many tables as allowed, InviteCodeTaken if another table has the
        code, TableChanged if the stored previous table has another version, and RequestKnown if the host's request has
        created a table.
        """
        row = to_row(table)
        if request:
            key = _request_key(table.host_player_id, request.request_id)
            row |= {"request_key": key, "request_hash": request.content_hash}

        def insert_table(connection: sa.Connection) -> None:
            _acquire_seat_locks(connection, table.host_player_id, table.network)
            if previous and not _replace(connection, *previous):
                raise TableChanged
            if request and connection.execute(_BY_REQUEST, {"request_key": row["request_key"]}).one_or_none():
                raise RequestKnown
            connection.execute(_INSERT, row)
            self._take_seat(connection, table, table.host_player_id, table.network)
            record_seen(connection, [(table.table_id, table.host_player_id)], table.created_milliseconds)

        try:
            await self._store.write(insert_table)
        except IntegrityError:
            raise InviteCodeTaken from None
        self._store.notify(table.table_id)
        if previous:
            self._store.notify(table.previous_table_id)

    async def check_limits(self, player_id: str, network: str) -> None:
        """Raise LimitReached unless a player and their network may have one more table."""
        await self._store.read(check_limits, self._limits, player_id, network, network, more=1)

    async def update(self, before: Table, table: Table, player_id: str = "", network: str = "") -> bool:
        """Store the next version of a table; returns False if the stored one is not the version before.

        A player of a network who made the change at a forming table was seen. Raises LimitReached if they take a seat
        and have as many as allowed, and InviteCodeTaken if another table has the code.
        """
        takes_seat = bool(player_id) and before.seat_of(player_id) is None and table.seat_of(player_id) is not None

        def store(connection: sa.Connection) -> bool:
            if takes_seat:
                _acquire_seat_locks(connection, player_id, network)
            if not _replace(connection, before, table):
                return False
            if takes_seat:
                self._take_seat(connection, table, player_id, network)
            if not table.is_running or players_of(before) - players_of(table):
                free_seats(connection, table)
            if player_id and table.state is TableState.FORMING:
                record_seen(connection, [(table.table_id, player_id)], table.updated_milliseconds)
            return True

        try:
            is_stored = await self._store.write(store)
        except IntegrityError:
            raise InviteCodeTaken from None
        if is_stored:
            self._store.notify(table.table_id)
        return is_stored

    def _take_seat(self, connection: sa.Connection, table: Table, player_id: str, network: str) -> None:
        add_seats(connection, table.table_id, {player_id: network})
        check_limits(connection, self._limits, player_id, network, table.network)

    async def get(self, table_id: str) -> Table | None:
        """Return a table, or None."""
        return await self._one(_BY_ID, table_id=table_id)

    async def get_by_request(self, player_id: str, request_id: str) -> tuple[Table, str] | None:
        """Return the table that a request of a player created, with the hash of the request; None if there is none."""
        wanted = {"request_key": _request_key(player_id, request_id)}
        row = await self._store.read(lambda connection: connection.execute(_BY_REQUEST, wanted).one_or_none())
        return (from_row(row), row.request_hash) if row else None

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
            tables[table.table_id] = self._listed[table.table_id] = table
            self._listed.move_to_end(table.table_id)
            if len(self._listed) > MAX_LISTED:
                self._listed.popitem(last=False)
        return [table for table in tables.values() if table is not None]

    async def list_own(
        self, player_id: str, has_ended: bool, before: tuple[int, str] | None, limit: int
    ) -> list[Table]:
        """Return tables that have ended, or have not, at which a player has a seat, as `list_public` does."""
        created, table_id = before or (0, "")
        wanted = {"player_id": player_id, "created": created, "table_id": table_id, "max_rows": limit}
        return await self._many(own_tables(has_ended=has_ended, is_first=before is None), wanted)

    async def ids_of_running(self, player_id: str) -> list[str]:
        """Return the tables that have not ended at which a player has a seat."""
        wanted = {"player_id": player_id}
        return list(await self._store.read(lambda connection: connection.scalars(_RUNNING_OF, wanted).all()))

    async def list_in_states(
        self,
        states: Collection[TableState],
        after: str,
        limit: int,
        updated_before: int | None = None,
    ) -> list[Table]:
        """Return tables in some states, ordered by id, with ids greater than `after`; those updated before a time."""
        conditions = [TABLES.c.state.in_(states), TABLES.c.table_id > after]
        if updated_before is not None:
            conditions.append(TABLES.c.updated_milliseconds < updated_before)
        return await self._many(sa.select(TABLES).where(*conditions).order_by(TABLES.c.table_id).limit(limit))

    async def list_to_close(self, lifetime: FormingLifetime, now: int, limit: int) -> list[Table]:
        """Return forming tables whose time is up."""
        is_public = TABLES.c.visibility == Visibility.PUBLIC
        is_idle = TABLES.c.updated_milliseconds <= now - lifetime.idle_milliseconds
        is_old = TABLES.c.created_milliseconds <= now - lifetime.max_milliseconds
        is_due = sa.or_(is_old, sa.and_(is_public, is_idle))
        return await self._many(sa.select(TABLES).where(TABLES.c.state == TableState.FORMING, is_due).limit(limit))

    async def list_with_due_seats(self, now: int, limit: int) -> list[Table]:
        """Return tables with seats that have fallen free or wait for bots, those first that have had them longest."""
        frees = TABLES.c.frees_milliseconds
        return await self._many(sa.select(TABLES).where(frees <= now).order_by(frees).limit(limit))

    async def list_by_ids(self, table_ids: Collection[str]) -> list[Table]:
        """Return those of some tables that exist."""
        return await self._many(sa.select(TABLES).where(TABLES.c.table_id.in_(table_ids)))

    async def list_of_player(self, player_id: str) -> list[Table]:
        """Return the tables that have not ended at which a player has a seat."""
        seated = sa.select(SEATS.c.table_id).where(
            SEATS.c.player_id == player_id, SEATS.c.created_milliseconds.is_(None)
        )
        return await self._many(sa.select(TABLES).where(TABLES.c.table_id.in_(seated)))

    async def remove_name(self, table_ids: Collection[str], player_id: str) -> None:
        """Remove the name of a deleted player from tables that have ended, which nobody follows."""
        query = sa.select(TABLES).where(TABLES.c.table_id.in_(table_ids), TABLES.c.state.in_(ENDED))
        query = query.order_by(TABLES.c.table_id).with_for_update()

        def remove(connection: sa.Connection) -> None:
            for before in map(from_row, connection.execute(query).all()):
                table = replace(without_player(before, player_id), version=before.version + 1)
                row = {"id_before": table.table_id, "version_before": before.version, **to_row(table)}
                connection.execute(_UPDATE, row)

        await self._store.write(remove)

    async def list_updated_since(self, milliseconds: int, limit: int) -> list[Table]:
        """Return tables that were updated at or after a time, in the order of their updates."""
        updated = TABLES.c.updated_milliseconds
        return await self._many(sa.select(TABLES).where(updated >= milliseconds).order_by(updated).limit(limit))

    async def count_running(self) -> dict[tuple[str, TableState], int]:
        """Return the number of running tables, by game and state."""
        query = (
            sa.select(TABLES.c.game, TABLES.c.state, sa.func.count())
            .where(TABLES.c.state.in_(RUNNING))
            .group_by(TABLES.c.game, TABLES.c.state)
        )
        rows = await self._store.read(lambda connection: connection.execute(query).all())
        return {(game, TableState(state)): count for game, state, count in rows}

    async def delete_ended(self, state: TableState, updated_before: int) -> None:
        """Delete tables that came to this state, FINISHED or CLOSED, before a time; at most MAX_DELETED."""
        is_old = TABLES.c.updated_milliseconds < updated_before
        keys = select_unlocked(TABLES.c.table_id, TABLES.c.state == state, is_old).limit(MAX_DELETED)
        deleted = sa.delete(TABLES).where(TABLES.c.table_id.in_(keys)).returning(TABLES.c.table_id)
        await self._store.write(lambda connection: delete_seats(connection, connection.scalars(deleted).all()))

    async def _one(self, query: sa.Select[Any], **wanted: str) -> Table | None:
        found = await self._many(query, wanted)
        return found[0] if found else None

    async def _many(self, query: sa.Select[Any], wanted: Mapping[str, Any] | None = None) -> list[Table]:
        rows = await self._store.read(lambda connection: connection.execute(query, wanted).all())
        return [from_row(row) async for row in in_steps(rows, DECODING_STEP)]


@cache
def _newest_public(
    states: tuple[TableState, ...], *, is_of_game: bool, is_first: bool
) -> sa.Select[tuple[int, str, int]]:
    """Return the query of a page, with the values as parameters: building it takes longer than its execution."""
    created, table_id = TABLES.c.created_milliseconds, TABLES.c.table_id
    limit = sa.bindparam("max_rows", type_=sa.Integer)
    page = sa.select(created, table_id, TABLES.c.version).where(TABLES.c.visibility == Visibility.PUBLIC)
    if is_of_game:
        page = page.where(TABLES.c.game == sa.bindparam("game"))
    if not is_first:
        before = sa.tuple_(sa.bindparam("created", type_=sa.BigInteger), sa.bindparam("table_id", type_=sa.String))
        page = page.where(sa.tuple_(created, table_id) < before)
    page = page.order_by(created.desc(), table_id.desc()).limit(limit)
    # A page of each state is one range of an index; of all states at once it would be a search.
    pages = (page.where(TABLES.c.state == state).subquery() for state in states)
    keys = sa.union_all(*(sa.select(one) for one in pages)).subquery()
    return sa.select(keys).order_by(keys.c.created_milliseconds.desc(), keys.c.table_id.desc()).limit(limit)


def _replace(connection: sa.Connection, before: Table, table: Table) -> bool:
    """Store the next version of a table in a transaction; returns False if the stored one is not the version before."""
    row = {"id_before": table.table_id, "version_before": before.version, **to_row(table)}
    return connection.execute(_UPDATE, row).rowcount > 0


def _request_key(player_id: str, request_id: str) -> str:
    # The host of a table changes, the player who created it does not.
    return f"{player_id}/{request_id}"


def _acquire_seat_locks(connection: sa.Connection, player_id: str, network: str) -> None:
    networks = [("network", network)] if network else []
    acquire_advisory_locks(connection, ("player", player_id), *networks)


# The statements have their values as parameters: building one takes longer than its execution.
_BY_ID = sa.select(TABLES).where(TABLES.c.table_id == sa.bindparam("table_id"))
_RUNNING_OF = sa.select(SEATS.c.table_id).where(
    SEATS.c.player_id == sa.bindparam("player_id"), SEATS.c.created_milliseconds.is_(None)
)
_BY_INVITE_CODE = sa.select(TABLES).where(TABLES.c.invite_code == sa.bindparam("invite_code"))
_BY_REQUEST = sa.select(TABLES).where(TABLES.c.request_key == sa.bindparam("request_key"))
_INSERT = sa.insert(TABLES)
_UPDATE = sa.update(TABLES).where(
    TABLES.c.table_id == sa.bindparam("id_before"),
    TABLES.c.version == sa.bindparam("version_before"),
)


def to_row(table: Table) -> dict[str, Any]:
    """Return the columns of a table that its changes write."""
    return {
        "table_id": table.table_id,
        "version": table.version,
        "state": table.state.value,
        "game": table.game,
        "rules_version": table.rules_version,
        "options": dict(table.options),
        "time_control": asdict(table.time_control),
        "seats": [
            {} if seat.is_free else asdict(seat) | {"client_seed": seat.client_seed.hex()} for seat in table.seats
        ],
        "teams": table.teams,
        "host_player_id": table.host_player_id,
        "visibility": table.access.visibility.value,
        "watch_policy": table.access.watch_policy.value,
        "watch_delay_seconds": table.access.watch_delay_seconds,
        "removed_players": table.access.removed_players,
        "is_matched": table.access.is_matched,
        "invite_code": table.invite_code or None,
        "network": table.network if table.network and table.is_running else None,
        "seed_commitment": table.seed_commitment,
        "created_milliseconds": table.created_milliseconds,
        "updated_milliseconds": table.updated_milliseconds,
        "changes": dict(table.changes),
        "bots_at_milliseconds": table.bots_at_milliseconds,
        "frees_milliseconds": seats_due_at(table),
        "previous_table_id": table.previous_table_id,
        "next_table_id": table.next_table_id,
        "revision": table.revision,
        "hidden_version": table.hidden_version,
    }


def from_row(row: sa.Row[Any]) -> Table:
    """Return the table of a row, which may have further columns."""
    stored = row._mapping
    columns = {name: stored[name] for name in TABLES.c.keys()}  # noqa: SIM118 - a column collection is no mapping
    for name in ("frees_milliseconds", "request_key", "request_hash"):
        del columns[name]
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
            "time_control": _decode(TimeControl, columns["time_control"]),
            "teams": tuple(map(tuple, columns["teams"])),
            "seats": tuple(_decode_seat(seat) for seat in columns["seats"]),
            "invite_code": columns["invite_code"] or "",
            "network": columns["network"] or "",
        },
    )


def _decode_seat(stored: Mapping[str, Any]) -> Seat:
    if not stored:
        return FREE_SEAT
    return _decode(Seat, {**stored, "client_seed": bytes.fromhex(stored["client_seed"])})


def _decode(kind: type[Decoded], stored: Mapping[str, Any]) -> Decoded:
    """Return a value from its stored fields, without those that only lobbies of later versions know."""
    return kind(**{each.name: stored[each.name] for each in fields(kind) if each.name in stored})
