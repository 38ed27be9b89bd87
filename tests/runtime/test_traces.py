"""Traces: from caller to callee, to a collector that may be away, and not at all unless they are asked for."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import grpc
import pytest
import structlog
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from prometheus_client import CollectorRegistry, generate_latest
from structlog.testing import CapturingLogger

from croupier.runtime import span_export
from croupier.runtime.channels import open_channel
from croupier.runtime.errors import IllegalNow
from croupier.runtime.settings import TracesSettings
from croupier.runtime.span_export import BoundedExport
from croupier.runtime.traced_calls import traced
from croupier.runtime.traces import MOST_WAITING_SPANS, Traces, export_dropped, traces_in_use
from croupier_api.v1 import lobby_pb2 as pb
from croupier_api.v1 import lobby_pb2_grpc
from tests.collector import TOLD, Collector, collecting
from tests.runtime.site import Site, bearer, opened_site
from tests.waiting import PATIENCE_SECONDS, until

METHOD = "croupier_api.v1.LobbyService/GetTable"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@asynccontextmanager
async def site(collector: Collector, ratio: float = 1.0) -> AsyncIterator[tuple[Site, Traces]]:
    """A service that calls itself; all spans are with the collector when it has ended."""
    async with traces_in_use(TracesSettings(collector.address, ratio), "lobby", CapturingLogger()) as traces:
        assert traces
        async with (
            opened_site(traces=traces) as opened,
            open_channel(opened.listener.address, interceptors=traced(traces)) as channel,
        ):
            yield opened._replace(stub=lobby_pb2_grpc.LobbyServiceStub(channel)), traces


async def get(stub: Any, traceparent: str = "") -> str:
    """The code of a call, by the site's own channel or from outside with this header."""
    metadata = (*bearer("the queen of hearts"), *([("traceparent", traceparent)] if traceparent else []))
    call = stub.GetTable(pb.GetTableRequest(table_id="t1"), timeout=PATIENCE_SECONDS, metadata=metadata)
    return str((await call.code()).name)


async def test_a_call_is_one_trace_from_caller_to_callee_with_ids_for_the_logs() -> None:
    bound: dict[str, Any] = {}
    async with collecting() as collector, site(collector) as (here, traces):
        here.servicer.act = lambda: bound.update(structlog.contextvars.get_contextvars())
        assert await get(here.stub) == "OK"
        assert await get(here.stub) == "OK"
        assert traces.ids() == {}
    asked, served, *second = sorted(collector.seen, key=lambda seen: seen.span.start_time_unix_nano)
    assert (asked.service, asked.name, asked.parent) == ("croupier-lobby", METHOD, b"")
    assert (served.name, served.trace, served.parent) == (METHOD, asked.trace, asked.id)
    assert served.told == {
        "rpc.system.name": "grpc",
        "rpc.method": METHOD,
        "rpc.response.status_code": "OK",
        "croupier.table_id": "t1",
    }
    assert {each.trace for each in second} == {second[0].trace} != {asked.trace}
    assert (bound["trace_id"], bound["span_id"]) == (second[1].trace.hex(), second[1].id.hex())


async def test_spans_tell_codes_and_never_what_was_said() -> None:
    def fail(fault: Exception) -> None:
        raise fault

    async with collecting() as collector, site(collector) as (here, _):
        here.servicer.act = partial(fail, IllegalNow("SECRET", "the ace of spades"))
        assert await get(here.stub) == "FAILED_PRECONDITION"
        here.servicer.act = partial(fail, ZeroDivisionError("the ace of spades"))
        assert await get(here.stub) == "INTERNAL"
    codes = [each.told["rpc.response.status_code"] for each in collector.seen]
    assert sorted(codes) == ["FAILED_PRECONDITION"] * 2 + ["INTERNAL"] * 2
    assert {each.told["rpc.response.status_code"] for each in collector.seen if each.span.status.code} == {"INTERNAL"}
    assert all(each.told.keys() <= TOLD for each in collector.seen)
    # Several words: random identifiers can contain a single one as short as "ace".
    assert b"ace of spades" not in collector.raw
    assert b"queen of hearts" not in collector.raw


SAMPLED, UNSAMPLED, NO_TRACEPARENT = f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-00", "x" * 999


