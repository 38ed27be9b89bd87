"""A player at a small fake table over real gRPC: what only the player can see of an engine that misbehaves."""

from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any

import grpc
import pytest

from croupier_api.v1 import engine_pb2, scoring_pb2
from croupier_client import Endpoints
from loadtest.client import ACTION_ACKNOWLEDGED, ACTION_SEEN, Connections, LoadClient
from loadtest.court import Court, Invariant
from loadtest.player import GameAbandoned, House, PlayerAtTable
from loadtest.tally import Tally
from tests.client.fakes import HAND, HASTY, FakeCroupier, FakeTable, Script, abort, refused


class RefusingTable(FakeTable):
    """Refuses everything that is legal."""

    def _decide(self, request: engine_pb2.SubmitActionRequest) -> engine_pb2.ActionAnswer:
        refusal = engine_pb2.Refusal(code=9, reason="ILLEGAL_ACTION", rule="LAY-1", message="no")
        return engine_pb2.ActionAnswer(request_id=request.request_id, refusal=refusal)


class StaleTable(FakeTable):
    """Says that it has moved on, and has not."""

    def _decide(self, request: engine_pb2.SubmitActionRequest) -> engine_pb2.ActionAnswer:
        refusal = engine_pb2.Refusal(code=10, reason="STALE_SEQUENCE", message="look again")
        return engine_pb2.ActionAnswer(request_id=request.request_id, refusal=refusal)


class FakeHouse(FakeCroupier):
    """A fake with records, of which scoring never has the result; GetView may fail."""

    view_fails = False

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


def _s(message: Any) -> bytes:
    encoded: bytes = message.SerializeToString()
    return encoded


def _no_sheet(_request: scoring_pb2.GetScoreSheetRequest, context: grpc.ServicerContext) -> None:
    abort(context, refused(grpc.StatusCode.NOT_FOUND, "no such sheet", "UNKNOWN_TABLE"))


class Night:
    """One player at the fake's table."""

    def __init__(self, fake: FakeCroupier, connections: Connections) -> None:
        self.court, self.tally, self.timed = Court(8), Tally(), list[str]()
        ticks = count()
        self.house = House(self.court, self.tally, 0.3, 0.0, lambda: float(next(ticks)), lambda _: None, lambda: False)
        self._client = LoadClient(
            "a secret of this device", "Kari", connections=connections, policy=HASTY, timed=self._take_time
        )

    def _take_time(self, kind: str, name: str, seconds: float, error: Exception | None = None) -> None:
        self.timed.append(name if error is None else f"{name} failed")

    def play(self) -> set[Invariant]:
        """Play to the end; gives what broke."""
        PlayerAtTable(self.house, self._client, "t1", Random(3)).play_to_the_end()
        return set(self.court.counts)


@pytest.fixture
def fake() -> Iterator[FakeHouse]:
    with FakeHouse() as house:
        yield house


@pytest.fixture
def night(fake: FakeHouse) -> Iterator[Night]:
    connections = Connections(Endpoints.single(fake.address))
    yield Night(fake, connections)
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
