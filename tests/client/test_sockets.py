"""Tables' streams over WebSocket: their handshake, their frames, and the errors of their ends."""

import asyncio
import logging
import ssl
import threading
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from random import Random
from socket import SHUT_WR, create_connection, socket
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any, TypeAlias

import grpc
import pytest
from google.protobuf.json_format import MessageToJson
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.sync.server import ServerConnection, serve

from croupier_api.v1 import engine_pb2, errors_pb2
from croupier_client import BlockingClient, Client, Endpoints, RetryPolicy, Tls, errors
from croupier_client.aio_socket import AsyncSockets
from croupier_client.blocking_socket import BlockingSockets
from croupier_client.errors import CroupierError, Unavailable
from croupier_client.sockets import SocketSettings, end_of
from tests.certificates import Authority
from tests.client.conftest import CLIENTS, SHORT_RETRIES, Connect, connecting
from tests.client.fake_croupier import FakeCroupier, StreamFault, StreamScript
from tests.client.fake_table import HAND
from tests.client.messages import event_message, play, refused
from tests.client.test_channels import play_all_cards
from tests.client.test_failover import SLOW_RETRIES
from tests.ports import reserved_port
from tests.waiting import TIMEOUT_SECONDS

ONCE = RetryPolicy(total_seconds=60, stream_seconds=0)
HEADERS = {"host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "x-request-id", "user-agent"}


@pytest.fixture(params=CLIENTS)
def socket_of(request: pytest.FixtureRequest) -> Connect:
    return connecting(CLIENTS[request.param], "websocket")


class Recorder:
    """A server of one table that records handshakes and frames, and ends each stream by `end`."""

    def __init__(self, end: Callable[[ServerConnection], None], context: ssl.SSLContext | None, refusal: Any) -> None:
        self.handshakes: list[Request] = []
        self.frames: list[engine_pb2.PlayTableRequest] = []
        self.close_codes: list[int | None] = []
        self._end = end
        self._refusal = refusal
        self.server = serve(self._serve, "127.0.0.1", 0, ssl=context, process_request=self._open)
        self.port = self.server.socket.getsockname()[1]

    def _open(self, connection: ServerConnection, request: Request) -> Response | None:
        self.handshakes.append(request)
        if self._refusal is None:
            return None
        return connection.respond(*self._refusal)

    def _serve(self, connection: ServerConnection) -> None:
        for frame in connection:
            assert isinstance(frame, bytes)
            self.frames.append(engine_pb2.PlayTableRequest.FromString(frame))
            self._end(connection)
        self.close_codes.append(connection.close_code)


@contextmanager
def recorder(
    end: Callable[[ServerConnection], None] = ServerConnection.close,
    context: ssl.SSLContext | None = None,
    refusal: tuple[HTTPStatus, str] | None = None,
) -> Iterator[Recorder]:
    recorded = Recorder(end, context, refusal)
    threading.Thread(target=recorded.server.serve_forever, daemon=True).start()
    try:
        yield recorded
    finally:
        recorded.server.shutdown()


async def open_at(
    socket_of: Connect, fake: FakeCroupier, address: str, tls: Tls | None = None, policy: RetryPolicy = ONCE
) -> CroupierError:
    """Open a table at an address, without retries, and return the error."""
    endpoints = Endpoints(fake.address, fake.address, fake.address, tls, address)
    async with socket_of(endpoints, policy=policy) as client:
        with pytest.raises(CroupierError) as caught:
            async with client.play_table("t1"):
                pytest.fail("the table opened")
    return caught.value


@pytest.mark.parametrize("make", CLIENTS.values(), ids=CLIENTS)
def test_the_transport_is_one_of_two_and_has_an_address(make: type[Client] | type[BlockingClient]) -> None:
    with pytest.raises(ValueError, match="invalid transport 'http3': expected 'grpc' or 'websocket'"):
        make(Endpoints.single("127.0.0.1:1"), "a secret of this device", transport="http3")
    with pytest.raises(ValueError, match="expected an address `websocket`"):
        make(Endpoints("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"), "a secret", transport="websocket")
    make(Endpoints.single("127.0.0.1:1"), "a secret of this device", transport="websocket")


def test_several_names_for_sockets_are_refused_as_those_of_channels() -> None:
    with pytest.raises(ValueError, match=r"invalid addresses .* dns:///name:7720"):
        Endpoints("127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:1", websocket="engine-1:7722,engine-2:7722")


async def test_the_table_is_in_the_path_and_the_token_in_the_first_frame_alone(socket_of: Connect) -> None:
    def snapshot_and_answers(connection: ServerConnection) -> None:
        table = fake.table
        connection.send(event_message(snapshot=table.snapshot()).SerializeToString())
        action = engine_pb2.PlayTableRequest.FromString(connection.recv(decode=False))
        recorded.frames.append(action)
        answer = engine_pb2.PlayTableResponse(answer=table.submit(action.action))
        answer.table_event.update.CopyFrom(table.updates[-1])
        connection.send(answer.SerializeToString())

    with FakeCroupier() as fake, recorder(snapshot_and_answers) as recorded:
        address = f"127.0.0.1:{recorded.port}"
        async with socket_of(Endpoints(fake.address, fake.address, fake.address, websocket=address)) as client:
            async with client.play_table("a table/?") as table:
                await table.submit_action(play(HAND[0]))
            assert client.session.access_token
            watch = engine_pb2.WatchTableRequest(table_id="a table/?")
            first = engine_pb2.PlayTableRequest(access_token=client.session.access_token, watch=watch)
    assert recorded.frames[0] == first
    assert (recorded.frames[1].access_token, recorded.frames[1].WhichOneof("request")) == ("", "action")
    assert recorded.close_codes == [1000]
    (handshake,) = recorded.handshakes
    assert handshake.path == "/v1/tables/a%20table%2F%3F/play"
    assert {name.lower() for name in handshake.headers} == HEADERS


async def test_a_player_goes_on_with_a_new_token_after_the_end_of_one(socket_of: Connect) -> None:
    with FakeCroupier(StreamScript(StreamFault.EXPIRE, at_action=2)) as fake:
        async with socket_of(fake, policy=SLOW_RETRIES) as client, client.play_table("t1") as table:
            await play_all_cards(table)
            assert table.interruption is None
    assert fake.calls == ["SignIn", "PlayTable", "PlayTable", "RefreshToken", "PlayTable"]


async def test_a_spectator_follows_a_table_by_a_link(socket_of: Connect) -> None:
    async def updates(watched: Any) -> list[int]:
        return [event.sequence async for event in watched if isinstance(event, engine_pb2.TableUpdate)]

    with FakeCroupier() as fake:
        for card in HAND:
            fake.table.submit(engine_pb2.SubmitActionRequest(request_id=str(card), action=play(card)))
        async with socket_of(fake) as client, client.watch_table("t1", link="shown") as watched:
            assert watched.is_finished
            assert await updates(watched) == []
    (watch,) = fake.requests_of(engine_pb2.WatchTableRequest)
    assert (watch.link, fake.calls) == ("shown", ["SignIn", "PlayTable"])


@pytest.mark.parametrize(
    ("close", "kind", "code"),
    [
        (Close(1000, ""), None, None),
        (Close(1001, "bye"), None, None),
        (None, errors.Unavailable, "UNAVAILABLE"),
        (Close(1006, ""), errors.Unavailable, "UNAVAILABLE"),
        (Close(1009, ""), errors.InvalidArgument, "INVALID_ARGUMENT"),
        (Close(1011, ""), errors.Unavailable, "UNAVAILABLE"),
        (Close(4000, ""), errors.Unavailable, "UNAVAILABLE"),
        (Close(4003, ""), errors.InvalidArgument, "INVALID_ARGUMENT"),
        (Close(4004, ""), errors.TimedOut, "DEADLINE_EXCEEDED"),
        (Close(4005, ""), errors.NotFound, "NOT_FOUND"),
        (Close(4008, ""), errors.LimitReached, "RESOURCE_EXHAUSTED"),
        (Close(4010, ""), CroupierError, "ABORTED"),
        (Close(4013, ""), errors.Internal, "INTERNAL"),
        (Close(4014, ""), errors.Unavailable, "UNAVAILABLE"),
        (Close(4016, ""), errors.Unauthenticated, "UNAUTHENTICATED"),
        (Close(4017, ""), errors.Unavailable, "UNAVAILABLE"),
    ],
)
def test_the_error_of_a_close_code(close: Close | None, kind: type[CroupierError] | None, code: str | None) -> None:
    end = end_of(ConnectionClosedError(close, None))
    assert (type(end) if end else None, end and end.code.name) == (kind, code)


async def test_an_error_frame_has_the_reason_that_a_close_code_lacks(socket_of: Connect) -> None:
    status = refused(grpc.StatusCode.NOT_FOUND, "no table 't1'", errors_pb2.ERROR_REASON_UNKNOWN_TABLE)

    def refuse(connection: ServerConnection) -> None:
        connection.send(engine_pb2.PlayTableResponse(error=status).SerializeToString())
        connection.close(4005)

    with FakeCroupier() as fake, recorder(refuse) as recorded:
        error = await open_at(socket_of, fake, f"127.0.0.1:{recorded.port}")
    assert (type(error), error.reason_name, error.message) == (errors.NotFound, "UNKNOWN_TABLE", "no table 't1'")


async def test_a_close_code_alone_is_an_error_too(socket_of: Connect) -> None:
    with FakeCroupier() as fake, recorder(lambda connection: connection.close(4007, "no seat")) as recorded:
        error = await open_at(socket_of, fake, f"127.0.0.1:{recorded.port}")
    assert (type(error), error.message) == (errors.PermissionDenied, "no seat")


async def test_a_frame_without_a_message_breaks_the_stream(socket_of: Connect) -> None:
    with FakeCroupier() as fake, recorder(lambda connection: connection.send(b"\xff")) as recorded:
        error = await open_at(socket_of, fake, f"127.0.0.1:{recorded.port}")
    assert isinstance(error, errors.BrokenStream)


GATEWAY_REFUSAL = MessageToJson(
    refused(grpc.StatusCode.PERMISSION_DENIED, "not from here", errors_pb2.ERROR_REASON_ORIGIN_NOT_ALLOWED)
)


@pytest.mark.parametrize(
    ("status", "body", "kind", "reason"),
    [
        (403, GATEWAY_REFUSAL, errors.PermissionDenied, "ORIGIN_NOT_ALLOWED"),
        (403, "<html>", errors.PermissionDenied, ""),
        (404, "{}", CroupierError, ""),
        (429, "", errors.Unavailable, ""),
        (500, "[]", errors.Unavailable, ""),
        (200, "hello", errors.Unavailable, ""),
    ],
)
async def test_a_refused_handshake(
    socket_of: Connect, status: int, body: str, kind: type[CroupierError], reason: str
) -> None:
    with FakeCroupier() as fake, recorder(refusal=(HTTPStatus(status), body)) as recorded:
        error = await open_at(socket_of, fake, f"127.0.0.1:{recorded.port}", policy=SHORT_RETRIES)
    assert (type(error), error.reason_name) == (kind, reason)


Read: TypeAlias = Callable[[Endpoints, Mapping[str, str]], Awaitable[list[engine_pb2.PlayTableResponse]]]
"""Reads a table on one socket, in an environment, and returns its messages; raises CroupierError."""
FIRST = engine_pb2.PlayTableRequest(access_token="a secret token")


async def read_by_asyncio(endpoints: Endpoints, environment: Mapping[str, str]) -> list[engine_pb2.PlayTableResponse]:
    async def requests() -> AsyncIterator[engine_pb2.PlayTableRequest]:
        yield FIRST

    sockets = AsyncSockets(SocketSettings(endpoints, environment, None, Random()))
    return [message async for message in sockets.messages("t1", (), requests(), lambda failure: failure)]


async def read_by_thread(endpoints: Endpoints, environment: Mapping[str, str]) -> list[engine_pb2.PlayTableResponse]:
    sockets = BlockingSockets(SocketSettings(endpoints, environment, None, Random()))
    return await asyncio.to_thread(list, sockets.messages("t1", (), iter([FIRST]), lambda failure: failure))


both_readers = pytest.mark.parametrize("read", [read_by_asyncio, read_by_thread], ids=CLIENTS)


@both_readers
async def test_sockets_with_tls_need_a_trusted_authority(read: Read, tmp_path: Path) -> None:
    trusted, other = Authority(), Authority()
    files = trusted.files(tmp_path / "tls", trusted.issue("gateway"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(files.certificate, files.key)
    with recorder(context=context) as recorded:
        address = f"localhost:{recorded.port}"
        assert await read(Endpoints.single(address, Tls(trusted.authority.certificate)), {}) == []
        for tls in (Tls(other.authority.certificate), Tls(), None):
            with pytest.raises(Unavailable):
                await read(Endpoints.single(address, tls), {})
    assert recorded.frames == [FIRST]


class Proxy(StreamRequestHandler):
    """An HTTP proxy that connects any name to a server of this machine."""

    def handle(self) -> None:
        assert isinstance(self.server, ProxyServer)
        self.server.requests.append(b"".join(iter(self.rfile.readline, b"\r\n")))
        with create_connection(self.server.target) as target:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            answering = threading.Thread(target=copy, args=(target, self.connection))
            answering.start()
            copy(self.connection, target)
            answering.join()


def copy(source: socket, target: socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(SHUT_WR)


class ProxyServer(ThreadingTCPServer):
    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), Proxy)
        self.target = ("127.0.0.1", port)
        self.requests: list[bytes] = []


@both_readers
async def test_sockets_go_through_the_proxy_of_the_environment(read: Read) -> None:
    with recorder() as recorded, ProxyServer(recorded.port) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        environment = {"http_proxy": f"http://ada:secret@127.0.0.1:{proxy.server_address[1]}"}
        assert await read(Endpoints.single("play.example:7700"), environment) == []
        proxy.shutdown()
    assert recorded.frames == [FIRST]
    (request,) = proxy.requests
    assert request.startswith(b"CONNECT play.example:7700 HTTP/1.1\r\n")
    assert b64encode(b"ada:secret") in request


async def test_a_broken_proxy_is_named_without_its_password(
    socket_of: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeCroupier() as fake, reserved_port() as nobody:
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("http_proxy", f"http://ada:secret@127.0.0.1:{nobody}")
        error = await open_at(socket_of, fake, "play.example:7700")
    assert isinstance(error, Unavailable)
    assert f"the environment names the proxy 127.0.0.1:{nobody}" in error.message
    assert "secret" not in str(error)


@both_readers
async def test_the_library_logs_no_frames(read: Read, caplog: pytest.LogCaptureFixture) -> None:
    """Its messages at the level DEBUG would have the access token."""
    caplog.set_level(logging.DEBUG)
    with recorder() as recorded:
        await read(Endpoints.single(f"127.0.0.1:{recorded.port}"), {})
    assert not [record for record in caplog.records if record.name != "websockets.server"]


def test_blocking_sockets_are_closed_at_the_same_time() -> None:
    """The server answers no close frame before it has all of them; those that are not answered would time out."""
    are_open, are_closing, errors_of_readers = threading.Barrier(3), threading.Barrier(2), list[Exception]()

    class Server(StreamRequestHandler):
        def handle(self) -> None:
            protocol = ServerProtocol()
            while protocol.close_rcvd is None:
                protocol.receive_data(self.connection.recv(4096))
                for event in protocol.events_received():
                    if isinstance(event, Request):
                        protocol.send_response(protocol.accept(event))
                        protocol.send_binary(b"")
                if protocol.close_rcvd is not None:
                    are_closing.wait(TIMEOUT_SECONDS)
                for data in filter(None, protocol.data_to_send()):
                    self.connection.sendall(data)

    def read() -> None:
        try:
            for _ in sockets.messages("t1", (), iter(()), lambda error: error):
                are_open.wait(TIMEOUT_SECONDS)
        except Exception as error:  # noqa: BLE001 - the test expects none
            errors_of_readers.append(error)

    with ThreadingTCPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        endpoints = Endpoints.single(f"127.0.0.1:{server.server_address[1]}")
        sockets = BlockingSockets(SocketSettings(endpoints, {}, None, Random(1)))
        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        are_open.wait(TIMEOUT_SECONDS)
        sockets.close()
        for reader in readers:
            reader.join()
        server.shutdown()
    assert errors_of_readers == []