@pytest.mark.parametrize(
    ("ratio", "traceparent", "count"),
    [(0.0, SAMPLED, 1), (1.0, UNSAMPLED, 0), (0.0, "", 0), (1.0, "", 1), (1.0, NO_TRACEPARENT, 1)],
)
async def test_a_callers_decision_is_kept_and_others_go_by_the_ratio(
    ratio: float, traceparent: str, count: int
) -> None:
    async with (
        collecting() as collector,
        site(collector, ratio) as (here, _),
        grpc.aio.insecure_channel(here.listener.address) as outside,
    ):
        assert await get(lobby_pb2_grpc.LobbyServiceStub(outside), traceparent) == "OK"
    assert len(collector.seen) == count
    for each in collector.seen:
        assert each.parent.hex() == (PARENT if traceparent == SAMPLED else "")
        assert (each.trace.hex() == TRACE) == (traceparent == SAMPLED)
    assert b"x" * 99 not in collector.raw


# The way to the collector


class Slow(SpanExporter):
    """Takes nothing until it is let go; whoever gives up waiting has failed."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.result, self.was_let_go = SpanExportResult.SUCCESS, False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.begun.set()
        self.was_let_go = self.go.wait(PATIENCE_SECONDS)
        return self.result

    def shutdown(self) -> None:
        self.go.set()


def spans(export: BoundedExport) -> Callable[[int], None]:
    """What ends so many spans."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(export)
    tracer = provider.get_tracer("a test")

    def make(count: int) -> None:
        for _ in range(count):
            tracer.start_span("one").end()

    return make


def test_no_more_spans_wait_than_allowed_and_the_others_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_export, "PAUSE_SECONDS", 0.01)
    exporter = Slow()
    export = BoundedExport(exporter, CapturingLogger())
    make = spans(export)
    make(1)
    assert exporter.begun.wait(PATIENCE_SECONDS)
    make(MOST_WAITING_SPANS + 3)
    assert export.dropped() == {"too_many": 3, "not_taken": 0}
    exporter.go.set()
    export.shutdown()
    make(1)
    assert export.dropped() == {"too_many": 4, "not_taken": 0}


async def test_the_end_does_not_wait_for_a_collector_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_export, "FLUSH_SECONDS", 0.05)
    exporter, logger = Slow(), CapturingLogger()
    exporter.result = SpanExportResult.FAILURE
    export = BoundedExport(exporter, logger)
    spans(export)(2)
    export.shutdown()
    await until(lambda: export.dropped() == {"too_many": 0, "not_taken": 2})
    assert exporter.was_let_go
    assert [call.args for call in logger.calls] == [("the collector takes no spans: they are dropped",)]


async def test_a_collector_that_is_away_costs_only_spans_and_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_export, "PAUSE_SECONDS", 0.01)
    registry, logger = CollectorRegistry(), CapturingLogger()
    async with collecting() as gone:
        pass
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        traces_in_use(TracesSettings(gone.address), "lobby", logger) as traces,
    ):
        assert traces
        export_dropped(registry, traces)
        for _ in range(3):
            with traces.serve("/a/b", ""):
                pass
    await until(lambda: traces.dropped()["not_taken"] == 3)
    assert [call.args for call in logger.calls] == [("the collector takes no spans: they are dropped",)]
    assert b'croupier_dropped_spans_total{reason="not_taken"} 3.0' in generate_latest(registry)


# Only where asked for


async def test_without_a_collector_there_is_nothing() -> None:
    async with traces_in_use(TracesSettings(""), "lobby", CapturingLogger()) as traces:
        assert traces is None
    export_dropped(CollectorRegistry(), traces)
    assert traced(traces) == []


def test_services_do_not_import_opentelemetry_unless_it_is_asked_for() -> None:
    script = (
        "import sys, croupier.engine.__main__, croupier.lobby.__main__, croupier.scoring.__main__\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (TracesSettings("nowhere"), "host:port is expected"),
        (TracesSettings("127.0.0.1:1,127.0.0.1:2"), "one host:port is expected"),
        (TracesSettings("127.0.0.1:1", 1.5), "a share from 0 to 1 is expected"),
    ],
)
async def test_settings_that_cannot_be_used_are_told(settings: TracesSettings, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        await asyncio.wait_for(_opened(settings), PATIENCE_SECONDS)


async def test_without_the_library_it_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "croupier.runtime.opentelemetry_traces", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ValueError, match=r"pip install 'croupier\[traces\]'"):
        await _opened(TracesSettings("127.0.0.1:1"))


async def _opened(settings: TracesSettings) -> None:
    async with traces_in_use(settings, "lobby", CapturingLogger()):
        pass
