"""The lobby as a process starts, drains, and starts again; like scoring, it reports an invalid setting in one line."""

import asyncio
import json
import sys
from pathlib import Path

import grpc
import pytest

from croupier.lobby.__main__ import main as lobby
from croupier.runtime.database.schema_versions import migrate_database
from croupier.runtime.identity.tokens import write_new_key_pair
from croupier.scoring.__main__ import main as scoring
from croupier_api.v1 import lobby_pb2, lobby_pb2_grpc
from tests.scoring.deployment import Keys
from tests.waiting import TIMEOUT_SECONDS, until


async def test_a_player_is_the_same_after_a_restart_and_a_stream_does_not_delay_the_end(
    database_url: str, tmp_path: Path
) -> None:
    write_new_key_pair(tmp_path / "private.pem", tmp_path / "public.pem")
    arguments = [
        *(f"--database={database_url}", f"--signing-key={tmp_path}/private.pem", "--engine-control=127.0.0.1:1"),
        *("--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0", f"--ready-file={tmp_path}/ready.json"),
        # A stream that delayed the end would delay it beyond the time-out of this test.
        f"--drain-seconds={round(2 * TIMEOUT_SECONDS)}",
    ]
    first = await player_id_at(arguments, tmp_path / "ready.json")
    assert await player_id_at(arguments, tmp_path / "ready.json") == first


async def player_id_at(arguments: list[str], ready: Path) -> str:
    """Run a lobby, sign in, stop the lobby during a stream, and return the player's id."""
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
            # The lobby receives it after the other call on the same connection.
            player_id = (await stub.SignIn(sign_in)).player.player_id
            await asyncio.wait_for(watch.read(), TIMEOUT_SECONDS)
            process.terminate()
            with pytest.raises(grpc.RpcError):
                await asyncio.wait_for(watch.read(), TIMEOUT_SECONDS)
        _, errors = await asyncio.wait_for(process.communicate(), TIMEOUT_SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, errors
    assert b"Traceback" not in errors
    return player_id


pytestmark = pytest.mark.usefixtures("logs_as_before")

PROGRAMS = {"lobby": lobby, "scoring": scoring}
FAULTS_OF_BOTH = [
    ("--database=nonsense", "invalid --database (CROUPIER_DATABASE): expected sqlite:////"),
    ("--database=sqlite://", "croupier migrate --service {service} --database sqlite://"),
]
FAULTS_OF_ONE = [
    ("lobby", "--engine-control=nowhere", "expected host:port"),
    ("lobby", "--signing-key=/nowhere/key.pem", "cannot be read as an Ed25519 private key"),
    ("scoring", "--lobby-public-key=/nowhere/lobby.pub", "/nowhere/lobby.pub"),
    ("scoring", f"--engine-public-key={__file__}", __file__),
    ("scoring", "--control-listen=192.0.2.1:0", "192.0.2.1:0 cannot be listened on"),
]


@pytest.fixture(scope="module")
def valid_flags(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return flags with which each program starts."""
    folder = Keys.new(tmp_path_factory.mktemp("configured")).folder
    database = f"sqlite:///{folder}/both.db"
    asyncio.run(migrate_database(database, ["croupier.lobby", "croupier.scoring"]))
    both = [f"--database={database}", "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0"]
    keys = [f"--lobby-public-key={folder}/lobby.pub", f"--engine-public-key={folder}/engine.pub"]
    return {
        "lobby": [*both, f"--signing-key={folder}/lobby.pem", "--engine-control=127.0.0.1:1"],
        "scoring": [*both, *keys, "--control-listen=127.0.0.1:0"],
    }


@pytest.mark.parametrize(
    ("service", "flag", "expected"),
    [*((service, *fault) for service in PROGRAMS for fault in FAULTS_OF_BOTH), *FAULTS_OF_ONE],
)
def test_an_invalid_setting_is_reported_in_one_line_and_exits_with_2(
    valid_flags: dict[str, list[str]], service: str, flag: str, expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert PROGRAMS[service]([*valid_flags[service], flag]) == 2
    errors = capfd.readouterr().err.splitlines()
    (line,) = [line for line in errors if line.startswith(f"croupier serve {service}: ")]
    assert expected.format(service=service) in line
