"""An engine that cannot start reports the fault and its remedy in one line, and leaves nothing behind."""

import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pytest

from croupier.engine.__main__ import main, seed_source
from croupier.runtime.identity.tokens import write_new_key_pair
from tests.contract.deployment import EngineProcess
from tests.databases import copy_database

pytestmark = pytest.mark.usefixtures("logs_as_before")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("lobby", "engine"):
        write_new_key_pair(folder / f"{name}.pem", folder / f"{name}.pub")
    return folder


LISTEN_SETTINGS = ("listen", "websocket_listen", "control_listen", "metrics_listen")
ErrorLine: TypeAlias = Callable[..., str]


@pytest.fixture
def error_line(keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> ErrorLine:
    """Return a function that runs an engine which ends before it is ready, and returns its only line that is no log."""

    def run(code: int = 2, /, **changes: object) -> str:
        ready_file = tmp_path / "ready.json"
        settings_by_name: dict[str, object] = {
            "database": "sqlite:////nowhere",
            "lobby_public_key": keys / "lobby.pub",
            "signing_key": keys / "engine.pem",
            "scoring_control": "127.0.0.1:9",
            **dict.fromkeys(LISTEN_SETTINGS, "127.0.0.1:0"),
            "ready_file": ready_file,
            "drain_seconds": 0,
        } | changes
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in settings_by_name.items()]
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(main, arguments).result() == code
        assert not ready_file.exists()
        (line,) = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("{")]
        assert line.startswith("croupier serve engine: ")
        return line

    return run


@pytest.fixture
def database(engine_file: Path, tmp_path: Path) -> str:
    return f"sqlite:///{copy_database(engine_file, tmp_path / 'engine.db')}"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"database": ""}, "invalid --database (CROUPIER_DATABASE): expected sqlite:////"),
        (
            {"database": "sqlite:///FOLDER/new.db"},
            "croupier migrate --service engine --database sqlite:///FOLDER/new.db",
        ),
        ({"database": "sqlite:///FOLDER/nowhere/engine.db"}, "check its path and rights"),
        ({"lobby_public_key": "nothing.pem"}, "nothing.pem"),
        ({"signing_key": "nothing.pem"}, "nothing.pem"),
        ({"clock_offset_milliseconds": "5000", "listen": "0.0.0.0:0"}, "loopback"),
        ({"clock_offset_milliseconds": "soon"}, "--clock-offset-milliseconds (CROUPIER_CLOCK_OFFSET_MILLISECONDS)"),
        ({"gc_thresholds": "1,2"}, "--gc-thresholds (CROUPIER_GC_THRESHOLDS) '1,2': expected three integers"),
        ({"scheduling": "idle"}, "--scheduling (CROUPIER_SCHEDULING) 'idle': input should be 'batch' or 'normal'"),
        ({"shuffle_seed": "x", "control_listen": "[::]:0"}, "loopback"),
        ({"shuffle_seed": "x", "websocket_listen": "[::]:0"}, "loopback"),
    ],
)
def test_unusable_settings_are_reported(
    error_line: ErrorLine, tmp_path: Path, changes: dict[str, str], expected: str
) -> None:
    line = error_line(**{name: value.replace("FOLDER", str(tmp_path)) for name, value in changes.items()})
    assert expected.replace("FOLDER", str(tmp_path)) in line


def test_a_database_server_that_does_not_answer_has_an_exit_code_of_its_own(error_line: ErrorLine) -> None:
    line = error_line(1, database="postgresql://croupier:SECRET@127.0.0.1:1/croupier")
    assert "cannot be reached" in line
    assert "SECRET" not in line


def test_a_port_in_use_is_reported(error_line: ErrorLine, database: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        address = f"127.0.0.1:{occupied.getsockname()[1]}"
        for name in LISTEN_SETTINGS:
            assert address in error_line(database=database, **{name: address})
    with closing(sqlite3.connect(tmp_path / "engine.db")) as connection:
        assert connection.execute("SELECT count(*) FROM engines").fetchone() == (0,)


def test_a_second_engine_on_a_file_of_sqlite_ends(error_line: ErrorLine, own_engine: EngineProcess) -> None:
    """It would not know the deadlines that the first one stores."""
    expected = f"another process uses the database {own_engine.folder}/engine.db: stop it, or use PostgreSQL"
    assert expected in error_line(database=own_engine.database)
    own_engine.kill()
    own_engine.start()


def test_a_fixed_seed_gives_the_same_deals() -> None:
    one, same, other, chance = map(seed_source, ("x", "x", "y", ""))
    assert one(32) == same(32) != other(32)
    assert chance(32) != chance(32)


TUNED = """
import gc, os
from croupier.runtime.server.tuning import tune_process
# Another test may have tuned the process from which this one has its class.
os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
tune_process(gc_thresholds="11,12,13", scheduling=SCHEDULING)
print(gc.get_threshold(), os.sched_getscheduler(0) == os.SCHED_BATCH)
"""
OPEN_FILES = """
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
from croupier.runtime.server.tuning import tune_process
allowed = getrlimit(RLIMIT_NOFILE)[1]
setrlimit(RLIMIT_NOFILE, (256, allowed))
tune_process(gc_thresholds="11,12,13", scheduling="normal")
print(getrlimit(RLIMIT_NOFILE) == (allowed, allowed))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such scheduling class")
@pytest.mark.parametrize(("scheduling", "is_batch"), [("batch", True), ("normal", False)])
def test_a_process_is_tuned_as_the_settings_say(scheduling: str, is_batch: bool) -> None:
    script = TUNED.replace("SCHEDULING", repr(scheduling))
    ran = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert ran.stdout.split("\n")[0] == f"(11, 12, 13) {is_batch}"


def test_a_process_may_open_as_many_files_as_the_system_allows() -> None:
    ran = subprocess.run([sys.executable, "-c", OPEN_FILES], check=True, capture_output=True, text=True)
    assert ran.stdout == "True\n"
