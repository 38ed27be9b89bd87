"""The lobby as a process of its own: it starts, says where it listens, stops in order, and starts again."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from croupier.lobby.__main__ import main
from croupier.runtime.identity import write_new_key_pair
from croupier_api.v1 import lobby_pb2, lobby_pb2_grpc
from tests.lobby.fakes import PATIENCE_SECONDS

pytestmark = pytest.mark.usefixtures("logs_as_before")
END_SECONDS = 50
"""Less than the time to drain."""


@pytest.fixture
def arguments(tmp_path: Path, database_url: str) -> list[str]:
    write_new_key_pair(tmp_path / "private.pem", tmp_path / "public.pem")
    given = {
        "database": database_url,
        "signing-key": tmp_path / "private.pem",
        "engine-control": "127.0.0.1:1",
        "listen": "127.0.0.1:0",
        "metrics-listen": "127.0.0.1:0",
        "ready-file": tmp_path / "ready.json",
        # A stream that held up the end would do so for longer than anybody waits for it.
        "drain-seconds": 60,
    }
    return [f"--{name}={value}" for name, value in given.items()]


@contextmanager
def running(arguments: list[str], ready_file: Path) -> Iterator[lobby_pb2_grpc.LobbyServiceStub]:
    """A lobby in a process; at the end it is asked to stop, and must do so in time and without fault."""
    ready_file.unlink(missing_ok=True)
    process = subprocess.Popen([sys.executable, "-m", "croupier.lobby", *arguments], stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while not ready_file.exists():
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < until, "the lobby did not get ready"
            time.sleep(0.05)
        with grpc.insecure_channel(json.loads(ready_file.read_text())["listen"]) as channel:
            yield lobby_pb2_grpc.LobbyServiceStub(channel)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=END_SECONDS)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, said
    assert "Traceback" not in said


def test_a_player_is_the_same_after_a_restart_and_a_stream_does_not_hold_the_end_up(
    arguments: list[str], tmp_path: Path
) -> None:
    ids = set()
    for _ in range(2):
        with running(arguments, tmp_path / "ready.json") as stub:
            signed_in = stub.SignIn(lobby_pb2.SignInRequest(device_secret="a secret of one device", name="Ada"))
            ids.add(signed_in.player.player_id)
            metadata = (("authorization", f"Bearer {signed_in.tokens.access_token}"),)
            watch = stub.WatchTables(lobby_pb2.WatchTablesRequest(), metadata=metadata)
    assert len(ids) == 1
    with pytest.raises(grpc.RpcError):
        next(watch)


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        ("--database", "nonsense", "is not the URL of a database"),
        ("--database", "sqlite+aiosqlite:////nowhere/at/all.db", "unable to open database file"),
        ("--database", "sqlite://", "croupier migrate --service lobby --database sqlite://"),
        ("--engine-control", "nowhere", "is not an address"),
        ("--engine-control", "127.0.0.1:1,elsewhere:2", "elsewhere:2 is a name"),
        ("--signing-key", "/nowhere/key.pem", "cannot be read as an Ed25519 private key"),
        ("--listen", "nonsense", "cannot be listened on"),
        ("--metrics-listen", "nonsense", "cannot be listened on"),
        ("--log-level", "loud", "log_level"),
    ],
)
def test_faults_of_configuration_are_one_line_and_code_2(
    arguments: list[str], flag: str, value: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, f"{flag}={value}"]) == 2
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("croupier serve lobby: ")]
    assert len(lines) == 1
    assert said in lines[0]


def test_missing_settings_are_all_named(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("CROUPIER_")]:
        monkeypatch.delenv(name)
    with pytest.raises(SystemExit) as end:
        main([])
    assert end.value.code == 2
    said = capfd.readouterr().err
    assert all(name in said for name in ("--database", "--signing-key", "--engine-control"))
