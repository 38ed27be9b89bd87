"""A PostgreSQL server for all tests of this process, with databases that are copied from migrated ones."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from croupier.runtime.schema_versions import migrate_database
from tests.postgres import PostgresServer, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server that answers; a test that stops or holds up one starts its own."""
    with postgres_server() as server:
        yield server


@dataclass(slots=True)
class Databases:
    """Gives new databases of a server; those with the same schema are copies of one, which is quicker."""

    server: PostgresServer
    _templates: dict[tuple[str, ...], str] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def new(self, *packages: str) -> str:
        """The URL of a new database that has the schemas of these services' packages, such as "croupier.lobby"."""
        return self.server.create_database(f"test_{next(self._numbers)}", self._template(packages))

    def _template(self, packages: tuple[str, ...]) -> str:
        if not packages:
            return "template1"
        if packages not in self._templates:
            name = f"template_{len(self._templates)}"
            migrating = migrate_database(self.server.create_database(name), packages)
            # In a thread of its own: where this is asked for, an event loop may run already.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, migrating).result()
            self._templates[packages] = name
        return self._templates[packages]


@pytest.fixture(scope="session")
def databases(postgres: PostgresServer) -> Databases:
    return Databases(postgres)


@pytest.fixture
def new_database(databases: Databases) -> Callable[..., str]:
    """A function that gives the URL of a new database, empty or with the schemas of the packages that are named."""
    return databases.new
