"""`croupier migrate`: one line for each service, or one that says what is wrong; never a password."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from croupier.cli.migrate import migrate_shared
from croupier.cli.serve import SERVICES
from loadtest.postgres import PostgresServer, postgres_server
from tests.cli.conftest import Command, Ended

DEADLINE_SECONDS = 60.0
DONE = ["lobby: brought up to date", "engine: brought up to date", "scoring: brought up to date"]
DONE_BEFORE = ["lobby: was up to date", "engine: was up to date", "scoring: was up to date"]


def told(ended: Ended) -> tuple[int, list[str], str]:
    return ended.code, ended.out.splitlines(), ended.err


@pytest.mark.postgres
def test_a_shared_database(
    croupier: Command, new_database: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_database()
    assert told(croupier("migrate", "--database", url)) == (0, DONE, "")
    monkeypatch.setenv("CROUPIER_DATABASE", url)
    assert told(croupier("migrate")) == (0, DONE_BEFORE, "")


def test_a_data_folder_of_which_one_service_is_wanted(
    croupier: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = f"--data-dir={tmp_path / 'data'}"
    assert told(croupier("migrate", folder, "--service", "engine")) == (0, DONE[1:2], "")
    # A folder that is named goes before the environment.
    monkeypatch.setenv("CROUPIER_DATABASE", "nonsense")
    assert told(croupier("migrate", folder)) == (0, [DONE[0], DONE_BEFORE[1], DONE[2]], "")


def test_who_waits_changes_nothing(croupier: Command, tmp_path: Path) -> None:
    engine = ("migrate", f"--database=sqlite:///{tmp_path / 'shared.db'}", "--service=engine")
    ended = croupier(*engine, "--wait", "0")
    assert ended.code == 1
    assert "are missing" in ended.in_one_line()
    assert told(croupier(*engine)) == (0, DONE[1:2], "")
    assert told(croupier(*engine, "--wait", "0")) == (0, ["engine: is up to date"], "")


def test_who_waits_goes_on_as_soon_as_others_are_through(croupier: Command, tmp_path: Path) -> None:
    shared = ("migrate", f"--database=sqlite:///{tmp_path / 'shared.db'}")
    # In a process of its own, as elsewhere: Alembic migrates one database at a time in a process.
    wait = [sys.executable, "-m", "croupier.cli", *shared, "--wait", str(DEADLINE_SECONDS)]
    with subprocess.Popen(wait, stdout=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline().startswith("waits: ")
        assert told(croupier(*shared)) == (0, DONE, "")
        *_, last = waiting.stdout
    assert (waiting.returncode, last) == (0, "scoring: is up to date\n")


async def first_line(lines: asyncio.Queue[str]) -> str:
    async with asyncio.timeout(DEADLINE_SECONDS):
        return await lines.get()


@pytest.mark.slow
@pytest.mark.postgres
async def test_who_comes_before_the_server_migrates_as_soon_as_it_answers() -> None:
    lines = asyncio.Queue[str]()
    with postgres_server() as server:
        url = server.create_database("croupier")
        server.stop()
        migrating = asyncio.create_task(migrate_shared(url, SERVICES, lines.put_nowait, 600))
        waits = await first_line(lines)
        await asyncio.to_thread(server.start)
        await migrating
    assert "waits: the database postgresql://croupier:***@127.0.0.1:" in waits
    assert "its server cannot be reached" in waits
    # A server that starts may say so before it answers.
    assert [lines.get_nowait() for _ in range(lines.qsize())][-len(DONE) :] == DONE


@pytest.mark.postgres
def test_a_server_that_refuses_is_not_waited_for(
    croupier: Command, postgres: PostgresServer, new_database: Callable[..., str]
) -> None:
    url = new_database().replace(postgres.password, "wrong")
    ended = croupier("migrate", "--retry", "600", "--database", url)
    assert ended.code == 2
    assert "its server does not take this user and password" in ended.in_one_line()
