"""A player at a small fake table over real gRPC: what only the player can see of an engine that misbehaves."""

from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any

import grpc
import pytest
from google.rpc import status_pb2

from croupier_api.v1 import engine_pb2, scoring_pb2
from croupier_api.v1.cards_pb2 import Card
from croupier_client import Endpoints
from loadtest.client import ACTION_ACKNOWLEDGED, ACTION_SEEN, Connections, LoadClient
from loadtest.court import Court, Invariant
from loadtest.house import House, Shares
from loadtest.player import GameAbandoned, PlayerAtTable
from loadtest.tally import Tally
from tests.client.fakes import HAND, HASTY, FakeCroupier, FakeTable, Script, abort, refused


class RefusingTable(FakeTable):
    """Refuses everything that is legal."""

    def _decide(self, request: engine_pb2.SubmitActionRequest) -> engine_pb2.ActionAnswer:
        refusal = engine_pb2.Refusal(code=9, reason="ILLEGAL_ACTION", rule="LAY-1", message="no")
        return engine_pb2.ActionAnswer(request_id=request.request_id, refusal=refusal)


class SpeechlessTable(FakeTable):
    """Refuses everything and says nothing."""

    def _decide(self, request: engine_pb2.SubmitActionRequest) -> engine_pb2.ActionAnswer:
        return engine_pb2.ActionAnswer(request_id=request.request_id, refusal=engine_pb2.Refusal(code=9))


class WrongSeatTable(FakeTable):
    """Stores actions as those of another seat."""

    def _lay(self, card: Card.ValueType) -> engine_pb2.TableUpdate:
        update = super()._lay(card)
        update.seat = 1
        return update


class ForgetfulTable(FakeTable):
    """Does not know a request again."""

    def submit(self, request: engine_pb2.SubmitActionRequest) -> engine_pb2.ActionAnswer:
        self.answers.clear()
        return super().submit(request)


class StaleTable(FakeTable):
    """Says that it has moved on, and has not."""

    def _decide(self, request: engine_pb2.SubmitActionRequest) -> engine_pb2.ActionAnswer:
        refusal = engine_pb2.Refusal(code=10, reason="STALE_SEQUENCE", message="look again")
        return engine_pb2.ActionAnswer(request_id=request.request_id, refusal=refusal)


class FakeHouse(FakeCroupier):
    """A fake with records, of which scoring never has the result; GetView and SubmitAction may be refused."""

    view_fails = False
    action_refusal: status_pb2.Status | None = None

    def _handlers(self) -> "dict[str, dict[str, grpc.RpcMethodHandler[Any, Any]]]":
        handlers = super()._handlers()
        unary = grpc.unary_unary_rpc_method_handler
        replay = unary(lambda *_: engine_pb2.GetReplayResponse(replay="{}"), engine_pb2.GetReplayRequest.FromString, _s)
        handlers["EngineService"]["GetReplay"] = replay
        handlers["ScoringService"]["GetScoreSheet"] = unary(_no_sheet, scoring_pb2.GetScoreSheetRequest.FromString, _s)
        return handlers

    def get_view(self, request: engine_pb2.GetViewRequest, context: grpc.ServicerContext) -> engine_pb2.GetViewResponse:
        if self.view_fails:
            abort(context, refused(grpc.StatusCode.INTERNAL, "something went wrong here", "INTERNAL"))
        return super().get_view(request, context)

    def submit_action(
        self, request: engine_pb2.SubmitActionRequest, context: grpc.ServicerContext
    ) -> engine_pb2.SubmitActionResponse:
        if self.action_refusal is not None:
            abort(context, self.action_refusal)
        return super().submit_action(request, context)


def _s(message: Any) -> bytes:
    encoded: bytes = message.SerializeToString()
    return encoded


def _no_sheet(_request: scoring_pb2.GetScoreSheetRequest, context: grpc.ServicerContext) -> None:
    abort(context, refused(grpc.StatusCode.NOT_FOUND, "no such sheet", "UNKNOWN_TABLE"))


class Night:
    """One player at the fake's table."""

    def __init__(self, connections: Connections) -> None:
        self.court, self.tally, self.timed = Court(8), Tally(), list[str]()
        self.shares = Shares(probed=0, out_of_turn=0, repeated=0)
        self._client = LoadClient(
            "a secret of this device", "Kari", connections=connections, policy=HASTY, timed=self._take_time
        )

    def _take_time(self, kind: str, name: str, seconds: float, error: Exception | None = None) -> None:
        self.timed.append(name if error is None else f"{name} failed")

    def play(self) -> set[Invariant]:
        """Play to the end; gives what broke."""
        ticks = count()
        house = House(self.court, self.tally, 0.3, self.shares, lambda: float(next(ticks)), _no_sleep, lambda: False)
        PlayerAtTable(house, self._client, "t1", Random(3)).play_to_the_end()
        return set(self.court.counts)


def _no_sleep(_seconds: float) -> None:
    pass


