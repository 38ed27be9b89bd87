"""Traces of calls, their export to a collector, which may be unreachable, and no traces by default."""

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import grpc
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, StatusCode

from croupier.runtime.errors import IllegalNow
from croupier.runtime.observation import span_export
from croupier.runtime.observation.span_export import (
    ALLOWED_ATTRIBUTES,
    MAX_QUEUED_SPANS,
    batch_processor,
    new_provider,
    shut_down,
)
from croupier.runtime.observation.traced_calls import TracingInterceptor, tracing_interceptors
from croupier.runtime.observation.tracing import TRACER, add_span_ids, exported_spans, open_span
from croupier.runtime.server.channels import open_channel
from croupier.runtime.server.program import SettingsError
from croupier_api.v1 import errors_pb2, lobby_pb2_grpc
from croupier_api.v1 import lobby_pb2 as pb
from tests.collector import ALLOWED, PARENT, SAMPLED, TRACE, collecting
from tests.recorded_spans import recorded_spans
from tests.runtime.lobby_server import LobbyServer, bearer, running_lobby
from tests.waiting import TIMEOUT_SECONDS, until

METHOD = "croupier_api.v1.LobbyService/GetTable"


@asynccontextmanager
async def traced_lobby() -> AsyncIterator[LobbyServer]:
    """Run a lobby with a traced channel to it."""
    async with (
        running_lobby() as opened,
        open_channel(opened.listener.address, interceptors=[TracingInterceptor()]) as channel,
    ):
        yield opened._replace(stub=lobby_pb2_grpc.LobbyServiceStub(channel))


async def get(stub: Any, traceparent: str = "") -> str:
    """Return the code of a call, with this header."""
    metadata = (*bearer("the queen of hearts"), *([("traceparent", traceparent)] if traceparent else []))
    call = stub.GetTable(pb.GetTableRequest(table_id="t1"), timeout=TIMEOUT_SECONDS, metadata=metadata)
    return str((await call.code()).name)


def span_id(span: ReadableSpan) -> int:
    assert span.context
    return int(span.context.span_id)


async def test_a_call_is_one_trace_from_caller_to_callee_with_ids_for_the_logs() -> None:
    logged: dict[str, Any] = {}
    with recorded_spans() as spans:
        async with traced_lobby() as lobby:
            lobby.servicer.act = lambda: logged.update(add_span_ids(None, "info", {}))
            assert await get(lobby.stub) == "OK"
            assert await get(lobby.stub) == "OK"
            assert add_span_ids(None, "info", {}) == {}
    served, called, *second = spans.get_finished_spans()
    assert (called.name, called.kind, called.parent) == (METHOD, SpanKind.CLIENT, None)
    assert (served.name, served.kind) == (METHOD, SpanKind.SERVER)
    assert served.context is not None
    assert called.context is not None
    assert served.parent is not None
    assert (served.context.trace_id, served.parent.span_id) == (called.context.trace_id, span_id(called))
    assert served.attributes == {
        "rpc.system.name": "grpc",
        "rpc.method": METHOD,
        "rpc.response.status_code": "OK",
        "croupier.table_id": "t1",
    }
    traces = {span.context.trace_id for span in second if span.context}
    assert len(traces) == 1
    assert called.context.trace_id not in traces
    assert logged == {"trace_id": f"{traces.pop():032x}", "span_id": f"{span_id(second[0]):016x}"}


async def test_spans_report_codes_and_never_texts() -> None:
    def fail(fault: Exception) -> None:
        raise fault

    with recorded_spans() as spans:
        async with traced_lobby() as lobby:
            lobby.servicer.act = partial(fail, IllegalNow(errors_pb2.ERROR_REASON_ILLEGAL_ACTION, "the ace of spades"))
            assert await get(lobby.stub) == "FAILED_PRECONDITION"
            lobby.servicer.act = partial(fail, ZeroDivisionError("the ace of spades"))
            assert await get(lobby.stub) == "INTERNAL"
    exported = [(dict(span.attributes or {})["rpc.response.status_code"], span) for span in spans.get_finished_spans()]
    assert sorted(str(code) for code, _ in exported) == ["FAILED_PRECONDITION"] * 2 + ["INTERNAL"] * 2
    assert {code for code, span in exported if span.status.status_code is StatusCode.ERROR} == {"INTERNAL"}
    # Several words: random identifiers can contain a single one as short as "ace".
    assert not re.search("ace of spades|queen of hearts", "".join(span.to_json() for _, span in exported))


def test_nothing_is_exported_that_is_not_allowed() -> None:
    """The API records exceptions by itself, and code may set any attribute."""
    secret = "the ace of spades"

    @TRACER.start_as_current_span("act")
    def leak() -> None:
        span = trace.get_current_span()
        span.set_attributes({"card": secret, "croupier.game": "solo"})
        span.add_event(secret)
        span.add_link(span.get_span_context(), {"card": secret})
        raise ZeroDivisionError(secret)

    with recorded_spans() as spans, pytest.raises(ZeroDivisionError):
        leak()
    (exported,) = spans.get_finished_spans()
    assert (exported.name, exported.attributes) == ("act", {"croupier.game": "solo"})
    assert ALLOWED_ATTRIBUTES == ALLOWED
    assert (exported.status.status_code, len(exported.links)) == (StatusCode.ERROR, 1)
    assert secret not in exported.to_json()


