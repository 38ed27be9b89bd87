"""Calls over the simulated network, with their client and server ends."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc

from croupier_loadtest.simulation.faults import Faults
from croupier_loadtest.simulation.loop import Process

Metadata = tuple[tuple[str, str | bytes], ...]
ORDER_SECONDS = 1e-6
"""The minimum distance of messages in one direction, which keeps their order."""


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a call that has ended."""

    code: grpc.StatusCode
    details: str = ""
    trailing: Metadata = ()

    def error(self) -> grpc.aio.AioRpcError:
        """Return the exception that a client's stub raises."""
        return grpc.aio.AioRpcError(self.code, grpc.aio.Metadata(), grpc.aio.Metadata(*self.trailing), self.details)


OK = Status(grpc.StatusCode.OK)
BROKEN = Status(grpc.StatusCode.UNAVAILABLE, "the simulated connection broke")
HALF_CLOSED = object()
"""The item that a server reads after the client's last message."""


class Pipe:
    """One direction of a call: items arrive in order, each after a delay, unless the pipe is cut."""

    def __init__(self, receiver: Process, faults: Faults) -> None:
        self.receiver = receiver
        self._faults = faults
        self._arrived: deque[Any] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._last = 0.0
        self._is_cut = False
        self.sent = 0
        self.taken = 0
        self.room = asyncio.Event()

    def send(self, item: Any) -> None:
        """Send an item."""
        if self._is_cut:
            return
        now = asyncio.get_running_loop().time()
        self._last = max(self._last + ORDER_SECONDS, now + self._faults.network_seconds())
        self.sent += 1
        self.receiver.later(self._last - now, self._arrive, item)

    def _arrive(self, item: Any) -> None:
        if not self._is_cut:
            self._deliver(item)

    def _deliver(self, item: Any) -> None:
        self._arrived.append(item)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def cut(self, last: Any = None) -> None:
        """Drop all items in transit; a last item arrives at once."""
        self._is_cut = True
        if last is not None:
            self._deliver(last)

    async def take(self) -> Any:
        """Wait for the next item."""
        while not self._arrived:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        self.taken += 1
        self.room.set()
        return self._arrived.popleft()


class SimulatedCall:
    """Both ends of one call. The client uses `receive`; the server's handler gets a SimulatedContext."""

    def __init__(self, number: int, method: str, client: Process, server: Process, metadata: Metadata, faults: Faults):
        self.number = number
        self.method = method
        self.name = method.rpartition("/")[2]
        self.client = client
        self.server = server
        self.metadata = metadata
        self.faults = faults
        self.to_server = Pipe(server, faults)
        self.to_client = Pipe(client, faults)
        self.handler: asyncio.Task[None] | None = None
        self.duplicate: SimulatedCall | None = None
        """The same request to another server, whose answer no client receives."""
        self.request = b""
        """The first message of the client."""
        self.has_slow_reader = False
        self.client_has_ended = False
        self.server_has_ended = False
        self.on_close: list[Callable[[], object]] = []
        """Callbacks for when no message of this call arrives any more."""
        self.on_end: list[Callable[[], object]] = []
        """Callbacks for the end of the call at the server."""
        self._limit: asyncio.TimerHandle | None = None

    def limit(self, seconds: float | None) -> None:
        """Set the client's deadline."""
        if seconds is not None:
            late = Status(grpc.StatusCode.DEADLINE_EXCEEDED, "the simulated deadline has passed")
            self._limit = self.client.later(seconds, self.end_at_client, late)

    def send(self, raw: bytes) -> None:
        """Send a message from the client to the server, and to the duplicate's."""
        self.request = self.request or raw
        self.to_server.send(raw)
        if self.duplicate is not None:
            self.duplicate.send(raw)

    async def receive(self) -> Any:
        """Return the next message at the client, None after the last; raises grpc.aio.AioRpcError."""
        if self.has_slow_reader and (seconds := self.faults.reading_seconds()):
            await asyncio.sleep(seconds)
        item = await self.to_client.take()
        if not isinstance(item, Status):
            return item
        self.end_at_client(None)
        if item.code is grpc.StatusCode.OK:
            return None
        raise item.error()

    def end_at_client(self, status: Status | None) -> None:
        """End the call at the client, and after a delay at the server."""
        _run_once(self.on_close)
        if not self.client_has_ended:
            self._end_of_client(status)
            if not self.server_has_ended:
                self.server.later(self.faults.network_seconds(), self.end_at_server)

    def _end_of_client(self, status: Status | None) -> None:
        if not self.client_has_ended:
            self.client_has_ended = True
            if self._limit is not None:
                self._limit.cancel()
            self.to_client.cut(status)

    def end_at_server(self) -> None:
        """End the call at the server, because the client has ended it."""
        if self.server_has_ended:
            return
        self.to_server.cut()
        if self.handler is not None:
            self.handler.cancel()
        self.mark_ended()

    def mark_ended(self) -> None:
        """Record that the call has ended at the server, and run its callbacks."""
        self.server_has_ended = True
        _run_once(self.on_close)
        _run_once(self.on_end)

    def lose_connection(self, client_seconds: float, server_seconds: float) -> None:
        """Lose the connection; each end notices after its own delay."""
        _run_once(self.on_close)
        self.to_client.cut()
        self.to_server.cut()
        self.client.later(client_seconds, self._end_of_client, BROKEN)
        self.server.later(server_seconds, self.end_at_server)


