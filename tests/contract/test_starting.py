"""An engine that cannot start says in one line why, and what to do; nothing is left half started."""

import socket
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import grpc
import pytest
from sqlalchemy.engine import make_url

from croupier.engine.__main__ import local_clock, main
from croupier.engine.settings import EngineSettings
from croupier.runtime.identity import write_new_key_pair
from loadtest.postgres import PostgresServer
from tests.databases import copy_database

pytestmark = pytest.mark.usefixtures("logs_as_before")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("lobby", "engine"):
        write_new_key_pair(folder / f"{name}.pem", folder / f"{name}.pub")
    return folder


class Starting:
    """Starts an engine that must not get far."""

    def __init__(self, keys: Path, ready_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._keys, self._ready_file, self._capsys = keys, ready_file, capsys

    def said(self, database: str, **changes: object) -> str:
        """The one line with which it ends, and code 2."""
        return self.said_with(2, database, **changes)

    def said_with(self, code: int, database: str, /, **changes: object) -> str:
        """The one line with which it ends."""
        given: dict[str, object] = {
            "database": database,
            "lobby_public_key": self._keys / "lobby.pub",
            "signing_key": self._keys / "engine.pem",
            "scoring_control": "127.0.0.1:9",
            "listen": "127.0.0.1:0",
            "control_listen": "127.0.0.1:0",
            "metrics_listen": "127.0.0.1:0",
            "ready_file": self._ready_file,
            "drain_seconds": 0,
        } | changes
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(main, arguments).result() == code
        assert not self._ready_file.exists()
        lines = [line for line in self._capsys.readouterr().err.splitlines() if not line.startswith("{")]
        (line,) = lines
        assert line.startswith("croupier serve engine: ")
        return line.removeprefix("croupier serve engine: ")


@pytest.fixture
def starting(keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Starting:
    return Starting(keys, tmp_path / "ready.json", capsys)


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://user:SECRET@host/name", "postgresql:/SECRET"])
def test_what_is_no_url_of_a_database_is_refused_with_the_forms_that_there_are(starting: Starting, url: str) -> None:
    said = starting.said(url)
    assert "sqlite:////" in said
    assert "postgresql://" in said
    assert "SECRET" not in said


def test_a_file_without_schema_is_told_with_the_command_to_run(starting: Starting, tmp_path: Path) -> None:
    said = starting.said(f"sqlite:///{tmp_path}/new.db")
    assert "missing" in said
    assert f"croupier migrate --service engine --database sqlite:///{tmp_path}/new.db" in said


@pytest.mark.parametrize(("revision", "word"), [("0001", "older"), ("9999", "newer")])
def test_a_schema_of_another_version_is_told_apart(
    starting: Starting, engine_file: Path, tmp_path: Path, revision: str, word: str
) -> None:
    file = copy_database(engine_file, tmp_path / "engine.db")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE engine_schema_version SET version_num = ?", [revision])
    said = starting.said(f"sqlite:///{file}")
    assert word in said
    assert ("croupier migrate" in said) == (word == "older")


def test_a_folder_that_is_not_there_is_told(starting: Starting, tmp_path: Path) -> None:
    assert "see to its path and rights" in starting.said(f"sqlite:///{tmp_path}/nowhere/engine.db")


def test_what_is_wrong_with_a_postgresql_is_told_without_its_password(
    starting: Starting, postgres: PostgresServer, new_database: Callable[..., str]
) -> None:
    url = new_database()
    said = starting.said(url)
    assert "missing" in said
    assert "croupier migrate --database" in said
    right = make_url(url)
    for wrong, word, code in (
        (right.set(database="nowhere"), "no such database", 2),
        (right.set(password="SECRET"), "password", 2),
        (right.set(port=1), "cannot be reached", 1),
    ):
        said = starting.said_with(code, wrong.render_as_string(hide_password=False))
        assert word in said
        assert "SECRET" not in said
        assert postgres.password not in said


def test_a_port_in_use_is_told(starting: Starting, engine_file: Path, tmp_path: Path) -> None:
    database = f"sqlite:///{copy_database(engine_file, tmp_path / 'engine.db')}"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for name in ("listen", "control_listen", "metrics_listen"):
            assert address in starting.said(database, **{name: address})
    with closing(sqlite3.connect(tmp_path / "engine.db")) as connection:
        assert connection.execute("SELECT count(*) FROM engines").fetchone() == (0,)


def test_a_missing_key_is_told(starting: Starting, tmp_path: Path) -> None:
    for name in ("lobby_public_key", "signing_key"):
        assert "nothing.pem" in starting.said("sqlite:////nowhere", **{name: tmp_path / "nothing.pem"})


class RefusesEverybody(grpc.GenericRpcHandler):
    """A scoring service that knows another engine's key."""

    def service(self, handler_call_details: object) -> "grpc.RpcMethodHandler[bytes, bytes]":
        def refuse(request: bytes, context: grpc.ServicerContext) -> bytes:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
            return b""

        return grpc.unary_unary_rpc_method_handler(refuse)


def test_a_scoring_service_that_knows_another_key_is_told(
    starting: Starting, engine_file: Path, tmp_path: Path
) -> None:
    server = grpc.server(ThreadPoolExecutor(1), handlers=[RefusesEverybody()])
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    database = f"sqlite:///{copy_database(engine_file, tmp_path / 'engine.db')}"
    said = starting.said(database, scoring_control=address)
    server.stop(0).wait()
    assert address in said
    assert "--engine-public-key" in said


def test_a_clock_that_is_off_is_for_tests_only(starting: Starting) -> None:
    for changes in ({"listen": "0.0.0.0:0"}, {"control_listen": "[::]:0"}):
        said = starting.said("sqlite:////nowhere", clock_offset_milliseconds="5000", **changes)
        assert "loopback" in said
    assert "--clock-offset-milliseconds" in starting.said("sqlite:////nowhere", clock_offset_milliseconds="soon")


def test_a_clock_is_off_by_what_was_said() -> None:
    def clock(offset: str) -> Callable[[], int]:
        settings = EngineSettings(Path(), Path(), "", database="", clock_offset_milliseconds=offset)
        return local_clock(settings)

    assert 4_000 < clock("5000")() - clock("0")() < 6_000
    assert -6_000 < clock("-5000")() - clock("0")() < -4_000
