"""One life for all services: supervised while they run, and drained however that ends."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry

from croupier.runtime.metrics import RpcMetrics
from croupier.runtime.program import SettingsError
from croupier.runtime.schema_versions import migrate_database
from croupier.runtime.service import Port, Resources, Service, serve
from croupier.runtime.settings import ServiceSettings
from croupier_api.v1 import lobby_pb2 as pb
from croupier_api.v1 import lobby_pb2_grpc, tables_pb2
from tests.runtime.site import LOBBY, VERIFIER, bearer
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.usefixtures("logs_as_before")


class Servicer(lobby_pb2_grpc.LobbyServiceServicer):
    """A stream that says farewell once it may."""

    def __init__(self) -> None:
        self.leaving = asyncio.Event()

    async def WatchTables(self, request: pb.WatchTablesRequest, context: Any) -> AsyncIterator[pb.WatchTablesResponse]:
        yield pb.WatchTablesResponse()
        await self.leaving.wait()
        yield pb.WatchTablesResponse(table=tables_pb2.Table(game="farewell"))


@dataclass
class Life:
    """A service that runs until something happens, and the steps of its life."""

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
            work={"work": partial(self.goes_on, "work")},
            leave=leave,
            finish=finish,
            lasting_work={"lasting": partial(self.goes_on, "lasting")},
        )
        return replace(service, **self.changes)

    def step(self, name: str) -> Callable[[], Any]:
        async def note() -> None:
            self.steps.append(name)

        return note

    async def goes_on(self, name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.steps.append(f"{name} ended")

    async def fails(self) -> None:
        """Work that fails, or returns, when it is told to."""
        await self.failing.wait()
        if self.fault:
            raise self.fault

    async def served(self, end: Callable[[], object]) -> int:
        """Open a stream, end the service somehow, see the stream through, and return the service's exit code."""
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
            assert (await asyncio.wait_for(watching.read(), TIMEOUT_SECONDS)).table.game == "farewell"
        return await asyncio.wait_for(serving, TIMEOUT_SECONDS)


@pytest.fixture
async def life(tmp_path: Path) -> Life:
    database, ready_file = f"sqlite:///{tmp_path}/scoring.db", tmp_path / "ready.json"
    await migrate_database(database, ["croupier.scoring"])
    # Longer than a test takes: when it is over, the whole process is ended.
    settings = ServiceSettings(
        database=database,
        metrics_listen="127.0.0.1:0",
        ready_file=ready_file,
        drain_seconds=round(9 * TIMEOUT_SECONDS),
    )
    return Life(settings, ready_file)


def errors_in(logged: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in logged.splitlines() if line.startswith("{")]
    return [line for line in lines if line["level"] == "error"]


async def test_a_service_that_is_told_to_stop_does_each_step_in_its_order(
    life: Life, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await life.served(lambda: os.kill(os.getpid(), signal.SIGTERM)) == 0
    assert life.steps == ["started", "joined", "left", "work ended", "finished", "lasting ended"]
    assert errors_in(capsys.readouterr().err) == []


@pytest.mark.parametrize("place", ["work", "lasting_work"])
@pytest.mark.parametrize(
    ("fault", "told"), [(ValueError("a defect"), "a defect"), (None, "it ended while the service runs")]
)
async def test_a_background_task_that_fails_ends_the_service_drained_with_a_traceback(
    life: Life, capsys: pytest.CaptureFixture[str], place: str, fault: Exception | None, told: str
) -> None:
    life.fault, life.changes = fault, {place: {"the frail one": life.fails}}
    assert await life.served(life.failing.set) == 1
    assert [step for step in life.steps if step in ("left", "finished")] == ["left", "finished"]
    (error,) = errors_in(capsys.readouterr().err)
    assert (error["event"], error["task"]) == ("background task failed", "the frail one")
    assert error["exception"][0]["exc_value"] == told
    assert error["exception"][0]["frames"]


async def test_a_key_that_is_refused_at_once_opens_no_port(life: Life) -> None:
    life.fault, life.changes = SettingsError("another key"), {"check_access": life.fails}
    life.failing.set()
    with pytest.raises(SettingsError, match="another key"):
        await life.served(life.failing.set)
    assert life.steps == ["started"]


async def test_a_key_that_is_refused_later_ends_the_service_drained(
    life: Life, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.runtime.service.FIRST_ANSWER_SECONDS", 0.01)
    life.fault, life.changes = SettingsError("another key"), {"check_access": life.fails}
    with pytest.raises(SettingsError, match="another key"):
        await life.served(life.failing.set)
    assert life.steps[-2:] == ["finished", "lasting ended"]
    assert errors_in(capsys.readouterr().err) == []


async def test_a_key_that_is_taken_changes_nothing(life: Life) -> None:
    life.changes = {"check_access": life.step("asked")}
    assert await life.served(lambda: os.kill(os.getpid(), signal.SIGTERM)) == 0
    assert life.steps[:3] == ["started", "asked", "joined"]


@pytest.mark.parametrize("place", ["start", "join"])
async def test_a_start_that_fails_is_logged_with_a_traceback(
    life: Life, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    life.fault, life.changes = OSError("a defect"), {place: life.fails}
    life.failing.set()
    assert await life.served(life.failing.set) == 1
    (error,) = errors_in(capsys.readouterr().err)
    assert error["event"] == "the service failed"
    assert error["exception"][0]["exc_value"] == "a defect"


@pytest.mark.parametrize(("address", "warnings"), [("127.0.0.1:0", 0), ("0.0.0.0:0", 1)])
async def test_a_service_that_others_reach_without_tls_says_so_once(
    life: Life, capsys: pytest.CaptureFixture[str], address: str, warnings: int
) -> None:
    life.changes = {"ports": (Port("listen", address, LOBBY[1:], lambda _: None, VERIFIER),), "start": life.fails}
    life.fault = OSError("far enough")
    life.failing.set()
    await life.served(life.failing.set)
    assert capsys.readouterr().err.count("without TLS: see --tls-certificate") == warnings
