"""Players whose actions are sent twice keep their connections: a closed one would cancel their calls, and end them."""

import asyncio
from typing import Any, cast

import grpc

from croupier_client import Endpoints
from croupier_client.rpc import Service
from loadtest.faults.load import FaultLoad
from loadtest.faults.rows import Databases
from tests.waiting import TIMEOUT_SECONDS

METHOD = "/slow/call"


class FakeDeployment:
    """A deployment at one address."""

    databases = Databases("", "")

    def __init__(self, address: str) -> None:
        self._address = address

    def endpoints(self, **_: Any) -> Endpoints:
        return Endpoints.single(self._address)


async def test_calls_under_way_get_their_answers_however_late() -> None:
    begun, released = asyncio.Event(), asyncio.Event()

    async def answer(request: bytes, context: Any) -> bytes:
        begun.set()
        await released.wait()
        return request

    server = grpc.aio.server()
    handlers: dict[str, Any] = {"call": grpc.unary_unary_rpc_method_handler(answer)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("slow", handlers),))
    deployment = FakeDeployment(f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}")
    await server.start()
    load = FaultLoad(cast("Any", deployment), 1, 1, 0.1, gateway=False)
    try:
        load.send_twice([deployment.endpoints()])
        (connections,) = load.pair
        call: Any = connections.share()[Service.ENGINE].unary_unary(METHOD)
        calling = asyncio.ensure_future(call(b"an action", timeout=TIMEOUT_SECONDS))
        await asyncio.wait_for(begun.wait(), TIMEOUT_SECONDS)
        load.send_once()
        assert load.pair == ()
        released.set()
        assert await calling == b"an action"
    finally:
        await load.close()
        await server.stop(0)
    assert connections.share()[Service.ENGINE].get_state() is grpc.ChannelConnectivity.SHUTDOWN
