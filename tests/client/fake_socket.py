"""A fake of an engine's port for WebSocket, over a handler of the contract's PlayTable."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import grpc
from google.rpc import status_pb2
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from croupier_api.v1.engine_pb2 import PlayTableRequest, PlayTableResponse
from tests.client.messages import refused


class _Ended(Exception):
    def __init__(self, status: status_pb2.Status) -> None:
        self.status = status


class SocketContext:
    """The part of a call that the handler of a stream uses."""

    def __init__(self, headers: Any, access_token: str) -> None:
        self._metadata = [*headers.raw_items(), ("authorization", f"Bearer {access_token}")]

    def invocation_metadata(self) -> list[tuple[str, str]]:
        return self._metadata

    def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        raise _Ended(refused(code, details))

    def abort_with_status(self, status: grpc.Status) -> NoReturn:
        details: Any = dict(status.trailing_metadata)["grpc-status-details-bin"]
        raise _Ended(status_pb2.Status.FromString(details))


Handler = Callable[[Iterator[PlayTableRequest], Any], Iterator[PlayTableResponse]]


class FakeSocket:
    """A server that closes as the contract says: 4000 + the code after an error, 1001 after a resume notice."""

    def __init__(self, play_table: Handler) -> None:
        self._play_table = play_table
        self._connections: set[ServerConnection] = set()
        self._server = serve(self._serve, "127.0.0.1", 0, compression=None, max_size=2**16)
        self.address = f"127.0.0.1:{self._server.socket.getsockname()[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Stop as a killed process does: without close frames."""
        for connection in tuple(self._connections):
            connection.close_socket()
        self._server.shutdown()

    def _serve(self, connection: ServerConnection) -> None:
        self._connections.add(connection)
        try:
            connection.close(self._play(connection))
        except ConnectionClosed:
            pass
        finally:
            self._connections.remove(connection)

    def _play(self, connection: ServerConnection) -> int:
        """Serve a stream, and return its close code."""
        first = PlayTableRequest.FromString(connection.recv(decode=False))

        def requests() -> Iterator[PlayTableRequest]:
            yield first
            for frame in connection:
                assert isinstance(frame, bytes)
                yield PlayTableRequest.FromString(frame)

        assert connection.request is not None
        context, code = SocketContext(connection.request.headers, first.access_token), 1000
        try:
            for message in self._play_table(requests(), context):
                code = 1001 if message.table_event.HasField("resume_notice") else 1000
                connection.send(message.SerializeToString())
        except _Ended as end:
            if end.status.code == grpc.StatusCode.INTERNAL.value[0] and not end.status.details:
                # As gRPC shows a broken connection.
                connection.close_socket()
            else:
                connection.send(PlayTableResponse(error=end.status).SerializeToString())
            code = 4000 + end.status.code
        return code
