"""A small croupier for the client's tests: real gRPC on loopback, one seat that lays its cards, faults by script."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NoReturn, Self

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from croupier_api.v1 import (
    engine_pb2,
    lobby_pb2,
    scoring_pb2,
    table_pb2,
)
from croupier_api.v1.cards_pb2 import CARD_2C, CARD_3C, CARD_4C, CARD_5C, CARD_JK, Card
from croupier_client.retry import RetryPolicy
from tests.ports import reserved_port

HAND = (CARD_2C, CARD_3C, CARD_4C, CARD_5C)
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


@dataclass(frozen=True)
class Script:
    """How one stream goes wrong; as it stands it goes well."""

    refuse: grpc.StatusCode | None = None
    """Refuse the stream at once."""
    reason: str = ""
    """The reason that goes with it."""
    drop_at_action: int | None = None
    """Break off instead of answering this action of the stream, from 1."""
    apply_first: bool = True
    """Whether that action is done before the stream breaks off."""
    drop_code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    end_at_once: bool = False
    """End with OK before the first message."""
    end_early: bool = False
    """End with OK after the first messages."""
    skew: int = 0
    """Added to the sequence of every update that an action brings: 1 is a gap, -1 a repeat."""
    answer_first: bool = False
    """Send an action's answer in a message of its own before its update."""
    busy_at_action: int | None = None
    """Answer this action of the stream, from 1, with a refusal that asks for another attempt."""
    swallow_last_answer: bool = False
    """End the stream with the game, without the answer to the last action."""
    move_first: bool = False
    """Bring nothing but the notice that the stream is to be opened again."""
    move_at_action: int | None = None
    """Send that notice instead of answering this action of the stream, from 1; `apply_first` counts here too."""
    stall_at_action: int | None = None
    """Say nothing more instead of answering this action of the stream, from 1, though the connection lives."""
    resume_skew: int = 0
    """Added to the sequence after which a resumed stream goes on: 1 leaves an entry out, -1 repeats one."""


def refused(code: grpc.StatusCode, message: str, reason: str = "", rule: str = "") -> status_pb2.Status:
    """The rich status with which a service refuses."""
    status = status_pb2.Status(code=code.value[0], message=message)
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.ErrorInfo(reason=reason, domain="croupier", metadata={"rule": rule} if rule else {}))
    if reason:
        status.details.append(detail)
    return status


def abort(context: grpc.ServicerContext, status: status_pb2.Status) -> NoReturn:
    """End the call with a rich status."""
    context.abort_with_status(rpc_status.to_status(status))
    raise AssertionError("abort_with_status raises")


def legal_after(sequence: int) -> table_pb2.LegalActions | None:
    """What seat 0 may do after so many updates."""
    return table_pb2.LegalActions(actions=[play(HAND[sequence])]) if sequence < len(HAND) else None


def told(update: engine_pb2.TableUpdate, answer: engine_pb2.ActionAnswer | None = None) -> engine_pb2.PlayResponse:
    """The message of a stream that brings an update to seat 0, with what it may do then."""
    return engine_pb2.PlayResponse(update=update, answer=answer, legal_actions=legal_after(update.sequence))