UNSAMPLED, INVALID = f"00-{TRACE}-{PARENT}-00", "x" * 999


@pytest.mark.parametrize(
    ("traceparent", "count"), [(SAMPLED, 1), (UNSAMPLED, 0), ("", 1), (INVALID, 1)], ids=lambda each: str(each)
)
async def test_the_sampling_decision_of_the_caller_is_kept(traceparent: str, count: int) -> None:
    with recorded_spans() as spans:
        async with traced_lobby() as lobby, grpc.aio.insecure_channel(lobby.listener.address) as outside:
            assert await get(lobby_pb2_grpc.LobbyServiceStub(outside), traceparent) == "OK"
    seen = spans.get_finished_spans()
    assert len(seen) == count
    for each in seen:
        assert each.context
        assert (f"{each.parent.span_id:016x}" if each.parent else "") == (PARENT if traceparent == SAMPLED else "")
        assert (f"{each.context.trace_id:032x}" == TRACE) == (traceparent == SAMPLED)


@pytest.mark.parametrize(("ratio", "is_recorded"), [(0.0, False), (1.0, True)])
def test_traces_that_begin_here_are_sampled_by_the_ratio(ratio: float, is_recorded: bool) -> None:
    tracer = new_provider(SpanProcessor(), ratio, "lobby").get_tracer("a test")
    assert tracer.start_span("one").is_recording() is is_recorded


async def test_a_cancelled_caller_cancels_the_call() -> None:
    called, cancelled = asyncio.Event(), asyncio.Event()

    class Call:
        async def code(self) -> grpc.StatusCode:
            called.set()
            await asyncio.Event().wait()
            raise AssertionError

        def cancel(self) -> None:
            cancelled.set()

    async def begin(_details: Any, _request: Any) -> Call:
        return Call()

    details = grpc.aio.ClientCallDetails(f"/{METHOD}", None, None, None, None)
    with recorded_spans() as spans:
        calling = asyncio.create_task(TracingInterceptor().intercept_unary_unary(begin, details, None))
        await called.wait()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
    assert cancelled.is_set()
    assert [span.name for span in spans.get_finished_spans()] == [METHOD]


class BlockingExporter(SpanExporter):
    """An exporter that blocks until `go` is set."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.count, self.was_released = 0, False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.begun.set()
        self.was_released = self.go.wait(TIMEOUT_SECONDS)
        self.count += len(spans)
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        self.go.set()


def test_the_queue_of_spans_is_limited() -> None:
    exporter = BlockingExporter()
    provider = new_provider(batch_processor(exporter), 1.0, "lobby")
    tracer = provider.get_tracer("a test")
    tracer.start_span("one").end()
    assert exporter.begun.wait(TIMEOUT_SECONDS)
    for _ in range(MAX_QUEUED_SPANS + 3):
        tracer.start_span("one").end()
    exporter.go.set()
    provider.shutdown()
    assert exporter.count == MAX_QUEUED_SPANS + 1


async def test_a_shutdown_does_not_wait_for_a_hanging_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_export, "FLUSH_SECONDS", 0.05)
    exporter = BlockingExporter()
    provider = new_provider(batch_processor(exporter), 1.0, "lobby")
    provider.get_tracer("a test").start_span("one").end()
    shut_down(provider, exporter)
    await until(lambda: exporter.was_released)


def run_in_new_process(script: str) -> None:
    subprocess.run([sys.executable, "-c", script], check=True, timeout=TIMEOUT_SECONDS)


def span_script(endpoint: str, is_recording: bool) -> str:
    """Return a program that makes a span with this endpoint of a collector."""
    return (
        "from croupier.runtime.observation.tracing import exported_spans, start_span\n"
        f"with exported_spans({endpoint!r}, 1.0, 'lobby'), start_span('one') as span:\n"
        f"    assert span.is_recording() is {is_recording}"
    )


async def test_an_unreachable_collector_loses_spans_only() -> None:
    async with collecting() as closed:
        pass
    await asyncio.to_thread(run_in_new_process, span_script(closed.address, True))


def test_without_a_collector_nothing_is_recorded_and_no_channel_is_traced() -> None:
    run_in_new_process(span_script("", False))
    assert tracing_interceptors("") == []


def test_a_child_of_an_unrecorded_span_is_not_recorded() -> None:
    with recorded_spans() as spans, open_span("append") as span:
        assert not span.is_recording()
    assert spans.get_finished_spans() == ()


def test_without_the_sdk_the_fault_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "croupier.runtime.observation.span_export", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with (
        pytest.raises(SettingsError, match=r"pip install 'croupier\[traces\]' brings it"),
        exported_spans("127.0.0.1:1", 1.0, "lobby"),
    ):
        pass
