"""An unusable database is reported in one line with its fault."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import URL, text

from croupier.runtime.database import (
    BUSY_TIMEOUT_MILLISECONDS,
    Database,
    blocking_engine,
    check_permissions,
    database_name,
    open_database,
    sqlite_url,
)
from croupier.runtime.permissions import make_private_folder
from croupier.runtime.program import SettingsError
from croupier.runtime.schema_versions import check_schema, migrate, migrate_database
from loadtest.postgres import PostgresServer
from tests.waiting import SettlingLoop, settled


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "mysql://croupier:secret@host/name",
        "postgresql+unheard://croupier:secret@host/name",
        "postgresql://croupier:secret@[::1/name",
        "postgresql://croupier:secret@host:port/name",
        "postgresql://croupier:p@secret@host/name",
        "postgresql://croupier:secret@one,two:port/name",
        "postgresql://croupier:secret@/name?host=one:1,two:2",
    ],
)
def test_an_unsupported_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(SettingsError, match=r"invalid --database \(CROUPIER_DATABASE\)") as refused:
        open_database(url)
    assert "secret" not in f"{refused.value}{refused.value.__cause__}"
    assert "postgresql://user:password@host:port/database" in str(refused.value)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg"])
def test_the_schemes_of_postgresql_mean_the_same(scheme: str) -> None:
    assert open_database(f"{scheme}://croupier@host/name").url == open_database("postgresql://croupier@host/name").url


def test_several_hosts_are_shown_without_the_password() -> None:
    database = open_database("postgresql://croupier:secret@one:1,[::1]/name?sslmode=require")
    assert database_name(database) == "postgresql://croupier:***@/name?host=one%2C%5B%3A%3A1%5D&port=1%2C5432"


SPECIAL = "a b%20?#ø,[x]'\"@:&$;{y}+"


async def test_a_path_with_special_characters_is_that_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / SPECIAL / f"{SPECIAL}.db"
    make_private_folder(file.parent)
    url = sqlite_url(file)
    await migrate_database(url, ["croupier.scoring"])
    database = open_database(url)
    check_permissions(database)
    async with Database(database).writing() as connection:
        await connection.execute(text("INSERT INTO sheets SELECT * FROM sheets"))
    with blocking_engine(database).connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM sheets")).scalar_one() == 0
    await database.dispose()
    assert [found.relative_to(tmp_path) for found in tmp_path.rglob("*.db")] == [file.relative_to(tmp_path)]  # noqa: ASYNC240


@pytest.mark.postgres
async def test_names_and_passwords_with_special_characters_reach_the_server(postgres: PostgresServer) -> None:
    # The driver does not escape a comma in a user's name, as SCRAM demands.
    name = SPECIAL.replace("'", "").replace(",", "")
    quoted = '"' + name.replace('"', '""') + '"'
    postgres.run_sql("postgres", f"CREATE ROLE {quoted} LOGIN PASSWORD '{name}'")
    postgres.run_sql("postgres", f"CREATE DATABASE {quoted} OWNER {quoted}")
    own = URL.create("postgresql", name, name, "127.0.0.1", postgres.port, name).render_as_string(hide_password=False)
    owner = postgres.url(quote(name, safe=""))
    try:
        await migrate_database(owner, ["croupier.scoring"], {"croupier.scoring": name})
        database = open_database(own)
        await check_schema(database, "croupier.scoring")
        async with Database(database).reading() as connection:
            assert (await connection.execute(text("SELECT current_user, current_database()"))).one() == (name, name)
        await database.dispose()
    finally:
        postgres.run_sql("postgres", f"DROP DATABASE {quoted} WITH (FORCE)")
        postgres.run_sql("postgres", f"DROP ROLE {quoted}")


async def connect_to_missing_folder(file: Path) -> None:
    database = open_database(f"sqlite+aiosqlite:///{file.parent / 'missing' / file.name}")
    with pytest.raises(SettingsError, match=r"missing.x\.db cannot be used, unable to open database file"):
        await migrate(database, "croupier.scoring")


async def cancel_connection(file: Path) -> None:
    database = open_database(f"sqlite+aiosqlite:///{file}")
    connecting = asyncio.create_task(database.connect().start())
    await asyncio.sleep(0)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting


@pytest.mark.parametrize("connect", [connect_to_missing_folder, cancel_connection])
def test_a_failed_connection_leaves_no_thread_behind(
    tmp_path: Path, connect: Callable[[Path], Coroutine[Any, Any, None]]
) -> None:
    before = set(threading.enumerate())
    # It is repeated, because a thread that remains may end just in time.
    for _ in range(50):
        asyncio.run(connect(tmp_path / "x.db"))
        assert set(threading.enumerate()) <= before


async def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "text.db"
    file.write_text("no database, " * 1000)
    database = open_database(f"sqlite+aiosqlite:///{file}")
    with pytest.raises(SettingsError, match=r"text\.db cannot be used, file is not a database"):
        await migrate(database, "croupier.scoring")
    await database.dispose()


async def test_transactions_that_write_take_turns_on_sqlite_while_others_read(tmp_path: Path) -> None:
    database, begun = Database(open_database(f"sqlite:///{tmp_path}/x.db")), []

    async def write() -> None:
        async with database.writing() as connection:
            begun.append(True)
            await connection.execute(text("INSERT INTO numbers VALUES (2)"))

    async def count() -> int:
        async with database.reading() as connection:
            return int((await connection.execute(text("SELECT count(*) FROM numbers"))).scalar_one())

    async with database.writing() as connection:
        await connection.execute(text("CREATE TABLE numbers (number INTEGER)"))
    async with database.writing() as connection:
        await connection.execute(text("INSERT INTO numbers VALUES (1)"))
        later = asyncio.create_task(write())
        assert [await count() for _ in range(10)] == [0] * 10
        assert not begun
    await later
    assert await count() == 2
    await database.engine.dispose()


async def test_each_turn_to_write_changes_the_version_of_a_database_that_is_not_shared(tmp_path: Path) -> None:
    shared, own = (Database(open_database(f"sqlite:///{tmp_path}/x.db"), is_shared=each) for each in (True, False))
    versions = [own.version]
    for write in (own.writing, own.turn, own.reading, own.writing_heartbeats):
        async with write():
            assert own.version == versions[-1]
        versions.append(own.version)
    assert versions == [0, 1, 2, 2, 2]
    assert shared.version is None
    await shared.engine.dispose()
    await own.engine.dispose()


async def test_a_write_that_is_cancelled_changes_the_version_also_when_its_commit_must_have_ended() -> None:
    own, now, loop = Database(open_database("sqlite:////unused"), is_shared=False), [0.0], asyncio.get_running_loop()
    assert isinstance(loop, SettlingLoop)
    loop.follow(lambda: now[0])

    async def write() -> None:
        async with own.turn():
            await asyncio.Event().wait()

    writing = asyncio.create_task(write())
    await settled()
    writing.cancel()
    await settled()
    assert own.version == 1
    now[0] = BUSY_TIMEOUT_MILLISECONDS / 1000
    await settled()
    assert own.version == 2
