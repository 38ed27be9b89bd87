"""What the door tells a collector, and that nobody outside has a say in it."""

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from croupier.door.__main__ import main
from croupier.door.relay import main as relay_main
from croupier.door.relay import relaying
from croupier.runtime.identity import write_new_key_pair
from tests.collector import TOLD_BY_DOOR, collecting
from tests.door.doors import opened_door
from tests.door.test_routing import FakeEngine
from tests.ports import reserved_port

SECONDS = 60.0
HOST = "127.0.0.1"
TRACE = "0af7651916cd43dd8448eb211c80319c"
FROM_OUTSIDE = {
    "traceparent": f"00-{TRACE}-b7ad6b7169203331-01",
    "tracestate": "a=b",
    "baggage": "c=d",
}
REQUEST_IDS = ("my own words", "0b8d3f6e-7c51-4c0a-9d8e-2f4a6b8c0d1e")
"""By the first Envoy, left to itself, would trace nothing, and it would mark the second."""


@pytest.mark.gateway
@pytest.mark.parametrize(
    ("flags", "pattern"),
    [
        ((), r""),
        (("--traces-endpoint=127.0.0.1:9",), r"00-[0-9a-f]{32}-[0-9a-f]{16}-01"),
        (("--traces-endpoint=127.0.0.1:9", "--traces-ratio=0"), r"00-[0-9a-f]{32}-[0-9a-f]{16}-00"),
    ],
    ids=["untraced", "all", "none"],
)
def test_whoever_calls_from_outside_does_not_decide_what_is_traced(
    tmp_path: Path, flags: Sequence[str], pattern: str
) -> None:
    flags = (*flags, "--access-log=true")
    with FakeEngine().running() as engine, opened_door(tmp_path, f"--engine={engine.address}", *flags) as door:
        for request_id in REQUEST_IDS:
            headers = {**FROM_OUTSIDE, "x-request-id": request_id}
            answer = door.ask("GET", "/v1/tables/one/view", token=door.token(), headers=headers)
            assert answer.status == 200, answer.body
    assert [heard["x-request-id"] for heard in engine.heard] == list(REQUEST_IDS)
    traceparents = [str(heard.get("traceparent", "")) for heard in engine.heard]
    assert all(re.fullmatch(pattern, one) for one in traceparents)
    assert not any(TRACE in one for one in traceparents)
    assert not any(heard.get(name) for heard in engine.heard for name in ("tracestate", "baggage"))
    logged = [json.loads(line) for line in (tmp_path / "door.log").read_text().splitlines() if line.startswith("{")]
    if flags[0].startswith("--traces"):
        assert [line["trace_id"] for line in logged] == [one.split("-")[1] for one in traceparents]


# From Envoy to the collector


SPAN = Span(
    trace_id=b"t" * 16,
    span_id=b"s" * 8,
    name="croupier_api.v1.EngineService/SubmitAction",
    kind=Span.SPAN_KIND_SERVER,
    start_time_unix_nano=3,
    end_time_unix_nano=5,
    trace_state="a secret",
    events=[Span.Event(name="a secret")],
    links=[Span.Link(trace_state="a secret")],
    status=Status(code=Status.STATUS_CODE_ERROR, message="a secret"),
)
ATTRIBUTES = {
    "grpc.status_code": "9",
    "grpc.message": "a secret",
    "http.status_code": "200",
    "response_flags": "-",
    "peer.address": "a secret",
    "user_agent": "a secret",
}


def batch() -> trace_service_pb2.ExportTraceServiceRequest:
    """What Envoy may tell of a call that was refused, and of one for a path that is not there."""
    request = trace_service_pb2.ExportTraceServiceRequest()
    sent = request.resource_spans.add()
    sent.resource.attributes.add(key="service.name").value.string_value = "croupier-door"
    spans = sent.scope_spans.add().spans
    spans.extend([SPAN, Span(name="refusal")])
    for key, value in ATTRIBUTES.items():
        spans[0].attributes.add(key=key).value.string_value = value
    return request


async def export(address: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        new_stub: Any = trace_service_pb2_grpc.TraceServiceStub
        await new_stub(channel).Export(batch(), timeout=SECONDS, wait_for_ready=True)


async def test_the_collector_hears_which_call_it_was_and_how_it_ended_and_nothing_else() -> None:
    with reserved_port() as port:
        address = f"{HOST}:{port}"
        async with collecting() as collector, relaying(address, collector.address):
            await export(address)
        (seen,) = collector.seen
        assert (seen.service, seen.name) == ("croupier-door", "croupier_api.v1.EngineService/SubmitAction")
        assert (seen.trace, seen.id, seen.span.kind) == (b"t" * 16, b"s" * 8, Span.SPAN_KIND_SERVER)
        assert (seen.span.start_time_unix_nano, seen.span.end_time_unix_nano) == (3, 5)
        assert seen.span.status.code == Status.STATUS_CODE_ERROR
        assert seen.told["rpc.response.status_code"] == "FAILED_PRECONDITION"
        assert seen.told.keys() == TOLD_BY_DOOR
        assert b"secret" not in collector.raw


async def test_a_collector_that_is_away_is_told_of_once(capsys: pytest.CaptureFixture[str]) -> None:
    with reserved_port() as port, reserved_port() as other_port:
        address, away = f"{HOST}:{port}", f"{HOST}:{other_port}"
        async with relaying(address, away):
            await export(address)
            await export(address)
            async with asyncio.timeout(SECONDS), collecting(away) as back:
                while not back.seen:
                    await export(address)
                    await asyncio.sleep(0.1)
    assert capsys.readouterr().err.splitlines() == [
        "the collector takes no spans: they are dropped",
        "the collector takes spans again",
    ]


def test_a_relay_that_cannot_run_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeEngine().running() as other:
        assert relay_main([other.address, "127.0.0.1:4317"]) == 2
    assert f"{other.address} cannot be listened on" in capsys.readouterr().err
    assert relay_main(["127.0.0.1:4318"]) == 2
    assert capsys.readouterr().err.startswith("two addresses are expected, host:port each")


def test_without_the_library_the_door_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_new_key_pair(tmp_path / "lobby.private.pem", tmp_path / "lobby.public.pem")
    monkeypatch.delitem(sys.modules, "croupier.door.relay", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.trace.v1", None)
    ports = ("--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0")
    flags = (f"--lobby-public-key={tmp_path}/lobby.public.pem", *ports, "--traces-endpoint=127.0.0.1:4317")
    assert main(flags) == 2
    assert "pip install 'croupier[traces]'" in capsys.readouterr().err
