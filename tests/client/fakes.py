"""A small croupier for the client's tests: real gRPC on loopback, one seat that lays its cards, faults by script."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Any, NoReturn, Self, TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2, table_pb2
from croupier_api.v1.cards_pb2 import CARD_2C, CARD_3C, CARD_4C, CARD_5C, Card
from croupier_client.retry import RetryPolicy

M = TypeVar("M", bound=Message)
SERVICES = [
    lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"],
    engine_pb2.DESCRIPTOR.services_by_name["EngineService"],
    scoring_pb2.DESCRIPTOR.services_by_name["ScoringService"],
]
"""Those that players call."""
HAND = (CARD_2C, CARD_3C, CARD_4C, CARD_5C)
RANKING = (table_pb2.RankGroup(seats=[0]), table_pb2.RankGroup(seats=[1]))
MOVE = engine_pb2.PlayResponse(resume_notice=engine_pb2.ResumeNotice())
"""The last message of a stream that is to be opened again somewhere else."""
QUICK = RetryPolicy(total_seconds=60, first_delay_seconds=0.01, most_delay_seconds=0.05)
"""Patience for tests whose fake recovers."""
HASTY = RetryPolicy(total_seconds=0.5, first_delay_seconds=0.01, most_delay_seconds=0.02)
"""Patience for tests whose fake does not."""
HOUR_MILLISECONDS = 3_600_000
_STARTED_NANOSECONDS = time.monotonic_ns()


def since_start() -> int:
    """A clock that begins at 0 and runs, so that patience ends: milliseconds."""
    return (time.monotonic_ns() - _STARTED_NANOSECONDS) // 1_000_000


def play(card: Card.ValueType) -> table_pb2.Action:
    """The action that lays a card."""
    return table_pb2.Action(play=table_pb2.PlayAction(card=card))


def abort(context: grpc.ServicerContext, status: status_pb2.Status) -> NoReturn:
    """End the call with a rich status."""
    context.abort_with_status(rpc_status.to_status(status))
    raise AssertionError("abort_with_status raises")


class Fault(Enum):
    """How a stream goes wrong."""

    NONE = auto()
    DROP = auto()
    """It breaks off."""
    END = auto()
    """It ends with OK."""
    MOVE = auto()
    """It tells that it is to be opened again, and ends."""
    STALL = auto()
    """It says nothing more, though the connection lives."""
    BUSY = auto()
    """An action is answered by asking for another attempt; all else goes well."""


@dataclass(frozen=True)
class Script:
    """What happens to one stream; as it stands it goes well."""

    fault: Fault = Fault.NONE
    at_action: int = 1
    """Which action of the stream meets the fault instead of an answer; 0: the fault comes before the first message.

    A stream that brings no actions meets it after its first messages.
    """
    apply_first: bool = True
    """Whether that action is done before the stream ends."""
    drop_code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    skew: int = 0
    """Added to the sequence of every update that an action brings."""
    swallow_last_answer: bool = False
    """End the stream with the game, without the answer to the last action."""


def refused(code: grpc.StatusCode, message: str, reason: str = "", rule: str = "") -> status_pb2.Status:
    """The rich status with which a service refuses."""
    status = status_pb2.Status(code=code.value[0], message=message)
    if reason:
        metadata = {"rule": rule} if rule else {}
        status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain="croupier", metadata=metadata))
    return status


def legal_after(sequence: int) -> table_pb2.LegalActions | None:
    """What seat 0 may do after so many updates."""
    return table_pb2.LegalActions(actions=[play(HAND[sequence])]) if sequence < len(HAND) else None


def told(update: engine_pb2.TableUpdate, answer: engine_pb2.ActionAnswer | None = None) -> engine_pb2.PlayResponse:
    """The message of a stream that brings an update to seat 0, with what it may do then."""
    return engine_pb2.PlayResponse(update=update, answer=answer, legal_actions=legal_after(update.sequence))


def refusing(request_id: str, code: int, reason: str, message: str, rule: str = "") -> engine_pb2.ActionAnswer:
    """The answer that refuses an action."""
    refusal = engine_pb2.Refusal(code=code, reason=reason, message=message, rule=rule)
    return engine_pb2.ActionAnswer(request_id=request_id, refusal=refusal)


class FakeTable:
    """A game of one seat that lays its hand card by card; the other seat only looks on."""

    def __init__(self) -> None:
        self.updates: list[engine_pb2.TableUpdate] = []
        self.answers: dict[str, engine_pb2.ActionAnswer] = {}
        self.submitted: list[str] = []
        self.proposal: engine_pb2.Proposal | None = None
        """What snapshots say is proposed."""
        self.lock = threading.Lock()

    @property
    def laid(self) -> int:
        """How many cards have been laid."""
        return len(self.updates)

    @property
    def finished(self) -> bool:
        """Whether the last card lies."""
        return self.laid == len(HAND)

    def view(self) -> table_pb2.TableView:
        """What seat 0 sees, written down without any fold."""
        hand, laid = HAND[self.laid :], HAND[: self.laid]
        view = table_pb2.TableView(
            round=1, contract=table_pb2.ContractChanged(), phase="over" if self.finished else "play"
        )
        view.seats.add(card_count=len(hand), cards=hand)
        view.seats.add(card_count=3)
        if laid:
            view.piles.add(name="trick", count=len(laid), cards=[table_pb2.PileCard(card=c, seat=0) for c in laid])
        if self.finished:
            view.ranking.extend(RANKING)
        else:
            view.seats_to_act.append(0)
        return view

    def snapshot(self) -> engine_pb2.Snapshot:
        """Everything up to now, for seat 0."""
        return engine_pb2.Snapshot(
            table=table_pb2.TableInfo(table_id="t1", game="laying"),
            sequence=self.laid,
            viewer_seat=0,
            view=self.view(),
            legal_actions=legal_after(self.laid),
            revealed_seed=self._revealed_seed(),
            proposal=self.proposal,
        )

    def submit(self, request: engine_pb2.SubmitActionRequest) -> engine_pb2.ActionAnswer:
        """Do an action, once for each request_id."""
        with self.lock:
            self.submitted.append(request.request_id)
            if request.request_id not in self.answers:
                self.answers[request.request_id] = self._decide(request)
            return self.answers[request.request_id]

    def _decide(self, request: engine_pb2.SubmitActionRequest) -> engine_pb2.ActionAnswer:
        if request.HasField("expected_sequence") and request.expected_sequence != self.laid:
            return refusing(request.request_id, 10, "STALE_SEQUENCE", "moved on")
        if self.finished or request.action != play(HAND[self.laid]):
            return refusing(request.request_id, 9, "ILLEGAL_ACTION", "lay the lowest card", "LAY-1")
        self._lay(request.action.play.card)
        return engine_pb2.ActionAnswer(request_id=request.request_id, sequence=self.laid)

    def _lay(self, card: Card.ValueType) -> None:
        update = engine_pb2.TableUpdate(sequence=self.laid + 1, seat=0)
        self.updates.append(update)
        moved = table_pb2.CardsMoved(
            source=table_pb2.Place(hand=0), target=table_pb2.Place(pile="trick"), cards=[card], count=1
        )
        update.facts.add(cards_moved=moved)
        if self.finished:
            update.facts.add(turn_changed=table_pb2.TurnChanged(phase="over"))
            update.facts.add(game_ended=table_pb2.GameEnded(ranking=RANKING))
        update.revealed_seed = self._revealed_seed()

    def _revealed_seed(self) -> str:
        return "5eed" if self.finished else ""


class FakeCroupier:
    """All three services on one port; a context manager. `scripts` says how each stream to come goes wrong.

    A replica of another one shares its table and takes its tokens.
    """

    def __init__(self, *scripts: Script, replica_of: "FakeCroupier | None" = None) -> None:
        self.scripts = deque(scripts)
        self.unary_failures: deque[status_pb2.Status] = deque()
        """What each unary call to come is refused with."""
        self.table: FakeTable = replica_of.table if replica_of else FakeTable()
        self.access_tokens: set[str] = replica_of.access_tokens if replica_of else set()
        self.refresh_tokens: set[str] = set()
        self.calls: list[str] = []
        self.metadata: list[dict[str, str | bytes]] = []
        self._requests: list[Message] = []
        self.hold = threading.Event()
        """Set to let streams that wait for it go on."""
        # As the services have it: whoever asks often whether they live is not sent away.
        self._server = grpc.server(ThreadPoolExecutor(16), options=(("grpc.http2.max_ping_strikes", 0),))
        for service in SERVICES:
            handler = grpc.method_handlers_generic_handler(service.full_name, self._handlers(service))
            self._server.add_generic_rpc_handlers((handler,))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        """Where it listens."""
        self._server.start()

    def asked(self, kind: type[M]) -> list[M]:
        """The requests of a kind, in the order in which they came."""
        return [request for request in self._requests if isinstance(request, kind)]

    def _handlers(self, service: ServiceDescriptor) -> "dict[str, grpc.RpcMethodHandler[Any, Any]]":
        streams: dict[str, Callable[..., Iterator[Message]]] = {
            "QuickMatch": self._quick_match,
            "WatchTable": self._watch_table,
        }
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}
        for rpc in service.methods:
            request, response = GetMessageClass(rpc.input_type), GetMessageClass(rpc.output_type)
            codec = (request.FromString, response.SerializeToString)
            if rpc.name == "Play":
                handlers[rpc.name] = grpc.stream_stream_rpc_method_handler(self._play, *codec)
            elif rpc.name in streams:
                handlers[rpc.name] = grpc.unary_stream_rpc_method_handler(streams[rpc.name], *codec)
            else:
                handlers[rpc.name] = grpc.unary_unary_rpc_method_handler(partial(self._answer, rpc.name), *codec)
        return handlers

    def stop(self) -> None:
        """Break every connection off."""
        self.hold.set()
        self._server.stop(None).wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _answer(self, name: str, request: Any, context: grpc.ServicerContext) -> Message:
        self._enter(name, context, request)
        match name:
            case "SignIn":
                player = lobby_pb2.Player(player_id=f"player of {request.device_secret}", name=request.name)
                return lobby_pb2.SignInResponse(player=player, tokens=self._tokens())
            case "RefreshToken":
                if request.refresh_token not in self.refresh_tokens:
                    abort(context, refused(grpc.StatusCode.UNAUTHENTICATED, "used up", "UNKNOWN_TOKEN"))
                self.refresh_tokens.remove(request.refresh_token)
                return lobby_pb2.RefreshTokenResponse(tokens=self._tokens())
            case "SubmitAction":
                return engine_pb2.SubmitActionResponse(sequence=self.table.submit(request).sequence)
            case "Propose":
                return engine_pb2.ProposeResponse(sequence=self.table.laid + 1)
            case "Vote":
                return engine_pb2.VoteResponse(sequence=self.table.laid + 1)
            case "GetView":
                return engine_pb2.GetViewResponse(snapshot=self.table.snapshot())
            case "CreateTable":
                table = lobby_pb2.Table(table_id="t1", game=request.game, options=request.options)
                return lobby_pb2.CreateTableResponse(table=table)
            case "ListGames":
                return lobby_pb2.ListGamesResponse(games=[engine_pb2.GameDescription(game="laying")])
            case "GetLeaderboard":
                return scoring_pb2.GetLeaderboardResponse(lines=[scoring_pb2.LeaderboardLine(position=1)])
        raise NotImplementedError(name)

    def _quick_match(
        self, request: lobby_pb2.QuickMatchRequest, context: grpc.ServicerContext
    ) -> Iterator[lobby_pb2.QuickMatchResponse]:
        self._enter("QuickMatch", context, request)
        script = self._script()
        yield lobby_pb2.QuickMatchResponse(ticket_id="w1", waiting=1)
        if script.fault is Fault.DROP:
            context.abort(script.drop_code, "lost")
        yield lobby_pb2.QuickMatchResponse(ticket_id="w1", waiting=2, table=lobby_pb2.Table(table_id="t1"))

    def _watch_table(
        self, request: engine_pb2.WatchTableRequest, context: grpc.ServicerContext
    ) -> Iterator[engine_pb2.WatchTableResponse]:
        self._enter("WatchTable", context)
        script = self._script()
        messages, laid = self._begin(request)
        messages += [MOVE] if script.fault is Fault.MOVE else []
        for message in messages:
            yield engine_pb2.WatchTableResponse.FromString(message.SerializeToString())
        if script.fault is not Fault.NONE:
            return
        self.hold.wait()
        for update in self.table.updates[laid:]:
            yield engine_pb2.WatchTableResponse(update=update, legal_actions=legal_after(update.sequence))

    def _play(
        self, request_iterator: Iterator[engine_pb2.PlayRequest], context: grpc.ServicerContext
    ) -> Iterator[engine_pb2.PlayResponse]:
        self._enter("Play", context)
        script = self._script()
        if not script.at_action:
            yield from self._fail(script, context)
            return
        yield from self._begin(next(request_iterator).watch)[0]
        if self.table.finished:
            return
        for number, request in enumerate(request_iterator, 1):
            meets_fault = script.fault is not Fault.NONE and number == script.at_action
            if meets_fault and script.fault is Fault.BUSY:
                yield engine_pb2.PlayResponse(answer=refusing(request.action.request_id, 14, "STORE_FAILED", "again"))
                continue
            if meets_fault:
                if script.apply_first:
                    self.table.submit(request.action)
                yield from self._fail(script, context)
                return
            yield from self._act(script, request.action)
            if self.table.finished:
                return

    def _fail(self, script: Script, context: grpc.ServicerContext) -> Iterator[engine_pb2.PlayResponse]:
        match script.fault:
            case Fault.DROP:
                context.abort(script.drop_code, "lost")
            case Fault.MOVE:
                yield MOVE
            case Fault.STALL:
                self.hold.wait()

    def _begin(self, watch: engine_pb2.WatchTableRequest) -> tuple[list[engine_pb2.PlayResponse], int]:
        """What a stream begins with, and up to which sequence that goes."""
        self._requests.append(watch)
        with self.table.lock:
            laid = self.table.laid
            if watch.HasField("after_sequence"):
                messages = [told(update) for update in self.table.updates[watch.after_sequence :]]
            else:
                messages = [engine_pb2.PlayResponse(snapshot=self.table.snapshot())]
        messages.append(engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=laid)))
        messages.append(engine_pb2.PlayResponse(reaction=engine_pb2.Reaction(seat=1, reaction="clap")))
        return messages, laid

    def _act(self, script: Script, request: engine_pb2.SubmitActionRequest) -> Iterator[engine_pb2.PlayResponse]:
        laid = self.table.laid
        answer: engine_pb2.ActionAnswer | None = self.table.submit(request)
        if script.swallow_last_answer and self.table.finished:
            answer = None
        if self.table.laid == laid:
            yield engine_pb2.PlayResponse(answer=answer)
            return
        update = engine_pb2.TableUpdate()
        update.CopyFrom(self.table.updates[-1])
        update.sequence += script.skew
        yield told(update, answer)

    def _script(self) -> Script:
        return self.scripts.popleft() if self.scripts else Script()

    def _enter(self, name: str, context: grpc.ServicerContext, request: Message | None = None) -> None:
        """Note the call, and let nobody in without a token that lives, but for those who ask for one."""
        self.calls.append(name)
        self._requests += [request] if request else []
        metadata = dict(context.invocation_metadata())
        self.metadata.append(metadata)
        token = str(metadata.get("authorization")).removeprefix("Bearer ")
        if name not in ("SignIn", "RefreshToken") and token not in self.access_tokens:
            abort(context, refused(grpc.StatusCode.UNAUTHENTICATED, "the access token has ended", "TOKEN_ENDED"))
        if self.unary_failures:
            abort(context, self.unary_failures.popleft())

    def _tokens(self) -> lobby_pb2.Tokens:
        number = len(self.calls)
        self.access_tokens.add(f"access{number}")
        self.refresh_tokens.add(f"refresh{number}")
        return lobby_pb2.Tokens(
            access_token=f"access{number}",
            access_expires_milliseconds=HOUR_MILLISECONDS,
            refresh_token=f"refresh{number}",
            refresh_expires_milliseconds=HOUR_MILLISECONDS * 24,
        )
