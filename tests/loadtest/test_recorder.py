"""The record of a viewer at a table, and its counts."""

from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from croupier_api.v1 import actions_pb2, cards_pb2, engine_pb2, tables_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_client import CroupierError, IllegalAction, Unavailable
from loadtest.histograms import histograms_of
from loadtest.measures import ACKNOWLEDGED, Measures
from loadtest.players.recorder import Recorder
from loadtest.record import Expected, SeatRecord

PLAY = actions_pb2.Action(play=actions_pb2.PlayAction(card=cards_pb2.CARD_ACE_OF_SPADES))
ILLEGAL_ACTION = ErrorReason.ERROR_REASON_ILLEGAL_ACTION
NOT_YOUR_TURN = ErrorReason.ERROR_REASON_NOT_YOUR_TURN
TABLE_BUSY = ErrorReason.ERROR_REASON_TABLE_BUSY
EXPECTED = Expected("out of turn", 9, NOT_YOUR_TURN)


@pytest.fixture
def record() -> SeatRecord:
    return SeatRecord("p1")


@pytest.fixture
def measures() -> Measures:
    return Measures()


@pytest.fixture
def recorder(record: SeatRecord, measures: Measures) -> Recorder:
    recorder = Recorder(record, measures)
    recorder.opening(None)
    table = tables_pb2.Table(table_id="t", game="solo")
    snapshot = engine_pb2.Snapshot(table=table, sequence=4, viewer_seat=2)
    recorder.received(message(snapshot=snapshot))
    return recorder


def request(name: str) -> engine_pb2.SubmitActionRequest:
    return engine_pb2.SubmitActionRequest(table_id="t", request_id=name, action=PLAY, expected_sequence=4)


def message(**event: Any) -> engine_pb2.PlayTableResponse:
    return engine_pb2.PlayTableResponse(table_event=engine_pb2.TableEvent(**event))


def answer(name: str, sequence: int) -> engine_pb2.PlayTableResponse:
    return engine_pb2.PlayTableResponse(answer=engine_pb2.ActionAnswer(request_id=name, sequence=sequence))


def test_messages_are_recorded_with_their_stream(recorder: Recorder, record: SeatRecord) -> None:
    recorder.opening(4)
    recorder.received(message(heartbeat=engine_pb2.Heartbeat(sequence=4)))
    assert record.seat == 2
    assert [one.after_sequence for one in record.opened] == [None, 4]
    assert [one.stream for one in record.received] == [0, 1]


def test_an_accepted_action_is_counted_and_timed_once(
    recorder: Recorder, record: SeatRecord, measures: Measures
) -> None:
    recorder.sending(request("a"), None)
    for _ in range(2):
        recorder.received(answer("a", 5))
    assert [one.sequence for one in record.answered] == [5, 5]
    assert measures.counts["actions accepted solo"] == 1
    times = histograms_of(measures.take())
    assert {name: one.get_total_count() for name, one in times.items()} == {ACKNOWLEDGED: 1, "solo play": 1}


def test_slow_readers_are_not_timed(measures: Measures) -> None:
    recorder = Recorder(SeatRecord("p1", behaviour="slow"), measures)
    recorder.sending(request("a"), None)
    recorder.accepted("a", 5)
    assert measures.counts["actions"] == 1
    assert histograms_of(measures.take()) == {}


@pytest.mark.parametrize(
    ("reason", "counted"), [(NOT_YOUR_TURN, {"actions refused NOT_YOUR_TURN"}), (TABLE_BUSY, set[str]())]
)
def test_a_refusal_is_recorded_and_counted_unless_clients_retry_after_it(
    recorder: Recorder, record: SeatRecord, measures: Measures, reason: ErrorReason.ValueType, counted: set[str]
) -> None:
    recorder.sending(request("a"), EXPECTED)
    name = ErrorReason.Name(reason).removeprefix("ERROR_REASON_")
    refusal = status_pb2.Status(code=9, message="wait")
    refusal.details.add().Pack(error_details_pb2.ErrorInfo(reason=name, domain="croupier", metadata={"rule": "R-1"}))
    recorder.received(engine_pb2.PlayTableResponse(answer=engine_pb2.ActionAnswer(request_id="a", refusal=refusal)))
    sent, got = record.sent[0], record.answered[0]
    assert (sent.expected, sent.expected_sequence) == (EXPECTED, 4)
    assert (got.sequence, got.code, got.reason, got.rule, got.message) == (None, 9, reason, "R-1", "wait")
    assert {name for name in measures.counts if name.startswith("actions")} == counted


def test_an_unanswered_action_is_counted_once(recorder: Recorder, measures: Measures) -> None:
    recorder.sending(request("a"), None)
    recorder.opening(4)
    assert measures.counts["unanswered actions solo"] == 1, "its stream has ended"
    recorder.received(answer("a", 5))
    recorder.closed()
    assert measures.counts["unanswered actions solo"] == 1


def test_timeouts_are_recorded(recorder: Recorder, record: SeatRecord) -> None:
    for sequence, by in ((5, engine_pb2.ACTED_BY_TIMEOUT), (6, engine_pb2.ACTED_BY_BOT)):
        recorder.received(message(update=engine_pb2.TableUpdate(sequence=sequence, acted_by=by)))
    assert record.timeouts == [5]


@pytest.mark.parametrize(
    ("error", "answered", "counted"),
    [
        (Unavailable(grpc.StatusCode.UNAVAILABLE, "gone"), [], "unanswered actions solo"),
        (
            IllegalAction(grpc.StatusCode.FAILED_PRECONDITION, "no", reason=ILLEGAL_ACTION),
            [ILLEGAL_ACTION],
            "actions refused ILLEGAL_ACTION",
        ),
        # Clients retry after it, so its counter is not compared.
        (Unavailable(grpc.StatusCode.UNAVAILABLE, "wait", reason=TABLE_BUSY), [], "unanswered actions solo"),
    ],
)
def test_a_failed_call_is_not_a_refusal(
    recorder: Recorder,
    record: SeatRecord,
    measures: Measures,
    error: CroupierError,
    answered: list[ErrorReason.ValueType],
    counted: str,
) -> None:
    recorder.sending(request("a"), None)
    recorder.ended("a", error)
    assert [one.reason for one in record.answered] == answered
    assert {name for name in measures.counts if "actions" in name} == {counted}
