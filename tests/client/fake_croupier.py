"""A fake of the three services on loopback, with one table and scripted faults."""

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Any, NoReturn, Self, TypeVar

import grpc
from google.protobuf.descriptor import Descriptor, ServiceDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import status_pb2
from grpc_status import rpc_status

from croupier_api.v1 import engine_pb2, errors_pb2, games_pb2, lobby_pb2, scoring_pb2, tables_pb2
from tests.client.fake_socket import FakeSocket
from tests.client.fake_table import FakeTable, update_message
from tests.client.messages import MOVE, STORE_UNAVAILABLE, SUPERSEDED, event_message, refusal_answer, refused

M = TypeVar("M", bound=Message)
SERVICES = [
    lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"],
    engine_pb2.DESCRIPTOR.services_by_name["EngineService"],
    scoring_pb2.DESCRIPTOR.services_by_name["ScoringService"],
]
"""The public services."""
HOUR_SECONDS = 3_600


class StreamFault(Enum):
    NONE = auto()
    DROP = auto()
    """The stream fails with a status."""
    END = auto()
    """The stream ends with OK."""
    MOVE = auto()
    """The stream sends a resume notice, and ends."""
    EXPIRE = auto()
    """The same, because all access tokens end; a stream without actions alone meets it."""
    SUPERSEDE = auto()
    """The stream fails because a newer one of the same player replaces it."""
    STALL = auto()
    """The stream sends no more messages, while its connection stays open."""
    BUSY = auto()
    """An action is refused with UNAVAILABLE; the stream continues."""


@dataclass(frozen=True)
class StreamScript:
    """The course of one stream, by default without a fault."""

    fault: StreamFault = StreamFault.NONE
    at_action: int = 1
    """The number of the action that meets the fault instead of an answer; 0 is before the first message.

    A stream without actions meets the fault after its first messages.
    """
    apply_first: bool = True
    """Whether that action is carried out before the fault."""
    drop_code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    skew: int = 0
    """A number that is added to the sequence of every update by an action."""
    lose_last_answer: bool = False
    """End the stream with the game, without the answer to the last action."""


def abort(context: grpc.ServicerContext, status: status_pb2.Status) -> NoReturn:
    context.abort_with_status(rpc_status.to_status(status))
    raise AssertionError("abort_with_status raises")