def _run_once(callbacks: list[Callable[[], object]]) -> None:
    for callback in callbacks:
        callback()
    callbacks.clear()


class SimulatedContext:
    """A handler's context, with the methods of grpc.aio.ServicerContext that the services use."""

    def __init__(self, call: SimulatedCall, window: int, answered: Callable[[SimulatedCall, bytes], None]) -> None:
        self.call = call
        self.aborted: Status | None = None
        self._window = window
        self._answered = answered

    def invocation_metadata(self) -> Metadata:
        return self.call.metadata

    def done(self) -> bool:
        return self.call.server_has_ended

    def code(self) -> grpc.StatusCode | None:
        return self.aborted.code if self.aborted else None

    async def read(self) -> Any:
        item = await self.call.to_server.take()
        return grpc.aio.EOF if item is HALF_CLOSED else item

    def add_done_callback(self, callback: Callable[[object], None]) -> None:
        self.call.on_end.append(lambda: callback(self))

    async def send_initial_metadata(self, _metadata: Metadata) -> None:
        """Do nothing: no client waits for headers."""

    async def write(self, message: bytes) -> None:
        """Send a message when the client's window has room."""
        pipe = self.call.to_client
        while pipe.sent - pipe.taken >= self._window and not self.call.server_has_ended:
            pipe.room.clear()
            await pipe.room.wait()
        self.send(message)

    def send(self, message: bytes) -> None:
        """Send a message at once."""
        self._answered(self.call, message)
        self.call.to_client.send(message)

    async def abort_with_status(self, status: Any) -> NoReturn:
        trailing = tuple((key, value) for key, value in status.trailing_metadata or ())
        self.aborted = Status(status.code, status.details, trailing)
        raise grpc.aio.AbortError


class ClientStream:
    """A stream at the client: an asynchronous iterator that can be cancelled."""

    def __init__(
        self, call: SimulatedCall, decode: Callable[[bytes], Any], sending: asyncio.Future[None] | None = None
    ) -> None:
        self._call = call
        self._decode = decode
        self._sending = sending

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._messages()

    async def _messages(self) -> AsyncIterator[Any]:
        try:
            while (raw := await self._call.receive()) is not None:
                yield self._decode(raw)
        finally:
            if self._sending is not None:
                self._sending.cancel()

    def cancel(self) -> bool:
        """End the call at the client."""
        if self._sending is not None:
            self._sending.cancel()
        if self._call.client_has_ended:
            return False
        with suppress(RuntimeError):
            self._call.end_at_client(Status(grpc.StatusCode.CANCELLED, "cancelled by the client"))
        return True
