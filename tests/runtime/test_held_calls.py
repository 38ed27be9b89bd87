"""Requests that do not arrive and answers that are not read are held in bounds; the ends of streams by a refusal."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from croupier.runtime.admission.budget import Budget
from croupier.runtime.admission.capacity_limiter import Capacity, CapacityLimiter
from croupier.runtime.admission.costs import ANSWER_BYTES_PER_UNIT
from croupier.runtime.admission.network import ADDRESS_HEADER
from croupier.runtime.errors import StaleSequence
from croupier.runtime.server.call import Call
from croupier.runtime.server.interceptor import SMALL_ANSWER_BYTES
from croupier.runtime.server.streamed_answer import JSON_HEADER, StreamedAnswer
from croupier_api.v1 import errors_pb2
from croupier_api.v1 import lobby_pb2 as pb
from croupier_api.v1.errors_pb2 import ERROR_REASON_TOO_MANY_REQUESTS
from croupier_api.v1.tables_pb2 import Table
from tests.calls import limits
from tests.refusals import refusal
from tests.runtime.lobby_server import LOBBY, REQUESTS, LobbyServer, Metadata, Servicer, bearer, running_lobby
from tests.waiting import until

SMALL_WINDOWS = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 4)]
ENDLESS = pb.WatchTablesRequest(table_id="endless")
ANSWER_BYTES = 300_000
"""More than the windows and buffers of a connection hold."""


class LargeAnswers(Servicer):
    """Answers that no window takes as a whole."""

    async def GetTable(self, request: pb.GetTableRequest, context: Any) -> pb.GetTableResponse:
        return pb.GetTableResponse(table=Table(game="x" * ANSWER_BYTES))

    async def _watch(self, request: pb.WatchTablesRequest, call: Call) -> AsyncIterator[pb.WatchTablesResponse]:
        yield pb.WatchTablesResponse(table=Table(game="x" * ANSWER_BYTES))


def limiter(limit: int) -> CapacityLimiter:
    capacity = Capacity(limit, limit, limit)
    return CapacityLimiter("held", capacity, noun="held things", reason=ERROR_REASON_TOO_MANY_REQUESTS)


async def read_all(call: Any) -> None:
    """Read a stream to its end."""
    while await call.read() is not grpc.aio.EOF:
        pass


async def _silence() -> AsyncIterator[bytes]:
    await asyncio.Event().wait()
    yield b""


def held_call(channel: grpc.aio.Channel, method: str, metadata: Metadata) -> Any:
    """Send the headers of a call without a request."""
    start: Any = channel.stream_stream(f"{LOBBY}/{method}")
    return start(_silence(), metadata=metadata)


def unread_call(channel: grpc.aio.Channel, method: str) -> Any:
    """Make a call as a stream of answers, whose client does not ask for the first."""
    start: Any = channel.unary_stream(f"{LOBBY}/{method}")
    return start(REQUESTS[method].SerializeToString(), metadata=bearer())


@pytest.mark.parametrize("method", ["GetTable", "WatchTables", "SignIn"])
async def test_a_call_ends_if_its_request_does_not_arrive(method: str) -> None:
    async with running_lobby(request_seconds=0.05) as lobby:
        refused = await refusal(held_call(lobby.channel, method, bearer()).read())
        assert refused[:2] == ("DEADLINE_EXCEEDED", "SERVICE_TIMEOUT")
        assert lobby.metric("calls_total", method, code="DEADLINE_EXCEEDED") == 1
        await lobby.call("GetTable", bearer())


async def test_a_call_whose_request_has_not_arrived_pays_and_needs_a_token() -> None:
    async with running_lobby(limits=limits(player=Budget("calls", 1, 1, lambda: 0))) as lobby:
        held = held_call(lobby.channel, "GetTable", bearer())
        await until(lambda: lobby.registry.get_sample_value("croupier_calls_without_network_total") == 1)
        assert (await refusal(lobby.call("GetTable", bearer())))[:2] == ("RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS")
        held.cancel()
    async with running_lobby() as lobby:
        assert (await refusal(held_call(lobby.channel, "GetTable", ()).read())).code == "UNAUTHENTICATED"


async def test_a_half_closed_call_without_a_request_is_malformed(lobby: LobbyServer) -> None:
    call: Any = lobby.channel.stream_stream(f"{LOBBY}/GetTable")(metadata=bearer())
    await call.done_writing()
    assert (await refusal(call.read()))[:2] == ("INVALID_ARGUMENT", "MALFORMED_REQUEST")


async def test_few_requests_may_be_under_way() -> None:
    arriving = limiter(2)
    async with running_lobby(limits=limits(streams=arriving)) as lobby:
        held = [held_call(lobby.channel, method, bearer()) for method in ("WatchTables", "GetTable")]
        await until(lambda: len(arriving) == 2)
        refused = await refusal(lobby.call("GetTable", bearer()))
        assert refused[:2] == ("RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS")
        for call in held:
            call.cancel()
        await until(lambda: len(arriving) == 0)
        await lobby.call("GetTable", bearer())


@pytest.mark.parametrize("method", ["GetTable", "WatchTables"])
async def test_few_bytes_of_answers_may_be_under_way(method: str) -> None:
    answers = limiter(2 * ANSWER_BYTES + SMALL_ANSWER_BYTES)
    async with (
        running_lobby(LargeAnswers(), limits=limits(answers=answers)) as lobby,  # type: ignore[abstract]
        grpc.aio.insecure_channel(lobby.listener.address, options=SMALL_WINDOWS) as channel,
    ):
        unread = [unread_call(channel, method) for _ in range(2)]
        await until(lambda: len(answers) > 2 * ANSWER_BYTES)
        refused = await refusal(lobby.call(method, bearer()))
        assert refused[:2] == ("RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS")
        assert len(await unread[0].read()) > ANSWER_BYTES
        assert await unread[0].read() is grpc.aio.EOF
        await until(lambda: len(answers) < 2 * ANSWER_BYTES)
        unread[1].cancel()
        await until(lambda: len(answers) == 0)
        await lobby.call(method, bearer())


@pytest.mark.parametrize("method", ["GetTable", "WatchTables"])
async def test_a_large_answer_is_paid_by_its_size(method: str) -> None:
    budget = Budget("calls", 1, 1000, lambda: 0)
    async with running_lobby(LargeAnswers(), limits=limits(player=budget)) as lobby:  # type: ignore[abstract]
        before = budget.wait("ada", 1000)
        await lobby.call(method, bearer())
        units = (budget.wait("ada", 1000) - before) // 1_000_000_000
        assert ANSWER_BYTES // ANSWER_BYTES_PER_UNIT <= units < ANSWER_BYTES // ANSWER_BYTES_PER_UNIT + 20


async def test_a_stream_holds_its_place_and_a_network_with_fewer_gets_the_newest_of_the_one_with_most() -> None:
    streams = CapacityLimiter("streams", Capacity(total=3, player=2, network=3))
    near, far = ((ADDRESS_HEADER, f"192.0.{number}.7") for number in (1, 2))
    async with running_lobby(limits=limits(streams=streams)) as lobby:

        async def opened(player_id: str, network: tuple[str, str]) -> Any:
            call = lobby.stub.WatchTables(ENDLESS, metadata=(*bearer(player_id), network))
            assert (await call.read()).table.game == player_id
            return call

        first, second = [await opened("ada", near) for _ in range(2)]
        refused = await refusal(lobby.call("WatchTables", (*bearer(), near)))
        assert refused[:2] == ("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS")
        newest = await opened("bob", near)
        await opened("eve", far)
        assert (await refusal(read_all(newest)))[:2] == ("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS")
        assert len(streams) == 3
        # Now both have less than two more: the second of one network is refused to the other.
        assert (await refusal(lobby.call("WatchTables", (*bearer("fay"), far)))).reason == "TOO_MANY_STREAMS"
        for call in (first, second):
            assert not call.done()
            call.cancel()
        await until(lambda: len(streams) == 1)


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