class FakeCroupier:
    """All three services on one port, and WebSockets on another; a context manager.

    `scripts` has the courses of the next streams.

    A replica of another one shares its table and accepts its tokens.
    """

    def __init__(self, *scripts: StreamScript, replica_of: "FakeCroupier | None" = None) -> None:
        self.scripts = deque(scripts)
        self.unary_failures: deque[status_pb2.Status] = deque()
        """The statuses of the next unary calls."""
        self.table: FakeTable = replica_of.table if replica_of else FakeTable()
        self.access_tokens: set[str] = replica_of.access_tokens if replica_of else set()
        self.refresh_tokens: set[str] = set()
        self.name = "Guest"
        self.calls: list[str] = []
        self.metadata: list[dict[str, str | bytes]] = []
        self._requests: list[Message] = []
        self.hold = threading.Event()
        """Set to let stalled streams continue."""
        # As in the services, clients that send pings often are not disconnected.
        self._server = grpc.server(ThreadPoolExecutor(16), options=(("grpc.http2.max_ping_strikes", 0),))
        for service in SERVICES:
            handler = grpc.method_handlers_generic_handler(service.full_name, self._handlers(service))
            self._server.add_generic_rpc_handlers((handler,))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()
        self._socket = FakeSocket(self.play_table)
        self.socket_address = self._socket.address
        """The address for WebSockets."""

    def requests_of(self, kind: type[M]) -> list[M]:
        return [request for request in self._requests if isinstance(request, kind)]

    def _handlers(self, service: ServiceDescriptor) -> "dict[str, grpc.RpcMethodHandler[Any, Any]]":
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}
        for rpc in service.methods:
            request, response = GetMessageClass(rpc.input_type), GetMessageClass(rpc.output_type)
            codec = (request.FromString, response.SerializeToString)
            match rpc.name:
                case "PlayTable":
                    handlers[rpc.name] = grpc.stream_stream_rpc_method_handler(self.play_table, *codec)
                case "FindMatch":
                    handlers[rpc.name] = grpc.unary_stream_rpc_method_handler(self._find_match, *codec)
                case "WatchTable":
                    handlers[rpc.name] = grpc.unary_stream_rpc_method_handler(self._watch_table, *codec)
                case name:
                    answer = partial(self.answer, name, rpc.output_type)
                    handlers[name] = grpc.unary_unary_rpc_method_handler(answer, *codec)
        return handlers

    def stop(self) -> None:
        self.hold.set()
        self._socket.stop()
        self._server.stop(None).wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def answer(self, name: str, answer: Descriptor, request: Any, context: grpc.ServicerContext) -> Message:
        self._enter(name, context, request)
        match name:
            case "SignIn":
                self.name = request.name or self.name
                player = lobby_pb2.Player(player_id=f"player of {request.device_secret}", name=self.name)
                return lobby_pb2.SignInResponse(player=player, tokens=self._tokens())
            case "RefreshToken":
                if request.refresh_token not in self.refresh_tokens:
                    invalid = errors_pb2.ERROR_REASON_INVALID_REFRESH_TOKEN
                    abort(context, refused(grpc.StatusCode.UNAUTHENTICATED, "used up", invalid))
                self.refresh_tokens.remove(request.refresh_token)
                return lobby_pb2.RefreshTokenResponse(tokens=self._tokens(), player=lobby_pb2.Player(name=self.name))
            case "UpdatePlayer":
                self.name = request.name
                return lobby_pb2.UpdatePlayerResponse(player=lobby_pb2.Player(name=self.name))
            case "SubmitAction":
                return engine_pb2.SubmitActionResponse(sequence=self.table.submit(request).sequence)
            case "CreateProposal" | "CastVote" | "SetAway":
                return GetMessageClass(answer)(sequence=self.table.played_count + 1)
            case "GetView":
                return engine_pb2.GetViewResponse(snapshot=self.table.snapshot())
            case "CreateTable":
                table = tables_pb2.Table(table_id="t1", game=request.game, options=request.options)
                return lobby_pb2.CreateTableResponse(table=table)
            case "ListGames":
                return lobby_pb2.ListGamesResponse(games=[games_pb2.GameDescription(game="laying")])
            case "GetLeaderboard":
                return scoring_pb2.GetLeaderboardResponse(entries=[scoring_pb2.LeaderboardEntry(position=1)])
        return GetMessageClass(answer)()

    def _find_match(
        self, request: lobby_pb2.FindMatchRequest, context: grpc.ServicerContext
    ) -> Iterator[lobby_pb2.FindMatchResponse]:
        self._enter("FindMatch", context, request)
        script = self._script()
        if script.at_action:
            yield lobby_pb2.FindMatchResponse(ticket_id="w1", waiting_count=1)
        if script.fault is StreamFault.END:
            return
        if script.fault is StreamFault.DROP:
            context.abort(script.drop_code, "lost")
        yield lobby_pb2.FindMatchResponse(ticket_id="w1", waiting_count=2, table=tables_pb2.Table(table_id="t1"))

    def _watch_table(
        self, request: engine_pb2.WatchTableRequest, context: grpc.ServicerContext
    ) -> Iterator[engine_pb2.WatchTableResponse]:
        self._enter("WatchTable", context)
        script = self._script()
        messages, played_count = self._begin(request)
        messages += [MOVE] if script.fault in (StreamFault.MOVE, StreamFault.EXPIRE) else []
        if script.fault is StreamFault.EXPIRE:
            self.access_tokens.clear()
        for message in messages:
            yield engine_pb2.WatchTableResponse.FromString(message.SerializeToString())
        if script.fault is not StreamFault.NONE:
            return
        self.hold.wait()
        for update in self.table.updates[played_count:]:
            yield engine_pb2.WatchTableResponse(table_event=engine_pb2.TableEvent(update=update))

    def play_table(
        self, request_iterator: Iterator[engine_pb2.PlayTableRequest], context: grpc.ServicerContext
    ) -> Iterator[engine_pb2.PlayTableResponse]:
        self._enter("PlayTable", context)
        script = self._script()
        if not script.at_action:
            yield from self._fail(script, context)
            return
        yield from self._begin(next(request_iterator).watch)[0]
        if self.table.finished:
            return
        for number, request in enumerate(request_iterator, 1):
            meets_fault = script.fault is not StreamFault.NONE and number == script.at_action
            if meets_fault and script.fault is StreamFault.BUSY:
                yield engine_pb2.PlayTableResponse(answer=refusal_answer(request.action, STORE_UNAVAILABLE))
                continue
            if meets_fault:
                if script.apply_first:
                    self.table.submit(request.action)
                yield from self._fail(script, context)
                return
            yield from self._act(script, request.action)
            if self.table.finished:
                return

    def _fail(self, script: StreamScript, context: grpc.ServicerContext) -> Iterator[engine_pb2.PlayTableResponse]:
        match script.fault:
            case StreamFault.DROP:
                context.abort(script.drop_code, "lost")
            case StreamFault.SUPERSEDE:
                abort(context, SUPERSEDED)
            case StreamFault.MOVE:
                yield MOVE
            case StreamFault.EXPIRE:
                self.access_tokens.clear()
                yield MOVE
            case StreamFault.STALL:
                self.hold.wait()

    def _begin(self, watch: engine_pb2.WatchTableRequest) -> tuple[list[engine_pb2.PlayTableResponse], int]:
        """Return the first messages of a stream, and the sequence of the last one."""
        self._requests.append(watch)
        with self.table.lock:
            played_count = self.table.played_count
            if watch.HasField("after_sequence"):
                missed = [update_message(update) for update in self.table.updates[watch.after_sequence :]]
                messages = missed or [event_message(turn_state=self.table.turn_state())]
            else:
                messages = [event_message(snapshot=self.table.snapshot())]
        messages.append(event_message(heartbeat=engine_pb2.Heartbeat(sequence=played_count)))
        messages.append(event_message(reaction=engine_pb2.SeatReaction(seat=1, reaction=games_pb2.REACTION_CLAP)))
        return messages, played_count

    def _act(
        self, script: StreamScript, request: engine_pb2.SubmitActionRequest
    ) -> Iterator[engine_pb2.PlayTableResponse]:
        played_count = self.table.played_count
        answer: engine_pb2.ActionAnswer | None = self.table.submit(request)
        if script.lose_last_answer and self.table.finished:
            answer = None
        if self.table.played_count == played_count:
            yield engine_pb2.PlayTableResponse(answer=answer)
            return
        update = engine_pb2.TableUpdate()
        update.CopyFrom(self.table.updates[-1])
        update.sequence += script.skew
        yield update_message(update, answer)

    def _script(self) -> StreamScript:
        return self.scripts.popleft() if self.scripts else StreamScript()

    def _enter(self, name: str, context: grpc.ServicerContext, request: Message | None = None) -> None:
        """Record the call; abort it without a valid token, except sign-in, refresh and sign-out."""
        self.calls.append(name)
        self._requests += [request] if request else []
        metadata = dict(context.invocation_metadata())
        self.metadata.append(metadata)
        token = str(metadata.get("authorization")).removeprefix("Bearer ")
        if name not in ("SignIn", "RefreshToken", "SignOut") and token not in self.access_tokens:
            invalid = errors_pb2.ERROR_REASON_INVALID_ACCESS_TOKEN
            abort(context, refused(grpc.StatusCode.UNAUTHENTICATED, "the access token has expired", invalid))
        if self.unary_failures:
            abort(context, self.unary_failures.popleft())

    def _tokens(self) -> lobby_pb2.Tokens:
        number = len(self.calls)
        self.access_tokens.add(f"access{number}")
        self.refresh_tokens.add(f"refresh{number}")
        return lobby_pb2.Tokens(
            access_token=f"access{number}",
            access_lifetime=Duration(seconds=HOUR_SECONDS),
            refresh_token=f"refresh{number}",
            refresh_lifetime=Duration(seconds=HOUR_SECONDS * 24),
        )
