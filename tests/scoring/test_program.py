"""The program: it announces itself, ends in order, and tells in one line what is wrong with its settings."""

import asyncio
import dataclasses
import json
import signal
import sys
import urllib.request
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from croupier.scoring.__main__ import main
from croupier_api.v1 import scoring_pb2 as pb
from croupier_api.v1.scoring_pb2_grpc import ScoringServiceStub
from tests.scoring.house import CALL_SECONDS, Keys
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.usefixtures("logs_as_before")


def flags(keys: Keys, database_url: str, **changes: str) -> list[str]:
    settings = keys.settings(database_url)
    given = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    given = {name: str(value) for name, value in given.items() if isinstance(value, str | Path) and value}
    return [part for name, value in (given | changes).items() for part in (f"--{name.replace('_', '-')}", value)]


async def test_it_serves_until_told_to_stop(keys: Keys, database_url: str, tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "croupier.scoring"),
        *flags(keys, database_url, ready_file=str(ready)),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert program.stderr is not None
        serving: dict[str, str] = {}
        while serving.get("event") != "ready":
            serving = json.loads(await asyncio.wait_for(program.stderr.readline(), PATIENCE_SECONDS))
        addresses = json.loads(await asyncio.to_thread(ready.read_text))
        assert addresses == {name: serving[name] for name in ("listen", "control", "metrics")}
        async with grpc.aio.insecure_channel(addresses["listen"]) as channel:
            metadata = keys.player("anna")
            stub = ScoringServiceStub(channel)
            await stub.ListResults(pb.ListResultsRequest(), metadata=metadata, timeout=CALL_SECONDS)
            health = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=CALL_SECONDS)
            assert (await health).status == health_pb2.HealthCheckResponse.SERVING
        with await asyncio.to_thread(urllib.request.urlopen, f"http://{addresses['metrics']}/metrics") as page:
            assert b'croupier_rpc_calls_total{code="OK"' in page.read()
    finally:
        program.send_signal(signal.SIGTERM)
        await asyncio.wait_for(program.communicate(), PATIENCE_SECONDS)
    assert program.returncode == 0


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("database", "nonsense", "--database"),
        ("database", "sqlite://", "croupier migrate --service scoring --database sqlite://"),
        ("lobby_public_key", "/nowhere/lobby.pub", "/nowhere/lobby.pub"),
        ("engine_public_key", __file__, __file__),
        ("listen", "127.0.0.1:99999", "127.0.0.1:99999"),
        ("metrics_listen", "127.0.0.1:x", "127.0.0.1:x"),
        ("log_level", "loud", "loud"),
        ("ready_file", "/nowhere/at/all/ready.json", "/nowhere/at/all/ready.partial"),
    ],
)
def test_settings_that_cannot_be_used(
    keys: Keys, database_url: str, capfd: pytest.CaptureFixture[str], name: str, value: str, word: str
) -> None:
    assert main(flags(keys, database_url, **{name: value})) == 2
    own_lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("croupier serve scoring: ")]
    assert len(own_lines) == 1
    assert word in own_lines[0]
