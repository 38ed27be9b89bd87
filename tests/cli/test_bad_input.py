"""What cannot be: one clear line that says what is wrong and what to do, an exit code, and nothing half started."""

import asyncio
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from croupier.cli.data_folder import prepare_data_folder
from croupier.cli.faults import CommandFault
from croupier.cli.supervisor import Manner, running_services
from croupier.runtime.identity import write_new_key_pair
from croupier.runtime.schema_versions import migrate_database
from loadtest.postgres import PostgresServer
from tests.cli.conftest import Command

DEADLINE_SECONDS = 60.0
PASSWORD = "geheim"
PACKAGES = ("croupier.lobby", "croupier.engine", "croupier.scoring")
SET_VERSION = "UPDATE engine_schema_version SET version_num ="
IN_HASTE = Manner(grace_seconds=0)


def children() -> set[int]:
    """The processes that this one has started and that have not ended."""
    shown = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )
    return set(map(int, shown.stdout.split()))


async def refusal(folder: Path, manner: Manner) -> CommandFault:
    """Why services do not start, after which there is nothing of them."""
    before = children()
    with pytest.raises(CommandFault) as refused:
        async with asyncio.timeout(DEADLINE_SECONDS), running_services(folder, manner=manner):
            pytest.fail("the services started")
    # The one more is ps itself.
    assert len(children() - before) <= 1
    assert not (folder / "services.json").exists()
    assert "\n" not in refused.value.message
    assert refused.value.exit_code in (1, 2)
    return refused.value


Database = Callable[[PostgresServer, Callable[..., str]], str]


def wrong_password(postgres: PostgresServer, new_database: Callable[..., str]) -> str:
    return new_database(*PACKAGES).replace(postgres.password, PASSWORD)


def poor_user(postgres: PostgresServer, new_database: Callable[..., str]) -> str:
    url = new_database(*PACKAGES)
    if not postgres.run_sql("postgres", "SELECT 1 FROM pg_roles WHERE rolname = 'poor'"):
        postgres.run_sql("postgres", f"CREATE ROLE poor LOGIN PASSWORD '{PASSWORD}'")
    return url.replace(f"croupier:{postgres.password}", f"poor:{PASSWORD}")


def with_version(version: str) -> Database:
    def make(postgres: PostgresServer, new_database: Callable[..., str]) -> str:
        url = new_database()
        asyncio.run(migrate_database(url, PACKAGES))
        postgres.run_sql(url.rpartition("/")[2], f"{SET_VERSION} '{version}'")
        return url

    return make


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("database", "said"),
    [
        pytest.param(wrong_password, "does not take this user and password: see to both", marks=pytest.mark.slow),
        pytest.param(poor_user, "permission denied .*: grant it", marks=pytest.mark.slow),
        (with_version("0001"), "engine .* are older .*: run .croupier migrate --database"),
    ],
    ids=["password", "rights", "older"],
)
def test_a_database_that_cannot_be_used(
    tmp_path: Path, postgres: PostgresServer, new_database: Callable[..., str], database: Database, said: str
) -> None:
    url = database(postgres, new_database)
    fault = asyncio.run(refusal(tmp_path, Manner(database=url, grace_seconds=0)))
    assert re.search(f"^the (scoring|engine) cannot run: .*{said}", fault.message), fault.message
    everything = [fault.message, *(log.read_text() for log in (tmp_path / "logs").iterdir())]
    assert not any(secret in text for secret in (PASSWORD, postgres.password) for text in everything)


@pytest.mark.parametrize(
    ("content", "said"),
    [("a letter, no database", "file is not a database"), (None, "are newer")],
    ids=["garbage", "newer"],
)
async def test_a_database_of_the_folder_that_cannot_be_used(tmp_path: Path, content: str | None, said: str) -> None:
    file = tmp_path / "engine.db"
    if content is not None:
        file.write_text(content * 100)
    else:
        await migrate_database(f"sqlite:///{file}", PACKAGES[1:2])
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(f"{SET_VERSION} '9999'")
    assert said in (await refusal(tmp_path, Manner())).message


@pytest.mark.slow
async def test_keys_that_do_not_belong_together(tmp_path: Path) -> None:
    folder = prepare_data_folder(tmp_path)
    for name in ("lobby", "engine"):
        write_new_key_pair(tmp_path / f"{name}.private.pem", tmp_path / f"{name}.public.pem")
    shutil.copy(tmp_path / "lobby.public.pem", folder.public_key("lobby"))
    fault = await refusal(tmp_path, IN_HASTE)
    assert "does not take this lobby's key: give it the public key" in fault.message
    shutil.copy(tmp_path / "engine.public.pem", folder.public_key("engine"))
    fault = await refusal(tmp_path, IN_HASTE)
    assert "does not take this engine's key: give it the public key" in fault.message


@pytest.mark.slow
def test_a_lobby_of_another_house_ends_and_leaves_the_house_alone(tmp_path: Path) -> None:
    write_new_key_pair(tmp_path / "private.pem", tmp_path / "public.pem")
    asyncio.run(migrate_database(f"sqlite:///{tmp_path / 'lobby.db'}", PACKAGES[:1]))

    async def run() -> subprocess.CompletedProcess[str]:
        async with running_services(tmp_path / "data", manner=IN_HASTE) as services:
            flags = {
                "listen": "127.0.0.1:0",
                "metrics-listen": "127.0.0.1:0",
                "database": f"sqlite:///{tmp_path / 'lobby.db'}",
                "signing-key": tmp_path / "private.pem",
                "engine-control": services.addresses["engine"]["control"],
            }
            command = [sys.executable, "-m", "croupier.cli", "serve", "lobby"]
            command += [f"--{name}={value}" for name, value in flags.items()]
            ended = await asyncio.to_thread(
                subprocess.run, command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False
            )
            assert services.restarts == dict.fromkeys(services.addresses, 0)
            return ended

    ended = asyncio.run(run())
    assert ended.returncode == 2
    (line,) = [line for line in ended.stderr.splitlines() if not line.startswith("{")]
    assert "does not take this lobby's key" in line


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--engines=0"], "--engines cannot be 0: choose 1 to 16"),
        (["--engines=3"], "SQLite serves one instance of each service"),
        (["--lobbies=2", "--database=sqlite:////tmp/house.db"], "SQLite serves one instance of each service"),
        (["--port=65000", "--scorings=17"], "--scorings cannot be 17: choose 1 to 16"),
        (["--lobbies=17"], "--lobbies cannot be 17: choose 1 to 16"),
        (["--data-dir=/sys/croupier"], "/sys/croupier cannot be used as data folder"),
        (["--data-dir=/dev/null/croupier"], "/dev/null/croupier cannot be used as data folder"),
    ],
)
def test_what_cannot_be_asked_for_is_one_line(croupier: Command, tmp_path: Path, flags: list[str], said: str) -> None:
    ended = croupier("up", f"--data-dir={tmp_path / 'data'}", "--port=0", *flags)
    assert ended.code in (1, 2)
    assert said in ended.in_one_line()
    assert not (tmp_path / "data").exists()