MOVE = engine_pb2.PlayResponse(resume_notice=engine_pb2.ResumeNotice())
"""The last message of a stream that is to be opened again somewhere else."""


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
            view.ranking.add(seats=[0])
            view.ranking.add(seats=[1])
        else:
            view.seats_to_act.append(0)
        return view

    def legal(self) -> table_pb2.LegalActions | None:
        """What seat 0 may do."""
        return legal_after(self.laid)

    def snapshot(self) -> engine_pb2.Snapshot:
        """Everything up to now, for seat 0."""
        return engine_pb2.Snapshot(
            table=table_pb2.TableInfo(table_id="t1", game="laying"),
            sequence=self.laid,
            viewer_seat=0,
            view=self.view(),
            legal_actions=self.legal(),
            revealed_seed="5eed" if self.finished else "",
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
        answer = engine_pb2.ActionAnswer(request_id=request.request_id)
        if request.HasField("expected_sequence") and request.expected_sequence != self.laid:
            answer.refusal.CopyFrom(engine_pb2.Refusal(code=10, reason="STALE_SEQUENCE", message="moved on"))
        elif self.finished or request.action != play(HAND[self.laid]):
            answer.refusal.CopyFrom(
                engine_pb2.Refusal(code=9, reason="ILLEGAL_ACTION", rule="LAY-1", message="lay the lowest card")
            )
        else:
            self.updates.append(self._lay(request.action.play.card))
            answer.sequence = self.laid
        return answer

    def _lay(self, card: Card.ValueType) -> engine_pb2.TableUpdate:
        last = card == HAND[-1]
        moved = table_pb2.CardsMoved(
            source=table_pb2.Place(hand=0), target=table_pb2.Place(pile="trick"), cards=[card], count=1
        )
        facts = [table_pb2.Fact(cards_moved=moved)]
        facts += [table_pb2.Fact(turn_changed=table_pb2.TurnChanged(phase="over"))] if last else []
        ranking = [table_pb2.RankGroup(seats=[0]), table_pb2.RankGroup(seats=[1])]
        facts += [table_pb2.Fact(game_ended=table_pb2.GameEnded(ranking=ranking))] if last else []
        return engine_pb2.TableUpdate(sequence=self.laid + 1, seat=0, facts=facts, revealed_seed="5eed" if last else "")


class FakeCroupier:
    """All three services on one port; a context manager. `scripts` says how each stream to come goes wrong.

    A replica of another one shares its table and takes its tokens.
    """

    def __init__(
        self,
        *scripts: Script,
        token_milliseconds: int = HOUR_MILLISECONDS,
        replica_of: "FakeCroupier | None" = None,
    ) -> None:
        self.scripts = deque(scripts)
        self.unary_failures: deque[status_pb2.Status] = deque()
        """What each unary call to come is refused with."""
        self.table: FakeTable = replica_of.table if replica_of else FakeTable()
        self.token_milliseconds = token_milliseconds
        self.access_tokens: set[str] = replica_of.access_tokens if replica_of else set()
        self.refresh_tokens: set[str] = replica_of.refresh_tokens if replica_of else set()
        self.calls: list[str] = []
        self.metadata: list[dict[str, str | bytes]] = []
        self.watched: list[engine_pb2.WatchTableRequest] = []
        self.said: list[engine_pb2.ProposeRequest | engine_pb2.VoteRequest] = []
        self.wishes: list[str] = []
        """The names of the wishes to be matched, call by call."""
        self.heard = threading.Semaphore(0)
        """Released when a proposal or a vote was answered."""
        self.hold = threading.Event()
        """Set to let streams that wait for it go on."""
        self._held = ExitStack()
        self.port = self._held.enter_context(reserved_port())
        self.start()

    def start(self) -> None:
        """Listen, on the same port as before."""
        # As the services have it: whoever asks often whether they live is not sent away.
        options = (("grpc.so_reuseport", 0), ("grpc.http2.max_ping_strikes", 0))
        self._server = grpc.server(ThreadPoolExecutor(16), options=options)
        for service, handlers in self._handlers().items():
            handler = grpc.method_handlers_generic_handler(f"croupier_api.v1.{service}", handlers)
            self._server.add_generic_rpc_handlers((handler,))
        self._server.add_insecure_port(self.address)
        self._server.start()

    def _handlers(self) -> "dict[str, dict[str, grpc.RpcMethodHandler[Any, Any]]]":
        unary, stream = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
        return {
            "LobbyService": {
                "SignIn": unary(self.sign_in, lobby_pb2.SignInRequest.FromString, _serialized),
                "RefreshToken": unary(self.refresh_token, lobby_pb2.RefreshTokenRequest.FromString, _serialized),
                "ListGames": unary(self.list_games, lobby_pb2.ListGamesRequest.FromString, _serialized),
                "CreateTable": unary(self.create_table, lobby_pb2.CreateTableRequest.FromString, _serialized),
                "QuickMatch": stream(self.quick_match, lobby_pb2.QuickMatchRequest.FromString, _serialized),
            },
            "EngineService": {
                "GetView": unary(self.get_view, engine_pb2.GetViewRequest.FromString, _serialized),
                "Propose": unary(self.propose, engine_pb2.ProposeRequest.FromString, _serialized),
                "Vote": unary(self.vote, engine_pb2.VoteRequest.FromString, _serialized),
                "SubmitAction": unary(self.submit_action, engine_pb2.SubmitActionRequest.FromString, _serialized),
                "WatchTable": stream(self.watch_table, engine_pb2.WatchTableRequest.FromString, _serialized),
                "Play": grpc.stream_stream_rpc_method_handler(
                    self.play, engine_pb2.PlayRequest.FromString, _serialized
                ),
            },
            "ScoringService": {
                "GetLeaderboard": unary(
                    self.get_leaderboard, scoring_pb2.GetLeaderboardRequest.FromString, _serialized
                ),
            },
        }

    def stop(self) -> None:
        """Break every connection off."""
        self.hold.set()
        self._server.stop(None).wait()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
        self._held.close()

    def end_access_tokens(self) -> None:
        """No access token that was given is taken any more."""
        self.access_tokens.clear()

    def sign_in(self, request: lobby_pb2.SignInRequest, context: grpc.ServicerContext) -> lobby_pb2.SignInResponse:
        self.calls.append("SignIn")
        self._fail(context)
        player = lobby_pb2.Player(player_id=f"player of {request.device_secret}", name=request.name)
        return lobby_pb2.SignInResponse(player=player, tokens=self._tokens())

    def refresh_token(
        self, request: lobby_pb2.RefreshTokenRequest, context: grpc.ServicerContext
    ) -> lobby_pb2.RefreshTokenResponse:
        self.calls.append("RefreshToken")
        self._fail(context)
        if request.refresh_token not in self.refresh_tokens:
            abort(context, refused(grpc.StatusCode.UNAUTHENTICATED, "the refresh token is used up", "UNKNOWN_TOKEN"))
        self.refresh_tokens.remove(request.refresh_token)
        return lobby_pb2.RefreshTokenResponse(tokens=self._tokens())

    def list_games(
        self, request: lobby_pb2.ListGamesRequest, context: grpc.ServicerContext
    ) -> lobby_pb2.ListGamesResponse:
        self._enter("ListGames", context)
        return lobby_pb2.ListGamesResponse(games=[engine_pb2.GameDescription(game="laying")])

    def create_table(
        self, request: lobby_pb2.CreateTableRequest, context: grpc.ServicerContext
    ) -> lobby_pb2.CreateTableResponse:
        self._enter("CreateTable", context)
        return lobby_pb2.CreateTableResponse(
            table=lobby_pb2.Table(table_id="t1", game=request.game, options=request.options)
        )

    def quick_match(
        self, request: lobby_pb2.QuickMatchRequest, context: grpc.ServicerContext
    ) -> Iterator[lobby_pb2.QuickMatchResponse]:
        self.wishes.append(request.request_id)
        self._enter("QuickMatch", context)
        script = self._script()
        yield lobby_pb2.QuickMatchResponse(ticket_id="w1", waiting=1)
        if script.end_early:
            context.abort(grpc.StatusCode.UNAVAILABLE, "lost")
        yield lobby_pb2.QuickMatchResponse(ticket_id="w1", waiting=2, table=lobby_pb2.Table(table_id="t1"))

    def get_view(self, request: engine_pb2.GetViewRequest, context: grpc.ServicerContext) -> engine_pb2.GetViewResponse:
        self._enter("GetView", context)
        return engine_pb2.GetViewResponse(snapshot=self.table.snapshot())

    def submit_action(
        self, request: engine_pb2.SubmitActionRequest, context: grpc.ServicerContext
    ) -> engine_pb2.SubmitActionResponse:
        self._enter("SubmitAction", context)
        return engine_pb2.SubmitActionResponse(sequence=self.table.submit(request).sequence)

    def propose(self, request: engine_pb2.ProposeRequest, context: grpc.ServicerContext) -> engine_pb2.ProposeResponse:
        """Say that the next entry, which nobody has seen yet, makes the proposal."""
        self.said.append(request)
        self._enter("Propose", context)
        self.heard.release()
        return engine_pb2.ProposeResponse(sequence=self.table.laid + 1)

    def vote(self, request: engine_pb2.VoteRequest, context: grpc.ServicerContext) -> engine_pb2.VoteResponse:
        """Say that the next entry, which nobody has seen yet, is the vote."""
        self.said.append(request)
        self._enter("Vote", context)
        self.heard.release()
        return engine_pb2.VoteResponse(sequence=self.table.laid + 1)

    def get_leaderboard(
        self, request: scoring_pb2.GetLeaderboardRequest, context: grpc.ServicerContext
    ) -> scoring_pb2.GetLeaderboardResponse:
        self._enter("GetLeaderboard", context)
        return scoring_pb2.GetLeaderboardResponse(lines=[scoring_pb2.LeaderboardLine(position=1)])

    def watch_table(
        self, request: engine_pb2.WatchTableRequest, context: grpc.ServicerContext
    ) -> Iterator[engine_pb2.WatchTableResponse]:
        self._enter("WatchTable", context)
        script = self._script()
        self._refuse(script, context)
        messages, laid = self._begin(request, script)
        messages += [MOVE] if script.move_at_action else []
        for message in messages:
            yield engine_pb2.WatchTableResponse.FromString(message.SerializeToString())
        if script.end_early or script.move_at_action:
            return
        self.hold.wait()
        for update in self.table.updates[laid:]:
            yield engine_pb2.WatchTableResponse(update=update, legal_actions=legal_after(update.sequence))

    def play(
        self, request_iterator: Iterator[engine_pb2.PlayRequest], context: grpc.ServicerContext
    ) -> Iterator[engine_pb2.PlayResponse]:
        self._enter("Play", context)
        script = self._script()
        self._refuse(script, context)
        if script.end_at_once:
            return
        if script.move_first:
            yield MOVE
            return
        yield from self._begin(next(request_iterator).watch, script)[0]
        if script.end_early or self.table.finished:
            return
        for number, request in enumerate(request_iterator, 1):
            if number == script.drop_at_action:
                if script.apply_first:
                    self.table.submit(request.action)
                context.abort(script.drop_code, "lost")
            if number == script.move_at_action:
                if script.apply_first:
                    self.table.submit(request.action)
                yield MOVE
                return
            if number == script.stall_at_action:
                self.hold.wait()
                return
            if number == script.busy_at_action:
                refusal = engine_pb2.Refusal(code=14, reason="STORE_FAILED", message="send it again")
                answer = engine_pb2.ActionAnswer(request_id=request.action.request_id, refusal=refusal)
                yield engine_pb2.PlayResponse(answer=answer)
                continue
            yield from self._answer(script, request.action)
            if self.table.finished:
                return

    def _begin(self, watch: engine_pb2.WatchTableRequest, script: Script) -> tuple[list[engine_pb2.PlayResponse], int]:
        """What a stream begins with, and up to which sequence that goes."""
        self.watched.append(watch)
        with self.table.lock:
            laid = self.table.laid
            after = watch.after_sequence + script.resume_skew
            missed = self.table.updates[max(0, after) :] if watch.HasField("after_sequence") else []
            snapshot = None if watch.HasField("after_sequence") else self.table.snapshot()
        messages = [told(update) for update in missed]
        messages += [engine_pb2.PlayResponse(snapshot=snapshot)] if snapshot else []
        messages.append(engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=laid)))
        messages.append(engine_pb2.PlayResponse(reaction=engine_pb2.Reaction(seat=1, reaction="clap")))
        return messages, laid

    def _answer(self, script: Script, request: engine_pb2.SubmitActionRequest) -> Iterator[engine_pb2.PlayResponse]:
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
        if script.answer_first:
            yield engine_pb2.PlayResponse(answer=answer)
            yield told(update)
        else:
            yield told(update, answer)

    def _script(self) -> Script:
        return self.scripts.popleft() if self.scripts else Script()

    def _refuse(self, script: Script, context: grpc.ServicerContext) -> None:
        if script.refuse is not None:
            abort(context, refused(script.refuse, "the fake refuses", script.reason))

    def _enter(self, name: str, context: grpc.ServicerContext) -> None:
        """Note the call, and let nobody in without a token that lives."""
        self.calls.append(name)
        metadata = dict(context.invocation_metadata())
        self.metadata.append(metadata)
        if str(metadata.get("authorization")).removeprefix("Bearer ") not in self.access_tokens:
            abort(context, refused(grpc.StatusCode.UNAUTHENTICATED, "the access token has ended", "TOKEN_ENDED"))
        self._fail(context)

    def _fail(self, context: grpc.ServicerContext) -> None:
        if self.unary_failures:
            abort(context, self.unary_failures.popleft())

    def _tokens(self) -> lobby_pb2.Tokens:
        number = len(self.calls)
        self.access_tokens.add(f"access{number}")
        self.refresh_tokens.add(f"refresh{number}")
        return lobby_pb2.Tokens(
            access_token=f"access{number}",
            access_expires_milliseconds=self.token_milliseconds,
            refresh_token=f"refresh{number}",
            refresh_expires_milliseconds=self.token_milliseconds * 24,
        )


def _serialized(message: Message) -> bytes:
    return message.SerializeToString()


UNKNOWN_CARD = play(CARD_JK)
"""An action that the fake's rules forbid."""
