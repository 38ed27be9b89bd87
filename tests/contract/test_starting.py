"""An engine that cannot start says in one line why, and what to do; nothing is left half started."""

import socket
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest

from croupier.engine.__main__ import local_clock, main, seed_source
from croupier.engine.settings import EngineSettings
from croupier.runtime.identity import write_new_key_pair
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

    def __init__(self, keys: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._keys, self._folder, self._capsys = keys, folder, capsys

    def said(self, code: int = 2, /, **changes: object) -> str:
        """The one line with which it ends."""
        given: dict[str, object] = {
            "database": "sqlite:////nowhere",
            "lobby_public_key": self._keys / "lobby.pub",
            "signing_key": self._keys / "engine.pem",
            "scoring_control": "127.0.0.1:9",
            "listen": "127.0.0.1:0",
            "control_listen": "127.0.0.1:0",
            "metrics_listen": "127.0.0.1:0",
            "ready_file": self._folder / "ready.json",
            "drain_seconds": 0,
        } | changes
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(main, arguments).result() == code
        assert not (self._folder / "ready.json").exists()
        (line,) = [line for line in self._capsys.readouterr().err.splitlines() if not line.startswith("{")]
        assert line.startswith("croupier serve engine: ")
        return line


@pytest.fixture
def starting(keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Starting:
    return Starting(keys, tmp_path, capsys)


@pytest.fixture
def database(engine_file: Path, tmp_path: Path) -> str:
    """The URL of a database that could be used."""
    return f"sqlite:///{copy_database(engine_file, tmp_path / 'engine.db')}"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"database": ""}, "sqlite:////"),
        ({"database": "mysql://user:SECRET@host/name"}, "postgresql://user:password@host:port/database"),
        (
            {"database": "sqlite:///FOLDER/new.db"},
            "croupier migrate --service engine --database sqlite:///FOLDER/new.db",
        ),
        ({"database": "sqlite:///FOLDER/nowhere/engine.db"}, "see to its path and rights"),
        ({"lobby_public_key": "nothing.pem"}, "nothing.pem"),
        ({"signing_key": "nothing.pem"}, "nothing.pem"),
        ({"clock_offset_milliseconds": "5000", "listen": "0.0.0.0:0"}, "loopback"),
        ({"clock_offset_milliseconds": "5000", "control_listen": "[::]:0"}, "loopback"),
        ({"clock_offset_milliseconds": "soon"}, "--clock-offset-milliseconds"),
        ({"shuffle_seed": "x", "listen": "0.0.0.0:0"}, "loopback"),
        ({"shuffle_seed": "x", "control_listen": "[::]:0"}, "loopback"),
    ],
)
def test_what_cannot_be_used_is_told(starting: Starting, tmp_path: Path, changes: dict[str, str], said: str) -> None:
    line = starting.said(**{name: value.replace("FOLDER", str(tmp_path)) for name, value in changes.items()})
    assert said.replace("FOLDER", str(tmp_path)) in line
    assert "SECRET" not in line


def test_a_server_that_does_not_answer_has_a_code_of_its_own(starting: Starting) -> None:
    said = starting.said(1, database="postgresql://croupier:SECRET@127.0.0.1:1/croupier")
    assert "cannot be reached" in said
    assert "SECRET" not in said


def test_a_port_in_use_is_told(starting: Starting, database: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for name in ("listen", "control_listen", "metrics_listen"):
            assert address in starting.said(database=database, **{name: address})
    with closing(sqlite3.connect(tmp_path / "engine.db")) as connection:
        assert connection.execute("SELECT count(*) FROM engines").fetchone() == (0,)


class RefusesEverybody(grpc.GenericRpcHandler):
    """A scoring service that knows another engine's key."""

    def service(self, handler_call_details: object) -> "grpc.RpcMethodHandler[bytes, bytes]":
        def refuse(request: bytes, context: grpc.ServicerContext) -> bytes:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
            return b""

        return grpc.unary_unary_rpc_method_handler(refuse)


def test_a_scoring_service_that_knows_another_key_is_told(starting: Starting, database: str) -> None:
    server = grpc.server(ThreadPoolExecutor(1), handlers=[RefusesEverybody()])
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    said = starting.said(database=database, scoring_control=address)
    server.stop(0).wait()
    assert address in said
    assert "--engine-public-key" in said


def settings(**changes: Any) -> EngineSettings:
    return EngineSettings(Path(), Path(), "", database="", **changes)


@pytest.mark.parametrize("offset", [5000, -5000])
def test_a_clock_is_off_by_what_was_said(offset: int) -> None:
    true, wrong = local_clock(settings()), local_clock(settings(clock_offset_milliseconds=str(offset)))
    before, there, after = true(), wrong(), true()
    assert before <= there - offset <= after


def test_a_fixed_seed_gives_the_same_deals() -> None:
    one, same, other = (seed_source(settings(shuffle_seed=seed)) for seed in ("x", "x", "y"))
    assert one(32) == same(32) != other(32)
