"""Schemas are migrated once, and a service reports another version with its remedy in one line."""

import asyncio
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import inspect
from structlog.testing import CapturingLogger

from croupier.runtime.database.alembic_migrations import alembic_config
from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.schema_versions import (
    check_durability,
    check_schema,
    known_revisions,
    migrate_database,
)
from croupier.runtime.server.program import DatabaseUnreachable, SettingsError
from croupier_loadtest.postgres import PostgresServer
from tests.databases import execute

PACKAGE = "croupier.scoring"
ALL = ("croupier.lobby", "croupier.engine", "croupier.scoring")


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    database = open_database(url)
    yield database
    await database.close()


async def refusal(url: str, package: str = PACKAGE) -> SettingsError | DatabaseUnreachable:
    """Return the one line with which a service refuses a database, which has no password."""
    async with opened(url) as database:
        with pytest.raises((SettingsError, DatabaseUnreachable)) as refused:
            await check_schema(database, package)
        password = database.url.password
    fault = refused.value
    assert "\n" not in str(fault)
    assert password is None or password not in f"{fault}{fault.__cause__}"
    assert isinstance(fault, SettingsError | DatabaseUnreachable)
    return fault


async def write_version(url: str, version: str) -> None:
    async with opened(url) as database:
        await execute(database, "UPDATE scoring_schema_version SET version_num = :it", {"it": version})


async def test_services_share_a_database(empty_url: str) -> None:
    assert await migrate_database(empty_url, ALL) == ALL
    assert await migrate_database(empty_url, ALL) == ()
    async with opened(empty_url) as database:
        for package in ALL:
            await check_schema(database, package)


@pytest.mark.parametrize("package", ALL)
async def test_the_revisions_are_those_of_alembic(empty_url: str, package: str) -> None:
    async with opened(empty_url) as database:
        config = await database.read(alembic_config, package)
    script = ScriptDirectory.from_config(config)
    known = known_revisions(package)
    assert known == {migration.revision for migration in script.walk_revisions()}
    assert script.get_heads() == [max(known)]


async def test_two_migrations_at_once_migrate_once(new_database: Callable[..., str]) -> None:
    url = new_database()
    done = await asyncio.gather(*(migrate_database(url, ALL) for _ in range(4)))
    assert sorted(package for packages in done for package in packages) == sorted(ALL)


async def test_a_schema_that_is_missing(empty_url: str) -> None:
    assert "the tables of croupier's scoring in the database" in str(await refusal(empty_url))
    assert 'are missing: run "croupier migrate' in str(await refusal(empty_url))
    async with opened(empty_url) as database:
        assert await database.read(lambda connection: inspect(connection).get_table_names()) == []


async def test_a_schema_of_another_version(empty_url: str) -> None:
    await migrate_database(empty_url, [PACKAGE])
    await write_version(empty_url, "0001")
    assert 'are older than this version needs: run "croupier migrate' in str(await refusal(empty_url))
    await write_version(empty_url, "9999")
    assert "newer than this version: use the newer version" in str(await refusal(empty_url))
    with pytest.raises(SettingsError, match="cannot be brought up to date: its tables of croupier's scoring"):
        await migrate_database(empty_url, [PACKAGE])


async def test_the_command_to_run_names_the_service_where_each_has_a_file(
    tmp_path: Path, new_database: Callable[..., str]
) -> None:
    file, shared = f"sqlite:///{tmp_path}/x.db", new_database()
    assert f'run "croupier migrate --service scoring --database {file}"' in str(await refusal(file))
    shown = shared.replace(open_database(shared).url.password or "", "***")
    assert f'run "croupier migrate --database {shlex.quote(shown)}"' in str(await refusal(shared))


async def test_missing_privileges(postgres: PostgresServer, new_database: Callable[..., str]) -> None:
    postgres.run_sql("postgres", "DROP ROLE IF EXISTS low; CREATE ROLE low LOGIN PASSWORD 'sesame'")
    empty, url = new_database(), new_database()
    await migrate_database(url, [PACKAGE])
    low, low_on_empty = (each.replace(f"croupier:{postgres.password}", "low:sesame") for each in (url, empty))
    with pytest.raises(SettingsError, match="permission denied for schema public: grant it to this user"):
        await migrate_database(low_on_empty, [PACKAGE])
    assert "permission denied for table scoring_schema_version: grant it" in str(await refusal(low))
    name = url.rpartition("/")[2]
    postgres.run_sql(name, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO low")
    assert "the user low of the database may not INSERT in the table" in str(await refusal(low))
    postgres.run_sql(name, "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO low")
    async with opened(low) as database:
        await check_schema(database, PACKAGE)


@pytest.mark.parametrize(
    ("part", "other", "expected"),
    [
        ("/test_", "/nowhere_", "there is no such database: create it first"),
        (":{password}@", ":wrong@", "its server refuses this user and password: check both in the URL"),
        ("", "?sslmode=require", "PostgreSQL server"),
        ("", "?nonsense=1", 'unrecognized configuration parameter "nonsense"'),
    ],
)
async def test_a_url_that_is_wrong(
    postgres: PostgresServer, new_database: Callable[..., str], part: str, other: str, expected: str
) -> None:
    url = new_database()
    part = part.replace("{password}", postgres.password)
    assert expected in str(await refusal(url.replace(part, other) if part else url + other))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:1", "its server cannot be reached (connection refused): check host and port"),
        ("nowhere.invalid", "unknown host: check the host in the URL"),
    ],
)
async def test_a_server_that_does_not_exist(host: str, expected: str) -> None:
    refused = await refusal(f"postgresql://croupier:sesame@{host}/croupier")
    assert isinstance(refused, DatabaseUnreachable)
    assert expected in str(refused)


async def test_a_database_that_would_forget_commits(postgres: PostgresServer, new_database: Callable[..., str]) -> None:
    url, logger = new_database(), CapturingLogger()
    async with opened(url) as database:
        await check_durability(database, logger)
    (warning,) = logger.calls
    assert "loses commits if its machine crashes: fsync is off" in warning.args[0]
    postgres.run_sql("postgres", f'ALTER DATABASE "{url.rpartition("/")[2]}" SET synchronous_commit = off')
    async with opened(url) as database:
        with pytest.raises(SettingsError, match=r"synchronous_commit is off\): set it to on"):
            await check_durability(database, logger)