@pytest.fixture
def fake() -> Iterator[FakeHouse]:
    with FakeHouse() as house:
        yield house


@pytest.fixture
def night(fake: FakeHouse) -> Iterator[Night]:
    connections = Connections(Endpoints.single(fake.address))
    yield Night(connections)
    connections.close()


RECORDS = {Invariant.REPLAY_UNTRUE, Invariant.RESULT_MISSING}
"""What breaks with this fake in any case: it is no game of the catalogue, and has no result."""


def test_a_game_is_played_timed_and_checked(night: Night) -> None:
    assert night.play() == RECORDS
    assert night.tally.actions == len(HAND)
    assert night.tally.views_compared >= 1
    assert night.court.tables_finished == 1
    assert night.timed.count(ACTION_ACKNOWLEDGED) == night.timed.count(ACTION_SEEN) == len(HAND)
    assert not night.tally.failures


@pytest.mark.parametrize("table", [RefusingTable, StaleTable])
def test_a_legal_action_that_is_refused_is_found_and_ends_in_giving_up(
    fake: FakeHouse, night: Night, table: Callable[[], FakeTable]
) -> None:
    fake.table = table()
    with pytest.raises(GameAbandoned):
        night.play()
    assert set(night.court.counts) == {Invariant.LEGAL_REFUSED}


@pytest.mark.parametrize(("skew", "found"), [(1, Invariant.SEQUENCE_GAP), (-1, Invariant.SEQUENCE_REPEAT)])
def test_a_broken_stream_is_found_and_opened_anew(fake: FakeHouse, night: Night, skew: int, found: Invariant) -> None:
    fake.scripts.append(Script(skew=skew))
    assert found in night.play()
    assert fake.calls.count("Play") == 2


def test_a_service_that_fails_is_found(fake: FakeHouse, night: Night) -> None:
    fake.view_fails = True
    assert night.play() == RECORDS | {Invariant.INTERNAL_ERROR}
    assert "GetView failed" in night.timed


def test_a_stream_that_is_silent_while_the_game_goes_on_is_found(fake: FakeHouse, night: Night) -> None:
    class AheadTable(FakeTable):
        def snapshot(self) -> engine_pb2.Snapshot:
            snapshot = super().snapshot()
            snapshot.sequence += self.finished
            return snapshot

    fake.table = AheadTable()
    assert Invariant.STREAM_SILENT in night.play()


def test_calls_that_fail_are_counted_and_are_no_violation(fake: FakeHouse, night: Night) -> None:
    fake.scripts.extend(Script(refuse=grpc.StatusCode.UNAVAILABLE, reason="DRAINING") for _ in range(50))
    with pytest.raises(GameAbandoned):
        night.play()
    assert not night.court.counts
    assert night.tally.failures == {"following a table": 1}


def test_a_refusal_without_words_is_found(fake: FakeHouse, night: Night) -> None:
    fake.table = SpeechlessTable()
    with pytest.raises(GameAbandoned):
        night.play()
    assert set(night.court.counts) == {Invariant.LEGAL_REFUSED, Invariant.REFUSAL_WITHOUT_REASON}


def test_an_acknowledged_action_that_came_as_anothers_is_found(fake: FakeHouse, night: Night) -> None:
    fake.table = WrongSeatTable()
    assert night.play() == RECORDS | {Invariant.ACKNOWLEDGED_LOST}


def test_a_name_that_may_be_used_again_for_another_action_is_found(night: Night) -> None:
    night.shares = Shares(probed=0, repeated=1)
    assert night.play() == RECORDS | {Invariant.ILLEGAL_ACCEPTED}
    assert night.tally.repeats == len(HAND)


def test_a_repeated_request_that_counts_anew_is_found(fake: FakeHouse, night: Night) -> None:
    night.shares = Shares(probed=0, repeated=1)
    fake.table = ForgetfulTable()
    assert Invariant.REPEAT_DIFFERS in night.play()


@pytest.mark.parametrize(
    ("refusal", "found"),
    [
        (refused(grpc.StatusCode.ALREADY_EXISTS, "taken", "REQUEST_ID_REUSED"), {Invariant.REPEAT_DIFFERS}),
        (
            refused(grpc.StatusCode.FAILED_PRECONDITION, "no", "ILLEGAL_ACTION", "LAY-1"),
            {Invariant.REPEAT_DIFFERS, Invariant.WRONG_REFUSAL},
        ),
        (
            refused(grpc.StatusCode.ALREADY_EXISTS, "no"),
            {Invariant.REPEAT_DIFFERS, Invariant.WRONG_REFUSAL, Invariant.REFUSAL_WITHOUT_REASON},
        ),
    ],
)
def test_a_repeated_request_that_is_refused_is_found_and_every_refusal_is_judged(
    fake: FakeHouse, night: Night, refusal: status_pb2.Status, found: set[Invariant]
) -> None:
    night.shares = Shares(probed=0, repeated=1)
    fake.action_refusal = refusal
    assert night.play() == RECORDS | found
