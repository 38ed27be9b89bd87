"""Migrations of the engine's database."""

from collections.abc import Callable, Sequence
from random import Random

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection

from croupier.engine.core.log import Entry
from croupier.engine.core.log_codec import encode_body, encode_config
from croupier.engine.storage.schema import METADATA
from croupier.runtime.database import open_database
from croupier.runtime.schema_versions import alembic_config, migrate
from tests.engine.databases import loaded, running, store_on
from tests.engine.play import make_config, whole_log
from tests.migrations import differences, up_to_date


async def test_migrations_create_the_current_schema(empty_url: str) -> None:
    async with up_to_date(empty_url, "croupier.engine") as database, database.connect() as connection:
        assert await connection.run_sync(differences, METADATA, "engine_schema_version") == []
        assert not await migrate(database, "croupier.engine")


FIRST_TABLES = """INSERT INTO tables
    (table_id, status, game, rules_version, config, seed, created_at, reports_due, reports_done)
    VALUES (:table_id, :status, :game, 1, :config, :seed, 5, :due, :done)"""
FIRST_ENTRIES = """INSERT INTO entries (table_id, sequence, at, deadline, body)
    VALUES (:table_id, :sequence, :at, :deadline, :body)"""


def to_the_first_schema(connection: Connection, go: Callable[[Config, str], None]) -> None:
    go(alembic_config(connection, "croupier.engine"), "0001")


async def old_table(connection: AsyncConnection, table_id: str, status: str, log: Sequence[Entry], done: int) -> None:
    """A table in the schema of the first version."""
    config = make_config(table_id=table_id)
    values = {"table_id": table_id, "status": status, "game": config.game, "seed": config.seed}
    reports = {"config": encode_config(config), "due": 2 if log else 0, "done": done}
    await connection.execute(text(FIRST_TABLES), values | reports)
    for entry in log:
        columns = {"sequence": entry.sequence, "at": entry.at, "deadline": entry.deadline}
        await connection.execute(text(FIRST_ENTRIES), {"table_id": table_id, "body": encode_body(entry), **columns})


async def test_tables_of_the_first_version_are_migrated_also_after_a_downgrade(empty_url: str, seed: int) -> None:
    database = open_database(empty_url)
    log = whole_log(make_config(), Random(seed))
    last = log[-1].at
    statuses = {"prepared": "prepared", "new": "open", "open": "open", "unreported": "finished", "finished": "finished"}
    lengths = {"prepared": 0, "new": 1, "open": 7, "unreported": len(log), "finished": len(log)}
    async with database.begin() as connection:
        await connection.run_sync(to_the_first_schema, command.upgrade)
        for table_id, status in statuses.items():
            await old_table(connection, table_id, status, log[: lengths[table_id]], 2 * (table_id == "finished"))
    assert await migrate(database, "croupier.engine")
    async with database.begin() as connection:
        await connection.run_sync(to_the_first_schema, command.downgrade)
        names = await connection.run_sync(lambda its: set(inspect(its).get_table_names()))
        rows = (await connection.execute(text("SELECT count(*) FROM entries"))).scalar_one()
    assert (names, rows) == ({"tables", "entries", "engine_schema_version"}, sum(lengths.values()))
    assert await migrate(database, "croupier.engine")
    async with running(store_on(database)) as store:
        assert await store.statuses(list(statuses)) == statuses
        for table_id, length in lengths.items():
            assert list((await loaded(store, table_id)).entries) == log[:length]
        due = sorted([(log[0].deadline, "new"), (log[6].deadline, "open")])
        assert await store.claim_overdue(due[0][0], last, 10) == []
        for deadline, table_id in due:
            assert await store.claim_overdue(deadline + 1, 2 * last, 10) == [table_id]
        assert set(await store.claim_unreported(last, last, 10)) == {"new", "open", "unreported"}
        assert [await store.compact(before, 10) for before in (last, last + 1)] == [0, 1]
        assert list((await loaded(store, "finished")).entries) == log
        await store.append("open", [log[7]], None)
    await database.dispose()
