"""Traces: from caller to callee, to a collector that may be away, and not at all unless they are asked for."""

import asyncio
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
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, StatusCode

from croupier.runtime import span_export
from croupier.runtime.channels import open_channel
from croupier.runtime.errors import IllegalNow
from croupier.runtime.program import SettingsError
from croupier.runtime.span_export import ALLOWED_ATTRIBUTES, MAX_WAITING_SPANS, batching, end, new_provider
from croupier.runtime.traced_calls import TracedCalls, traced
from croupier.runtime.tracing import TRACER, TracesSettings, add_span_ids, exported_spans, open_span
from croupier_api.v1 import errors_pb2, lobby_pb2_grpc
from croupier_api.v1 import lobby_pb2 as pb
from tests.collector import TOLD, collecting
from tests.recorded_spans import recorded_spans
from tests.runtime.site import Site, bearer, opened_site
from tests.waiting import TIMEOUT_SECONDS, until

METHOD = "croupier_api.v1.LobbyService/GetTable"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    """A service that calls itself."""
    async with (
        opened_site() as opened,
        open_channel(opened.listener.address, interceptors=[TracedCalls()]) as channel,
    ):
        yield opened._replace(stub=lobby_pb2_grpc.LobbyServiceStub(channel))


async def get(stub: Any, traceparent: str = "") -> str:
    """The code of a call, by the site's own channel or from outside with this header."""
    metadata = (*bearer("the queen of hearts"), *([("traceparent", traceparent)] if traceparent else []))
    call = stub.GetTable(pb.GetTableRequest(table_id="t1"), timeout=TIMEOUT_SECONDS, metadata=metadata)
    return str((await call.code()).name)


def span_id(span: ReadableSpan) -> int:
    assert span.context
    return int(span.context.span_id)


async def test_a_call_is_one_trace_from_caller_to_callee_with_ids_for_the_logs() -> None:
    logged: dict[str, Any] = {}
    with recorded_spans() as spans:
        async with site() as here:
            here.servicer.act = lambda: logged.update(add_span_ids(None, "info", {}))
            assert await get(here.stub) == "OK"
            assert await get(here.stub) == "OK"
            assert add_span_ids(None, "info", {}) == {}
    served, asked, *second = spans.get_finished_spans()
    assert (asked.name, asked.kind, asked.parent) == (METHOD, SpanKind.CLIENT, None)
    assert (served.name, served.kind) == (METHOD, SpanKind.SERVER)
    assert served.context is not None
    assert asked.context is not None
    assert served.parent is not None
    assert (served.context.trace_id, served.parent.span_id) == (asked.context.trace_id, span_id(asked))
    assert served.attributes == {
        "rpc.system.name": "grpc",
        "rpc.method": METHOD,
        "rpc.response.status_code": "OK",
        "croupier.table_id": "t1",
    }
    traces = {span.context.trace_id for span in second if span.context}
    assert len(traces) == 1
    assert asked.context.trace_id not in traces
    assert logged == {"trace_id": f"{traces.pop():032x}", "span_id": f"{span_id(second[0]):016x}"}


async def test_spans_report_codes_and_never_texts() -> None:
    def fail(fault: Exception) -> None:
        raise fault

    async with collecting() as collector:
        exporter = OTLPSpanExporter(endpoint=f"http://{collector.address}", insecure=True)
        with recorded_spans() as spans:
            async with site() as here:
                here.servicer.act = partial(
                    fail, IllegalNow(errors_pb2.ERROR_REASON_ILLEGAL_ACTION, "the ace of spades")
                )
                assert await get(here.stub) == "FAILED_PRECONDITION"
                here.servicer.act = partial(fail, ZeroDivisionError("the ace of spades"))
                assert await get(here.stub) == "INTERNAL"
        # Off the event loop, on which the collector listens.
        result = await asyncio.to_thread(exporter.export, spans.get_finished_spans())
        assert result is SpanExportResult.SUCCESS
        exporter.shutdown()
    codes = [each.told["rpc.response.status_code"] for each in collector.seen]
    assert sorted(codes) == ["FAILED_PRECONDITION"] * 2 + ["INTERNAL"] * 2
    assert {each.told["rpc.response.status_code"] for each in collector.seen if each.span.status.code} == {"INTERNAL"}
    # Several words: random identifiers can contain a single one as short as "ace".
    assert b"ace of spades" not in collector.raw
    assert b"queen of hearts" not in collector.raw


def test_nothing_is_exported_that_is_not_allowed() -> None:
    """Neither what the API records by itself, nor what somebody wrote into a span."""
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
    assert ALLOWED_ATTRIBUTES == TOLD
    assert (exported.status.status_code, len(exported.links)) == (StatusCode.ERROR, 1)
    assert secret not in exported.to_json()


SAMPLED, UNSAMPLED, NO_TRACEPARENT = f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-00", "x" * 999


