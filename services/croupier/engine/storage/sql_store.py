"""The store of logs in a database, through SQLAlchemy."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from croupier.engine.core.fold import Turn
from croupier.engine.core.history import PackedLog
from croupier.engine.core.log import Entry, TableConfig
from croupier.engine.core.log_codec import LogPart, decode_config, decode_entry, decode_log, encode_config, row_of
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage import archive
from croupier.engine.storage.claims import claim
from croupier.engine.storage.group_commit import GroupCommit
from croupier.engine.storage.port import NO_TURN, StoredTable, TableChange, TableStatus, TableStore
from croupier.engine.storage.schema import ARCHIVE, ENTRIES, IS_LAST_ENTRY, TABLES
from croupier.engine.storage.writer import Append, EntryWriter
from croupier.runtime.database.database import Database
from croupier.runtime.outcomes import Callback

_ROW = (ENTRIES.c.sequence, ENTRIES.c.at, ENTRIES.c.deadline, ENTRIES.c.body)
_OF_TABLE = sa.bindparam("table_id", type_=sa.String)
# Every refused action needs this statement. It is built once, since that takes as long as its execution.
_LOG_AFTER = (
    sa.select(*_ROW, sa.cast(sa.null(), sa.LargeBinary).label("log"))
    .where(ENTRIES.c.table_id == _OF_TABLE, ENTRIES.c.sequence > sa.bindparam("after", type_=sa.BigInteger))
    .union_all(
        sa.select(*(sa.cast(sa.null(), column.type) for column in _ROW), ARCHIVE.c.log).where(
            ARCHIVE.c.table_id == _OF_TABLE
        )
    )
    .order_by("sequence")
    .limit(sa.bindparam("max_rows", type_=sa.Integer))
)


def append_of(table_id: str, entries: Sequence[Entry], change: TableChange | None, turn: Turn = NO_TURN) -> Append:
    """Return an append as rows."""
    rows = [(table_id, *row_of(entry), *turn) for entry in entries]
    return Append(table_id, rows, entries[-1].at, entries[-1].deadline, change)


class SqlTableStore(TableStore):
    """The store in a database; all methods raise Unavailable while it is down."""

    def __init__(
        self,
        database: Database,
        writer: EntryWriter,
        on_stored: Callable[[Mapping[str, int]], None],
        metrics: EngineMetrics,
    ) -> None:
        """`on_stored` is called after each commit with the last sequences of its tables."""
        self._database = database
        self._writer = writer
        self.commits = GroupCommit(writer, on_stored, metrics)
        """Stores the appends while it runs."""

    def append(
        self, table_id: str, entries: Sequence[Entry], change: TableChange | None, turn: Turn, done: Callback[None]
    ) -> None:
        self.commits.append(append_of(table_id, entries, change, turn), done)

    # Opening

    async def prepare(self, config: TableConfig, at: int, network: str = "") -> TableConfig:
        values = {
            "table_id": config.table_id,
            "status": "prepared",
            "game": config.game,
            "rules_version": config.rules_version,
            "config": encode_config(config),
            "seed": config.seed,
            "created_at": at,
            "network": network or None,
        }
        if stored := await self.find(config.table_id):
            return stored.config
        try:
            await self._database.write(lambda connection: connection.execute(sa.insert(TABLES).values(values)))
        except IntegrityError:
            stored = await self.find(config.table_id)
            return stored.config if stored else config
        return config

    async def open(self, config: TableConfig, entries: Sequence[Entry], turn: Turn = NO_TURN) -> bool:
        return await self._writer.open(append_of(config.table_id, entries, None, turn), config)

    # Reading

    async def find(self, table_id: str) -> StoredTable | None:
        return await self._database.read(_find, table_id)

    async def log_after(self, table_id: str, sequence: int, limit: int) -> LogPart:
        wanted = {"table_id": table_id, "after": sequence, "max_rows": limit}
        found = await self._database.read(lambda connection: connection.execute(_LOG_AFTER, wanted).all())
        return LogPart(
            packed=tuple([log for *_, log in found if log is not None]),
            rows=tuple([(sequence, at, deadline, body) for sequence, at, deadline, body, log in found if log is None]),
        )

    async def entries_beyond(self, heads: Mapping[str, int], limit: int) -> dict[str, tuple[Entry, ...]]:
        return await self._database.read(_entries_beyond, heads, limit) if heads else {}

    async def find_replay(self, table_id: str) -> bytes | None:
        query = sa.select(ARCHIVE.c.replay).where(ARCHIVE.c.table_id == table_id)
        return await self._database.read(lambda connection: connection.scalar(query))

    async def store_replay(self, table_id: str, replay: bytes) -> None:
        change = sa.update(ARCHIVE).where(ARCHIVE.c.table_id == table_id).values(replay=replay)
        await self._database.write(lambda connection: connection.execute(change))

    async def statuses(self, table_ids: Sequence[str]) -> dict[str, TableStatus]:
        return await self._database.read(_statuses, table_ids)

    async def acted_players(self, table_ids: Sequence[str]) -> dict[str, list[str]]:
        return await self._database.read(_acted_players, table_ids)

    async def ended_after(self, position: tuple[int, str], limit: int) -> list[tuple[int, str]]:
        query = _ended_after(*position).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [(row.finished_at, row.table_id) for row in rows]

    async def open_counts(self) -> dict[tuple[str, int], int]:
        rules = TABLES.c.game, TABLES.c.rules_version
        query = sa.select(*rules, sa.func.count().label("open")).where(TABLES.c.status == "open").group_by(*rules)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {(row.game, row.rules_version): row.open for row in rows}

    # Claims and reports

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        return await self._writer.claim_overdue(before, until, limit)

    async def postpone(self, table_ids: Sequence[str], until: int) -> None:
        await self._writer.postpone(table_ids, until)

    async def claim_unreported(self, now: int, until: int, limit: int) -> list[str]:
        is_due = sa.and_(TABLES.c.reports_done < TABLES.c.reports_due, TABLES.c.reports_at < now)
        return await self._database.write(claim, TABLES.c.reports_at, is_due, until, limit)

    async def reports_done(self, table_id: str) -> int:
        query = sa.select(TABLES.c.reports_done).where(TABLES.c.table_id == table_id)
        return await self._database.read(lambda connection: connection.scalar(query)) or 0

    async def set_reports_done(self, table_id: str, count: int) -> None:
        is_more = TABLES.c.reports_done < count
        change = sa.update(TABLES).where(TABLES.c.table_id == table_id, is_more).values(reports_done=count)
        await self._database.write(lambda connection: connection.execute(change))

    # Archive

    async def claim_finished(self, finished_before: int, now: int, until: int, limit: int) -> list[str]:
        is_due = sa.and_(
            TABLES.c.finished_at < finished_before,
            TABLES.c.reports_done >= TABLES.c.reports_due,
            TABLES.c.archive_at < now,
        )
        return await self._database.write(claim, TABLES.c.archive_at, is_due, until, limit)

    async def archive(self, table_id: str, packed: PackedLog) -> None:
        await self._database.write(archive.archive, table_id, packed)

    async def delete_archived(self, finished_before: int, limit: int) -> int:
        return await self._database.write(archive.delete_archived, finished_before, limit)

    async def delete_prepared(self, prepared_before: int, limit: int) -> int:
        return await self._database.write(archive.delete_prepared, prepared_before, limit)

    async def discard_prepared(self, table_ids: Sequence[str]) -> int:
        return await self._database.write(archive.discard_prepared, table_ids)


def _find(connection: sa.Connection, table_id: str) -> StoredTable | None:
    row = connection.execute(sa.select(TABLES).where(TABLES.c.table_id == table_id)).one_or_none()
    if row is not None:
        return StoredTable(row.status, _config(row), row.finished_at, row.network or "")
    kept = (ARCHIVE.c[name] for name in archive.KEPT)
    row = connection.execute(sa.select(*kept).where(ARCHIVE.c.table_id == table_id)).one_or_none()
    return StoredTable("finished", _config(row), row.finished_at) if row else None


def _statuses(connection: sa.Connection, table_ids: Sequence[str]) -> dict[str, TableStatus]:
    archived = sa.select(ARCHIVE.c.table_id).where(ARCHIVE.c.table_id.in_(table_ids))
    found = dict.fromkeys(connection.scalars(archived), TableStatus("finished"))
    query = (
        sa.select(TABLES.c.table_id, TABLES.c.status, ENTRIES.c.deadline, ENTRIES.c.to_act, ENTRIES.c.away)
        .join_from(TABLES, ENTRIES, sa.and_(TABLES.c.status == "open", IS_LAST_ENTRY), isouter=True)
        .where(TABLES.c.table_id.in_(table_ids))
    )
    return found | {
        row.table_id: _status(row.status, row.deadline, row.to_act, row.away) for row in connection.execute(query)
    }


def _status(status: str, deadline: int | None, to_act: int | None, away: int | None) -> TableStatus:
    turn = None if to_act is None or away is None else Turn(to_act, away)
    return TableStatus(status, deadline or 0, turn)


def _acted_players(connection: sa.Connection, table_ids: Sequence[str]) -> dict[str, list[str]]:
    acted = {}
    for rows in (TABLES, ARCHIVE):
        over = rows.c.table_id.in_(table_ids), rows.c.finished_at.is_not(None)
        for row in connection.execute(sa.select(rows).where(*over)).all():
            players = {seat: one.player_id for seat, one in enumerate(_config(row).seats) if not one.bot}
            acted[row.table_id] = [
                player
                for seat, player in players.items()
                if rows is ARCHIVE or _has_acted(connection, row.table_id, seat)
            ]
    return acted


def _has_acted(connection: sa.Connection, table_id: str, seat: int) -> bool:
    # As log_codec.py writes the action of a player, which alone has a request.
    action = f'{{"t":"act","v":_,"seat":{seat},%"request":%'
    entry = sa.exists().where(ENTRIES.c.table_id == table_id, ENTRIES.c.body.like(action))
    return bool(connection.execute(sa.select(sa.literal(1)).where(entry)).scalar())


def _entries_beyond(connection: sa.Connection, heads: Mapping[str, int], limit: int) -> dict[str, tuple[Entry, ...]]:
    found: dict[str, tuple[Entry, ...]] = {}
    rows = connection.execute(_beyond(connection, heads, limit)).all()
    for table_id, mine in groupby(rows, lambda row: row.table_id):
        found[table_id] = tuple(decode_entry(table_id, row.sequence, row.at, row.deadline, row.body) for row in mine)
    rest = heads.keys() - found.keys()
    if rest and len(rows) < limit:
        archived = sa.select(ARCHIVE.c.table_id, ARCHIVE.c.log).where(ARCHIVE.c.table_id.in_(rest))
        for row in connection.execute(archived):
            found[row.table_id] = decode_log(row.table_id, row.log)[heads[row.table_id] :]
    return {table_id: entries for table_id, entries in found.items() if entries}


def _beyond(connection: sa.Connection, heads: Mapping[str, int], limit: int) -> sa.Select[Any]:
    rows = sa.select(ENTRIES.c.table_id, *_ROW)
    if connection.dialect.name == "sqlite":
        beyond = (
            sa.and_(ENTRIES.c.table_id == name, ENTRIES.c.sequence > sequence) for name, sequence in heads.items()
        )
        return rows.where(sa.or_(*beyond)).order_by(ENTRIES.c.table_id, ENTRIES.c.sequence).limit(limit)
    # One statement for any number of tables, so that it is compiled and planned once.
    table_ids = sa.literal(list(heads), sa.ARRAY(sa.Text))
    sequences = sa.literal(list(heads.values()), sa.ARRAY(sa.Integer))
    known = sa.func.unnest(table_ids, sequences).table_valued("table_id", "sequence").render_derived()
    # Not a plain join, for which the planner may read all logs in the order of the result, hoping for its limit.
    is_beyond = sa.and_(ENTRIES.c.table_id == known.c.table_id, ENTRIES.c.sequence > known.c.sequence)
    found = rows.where(is_beyond).order_by(ENTRIES.c.sequence).limit(limit).lateral()
    in_order = sa.select(found).select_from(known.join(found, sa.true()))
    return in_order.order_by(found.c.table_id, found.c.sequence).limit(limit)


def _ended_after(at: int, table_id: str) -> sa.CompoundSelect[Any]:
    parts = [
        sa.select(rows.c.finished_at, rows.c.table_id).where(
            rows.c.finished_at >= at, sa.or_(rows.c.finished_at > at, rows.c.table_id > table_id)
        )
        for rows in (TABLES, ARCHIVE)
    ]
    return sa.union_all(*parts).order_by("finished_at", "table_id")


def _config(row: sa.Row[Any]) -> TableConfig:
    return decode_config(row.table_id, row.game, row.rules_version, row.seed, row.config)
