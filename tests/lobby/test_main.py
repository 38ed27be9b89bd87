"""The lobby as a process of its own: it starts, says where it listens, stops in order, and starts again."""

import asyncio
import json
import sys
from pathlib import Path

import grpc
import pytest

from croupier.lobby.__main__ import main
from croupier.runtime.identity import write_new_key_pair
from croupier_api.v1 import lobby_pb2, lobby_pb2_grpc
from tests.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.usefixtures("logs_as_before")
LONGER_THAN_PATIENCE_SECONDS = 2 * PATIENCE_SECONDS


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
        "drain-seconds": round(LONGER_THAN_PATIENCE_SECONDS),
    }
    return [f"--{name}={value}" for name, value in given.items()]


async def test_a_player_is_the_same_after_a_restart_and_a_stream_does_not_hold_the_end_up(
    arguments: list[str], tmp_path: Path
) -> None:
    first = await visited(arguments, tmp_path / "ready.json")
    assert await visited(arguments, tmp_path / "ready.json") == first


async def visited(arguments: list[str], ready: Path) -> str:
    """The id that a player has at a lobby, which is then told to stop and does so in time and without fault."""
    await asyncio.to_thread(ready.unlink, missing_ok=True)
    command = (sys.executable, "-m", "croupier.lobby", *arguments)
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        await until(lambda: ready.exists() or process.returncode is not None)
        addresses = json.loads(await asyncio.to_thread(ready.read_text))
        async with grpc.aio.insecure_channel(addresses["listen"]) as channel:
            stub = lobby_pb2_grpc.LobbyServiceStub(channel)
            sign_in = lobby_pb2.SignInRequest(device_secret="a secret of one device")
            token = (await stub.SignIn(sign_in)).tokens.access_token
            watch = stub.WatchTables(lobby_pb2.WatchTablesRequest(), metadata=(("authorization", f"Bearer {token}"),))
            # Comes after the other call on the same connection.
            player_id = (await stub.SignIn(sign_in)).player.player_id
            process.terminate()
            with pytest.raises(grpc.RpcError):
                await asyncio.wait_for(watch.read(), PATIENCE_SECONDS)
        _, said = await asyncio.wait_for(process.communicate(), PATIENCE_SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, said
    assert b"Traceback" not in said
    return player_id


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        ("--database", "nonsense", "is not the URL of a database"),
        ("--database", "sqlite://", "croupier migrate --service lobby --database sqlite://"),
        ("--engine-control", "nowhere", "is not an address"),
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
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("croupier serve lobby: ")]
    assert said in line
