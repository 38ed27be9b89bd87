"""Tables' streams over WebSocket with threads."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from croupier_api.v1 import engine_pb2
from croupier_client.endpoints import STREAM_SECONDS
from croupier_client.sockets import FAILURES, Fail, SocketSettings, end_of, message_of, stream_expired
from croupier_client.table import connection_closed


class BlockingSocket:
    """The messages of one socket, which the iteration over them opens."""

    def __init__(
        self,
        arguments: dict[str, Any],
        requests: Iterator[engine_pb2.PlayTableRequest],
        fail: Fail,
        ended: Callable[["BlockingSocket"], None],
    ) -> None:
        self._arguments = arguments
        self._requests = requests
        self._fail = fail
        self._ended = ended
        self._connection: ClientConnection | None = None
        self._is_cancelled = False

    def __iter__(self) -> Iterator[engine_pb2.PlayTableResponse]:
        try:
            with connect(**self._arguments) as connection:
                self._connection = connection
                threading.Thread(target=self._send, args=(connection,), daemon=True).start()
                until = time.monotonic() + STREAM_SECONDS
                while not self._is_cancelled:
                    yield message_of(_receive(connection, until))
        except FAILURES as error:
            if (end := end_of(error)) is not None:
                raise self._fail(end) from error
        finally:
            self._ended(self)

    def cancel(self) -> None:
        """End the stream, from any thread."""
        self._is_cancelled = True
        if self._connection is not None:
            self._connection.close()

    def _send(self, connection: ClientConnection) -> None:
        # The reader reports a lost connection.
        with suppress(ConnectionClosed):
            for request in self._requests:
                connection.send(request.SerializeToString())


def _receive(connection: ClientConnection, until: float) -> bytes:
    try:
        return connection.recv(max(until - time.monotonic(), 0), decode=False)
    except TimeoutError:
        raise stream_expired() from None


class BlockingSockets:
    """The sockets of one client."""

    def __init__(self, settings: SocketSettings) -> None:
        self._settings = settings
        self._open: set[BlockingSocket] = set()
        self._is_closed = False

    def close(self) -> None:
        """Close every socket; later ones are not opened."""
        self._is_closed = True
        # At the same time: a server that hangs takes CLOSE_SECONDS of each.
        closing = [threading.Thread(target=socket.cancel) for socket in tuple(self._open)]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()

    def messages(
        self,
        table_id: str,
        headers: Sequence[tuple[str, str]],
        requests: Iterator[engine_pb2.PlayTableRequest],
        fail: Fail,
    ) -> BlockingSocket:
        """Return the messages of a new socket, on which the requests are sent; raises CroupierError."""
        socket = BlockingSocket(self._settings.of_table(table_id, headers), requests, fail, self._open.discard)
        self._open.add(socket)
        if self._is_closed:
            self._open.discard(socket)
            raise connection_closed()
        return socket
