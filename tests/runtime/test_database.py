"""An unusable database is reported in one line, and each fault has a message of its own."""

import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncpg
import pytest
from sqlalchemy import URL, Connection, make_url

from croupier.runtime.database.database import (
    TRANSACTION_SECONDS,
    Database,
    check_permissions,
    database_name,
    open_database,
    sole_use,
    sqlite_url,
)
from croupier.runtime.database.faults import describe, ends_session, is_transient, is_unreachable
from croupier.runtime.database.schema_versions import check_schema, migrate, migrate_database
from croupier.runtime.errors import Unavailable
from croupier.runtime.identity.permissions import make_private_folder
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.server.program import SettingsError
from croupier_loadtest.postgres import PostgresServer
from tests.databases import execute
from tests.engine.fakes import RecordingLogger
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
        "postgresql://croupier:secret@one:1,two:2x/name",
        "postgresql://croupier:secret@one,,two/name",
        "postgresql://croupier:1,secret/@one@two/name",
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


@pytest.mark.parametrize(
    ("hosts", "shown"),
    [
        ("croupier:secret@one:1,[::1]", "croupier:***@/name?host=one%2C%5B%3A%3A1%5D&port=1%2C5432"),
        ("croupier@[::1]:2,two", "croupier@/name?host=%5B%3A%3A1%5D%2Ctwo&port=2%2C5432"),
        ("one,two:2", "/name?host=one%2Ctwo&port=5432%2C2"),
    ],
)
def test_several_hosts_are_shown_without_the_password(hosts: str, shown: str) -> None:
    assert database_name(open_database(f"postgresql://{hosts}/name?sslmode=require")) == f"postgresql://{shown}"


SPECIAL = "a b%20?#ø,[x]'\"@:&$;{y}+"


async def test_a_path_with_special_characters_is_that_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / SPECIAL / f"{SPECIAL}.db"
    make_private_folder(file.parent)
    url = sqlite_url(file)
    await migrate_database(url, ["croupier.scoring"])
    database = open_database(url)
    check_permissions(database)
    await execute(database, "INSERT INTO sheets SELECT * FROM sheets")
    await database.close()
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
        assert await execute(database, "SELECT current_user, current_database()") == [(name, name)]
        await database.close()
    finally:
        postgres.run_sql("postgres", f"DROP DATABASE {quoted} WITH (FORCE)")
        postgres.run_sql("postgres", f"DROP ROLE {quoted}")


def test_one_process_at_a_time_has_the_sole_use_of_a_file(tmp_path: Path) -> None:
    file, other_name = tmp_path / "own.db", tmp_path / "link.db"
    file.touch()
    other_name.symlink_to(file)
    for name in (file, other_name):
        with sole_use(open_database(sqlite_url(file))):
            used = f"another process uses the database {file}: stop it"
            with pytest.raises(SettingsError, match=re.escape(used)), sole_use(open_database(sqlite_url(name))):
                pass
    with pytest.raises(ValueError), sole_use(open_database(sqlite_url(file))):  # noqa: PT011 - it is ours
        raise ValueError
    with sole_use(open_database(sqlite_url(other_name))), sole_use(open_database(sqlite_url(tmp_path / "new.db"))):
        assert file.with_name("own.db-lock").stat().st_mode & 0o777 == 0o600
    nowhere, expected = (
        open_database(sqlite_url(tmp_path / "nowhere" / "own.db")),
        r"\(no such file or directory\): check",
    )
    with pytest.raises(SettingsError, match=expected), sole_use(nowhere):
        pass


async def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "text.db"
    file.write_text("no database, " * 1000)
    database = open_database(f"sqlite:///{file}")
    with pytest.raises(SettingsError, match=r"text\.db cannot be used, file is not a database"):
        await migrate(database, "croupier.scoring")
    await database.close()


class HangingConnections:
    """The connections to a server that never answers."""

    url = make_url("postgresql://host/name")

    async def read(self, query: Callable[[Connection], Any]) -> Any:
        await asyncio.Event().wait()

    write = read

    async def close(self) -> None: ...


@pytest.mark.parametrize("call", ["read", "write", "is_reachable"])
async def test_a_call_to_a_server_that_hangs_ends_and_the_outage_is_logged(call: str) -> None:
    logger, now, loop = RecordingLogger(), [0.0], asyncio.get_running_loop()
    database = Database(HangingConnections(), OutageLog("the database", logger, lambda: 0))
    assert isinstance(loop, SettlingLoop)
    loop.follow(lambda: now[0])
    calling = asyncio.create_task(database.is_reachable() if call == "is_reachable" else getattr(database, call)(print))
    await settled()
    now[0] = 2.0 if call == "is_reachable" else TRANSACTION_SECONDS
    await asyncio.wait([calling])
    if call == "is_reachable":
        assert not calling.result()
    else:
        assert isinstance(calling.exception(), Unavailable)
    ((level, event, fields),) = logger.lines
    assert (level, event) == ("warning", "calls to the database fail")
    assert fields["reason"].startswith("its server does not answer in time")


OF_THE_SESSION = ["08006", "25006", "25P02", "25P03", "26000", "57P01", "57P02", "57P03", "57P05", "58030"]
OF_THE_STATEMENT = ["40001", "40P01", "53100", "55P03", "57014"]
PERMANENT = ["42501", "42P01", "23505", "22P02"]


def error(code: str) -> asyncpg.PostgresError:
    return asyncpg.PostgresError.new({"C": code, "M": "the message"})


@pytest.mark.parametrize("code", [*OF_THE_SESSION, *OF_THE_STATEMENT, *PERMANENT])
def test_an_error_ends_the_session_or_passes_or_is_a_defect(code: str) -> None:
    assert ends_session(error(code)) == (code in OF_THE_SESSION)
    assert is_transient(error(code)) == (code not in PERMANENT)


def test_a_read_only_server_passes_by_a_failover() -> None:
    for fault in (error("25006"), asyncpg.TargetServerAttributeNotMatched("no host")):
        assert is_transient(fault)
        assert is_unreachable(fault)
        assert describe(fault) == "it is read-only: use the URL of the primary"


def test_only_an_error_of_a_file_advises_to_check_its_path(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    with closing(sqlite3.connect(file)) as holder, closing(sqlite3.connect(file, timeout=0)) as other:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError) as locked:
            other.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError) as missing:
        sqlite3.connect(tmp_path / "missing" / "x.db")
    assert describe(locked.value) == "database is locked"
    assert describe(missing.value) == "unable to open database file: check its path and rights"


def test_a_connection_that_is_lost_within_a_command_has_one_description() -> None:
    for fault in (error("08003"), error("57P01"), asyncpg.InternalClientError("cannot switch to state 12")):
        assert describe(fault) == "its server ended the connection"
