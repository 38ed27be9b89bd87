"""The calls of a player whom the run stops are counted: the services count them too."""

import asyncio
from typing import Any

import grpc

from croupier_api.v1 import engine_pb2_grpc, lobby_pb2, lobby_pb2_grpc
from croupier_client import Endpoints
from loadtest.measures import Measures
from loadtest.players.adversaries import SUBMIT_ACTION
from loadtest.players.client import Connections, new_clients


class Lobby(lobby_pb2_grpc.LobbyServiceServicer):
    """A lobby that signs everyone in."""

    async def SignIn(self, _request: Any, _context: Any) -> lobby_pb2.SignInResponse:
        return lobby_pb2.SignInResponse(tokens=lobby_pb2.Tokens(access_token="a token"))


class Engine(engine_pb2_grpc.EngineServiceServicer):
    """An engine that never answers an action."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def SubmitAction(self, _request: Any, _context: Any) -> Any:
        self.asked.set()
        await asyncio.Event().wait()


async def test_a_call_whose_player_is_stopped_is_unanswered() -> None:
    server, engine, measures = grpc.aio.server(), Engine(), Measures()  # type: ignore[abstract]
    lobby_pb2_grpc.add_LobbyServiceServicer_to_server(Lobby(), server)  # type: ignore[abstract]
    engine_pb2_grpc.add_EngineServiceServicer_to_server(engine, server)
    connections = Connections(Endpoints.single(f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"), 1)
    await server.start()
    client = new_clients(connections, 1)("a player", measures, asyncio.sleep)
    async with asyncio.timeout(60):
        sending = asyncio.create_task(client.send_bytes(SUBMIT_ACTION, b""))
        await engine.asked.wait()
        sending.cancel()
        await asyncio.wait({sending})
    await connections.close()
    await server.stop(0)
    assert measures.counts["unanswered rpc SubmitAction"] == 1
