"""A PlayTable stream over a WebSocket: the first message, the actions, and the end with its close code.

An open stream has no task: its table writes to the connection, and only an action that waits has a task meanwhile.
"""

import asyncio
import contextvars
from collections.abc import Callable, Mapping

from opentelemetry import trace
from opentelemetry.context import attach
from websockets.frames import CloseCode

from croupier.engine.api.play_session import PLAY_TABLE, PlaySession, check_first, first_message_late
from croupier.engine.api.servicer import EngineServicer
from croupier.engine.api.websocket.codec import decode, encode_error, to_json
from croupier.engine.api.websocket.connection import WebSocketConnection
from croupier.engine.tables.direct_writer import DirectWriter
from croupier.runtime.admission.costs import MESSAGE_COST
from croupier.runtime.admission.network import ADDRESS_HEADER, network_of
from croupier.runtime.errors import ServiceError, invalid_field
from croupier.runtime.identity.tokens import Caller, unauthenticated
from croupier.runtime.observation.traced_calls import call_span
from croupier.runtime.server.call import Call
from croupier.runtime.server.calls import Calls
from croupier_api.v1 import engine_pb2 as pb

FIRST_MESSAGE_SECONDS = 10.0
MAX_WAITING_MESSAGES = 16
"""Of one client; it is not read further while so many wait."""
REFUSED = 4000
"""Before the gRPC code of a refusal, in its close code."""


