"""The engine's services over gRPC: who calls, decode, call, encode. It decides nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from croupier.engine.codec import decode_action
from croupier.engine.fact_codec import encode_accepted, encode_refused, encode_snapshot
from croupier.engine.live import LiveTable
from croupier.engine.metrics import EngineMetrics
from croupier.engine.replay import write_replay
from croupier.engine.streams import Subscription
from croupier.engine.tables import LONGEST_ID_CHARACTERS, Tables, check_text
from croupier.games.facts import Seat
from croupier.runtime.errors import MalformedRequest, ServiceError
from croupier.runtime.identity import caller
from croupier.runtime.player_limit import PlayerLimit
from croupier.runtime.stream_places import StreamPlaces
from croupier_api.v1 import engine_pb2

SERVICE_NAME: str = engine_pb2.DESCRIPTOR.services_by_name["EngineService"].full_name
PLAY = f"/{SERVICE_NAME}/Play"
FIRST_MESSAGE_SECONDS = 10.0

Context = grpc.aio.ServicerContext[Any, Any]


class EngineServicer:
    """EngineService. Its streams write bytes that were encoded once for all who get the same."""

    def __init__(
        self, tables: Tables, metrics: EngineMetrics, places: StreamPlaces, limit: PlayerLimit | None = None
    ) -> None:
        self._tables = tables
        self._metrics = metrics
        self._places = places
        self._limit = limit
        metrics.streams.set_function(lambda: len(places))

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register all methods. Streams are registered by hand, since theirs are bytes already."""
        unary = grpc.unary_unary_rpc_method_handler
        handlers: dict[str, Any] = {
            "SubmitAction": unary(self.submit_action, engine_pb2.SubmitActionRequest.FromString, _serialized),
            "GetView": unary(self.get_view, engine_pb2.GetViewRequest.FromString, _serialized),
            "React": unary(self.react, engine_pb2.ReactRequest.FromString, _serialized),
            "Propose": unary(self.propose, engine_pb2.ProposeRequest.FromString, _serialized),
            "Vote": unary(self.vote, engine_pb2.VoteRequest.FromString, _serialized),
            "GetReplay": unary(self.get_replay, engine_pb2.GetReplayRequest.FromString, _serialized),
            "WatchTable": grpc.unary_stream_rpc_method_handler(
                self.watch_table, engine_pb2.WatchTableRequest.FromString, None
            ),
            "Play": grpc.stream_stream_rpc_method_handler(self.play, None, None),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE_NAME, handlers),))

    async def submit_action(
        self, request: engine_pb2.SubmitActionRequest, _context: Context
    ) -> engine_pb2.SubmitActionResponse:
        """Act for the caller's seat."""
        table = await self._tables.get(request.table_id)
        return engine_pb2.SubmitActionResponse(sequence=await self._act(table, caller().id, request))

    async def get_view(self, request: engine_pb2.GetViewRequest, _context: Context) -> engine_pb2.GetViewResponse:
        """All that the caller may know."""
        table = await self._tables.get(request.table_id)
        snapshot = encode_snapshot(table.config, table.state, table.viewer_of(caller().id))
        return engine_pb2.GetViewResponse(snapshot=snapshot)

    async def react(self, request: engine_pb2.ReactRequest, _context: Context) -> engine_pb2.ReactResponse:
        """Show a reaction."""
        (await self._tables.get(request.table_id)).react(caller().id, request.reaction)
        return engine_pb2.ReactResponse()

    async def propose(self, request: engine_pb2.ProposeRequest, _context: Context) -> engine_pb2.ProposeResponse:
        """Propose something that all seats can agree on."""
        table, seat = await self._seated(request)
        return engine_pb2.ProposeResponse(sequence=await table.propose(seat, request.proposal, request.request_id))

    async def vote(self, request: engine_pb2.VoteRequest, _context: Context) -> engine_pb2.VoteResponse:
        """Agree with what is proposed, or refuse it."""
        table, seat = await self._seated(request)
        sequence = await table.vote(seat, request.proposal_sequence, request.agree, request.request_id)
        return engine_pb2.VoteResponse(sequence=sequence)

    async def _seated(self, request: engine_pb2.ProposeRequest | engine_pb2.VoteRequest) -> tuple[LiveTable, Seat]:
        table = await self._tables.get(request.table_id)
        check_text("request_id", request.request_id, LONGEST_ID_CHARACTERS)
        return table, table.seat_of(caller().id)

    async def get_replay(self, request: engine_pb2.GetReplayRequest, _context: Context) -> engine_pb2.GetReplayResponse:
        """The replay of a finished table."""
        table = await self._tables.get(request.table_id)
        await table.must_be_over()
        return engine_pb2.GetReplayResponse(replay=write_replay(table.config, table.entries))

    async def watch_table(self, request: engine_pb2.WatchTableRequest, _context: Context) -> AsyncIterator[bytes]:
        """Follow a table."""
        player_id = caller().id
        with self._places.occupied_by(player_id):
            async with self._following(player_id, request) as (_, stream):
                while (message := await stream.next()) is not None:
                    yield message

    async def play(self, _requests: Any, context: Context) -> None:
        """Follow a table and act in one stream."""
        player_id = caller().id
        with self._places.occupied_by(player_id):
            first = await _first_message(context)
            async with self._following(player_id, first.watch) as (table, stream):
                reading = asyncio.create_task(self._read_actions(table, stream, player_id, context))
                try:
                    while (message := await stream.next()) is not None:
                        await context.write(message)
                finally:
                    reading.cancel()

    @asynccontextmanager
    async def _following(
        self, player_id: str, watch: engine_pb2.WatchTableRequest
    ) -> AsyncIterator[tuple[LiveTable, Subscription]]:
        """A stream of a table, for as long as the body takes."""
        table = await self._tables.get(watch.table_id)
        after = watch.after_sequence if watch.HasField("after_sequence") else None
        await table.catch_up_to(after or 0)
        stream = table.subscribe(table.viewer_of(player_id), after)
        stream.written_by(asyncio.current_task())
        try:
            yield table, stream
        finally:
            table.unsubscribe(stream)

    async def _read_actions(self, table: LiveTable, stream: Subscription, player_id: str, context: Context) -> None:
        """Serve the actions of a stream in their order until the client says no more, or something malformed."""
        try:
            while (raw := await context.read()) is not grpc.aio.EOF:
                await self._hold_back(player_id)
                request = _decoded(raw)
                if request.WhichOneof("request") != "action":
                    raise _malformed("after the first message only actions can follow")
                stream.answer(await self._answer(table, player_id, request.action))
        except grpc.aio.UsageError:
            # The call ended while a message was awaited; the writer learns of it by itself.
            stream.close()
        except Exception as error:  # noqa: BLE001 - it is raised where the stream is written, and answered there
            stream.close(error)

    async def _hold_back(self, player_id: str) -> None:
        """Let a message of a stream wait until its player may call.

        Refusals would be as much work as actions. What is not read yet holds up who sends it, and nobody else.
        """
        if self._limit is not None and (seconds := self._limit.reserve_seconds(player_id)) > 0:
            self._metrics.rpc.limited.labels(PLAY).inc()
            await asyncio.sleep(seconds)

    async def _answer(self, table: LiveTable, player_id: str, request: engine_pb2.SubmitActionRequest) -> bytes:
        try:
            if request.table_id not in ("", table.config.table_id):
                raise _malformed("this stream belongs to another table")
            return encode_accepted(request.request_id, await self._act(table, player_id, request))
        except ServiceError as error:
            return encode_refused(request.request_id[:LONGEST_ID_CHARACTERS], error)

    async def _act(self, table: LiveTable, player_id: str, request: engine_pb2.SubmitActionRequest) -> int:
        try:
            check_text("request_id", request.request_id, LONGEST_ID_CHARACTERS)
            seat = table.seat_of(player_id)
            action = decode_action(request.action)
            expected = request.expected_sequence if request.HasField("expected_sequence") else None
            return await table.act(seat, action, request.request_id, expected)
        except ServiceError as error:
            self._metrics.actions_refused.labels(error.reason).inc()
            raise


async def _first_message(context: Context) -> engine_pb2.PlayRequest:
    try:
        async with asyncio.timeout(FIRST_MESSAGE_SECONDS):
            raw = await context.read()
    except TimeoutError:
        raise _malformed("the first message, which must be watch, did not come in time") from None
    first = _decoded(raw) if raw is not grpc.aio.EOF else engine_pb2.PlayRequest()
    if first.WhichOneof("request") != "watch":
        raise _malformed("the first message of a Play stream must be watch")
    return first


def _decoded(raw: Any) -> engine_pb2.PlayRequest:
    try:
        return engine_pb2.PlayRequest.FromString(raw)
    except DecodeError:
        raise _malformed("the message is not a PlayRequest") from None


def _malformed(message: str) -> MalformedRequest:
    return MalformedRequest("MALFORMED_MESSAGE", message)


def _serialized(message: Any) -> bytes:
    encoded: bytes = message.SerializeToString()
    return encoded
