"""`croupier migrate`: one line for each service, or one that says what is wrong; never a password."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loadtest.postgres import PostgresServer, postgres_server

DONE = ["lobby: brought up to date", "engine: brought up to date", "scoring: brought up to date"]
DONE_BEFORE = ["lobby: was up to date", "engine: was up to date", "scoring: was up to date"]


def run(*arguments: str, database: str | None = None) -> tuple[int, list[str], str]:
    """Run the command; gives its exit code, the lines that it printed, and what it said of faults."""
    environment = {name: value for name, value in os.environ.items() if name != "CROUPIER_DATABASE"}
    if database is not None:
        environment["CROUPIER_DATABASE"] = database
    command = [sys.executable, "-m", "croupier.cli", "migrate", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_a_shared_database(new_database: Callable[..., str]) -> None:
    url = new_database()
    assert run("--database", url) == (0, DONE, "")
    assert run(database=url) == (0, DONE_BEFORE, "")


def test_a_data_folder_of_which_one_service_is_wanted(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    assert run("--data-dir", str(folder), "--service", "engine") == (0, DONE[1:2], "")
    # A folder that is named goes before the environment.
    assert run("--data-dir", str(folder), database="nonsense") == (0, [DONE[0], DONE_BEFORE[1], DONE[2]], "")


def test_who_waits_changes_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    ended, printed, told = run("--database", url, "--service", "engine", "--wait", "0")
    assert (ended, printed) == (1, [])
    assert "are missing" in told
    assert run("--database", url, "--service", "engine") == (0, DONE[1:2], "")
    assert run("--database", url, "--service", "engine", "--wait", "0") == (0, ["engine: is up to date"], "")


def test_who_waits_goes_on_as_soon_as_others_are_through(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    command = [sys.executable, "-m", "croupier.cli", "migrate", "--database", url, "--wait", "60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as waiting:
        assert run("--database", url)[0] == 0
        printed, _ = waiting.communicate(timeout=60)
    assert (waiting.returncode, printed.splitlines()[-1]) == (0, "scoring: is up to date")


def test_who_comes_before_the_server_says_so_once_and_migrates_as_soon_as_it_answers() -> None:
    with postgres_server() as server:
        url = server.create_database("croupier")
        server.stop()
        command = [sys.executable, "-m", "croupier.cli", "migrate", "--database", url, "--retry", "600"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as migrating:
            assert migrating.stdout is not None
            first = migrating.stdout.readline()
            server.start()
            printed, _ = migrating.communicate(timeout=60)
    assert "waits: the database postgresql://croupier:***@127.0.0.1:" in first
    assert "its server cannot be reached" in first
    # A server that starts may say so before it answers.
    assert [line for line in printed.splitlines() if "starting up" not in line] == DONE
    assert migrating.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--database", "postgresql://x:sesame@127.0.0.1:1/x", "--wait", "0"], 1, "its server cannot be reached"),
        (["--data-dir", ".", "--wait", "1"], 2, "--wait and --retry are for a database on a server"),
        (["--data-dir", ".", "--retry", "1"], 2, "--wait and --retry are for a database on a server"),
        (["--database", "sqlite:///x.db", "--wait", "1", "--retry", "1"], 2, "leave --retry out"),
        (["--database", "mysql://croupier:sesame@host/x"], 2, "is not the URL of a database that can be used"),
        (["--database", "sqlite:////nowhere/at/all.db"], 2, "unable to open database file: see to its path and rights"),
        (["--database", "postgresql://croupier:sesame@127.0.0.1:1/x"], 1, "its server cannot be reached"),
        (["--database", "sqlite:///x.db", "--data-dir", "."], 2, "--database and --data-dir exclude each other"),
        (["--service", "bar"], 2, "there is no service 'bar': choose among lobby, engine, scoring"),
        (["--data-dir", "/dev/null/x"], 1, "/dev/null/x cannot be used as data folder"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(arguments: list[str], code: int, said: str) -> None:
    ended, printed, told = run(*arguments)
    assert (ended, printed) == (code, [])
    assert said in told
    assert told.count("\n") == 1
    assert "sesame" not in told


@pytest.mark.parametrize(
    ("part", "other", "said"),
    [
        ("{password}", "wrong", "its server does not take this user and password"),
        ("/test_", "/nowhere_", "there is no such database"),
    ],
)
def test_a_server_that_refuses(
    postgres: PostgresServer, new_database: Callable[..., str], part: str, other: str, said: str
) -> None:
    url = new_database().replace(part.replace("{password}", postgres.password), other)
    # At once, however long it might wait: this does not pass.
    ended, printed, told = run("--retry", "600", database=url)
    assert (ended, printed) == (2, [])
    assert said in told
    assert postgres.password not in told
