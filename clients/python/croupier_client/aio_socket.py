"""Tables' streams over WebSocket with asyncio."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import suppress

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from croupier_api.v1 import engine_pb2
from croupier_client.endpoints import STREAM_SECONDS
from croupier_client.sockets import FAILURES, Fail, SocketSettings, end_of, message_of, stream_expired
from croupier_client.table import connection_closed


class AsyncSockets:
    """The sockets of one client."""

    def __init__(self, settings: SocketSettings) -> None:
        self._settings = settings
        self._open: set[ClientConnection] = set()
        self._is_closed = False

    async def close(self) -> None:
        """Close every socket; later ones are not opened."""
        self._is_closed = True
        await asyncio.gather(*(socket.close() for socket in self._open))

    async def messages(
        self,
        table_id: str,
        headers: Sequence[tuple[str, str]],
        requests: AsyncIterator[engine_pb2.PlayTableRequest],
        fail: Fail,
    ) -> AsyncGenerator[engine_pb2.PlayTableResponse, None]:
        """Yield the messages of a new socket, on which the requests are sent; raises CroupierError."""
        if self._is_closed:
            raise connection_closed()
        try:
            socket = await connect(**self._settings.of_table(table_id, headers))
            self._open.add(socket)
            sending = asyncio.create_task(_send(socket, requests))
            try:
                until = asyncio.get_running_loop().time() + STREAM_SECONDS
                while not self._is_closed:
                    yield message_of(await _receive(socket, until))
            finally:
                sending.cancel()
                self._open.remove(socket)
                await socket.close()
        except FAILURES as error:
            if (end := end_of(error)) is not None:
                raise fail(end) from error


async def _receive(socket: ClientConnection, until: float) -> bytes:
    try:
        async with asyncio.timeout_at(until):
            return await socket.recv(decode=False)
    except TimeoutError:
        raise stream_expired() from None


async def _send(socket: ClientConnection, requests: AsyncIterator[engine_pb2.PlayTableRequest]) -> None:
    # The reader reports a lost connection.
    with suppress(ConnectionClosed):
        async for request in requests:
            await socket.send(request.SerializeToString())
