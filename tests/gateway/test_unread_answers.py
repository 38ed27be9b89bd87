"""Answers that their client does not read are held for a short time, over HTTP/2 and HTTP/1.1."""

import asyncio
import json
import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.gateway.harness import metric_values
from tests.gateway.raw_http2 import DATA, RST_STREAM, RawHttp2
from tests.gateway.test_routing import running_engine
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = [pytest.mark.gateway, pytest.mark.slow]
VIEW = "/v1/tables/t/view"
UNREAD = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 4)]
CONNECTIONS = 'envoy_http_downstream_cx_active{envoy_http_conn_manager_prefix="gateway"}'


def test_an_answer_that_is_not_read_is_reset_over_http_2(tmp_path: Path) -> None:
    with (
        running_engine(tmp_path) as (_, gateway),
        closing(socket.create_connection(("127.0.0.1", gateway.port), TIMEOUT_SECONDS)) as connection,
    ):
        reader = RawHttp2(connection, window=0)
        reader.get(VIEW, {"authorization": f"Bearer {gateway.token()}"})
        kinds = [frame.kind for frame in reader.frames()]
    assert DATA not in kinds
    assert kinds[-1] == RST_STREAM


async def test_a_connection_that_is_not_read_is_closed_over_http_1(tmp_path: Path) -> None:
    """Linux keeps a closed window open for ever, as long as the other side confirms it, which is told of no end."""
    with (
        running_engine(tmp_path, "--metrics-listen=127.0.0.1:0") as (engine, gateway),
        closing(socket.socket()) as connection,
    ):
        engine.padding = "x" * 3_900_000
        metrics = json.loads((tmp_path / "ready.json").read_text())["metrics"]
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect(("127.0.0.1", gateway.port))
        head = f"GET {VIEW} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {gateway.token()}\r\n\r\n"
        connection.sendall(head.encode())
        for count in (1.0, 0.0):
            await until(lambda count=count: metric_values(metrics, CONNECTIONS) == [count])  # type: ignore[misc]


async def test_unread_answers_block_no_other_call(tmp_path: Path) -> None:
    """Calls to one service share a connection, which has a window of its own."""
    with (
        running_engine(tmp_path, "--workers=1", "--request-seconds=5") as (engine, gateway),
        grpc.insecure_channel(gateway.address, UNREAD) as channel,
    ):
        metadata = (("authorization", f"Bearer {gateway.token()}"),)
        watch: Any = channel.unary_stream("/croupier_api.v1.EngineService/WatchTable")
        unread = [watch(b"", metadata=metadata) for _ in range(90)]
        await until(lambda: len(engine.asked) == len(unread))
        answer = await asyncio.to_thread(
            gateway.ask, "POST", "/v1/tables/t/reactions", {"reaction": "REACTION_WOW"}, token=gateway.token()
        )
        assert answer.status == 200, answer
        for call in unread:
            call.cancel()
