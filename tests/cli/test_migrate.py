"""`croupier migrate` prints one line for each service or one with the fault, and never a password."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from croupier.cli.commands.migrate import migrate_shared
from croupier.cli.commands.serve import SERVICES
from croupier_loadtest.postgres import PostgresServer, postgres_server
from tests.cli.conftest import Command, Ended

DEADLINE_SECONDS = 60.0
DONE, DONE_BEFORE = ([f"{name}: {done} up to date" for name in SERVICES] for done in ("brought", "was"))


def code_and_output(ended: Ended) -> tuple[int, list[str], str]:
    return ended.code, ended.out.splitlines(), ended.err


@pytest.mark.postgres
def test_a_shared_database(
    croupier: Command, new_database: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_database()
    assert code_and_output(croupier("migrate", "--database", url)) == (0, DONE, "")
    monkeypatch.setenv("CROUPIER_DATABASE", url)
    assert code_and_output(croupier("migrate")) == (0, DONE_BEFORE, "")


def test_services_of_a_data_folder(croupier: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a b%20?#ø,[x]'@:&"
    folder = f"--data-dir={path}"
    assert code_and_output(croupier("migrate", folder, "--service", "engine")) == (0, DONE[1:2], "")
    # The flag for a folder takes precedence over the environment.
    monkeypatch.setenv("CROUPIER_DATABASE", "nonsense")
    assert code_and_output(croupier("migrate", folder)) == (0, [DONE[0], DONE_BEFORE[1], DONE[2]], "")
    assert {file.stem for file in path.glob("*.db")} == set(SERVICES)
    assert [*tmp_path.iterdir()] == [path]


def test_waiting_changes_nothing(croupier: Command, tmp_path: Path) -> None:
    engine = ("migrate", f"--database=sqlite:///{tmp_path / 'shared.db'}", "--service=engine")
    ended = croupier(*engine, "--wait", "0")
    assert ended.code == 1
    assert "are missing" in ended.error_line()
    assert code_and_output(croupier(*engine)) == (0, DONE[1:2], "")
    assert code_and_output(croupier(*engine, "--wait", "0")) == (0, ["engine: is up to date"], "")


def test_waiting_ends_as_soon_as_another_process_has_migrated(croupier: Command, tmp_path: Path) -> None:
    shared = ("migrate", f"--database=sqlite:///{tmp_path / 'shared.db'}")
    # It runs in a process of its own, because Alembic migrates one database at a time in a process.
    wait = [sys.executable, "-m", "croupier.cli", *shared, "--wait", str(DEADLINE_SECONDS)]
    with subprocess.Popen(wait, stdout=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline().startswith("waits: ")
        assert code_and_output(croupier(*shared)) == (0, DONE, "")
        *_, last = waiting.stdout
    assert (waiting.returncode, last) == (0, "scoring: is up to date\n")


async def first_line(lines: asyncio.Queue[str]) -> str:
    async with asyncio.timeout(DEADLINE_SECONDS):
        return await lines.get()


@pytest.mark.slow
@pytest.mark.postgres
async def test_retries_migrate_as_soon_as_the_server_answers() -> None:
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
    # A starting server may report that before it answers.
    assert [lines.get_nowait() for _ in range(lines.qsize())][-len(DONE) :] == DONE


@pytest.mark.postgres
def test_a_server_that_refuses_is_not_retried(
    croupier: Command, postgres: PostgresServer, new_database: Callable[..., str]
) -> None:
    url = new_database().replace(postgres.password, "wrong")
    ended = croupier("migrate", "--retry", "600", "--database", url)
    assert ended.code == 2
    assert "its server refuses this user and password" in ended.error_line()
