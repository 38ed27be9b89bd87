"""Seeds of random tests, resets of shared state, and a PostgreSQL server with databases for each test."""

import asyncio
import itertools
import os
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
import structlog

from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.schema_versions import migrate_database
from croupier_loadtest.postgres import PostgresServer, postgres_server
from tests.databases import copy_database
from tests.waiting import SettlingLoop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], SettlingLoop]]:
    """Return the event loop of asynchronous tests."""
    return {"settling": SettlingLoop}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests that use the server, except for those that request it while they run."""
    for item in items:
        if "postgres" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.postgres)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Return the seed of this test, from CROUPIER_TEST_SEED if set; pytest shows the line when the test fails."""
    given = int(os.environ.get("CROUPIER_TEST_SEED") or secrets.randbelow(1 << 31))
    print(f"repeat with: CROUPIER_TEST_SEED={given} .venv/bin/pytest '{request.node.nodeid}'")
    return given


@pytest.fixture
def logs_as_before() -> Iterator[None]:
    """Restore the logging of the process, which services configure."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Start a shared server; a test that stops or pauses a server starts its own."""
    with postgres_server() as server:
        yield server


CLEAN = """DO $$ BEGIN
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    EXECUTE (SELECT 'TRUNCATE ' || string_agg(quote_ident(tablename), ', ') || ' RESTART IDENTITY'
        FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '%_schema_version');
END $$"""
"""Ends all sessions of a database, and deletes all rows except for the versions of schemas."""


@dataclass(slots=True)
class Databases:
    """Empty databases of a server; those of finished tests are cleaned and reused.

    To create one takes a hundred times as long as to clean one.
    """

    server: PostgresServer
    _free: defaultdict[tuple[str, ...], list[str]] = field(default_factory=lambda: defaultdict(list))
    _made: Iterator[int] = field(default_factory=itertools.count)

    def take(self, packages: tuple[str, ...]) -> str:
        """Return the name of a database with the schemas of these services' packages."""
        if packages and self._free[packages]:
            return self._free[packages].pop()
        name = f"test_{next(self._made)}"
        migrating = migrate_database(self.server.create_database(name), packages)
        # In another thread, since the caller may run in an event loop.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, migrating).result()
        return name

    def release(self, packages: tuple[str, ...], name: str) -> None:
        """Clean a database for reuse, unless it came without schemas."""
        if packages:
            self.server.run_sql(name, CLEAN)
            self._free[packages].append(name)


@pytest.fixture(scope="session")
def databases(postgres: PostgresServer) -> Databases:
    return Databases(postgres)


@pytest.fixture
def new_database(databases: Databases) -> Iterator[Callable[..., str]]:
    """Return a function for the URL of a database, empty or with the schemas of the named packages.

    A test that changes the schema takes an empty one and migrates it.
    """
    taken: list[tuple[tuple[str, ...], str]] = []

    def new(*packages: str) -> str:
        taken.append((packages, databases.take(packages)))
        return databases.server.url(taken[-1][1])

    yield new
    for packages, name in taken:
        databases.release(packages, name)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a new database without tables, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'new.db'}"
    new_database: Callable[..., str] = request.getfixturevalue("new_database")
    return new_database()


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function for a database file with the schema of a service's package.

    It is to be copied, because a migration takes longer than most tests.
    """

    @cache
    def migrated_file(package: str) -> Path:
        file = tmp_path_factory.mktemp(package) / "migrated.db"
        asyncio.run(migrate_database(f"sqlite:///{file}", [package]))
        return file

    return migrated_file


@pytest.fixture
def database_file(migrated: Callable[[str], Path], package: str, tmp_path: Path) -> Path:
    """Return a new SQLite file with the schema of the package under test."""
    return copy_database(migrated(package), tmp_path / "test.db")


@pytest.fixture
def database_url(request: pytest.FixtureRequest, package: str) -> str:
    """Return the URL of a new database with that schema, SQLite unless the test is parametrised."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return f"sqlite:///{request.getfixturevalue('database_file')}"
    url: str = request.getfixturevalue("new_database")(package)
    return url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = open_database(database_url)
    yield database
    await database.close()
