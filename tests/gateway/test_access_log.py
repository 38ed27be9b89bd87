"""The access log has method, path and gRPC code of every call; callers do not decide which calls are traced."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.collector import SAMPLED, TRACE
from tests.gateway.test_routing import running_engine, view_by_grpc

pytestmark = pytest.mark.gateway
GET_VIEW = "/croupier_api.v1.EngineService/GetView"
VIEW = "/v1/tables/t/view"


def test_every_call_has_its_method_path_and_code(tmp_path: Path) -> None:
    with running_engine(tmp_path, "--access-log=true") as (engine, gateway):
        token, web = gateway.token(), {"content-type": "application/grpc-web+proto"}
        view_by_grpc(gateway, "t")
        gateway.ask("POST", GET_VIEW, bytes(5), token=token, headers=web)
        gateway.ask("POST", GET_VIEW, bytes(5), headers=web)
        gateway.ask("GET", f"{VIEW}?link=secret", token=token)
        gateway.ask("GET", f"{VIEW}?link=secret")
        gateway.ask("GET", f"{VIEW}?x=secret", token=token)
        gateway.ask("PATCH", VIEW, token=token)
        engine.failing.set()
        gateway.ask("GET", VIEW, token=token)
    log = (tmp_path / "gateway.log").read_text()
    assert "secret" not in log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert [(line["method"], line["path"], line["status"], line["grpc_status"]) for line in lines] == [
        ("POST", GET_VIEW, 200, "0"),
        ("POST", GET_VIEW, 200, "0"),
        ("POST", GET_VIEW, 200, "16"),
        ("GET", VIEW, 200, "0"),
        ("GET", VIEW, 401, "16"),
        ("GET", VIEW, 400, "3"),
        ("PATCH", VIEW, 405, "12"),
        ("GET", VIEW, 503, "14"),
    ]


FROM_OUTSIDE = {
    "traceparent": SAMPLED,
    "tracestate": "a=b",
    "baggage": "c=d",
}
REQUEST_IDS = ("my own words", "0b8d3f6e-7c51-4c0a-9d8e-2f4a6b8c0d1e")
"""With its defaults Envoy would sample no call with the first, and would change the second."""


@pytest.mark.parametrize(
    ("flags", "pattern"),
    [
        ((), r""),
        (("--traces-collector=127.0.0.1:9",), r"00-[0-9a-f]{32}-[0-9a-f]{16}-01"),
        (("--traces-collector=127.0.0.1:9", "--traces-ratio=0"), r"00-[0-9a-f]{32}-[0-9a-f]{16}-00"),
    ],
    ids=["untraced", "all", "none"],
)
def test_callers_do_not_decide_what_is_traced(tmp_path: Path, flags: Sequence[str], pattern: str) -> None:
    with running_engine(tmp_path, "--access-log=true", *flags) as (engine, gateway):
        for request_id in REQUEST_IDS:
            headers = {**FROM_OUTSIDE, "x-request-id": request_id}
            answer = gateway.ask("GET", "/v1/tables/one/view", token=gateway.token(), headers=headers)
            assert answer.status == 200, answer.body
    calls = [dict(metadata) for metadata in engine.metadata]
    assert [call["x-request-id"] for call in calls] == list(REQUEST_IDS)
    traceparents = [str(call.get("traceparent", "")) for call in calls]
    assert all(re.fullmatch(pattern, one) for one in traceparents)
    assert not any(TRACE in one for one in traceparents)
    assert not any(call.get(name) for call in calls for name in ("tracestate", "baggage"))
    logged = [json.loads(line) for line in (tmp_path / "gateway.log").read_text().splitlines() if line.startswith("{")]
    if flags:
        assert [line["trace_id"] for line in logged] == [one.split("-")[1] for one in traceparents]