@pytest.mark.parametrize(
    ("traceparent", "count"), [(SAMPLED, 1), (UNSAMPLED, 0), ("", 1), (NO_TRACEPARENT, 1)], ids=lambda each: str(each)
)
async def test_a_callers_decision_is_kept(traceparent: str, count: int) -> None:
    with recorded_spans() as spans:
        async with site() as here, grpc.aio.insecure_channel(here.listener.address) as outside:
            assert await get(lobby_pb2_grpc.LobbyServiceStub(outside), traceparent) == "OK"
    seen = spans.get_finished_spans()
    assert len(seen) == count
    for each in seen:
        assert each.context
        assert (f"{each.parent.span_id:016x}" if each.parent else "") == (PARENT if traceparent == SAMPLED else "")
        assert (f"{each.context.trace_id:032x}" == TRACE) == (traceparent == SAMPLED)


@pytest.mark.parametrize(("ratio", "is_recorded"), [(0.0, False), (1.0, True)])
def test_traces_that_begin_here_go_by_the_ratio(ratio: float, is_recorded: bool) -> None:
    tracer = new_provider(SpanProcessor(), ratio, "lobby").get_tracer("a test")
    assert tracer.start_span("one").is_recording() is is_recorded


async def test_a_cancelled_caller_cancels_the_call() -> None:
    asked, cancelled = asyncio.Event(), asyncio.Event()

    class Call:
        async def code(self) -> grpc.StatusCode:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

        def cancel(self) -> None:
            cancelled.set()

    async def begin(_details: Any, _request: Any) -> Call:
        return Call()

    details = grpc.aio.ClientCallDetails(f"/{METHOD}", None, None, None, None)
    with recorded_spans() as spans:
        calling = asyncio.create_task(TracedCalls().intercept_unary_unary(begin, details, None))
        await asked.wait()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
    assert cancelled.is_set()
    assert [span.name for span in spans.get_finished_spans()] == [METHOD]


# The way to the collector


class Slow(SpanExporter):
    """Takes nothing until it is let go; whoever gives up waiting has failed."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.count, self.was_let_go = 0, False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.begun.set()
        self.was_let_go = self.go.wait(TIMEOUT_SECONDS)
        self.count += len(spans)
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        self.go.set()


def test_no_more_spans_wait_than_allowed() -> None:
    exporter = Slow()
    provider = new_provider(batching(exporter), 1.0, "lobby")
    tracer = provider.get_tracer("a test")
    tracer.start_span("one").end()
    assert exporter.begun.wait(TIMEOUT_SECONDS)
    for _ in range(MAX_WAITING_SPANS + 3):
        tracer.start_span("one").end()
    exporter.go.set()
    provider.shutdown()
    assert exporter.count == MAX_WAITING_SPANS + 1


async def test_the_end_does_not_wait_for_a_collector_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_export, "FLUSH_SECONDS", 0.05)
    exporter = Slow()
    provider = new_provider(batching(exporter), 1.0, "lobby")
    provider.get_tracer("a test").start_span("one").end()
    end(provider, exporter)
    await until(lambda: exporter.was_let_go)


def in_a_process_of_its_own(script: str) -> None:
    subprocess.run([sys.executable, "-c", script], check=True, timeout=TIMEOUT_SECONDS)


async def test_a_collector_that_is_away_costs_only_spans() -> None:
    async with collecting() as gone:
        pass
    script = (
        "from croupier.runtime.tracing import TracesSettings, exported_spans, start_span\n"
        f"with exported_spans(TracesSettings('{gone.address}'), 'lobby'), start_span('one') as span:\n"
        "    assert span.is_recording()"
    )
    await asyncio.to_thread(in_a_process_of_its_own, script)


# Only where asked for


def test_without_a_collector_nothing_is_recorded_and_no_channel_is_traced() -> None:
    script = (
        "from croupier.runtime.tracing import TracesSettings, exported_spans, start_span\n"
        "with exported_spans(TracesSettings(''), 'lobby'), start_span('one') as span:\n"
        "    assert not span.is_recording()"
    )
    in_a_process_of_its_own(script)
    assert traced(TracesSettings("")) == []


def test_a_part_of_nothing_is_not_recorded() -> None:
    """As what computer players do."""
    with recorded_spans() as spans, open_span("append") as span:
        assert not span.is_recording()
    assert spans.get_finished_spans() == ()


def test_services_do_not_import_the_sdk_unless_it_is_asked_for() -> None:
    in_a_process_of_its_own(
        "import sys, croupier.engine.__main__, croupier.lobby.__main__, croupier.scoring.__main__\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry.sdk')]"
    )


def test_without_the_sdk_the_fault_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "croupier.runtime.span_export", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with (
        pytest.raises(SettingsError, match=r"pip install 'croupier\[traces\]'"),
        exported_spans(TracesSettings("127.0.0.1:1"), "lobby"),
    ):
        pass
