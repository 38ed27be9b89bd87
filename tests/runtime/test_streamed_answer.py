"""A stream that is refused after its first message: JSON has the refusal in a last message, gRPC in its status."""

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from croupier.runtime.errors import StaleSequence
from croupier.runtime.server.streamed_answer import JSON_HEADER, StreamedAnswer
from croupier_api.v1 import errors_pb2
from croupier_api.v1 import lobby_pb2 as pb
from tests.runtime.lobby_server import LobbyServer, bearer

FROM_JSON = ((JSON_HEADER, "/v1/tables:watch"),)


def superseded() -> None:
    raise StaleSequence(errors_pb2.ERROR_REASON_SUPERSEDED, "a newer call waits instead")


def fails() -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("act", "code", "reason"),
    [(superseded, grpc.StatusCode.ABORTED, "SUPERSEDED"), (fails, grpc.StatusCode.INTERNAL, "INTERNAL_FAULT")],
)
async def test_json_has_the_refusal_in_a_last_message(
    lobby: LobbyServer, act: Callable[[], None], code: grpc.StatusCode, reason: str
) -> None:
    lobby.servicer.act = act
    call = lobby.stub.WatchTables(pb.WatchTablesRequest(), metadata=bearer() + FROM_JSON)
    first, last = await call.read(), await call.read()
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await call.read()
    assert not first.HasField("error")
    info = error_details_pb2.ErrorInfo()
    assert last.error.details[0].Unpack(info)
    assert (last.error.code, info.reason) == (code.value[0], reason)
    assert last.error == rpc_status.from_call(refusal.value)
    assert lobby.metric("calls_total", "WatchTables", code=code.name) == 1


async def test_grpc_has_it_in_its_status_alone(lobby: LobbyServer) -> None:
    lobby.servicer.act = superseded
    call = lobby.stub.WatchTables(pb.WatchTablesRequest(), metadata=bearer())
    assert not (await call.read()).HasField("error")
    with pytest.raises(grpc.aio.AioRpcError, match="a newer call waits instead"):
        await call.read()


async def test_a_call_that_is_refused_before_its_first_message_has_no_message(lobby: LobbyServer) -> None:
    call = lobby.stub.WatchTables(pb.WatchTablesRequest(), metadata=FROM_JSON)
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await call.read()
    assert refusal.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_caller_who_does_not_read_the_last_message_is_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.runtime.server.streamed_answer.LAST_MESSAGE_SECONDS", 0.0)
    context: Any = FullCall()
    answer = StreamedAnswer(context)
    await answer.write(b"first")
    with pytest.raises(asyncio.CancelledError):
        await answer.refuse(StaleSequence(errors_pb2.ERROR_REASON_SUPERSEDED, "a newer call waits instead"))


class FullCall:
    """A call of JSON whose caller has room for one message. It takes no status, as gRPC does not while one waits."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(1)

    def invocation_metadata(self) -> object:
        return FROM_JSON

    async def write(self, _message: bytes) -> None:
        await self._room.acquire()