class WebSocketSession:
    """The stream of a connection from the end of its handshake; it is the port of its subscription."""

    __slots__ = (
        "_arrived",
        "_calls",
        "_charged",
        "_connection",
        "_context",
        "_has_ended",
        "_network",
        "_opening",
        "_pause",
        "_play",
        "_release",
        "_servicer",
        "_serving",
        "_span",
        "_waiting",
        "_writer",
        "buffered",
        "send",
    )

    def __init__(
        self,
        connection: WebSocketConnection,
        servicer: EngineServicer,
        calls: Calls,
        table_id: str,
        headers: Mapping[str, str],
    ) -> None:
        self._connection = connection
        self._servicer = servicer
        self._calls = calls
        self._network = network_of(headers.get(ADDRESS_HEADER, ""))
        self.send: Callable[[bytes], None] = connection.send
        self.buffered = connection.buffered
        loop = asyncio.get_running_loop()
        self._arrived: asyncio.Future[None] = loop.create_future()
        self._waiting: list[bytes | str] = []
        """Messages that the client has sent before the stream was open, or while an action waited."""
        self._release: Callable[[], None] | None = None
        self._writer: DirectWriter | None = None
        self._play: PlaySession | None = None
        self._serving: asyncio.Task[None] | asyncio.Handle | None = None
        self._charged = 0
        """The frames of the client that were no messages."""
        self._pause: asyncio.TimerHandle | None = None
        """The timer of a pause for frames that the client could not pay."""
        self._has_ended = False
        calls.metrics.open_calls.labels(PLAY_TABLE).inc()
        self._span = call_span(PLAY_TABLE, headers.items())
        # With the fields of the log and the span of the call: callbacks that log run in it.
        self._context = contextvars.copy_context()
        self._context.run(attach, trace.set_span_in_context(self._span))
        self._opening = loop.create_task(self._open(table_id, headers), context=self._context)

    # The beginning

    async def _open(self, table_id: str, headers: Mapping[str, str]) -> None:
        self._calls.bind_log(PLAY_TABLE, {**headers, "x-table-id": table_id})
        try:
            with self._calls.arriving(Caller("", "", self._network)):
                first = await self._first_message()
            call = self._calls.begin(PLAY_TABLE, headers, lambda: _token_of(first))
            self._release = self._calls.take_place(call.caller, self._evict)
            await self._subscribe(call, _watch_of(first, table_id))
        except Exception as error:  # noqa: BLE001 - every fault becomes an error frame
            self._refuse(error)

    async def _first_message(self) -> pb.PlayTableRequest:
        try:
            async with asyncio.timeout(FIRST_MESSAGE_SECONDS):
                await self._arrived
        except TimeoutError:
            raise first_message_late(FIRST_MESSAGE_SECONDS) from None
        content = self._waiting.pop(0)
        if isinstance(content, str):
            self.send = self._send_json
        return decode(content)

    async def _subscribe(self, call: Call, watch: pb.WatchTableRequest) -> None:
        self._play = play = await self._servicer.subscribe(call, watch)
        self._writer = play.stream.write_to(self)
        self._serve_next(play)

    # Calls of the connection

    def receive(self, content: bytes | str) -> None:
        if self._has_ended:
            return
        self._waiting.append(content)
        if not self._arrived.done():
            self._arrived.set_result(None)
        elif self._play is not None and self._serving is None:
            self._context.run(self._serve_next, self._play)
        if self._waiting:
            self._control_reading()

    def charge(self) -> None:
        if self._has_ended:
            return
        self._charged += 1
        if self._play is not None:
            seconds = self._play.admission.delay(MESSAGE_COST)
            if seconds > 0 and self._pause is None:
                self._pause = asyncio.get_running_loop().call_later(seconds, self._end_pause)
        elif self._charged > MAX_WAITING_MESSAGES:
            # There is no player yet who could pay.
            self._connection.abort()
            return
        self._control_reading()

    def _end_pause(self) -> None:
        self._pause = None
        self._control_reading()

    def _control_reading(self) -> None:
        """Read from the client, unless too many messages wait, or they have to pay first."""
        if self._pause is not None or len(self._waiting) >= MAX_WAITING_MESSAGES:
            self._connection.pause_reading()
        else:
            self._connection.resume_reading()

    def resume(self) -> None:
        if self._writer is not None:
            self._writer.resume()

    def refuse(self, error: ServiceError, close_code: int) -> None:
        self._context.run(self._refuse, error, close_code)

    def lost(self) -> None:
        self._context.run(self._end, "CANCELLED")

    # Actions

    def _serve_next(self, play: PlaySession) -> None:
        """Serve the first waiting action: at once, or by a task if it has to wait."""
        self._serving = None
        if not self._waiting or play.stream.closed:
            return
        try:
            request = decode(self._waiting.pop(0))
            is_served = play.receive_at_once(request)
        except Exception as error:  # noqa: BLE001 - the end of the stream reports it
            play.stream.close(error)
            return
        if not is_served:
            self._serving = asyncio.get_running_loop().create_task(self._serve(play, request), context=self._context)
        elif self._waiting:
            self._serve_later(play)

    async def _serve(self, play: PlaySession, request: pb.PlayTableRequest) -> None:
        try:
            await play.receive(request)
        except Exception as error:  # noqa: BLE001 - the end of the stream reports it
            play.stream.close(error)
        self._serve_later(play)

    def _serve_later(self, play: PlaySession) -> None:
        """Serve the next action after others have had their turn, also if all actions are refused; read again."""
        self._control_reading()
        self._serving = asyncio.get_running_loop().call_soon(self._serve_next, play, context=self._context)

    # The port of the subscription, and the end

    def _send_json(self, message: bytes) -> None:
        self._connection.send_text(to_json(message))

    def end(self, error: Exception | None) -> None:
        """End with an error, or because the game is over or the stream continues elsewhere."""
        if self._has_ended:
            return
        if error is not None:
            self._context.run(self._refuse, error)
        elif self._play is not None:
            is_over = not self._play.stream.continues
            self._context.run(self._end, "OK")
            self._connection.close(CloseCode.NORMAL_CLOSURE if is_over else CloseCode.GOING_AWAY)

    def _evict(self, error: ServiceError) -> None:
        """End soon, since another network gets the place of this stream."""
        asyncio.get_running_loop().call_soon(self.end, error)

    def _refuse(self, error: Exception, close_code: int | None = None) -> None:
        if self._has_ended:
            return
        refusal = self._calls.refusal_of(error, PLAY_TABLE, self._network)
        self._end(refusal.code.name)
        self.send(encode_error(refusal))
        number: int = refusal.code.value[0]
        self._connection.close(close_code or REFUSED + number)

    def _end(self, code: str) -> None:
        """Give everything back that the stream had, and record its end."""
        if self._has_ended:
            return
        self._has_ended = True
        for running in (self._opening, self._serving, self._pause):
            if running is not None:
                running.cancel()
        if self._writer is not None:
            self._writer.cancel()
        if self._play is not None:
            self._play.leave()
        if self._release is not None:
            self._release()
        self._calls.metrics.open_calls.labels(PLAY_TABLE).dec()
        self._calls.record_end(PLAY_TABLE, code)
        self._span.end()


def _token_of(first: pb.PlayTableRequest) -> str:
    if not first.access_token:
        raise unauthenticated("this stream needs an access token: send it as access_token of the first message")
    return first.access_token


def _watch_of(first: pb.PlayTableRequest, table_id: str) -> pb.WatchTableRequest:
    """Return the watch of a first message, at the table of the path; raises MalformedRequest."""
    if first.WhichOneof("request") == "watch":
        if first.watch.table_id not in ("", table_id):
            raise invalid_field("watch.table_id", "invalid watch.table_id: expected that of the path, or none")
        first.watch.table_id = table_id
    check_first(first)
    return first.watch
