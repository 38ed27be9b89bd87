"""The client of an attacker, which sends each request once, on its own connections."""

import asyncio
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple, TypeAlias

import grpc
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from websockets.asyncio.client import connect

from croupier_api.v1 import lobby_pb2
from croupier_api.v1.errors_pb2 import ERROR_REASON_SLOW_READER
from croupier_client import CroupierError, Endpoints
from croupier_client.endpoints import CALL_SECONDS, STREAM_SECONDS
from croupier_client.errors import from_rpc_error
from croupier_client.sockets import FAILURES, SocketSettings, end_of, message_of
from croupier_loadtest.measures import Measures
from croupier_loadtest.monitor.counters import METHODS, rpc_key
from croupier_loadtest.players.client import FORWARDED_FOR, open_channel
from croupier_loadtest.players.counting import count_limit, service_code

OK, UNREAD = "OK", "UNREAD"
UNREAD_SECONDS = 8.0
"""Less than CALL_SECONDS, so that the attacker knows the end."""
SOCKET_SECONDS = 30.0
"""More than an engine waits for the first message, and UNREAD_SECONDS."""
SMALL_WINDOWS = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 4))
"""The options of a channel that reads as little ahead as possible."""
PATHS: Mapping[str, str] = {method.name: path for path, method in METHODS.items()}
Metadata: TypeAlias = Sequence[tuple[str, str]]
Options: TypeAlias = tuple[tuple[str, int], ...]


class Answer(NamedTuple):
    """The answer to a request: its outcome, and the message.

    The outcome is OK, the name of the limit that refused it, another reason of a refusal, or a code without a reason.
    """

    outcome: str
    message: Any = None


