"""The lifecycle of all services: they are supervised while they run, and drained at any end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry

from croupier.runtime.database.schema_versions import migrate_database
from croupier.runtime.observation.metrics import RpcMetrics
from croupier.runtime.server.program import SettingsError
from croupier.runtime.server.service import Port, Resources, Service, serve
from croupier.runtime.settings import ServiceSettings
from croupier_api.v1 import lobby_pb2 as pb
from croupier_api.v1 import lobby_pb2_grpc, tables_pb2
from tests.runtime.lobby_server import LOBBY, VERIFIER, bearer
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.usefixtures("logs_as_before")


class Servicer(lobby_pb2_grpc.LobbyServiceServicer):
    """Its streams end with a last message once the service leaves."""

    def __init__(self) -> None:
        self.leaving = asyncio.Event()

    async def WatchTables(self, request: pb.WatchTablesRequest, context: Any) -> AsyncIterator[pb.WatchTablesResponse]:
        yield pb.WatchTablesResponse()
        await self.leaving.wait()
        yield pb.WatchTablesResponse(table=tables_pb2.Table(game="last message"))


@dataclass
class ServiceHarness:
    """Runs a service until an event, and records the steps of its lifecycle."""

    settings: ServiceSettings
    ready_file: Path
    steps: list[str] = field(default_factory=list)
    changes: dict[str, Any] = field(default_factory=dict)
    failing: asyncio.Event = field(default_factory=asyncio.Event)
    fault: Exception | None = None

    def build(self, _settings: ServiceSettings, _resources: Resources) -> Service:
        servicer, registry = Servicer(), CollectorRegistry()  # type: ignore[abstract]
        add = partial(lobby_pb2_grpc.add_LobbyServiceServicer_to_server, servicer)

        async def leave(_grace_seconds: float) -> None:
            self.steps.append("left")
            servicer.leaving.set()

        async def finish(_grace_seconds: float) -> None:
            self.steps.append("finished")

        service = Service(
            ports=(Port("listen", "127.0.0.1:0", LOBBY[1:], add, VERIFIER),),
            registry=registry,
            rpc_metrics=RpcMetrics(registry),
            start=self.step("started"),
            join=self.step("joined"),
            tasks={"work": partial(self.run_until_cancelled, "work")},
            leave=leave,
            finish=finish,
            drain_tasks={"lasting": partial(self.run_until_cancelled, "lasting")},
        )
        return replace(service, **self.changes)

    def step(self, name: str) -> Callable[[], Any]:
        async def note() -> None:
            self.steps.append(name)

        return note

    async def run_until_cancelled(self, name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.steps.append(f"{name} ended")

    async def fail(self) -> None:
        """Fail, or return without a fault, once `failing` is set."""
        await self.failing.wait()
        if self.fault:
            raise self.fault

    async def serve_until(self, end: Callable[[], object]) -> int:
        """Open a stream, end the service by a function, read the stream to its end, and return the exit code."""
        serving = asyncio.create_task(serve("scoring", self.settings, self.build))
        await until(lambda: self.ready_file.exists() or serving.done())
        if serving.done():
            return serving.result()
        address = json.loads(self.ready_file.read_text())["listen"]
        async with grpc.aio.insecure_channel(address) as channel:
            stub: Any = lobby_pb2_grpc.LobbyServiceStub(channel)
            watching = stub.WatchTables(pb.WatchTablesRequest(), metadata=bearer())
            await watching.read()
            end()
            assert (await asyncio.wait_for(watching.read(), TIMEOUT_SECONDS)).table.game == "last message"
        return await asyncio.wait_for(serving, TIMEOUT_SECONDS)


@pytest.fixture
async def harness(tmp_path: Path) -> ServiceHarness:
    database, ready_file = f"sqlite:///{tmp_path}/scoring.db", tmp_path / "ready.json"
    await migrate_database(database, ["croupier.scoring"])
    # Longer than a test takes: when it is over, the whole process is ended.
    settings = ServiceSettings(
        database=database,
        metrics_listen="127.0.0.1:0",
        ready_file=ready_file,
        drain_seconds=round(9 * TIMEOUT_SECONDS),
    )
    return ServiceHarness(settings, ready_file)


def errors_in(logged: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in logged.splitlines() if line.startswith("{")]
    return [line for line in lines if line["level"] == "error"]


async def test_a_service_that_is_stopped_does_each_step_in_order(
    harness: ServiceHarness, capsys: pytest.CaptureFixture[str]
) -> None:
    harness.changes = {"check_access": harness.step("asked")}
    assert await harness.serve_until(lambda: os.kill(os.getpid(), signal.SIGTERM)) == 0
    assert harness.steps == ["started", "asked", "joined", "left", "work ended", "finished", "lasting ended"]
    assert errors_in(capsys.readouterr().err) == []


@pytest.mark.parametrize("hook", ["tasks", "drain_tasks"])
@pytest.mark.parametrize(
    ("fault", "message"), [(ValueError("a defect"), "a defect"), (None, "it ended while the service runs")]
)
async def test_a_background_task_that_fails_ends_the_service_drained_with_a_traceback(
    harness: ServiceHarness, capsys: pytest.CaptureFixture[str], hook: str, fault: Exception | None, message: str
) -> None:
    harness.fault, harness.changes = fault, {hook: {"failing task": harness.fail}}
    assert await harness.serve_until(harness.failing.set) == 1
    assert [step for step in harness.steps if step in ("left", "finished")] == ["left", "finished"]
    (error,) = errors_in(capsys.readouterr().err)
    assert (error["event"], error["task"]) == ("background task failed", "failing task")
    assert error["exception"][0]["exc_value"] == message
    assert error["exception"][0]["frames"]


async def test_a_key_that_is_refused_at_once_opens_no_port(harness: ServiceHarness) -> None:
    harness.fault, harness.changes = SettingsError("another key"), {"check_access": harness.fail}
    harness.failing.set()
    with pytest.raises(SettingsError, match="another key"):
        await harness.serve_until(harness.failing.set)
    assert harness.steps == ["started"]


async def test_a_key_that_is_refused_later_ends_the_service_drained(
    harness: ServiceHarness, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.runtime.server.service.ACCESS_CHECK_SECONDS", 0.01)
    harness.fault, harness.changes = SettingsError("another key"), {"check_access": harness.fail}
    with pytest.raises(SettingsError, match="another key"):
        await harness.serve_until(harness.failing.set)
    assert harness.steps[-2:] == ["finished", "lasting ended"]
    assert errors_in(capsys.readouterr().err) == []


@pytest.mark.parametrize("hook", ["start", "join"])
async def test_a_start_that_fails_is_logged_with_a_traceback(
    harness: ServiceHarness, capsys: pytest.CaptureFixture[str], hook: str
) -> None:
    harness.fault, harness.changes = OSError("a defect"), {hook: harness.fail}
    harness.failing.set()
    assert await harness.serve_until(harness.failing.set) == 1
    (error,) = errors_in(capsys.readouterr().err)
    assert error["event"] == "the service failed"
    assert error["exception"][0]["exc_value"] == "a defect"


@pytest.mark.parametrize(("address", "warnings"), [("127.0.0.1:0", 0), ("0.0.0.0:0", 1)])
async def test_a_service_that_other_machines_reach_without_tls_logs_one_warning(
    harness: ServiceHarness, capsys: pytest.CaptureFixture[str], address: str, warnings: int
) -> None:
    harness.changes = {"ports": (Port("listen", address, LOBBY[1:], lambda _: None, VERIFIER),), "start": harness.fail}
    harness.fault = OSError("end of the test")
    harness.failing.set()
    await harness.serve_until(harness.failing.set)
    assert capsys.readouterr().err.count("without TLS: see --tls-certificate") == warnings


@pytest.mark.parametrize("service", ["lobby", "engine", "scoring"])
def test_a_service_does_not_import_what_only_migrations_and_traces_need(service: str) -> None:
    program = f"import sys, croupier.{service}.__main__; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"alembic", "mako", "jinja2", "typer", "opentelemetry.sdk"}.isdisjoint(loaded)
