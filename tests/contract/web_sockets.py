"""WebSockets of players at an engine process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from google.protobuf import json_format
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from croupier.runtime.errors import ServiceError, from_status
from croupier_api.v1 import actions_pb2
from croupier_api.v1 import engine_pb2 as pb
from tests.contract.deployment import NO_ACTIONS, EngineProcess
from tests.engine.play import within_timeout


class End(NamedTuple):
    """The messages of a WebSocket until its end, the error in the last of them, and the close code."""

    messages: list[pb.PlayTableResponse]
    error: ServiceError | None
    code: int | None

    @property
    def refusal(self) -> tuple[int | None, str, str]:
        """The close code, the reason and the field of the refusal with which it ended."""
        return self.code, self.error.reason_name if self.error else "", self.error.field if self.error else ""


@asynccontextmanager
async def connected_socket(engine: EngineProcess, table_id: str, **headers: str) -> AsyncIterator[ClientConnection]:
    uri = f"ws://{engine.address('websocket')}/v1/tables/{table_id}/play"
    async with connect(uri, additional_headers=headers, proxy=None, max_size=None) as socket:
        yield socket


def token(engine: EngineProcess, player_id: str) -> str:
    ((_, bearer),) = engine.player(player_id)
    return bearer.removeprefix("Bearer ")


def first(engine: EngineProcess, player_id: str, **watch: object) -> pb.PlayTableRequest:
    return pb.PlayTableRequest(access_token=token(engine, player_id), watch=pb.WatchTableRequest(**watch))  # type: ignore[arg-type]


def action(request_id: str, chosen: actions_pb2.Action) -> pb.PlayTableRequest:
    return pb.PlayTableRequest(action=pb.SubmitActionRequest(request_id=request_id, action=chosen))


async def send(socket: ClientConnection, *requests: pb.PlayTableRequest) -> None:
    for request in requests:
        await socket.send(request.SerializeToString())


def parsed(frame: bytes | str) -> pb.PlayTableResponse:
    if isinstance(frame, bytes):
        return pb.PlayTableResponse.FromString(frame)
    return json_format.Parse(frame, pb.PlayTableResponse())


async def receive(socket: ClientConnection) -> pb.PlayTableResponse:
    return parsed(await within_timeout(socket.recv()))


async def until_closed(socket: ClientConnection) -> End:
    messages: list[pb.PlayTableResponse] = []
    try:
        while True:
            messages.append(await receive(socket))
    except ConnectionClosed:
        pass
    error = from_status(messages[-1].error) if messages and messages[-1].HasField("error") else None
    return End(messages, error, socket.close_code)


def legal_actions(message: pb.PlayTableResponse) -> actions_pb2.LegalActions:
    event = message.table_event
    kind = event.WhichOneof("event_kind")
    return getattr(event, kind).legal_actions if kind in ("snapshot", "update", "turn_state") else NO_ACTIONS