class AttackClient:
    """A guest with an address; signs in on demand."""

    def __init__(self, endpoints: Endpoints, address: str, name: str, measures: Measures) -> None:
        self._endpoints = endpoints
        self._address = address
        self._name = name
        self._measures = measures
        self.access_token = ""
        self._channels: dict[tuple[str, Options], grpc.aio.Channel] = {}
        self._streams: set[asyncio.Task[None]] = set()

    async def sign_in(self) -> Answer:
        """Sign the guest in, and keep the token."""
        answer = await self.call(lobby_pb2.SignInRequest(device_secret=f"attacker {self._name}", name=self._name[:32]))
        if answer.message is not None:
            self.access_token = answer.message.tokens.access_token
        return answer

    async def call(self, request: Message, metadata: Metadata = ()) -> Answer:
        """Send a request once and read the whole answer; its message is the last one of a stream."""
        return await self._read(_path(request), self._start(request, CALL_SECONDS, metadata))

    def _start(self, request: Message, seconds: float, metadata: Metadata = ()) -> Any:
        path = _path(request)
        start = self._channel(path).unary_stream(
            path, request_serializer=type(request).SerializeToString, response_deserializer=_answer_class(path)
        )
        return start(request, timeout=seconds, metadata=self._metadata(request, metadata))

    async def hold(self, request: Message) -> Answer:
        """Send the headers of a call without its request; returns its end."""
        path = _path(request)
        start: Any = self._channel(path).stream_stream(path, response_deserializer=_answer_class(path))
        if METHODS[path].server_streaming:
            # The gateway ends it, and its service may not see it.
            self._measures.count(f"streams opened {METHODS[path].name}")
            self._measures.count(f"silent streams {METHODS[path].name}")
        call = start(timeout=CALL_SECONDS, metadata=self._metadata(request))
        return await self._read(path, call)

    async def leave_unread(self, request: Message) -> Answer:
        """Send a request and read nothing for UNREAD_SECONDS; returns the refusal, or UNREAD."""
        path = _path(request)
        start: Any = self._channel(path, SMALL_WINDOWS).unary_stream(path)
        call = start(request.SerializeToString(), timeout=CALL_SECONDS, metadata=self._metadata(request))
        try:
            async with asyncio.timeout(UNREAD_SECONDS):
                # A refusal has no message that has to be read before it.
                await call.code()
            return await self._read(path, call)
        except TimeoutError:
            return Answer(UNREAD)
        finally:
            if call.cancel():
                self._measures.count(rpc_key(path, None))

    async def _read(self, path: str, call: Any) -> Answer:
        """Read an answer to its end, and count it."""
        code, message = None, None
        try:
            async for part in call:
                message = part
            code = OK
        except grpc.aio.AioRpcError as error:
            refusal = from_rpc_error(error)
            code = service_code(refusal)
            count_limit(self._measures, refusal)
            return Answer(_outcome(refusal, error.code()))
        finally:
            self._measures.count(rpc_key(path, code))
        return Answer(OK, message)

    async def open(self, request: Message) -> Answer:
        """Open a stream; returns its first message, or the refusal. It stays open until `close` or its end."""
        first: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        is_resumed = "after_sequence" in type(request).DESCRIPTOR.fields_by_name and request.HasField("after_sequence")
        call = self._start(request, STREAM_SECONDS)
        following = asyncio.create_task(self._follow(call, _path(request), first, is_resumed=is_resumed))
        self._streams.add(following)
        following.add_done_callback(self._streams.discard)
        return await first

    async def _follow(self, call: Any, path: str, first: asyncio.Future[Answer], *, is_resumed: bool) -> None:
        """Read a stream to its end, and count it as `croupier_loadtest.monitor.counters` defines."""
        method, code, answer, has_received = path.rpartition("/")[2], None, Answer("CANCELLED"), False
        self._measures.count(f"streams opened {method}")
        try:
            async for message in call:
                if not has_received and not first.done():
                    first.set_result(Answer(OK, message))
                has_received = True
            code, answer = OK, Answer(OK)
        except grpc.aio.AioRpcError as error:
            refusal = from_rpc_error(error)
            code, answer = service_code(refusal), Answer(_outcome(refusal, error.code()))
            count_limit(self._measures, refusal)
            self._measures.count("slow readers", int(refusal.reason == ERROR_REASON_SLOW_READER))
        finally:
            call.cancel()
            self._measures.count(rpc_key(path, code))
            self._measures.count(f"silent streams {method}", int(code is None and not has_received))
            self._measures.count("streams resumed", int(is_resumed and (has_received or code == OK)))
            if not first.done():
                first.set_result(answer)

    async def hold_socket(self, table_id: str, first: bytes | None, *, is_resumed: bool = False) -> Answer:
        """Open a WebSocket, send a first message or none, and read one answer; returns the refusal, or UNREAD."""
        settings = SocketSettings(self._endpoints, {}, None, Random())
        arguments = settings.of_table(table_id, ((FORWARDED_FOR, self._address),))
        # Without pings, whose answers would not be read either.
        arguments |= {"ping_interval": None, "max_queue": 1}
        code, has_received = None, False
        self._measures.count("streams opened PlayTable")
        try:
            async with asyncio.timeout(SOCKET_SECONDS), connect(**arguments) as socket:
                if first is not None:
                    await socket.send(first)
                has_received = bool(message_of(await socket.recv(decode=False)))
                await asyncio.sleep(UNREAD_SECONDS)
            return Answer(UNREAD)
        except FAILURES as error:
            refusal = end_of(error)
            code = OK if refusal is None else service_code(refusal)
            return Answer(OK if refusal is None else _outcome(refusal, refusal.code))
        finally:
            self._measures.count(rpc_key(PATHS["PlayTable"], code))
            self._measures.count("silent streams PlayTable", int(code is None and not has_received))
            self._measures.count("streams resumed", int(is_resumed and (has_received or code == OK)))

    @property
    def streams(self) -> int:
        """The number of open streams."""
        return len(self._streams)

    async def end_streams(self) -> None:
        """End all streams."""
        streams = list(self._streams)
        for stream in streams:
            stream.cancel()
        await asyncio.gather(*streams, return_exceptions=True)

    async def close(self) -> None:
        """End all streams and connections."""
        await self.end_streams()
        await asyncio.gather(*(channel.close() for channel in self._channels.values()))

    def _metadata(self, request: Message, metadata: Metadata = ()) -> Metadata:
        table_id = getattr(request, "table_id", "")
        return (
            (FORWARDED_FOR, self._address),
            *((("authorization", f"Bearer {self.access_token}"),) if self.access_token else ()),
            *((("x-table-id", table_id),) if table_id else ()),
            *metadata,
        )

    def _channel(self, path: str, options: Options = ()) -> grpc.aio.Channel:
        service = path.split(".")[-1].partition("Service/")[0].lower()
        address: str = getattr(self._endpoints, service)
        if (address, options) not in self._channels:
            self._channels[address, options] = open_channel(address, self._endpoints.tls, options)
        return self._channels[address, options]


def _path(request: Message) -> str:
    return PATHS[type(request).DESCRIPTOR.name.removesuffix("Request")]


def _answer_class(path: str) -> Any:
    return GetMessageClass(METHODS[path].output_type).FromString


def _outcome(refusal: CroupierError, code: grpc.StatusCode) -> str:
    return refusal.metadata.get("limit") or refusal.reason_name or code.name
