"""The connections of the writers are replaced after a fault that belongs to them, and an append fails as expected."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from croupier.engine.storage.sql_store import SqlTableStore
from croupier.runtime.database.database import open_database
from croupier.runtime.database.schema_versions import migrate_database
from croupier.runtime.errors import Unavailable
from croupier.runtime.observation.outage_log import OutageLog
from loadtest.postgres import PostgresServer, postgres_server
from tests.databases import copy_database, failed_over
from tests.engine.databases import entry, loaded, opened, running, sequences, store_on
from tests.engine.fakes import RecordingLogger
from tests.waiting import until


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """Start a server whose sessions a test may make read-only."""
    with postgres_server() as server:
        asyncio.run(migrate_database(server.url("postgres"), ["croupier.engine"]))
        yield server


@pytest.fixture
def logger() -> RecordingLogger:
    return RecordingLogger()


@pytest.fixture
async def store(own_server: PostgresServer, logger: RecordingLogger) -> AsyncIterator[SqlTableStore]:
    database = open_database(own_server.url("postgres"), outages=OutageLog("the database", logger, lambda: 0))
    async with running(store_on(database)) as store:
        yield store
    await database.close()


@pytest.mark.postgres
async def test_after_a_failover_appends_go_to_the_new_primary(
    own_server: PostgresServer, store: SqlTableStore, logger: RecordingLogger
) -> None:
    await opened(store)
    await store.append("t1", [entry(2)], None)
    sequence, refused = 2, 0

    async def has_moved() -> bool:
        nonlocal sequence, refused
        try:
            await store.append("t1", [entry(sequence + 1)], None)
        except Unavailable:
            refused += 1
        else:
            sequence += 1
        return refused > 0 and sequence > 3

    with failed_over(own_server):
        await until(has_moved)
    # The connection is replaced after the first failure.
    assert refused == 1
    assert sequences(await loaded(store)) == [*range(1, sequence + 1)]
    assert logger.lines == [
        ("warning", "calls to the database fail", {"reason": "it is read-only: use the URL of the primary"})
    ]


async def test_after_a_failure_sqlite_is_opened_again(migrated_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "engine.db"
    database = open_database(f"sqlite:///{file}")
    async with running(store_on(database)) as store:
        with pytest.raises(Unavailable):
            await store.append("t1", [entry(2)], None)
        # The writer would go on with the file that it had opened, if it kept its connection.
        copy_database(migrated_file, tmp_path / "new.db").replace(file)
        for rest in ("engine.db-wal", "engine.db-shm"):
            (tmp_path / rest).unlink(missing_ok=True)
        await opened(store)
        await store.append("t1", [entry(2)], None)
        assert sequences(await loaded(store)) == [1, 2]
    await database.close()
