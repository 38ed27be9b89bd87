"""The access log has method, path and gRPC code of every call, over all protocols."""

import json
from pathlib import Path

import pytest

from tests.gateway.harness import opened_gateway
from tests.gateway.test_routing import FakeEngine, view_by_grpc

pytestmark = pytest.mark.gateway
GET_VIEW = "/croupier_api.v1.EngineService/GetView"
VIEW = "/v1/tables/t/view"


def test_every_call_has_its_method_path_and_code(tmp_path: Path) -> None:
    with (
        FakeEngine().running() as engine,
        opened_gateway(tmp_path, f"--engine={engine.address}", "--access-log=true") as gateway,
    ):
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
        ("PATCH", VIEW, 404, "12"),
        ("GET", VIEW, 503, "14"),
    ]
