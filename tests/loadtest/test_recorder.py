"""What is kept of a viewer at a table, and what is counted of it."""

import grpc
import pytest

from croupier_api.v1 import cards_pb2, engine_pb2, table_pb2
from croupier_client import CroupierError, IllegalAction, Unavailable
from loadtest.measures import ACKNOWLEDGED, Measures, histograms_of
from loadtest.players.recorder import Recorder
from loadtest.record import Expected, SeatRecord

PLAY = table_pb2.Action(play=table_pb2.PlayAction(card=cards_pb2.CARD_AS))
EXPECTED = Expected("out of turn", 9, "NOT_YOUR_TURN")


@pytest.fixture
def record() -> SeatRecord:
    return SeatRecord("p1")


@pytest.fixture
def measures() -> Measures:
    return Measures()


@pytest.fixture
def recorder(record: SeatRecord, measures: Measures) -> Recorder:
    recorder = Recorder(record, measures)
    recorder.opens(None)
    table = table_pb2.TableInfo(table_id="t", game="solo")
    snapshot = engine_pb2.Snapshot(table=table, sequence=4, viewer_seat=2)
    recorder.hears(engine_pb2.PlayResponse(snapshot=snapshot))
    return recorder


def request(name: str) -> engine_pb2.SubmitActionRequest:
    return engine_pb2.SubmitActionRequest(table_id="t", request_id=name, action=PLAY, expected_sequence=4)


def answer(name: str, sequence: int) -> engine_pb2.PlayResponse:
    return engine_pb2.PlayResponse(answer=engine_pb2.ActionAnswer(request_id=name, sequence=sequence))


def test_whatever_comes_is_kept_with_its_stream(recorder: Recorder, record: SeatRecord) -> None:
    recorder.opens(4)
    recorder.hears(engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=4)))
    assert record.seat == 2
    assert [one.after_sequence for one in record.opened] == [None, 4]
    assert [one.stream for one in record.heard] == [0, 1]


def test_an_accepted_action_is_counted_and_timed_once(
    recorder: Recorder, record: SeatRecord, measures: Measures
) -> None:
    recorder.sends(request("a"), None)
    for _ in range(2):
        recorder.hears(answer("a", 5))
    assert [one.sequence for one in record.answered] == [5, 5]
    assert measures.counts["actions accepted solo"] == 1
    times = histograms_of(measures.take())
    assert {name: one.get_total_count() for name, one in times.items()} == {ACKNOWLEDGED: 1, "solo play": 1}


def test_slow_readers_are_not_timed(measures: Measures) -> None:
    recorder = Recorder(SeatRecord("p1", manner="slow"), measures)
    recorder.sends(request("a"), None)
    recorder.accepted("a", 5)
    assert measures.counts["actions"] == 1
    assert histograms_of(measures.take()) == {}


@pytest.mark.parametrize(
    ("reason", "counted"), [("NOT_YOUR_TURN", {"actions refused NOT_YOUR_TURN"}), ("BUSY", set[str]())]
)
def test_a_refusal_is_kept_as_it_came_and_counted_unless_clients_ask_again_after_it(
    recorder: Recorder, record: SeatRecord, measures: Measures, reason: str, counted: set[str]
) -> None:
    recorder.sends(request("a"), EXPECTED)
    refusal = engine_pb2.Refusal(code=9, reason=reason, rule="R-1", message="wait")
    recorder.hears(engine_pb2.PlayResponse(answer=engine_pb2.ActionAnswer(request_id="a", refusal=refusal)))
    sent, got = record.sent[0], record.answered[0]
    assert (sent.expected, sent.expected_sequence) == (EXPECTED, 4)
    assert (got.sequence, got.code, got.reason, got.rule, got.message) == (None, 9, reason, "R-1", "wait")
    assert {name for name in measures.counts if name.startswith("actions")} == counted


def test_what_gets_no_answer_is_counted_once(recorder: Recorder, measures: Measures) -> None:
    recorder.sends(request("a"), None)
    recorder.opens(4)
    assert measures.counts["unanswered actions solo"] == 1, "the stream on which it went is gone"
    recorder.hears(answer("a", 5))
    recorder.closes()
    assert measures.counts["unanswered actions solo"] == 1


def test_entries_for_which_time_ran_out_are_kept(recorder: Recorder, record: SeatRecord) -> None:
    for sequence, by in ((5, engine_pb2.ACTED_BY_TIMEOUT), (6, engine_pb2.ACTED_BY_BOT)):
        recorder.hears(engine_pb2.PlayResponse(update=engine_pb2.TableUpdate(sequence=sequence, acted_by=by)))
    assert record.timeouts == [5]


@pytest.mark.parametrize(
    ("error", "answered", "counted"),
    [
        (Unavailable(grpc.StatusCode.UNAVAILABLE, "gone"), [], "unanswered actions solo"),
        (
            IllegalAction(grpc.StatusCode.FAILED_PRECONDITION, "no", reason="ILLEGAL_ACTION"),
            ["ILLEGAL_ACTION"],
            "actions refused ILLEGAL_ACTION",
        ),
        # Clients ask again after it, so that it is not compared with the services.
        (Unavailable(grpc.StatusCode.UNAVAILABLE, "wait", reason="BUSY"), [], "unanswered actions solo"),
    ],
)
def test_a_call_that_failed_is_no_refusal(
    recorder: Recorder, record: SeatRecord, measures: Measures, error: CroupierError, answered: list[str], counted: str
) -> None:
    recorder.sends(request("a"), None)
    recorder.ended("a", error)
    assert [one.reason for one in record.answered] == answered
    assert {name for name in measures.counts if "actions" in name} == {counted}
