"""The records of tables and of their viewers, and the counts that come from them."""

from random import Random
from typing import Any, cast

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from croupier_api.v1 import actions_pb2, cards_pb2, engine_pb2, tables_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_client import Client, CroupierError, IllegalAction, Unavailable
from croupier_loadtest.histograms import histograms_of
from croupier_loadtest.measures import ACKNOWLEDGED, Measures
from croupier_loadtest.players.recorder import Recorder, TableRecords
from croupier_loadtest.record import Expected, SeatRecord, TableRecord
from croupier_loadtest.scenarios import Behaviour

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
    table = tables_pb2.PlayedTable(table_id="t", game="solo")
    snapshot = engine_pb2.Snapshot(table=table, sequence=4, viewer_seat=2)
    recorder.received(message(snapshot=snapshot))
    return recorder


def request(name: str) -> engine_pb2.SubmitActionRequest:
    return engine_pb2.SubmitActionRequest(table_id="t", request_id=name, action=PLAY, expected_sequence=4)


def message(**event: Any) -> engine_pb2.PlayTableResponse:
    return engine_pb2.PlayTableResponse(table_event=engine_pb2.TableEvent(**event))


def answer(name: str, sequence: int) -> engine_pb2.PlayTableResponse:
    return engine_pb2.PlayTableResponse(answer=engine_pb2.ActionAnswer(request_id=name, sequence=sequence))


class AwayClient:
    """A client whose calls of SetAway are answered with this sequence, or fail."""

    def __init__(self, sequence: int | None) -> None:
        self.requested: list[engine_pb2.SetAwayRequest] = []
        self._sequence = sequence

    async def set_away(self, **fields: Any) -> engine_pb2.SetAwayResponse:
        self.requested.append(engine_pb2.SetAwayRequest(**fields))
        if self._sequence is None:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the services are out")
        return engine_pb2.SetAwayResponse(sequence=self._sequence)


async def test_a_leave_is_recorded_with_its_answer(recorder: Recorder, record: SeatRecord) -> None:
    client = AwayClient(5)
    assert await recorder.set_away(cast("Client", client), "t", is_away=True) == 5
    (asked,), (sent,), (answered,) = client.requested, record.sent_requests, record.answered
    assert (asked.table_id, asked.is_away, sent.body) == ("t", True, ("away", True))
    assert (sent.request_id, answered.request_id, answered.sequence) == (asked.request_id, asked.request_id, 5)


async def test_a_leave_without_an_answer_is_recorded_too(recorder: Recorder, record: SeatRecord) -> None:
    with pytest.raises(Unavailable):
        await recorder.set_away(cast("Client", AwayClient(None)), "t", is_away=True)
    assert ([one.body for one in record.sent_requests], record.answered) == ([("away", True)], [])


def test_messages_are_recorded_with_their_stream_and_time_outs_apart(recorder: Recorder, record: SeatRecord) -> None:
    recorder.opening(4)
    recorder.received(message(heartbeat=engine_pb2.Heartbeat(sequence=4)))
    assert record.seat == 2
    assert [one.after_sequence for one in record.opened] == [None, 4]
    assert [one.stream for one in record.received] == [0, 1]
    for sequence, by in ((5, engine_pb2.ACTED_BY_TIMEOUT), (6, engine_pb2.ACTED_BY_BOT)):
        recorder.received(message(update=engine_pb2.TableUpdate(sequence=sequence, acted_by=by)))
    assert record.timeouts == [5]


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


@pytest.fixture
def tables(measures: Measures) -> TableRecords:
    async def submit(record: TableRecord) -> None:
        pytest.fail(record.table_id)

    return TableRecords(measures, submit)


def add(
    tables: TableRecords, player: str, table: str = "t", *, commitment: str = "c", counts: bool = False
) -> SeatRecord:
    record = TableRecord(table, "solo", 4, commitment)
    return tables.add_viewer(record, player, Behaviour.STEADY, b"seed", is_counter=counts)


def test_the_last_viewer_gets_the_record_with_the_first_commitment(tables: TableRecords) -> None:
    for player, commitment in (("p1", ""), ("p2", "first"), ("p3", "second")):
        add(tables, player, commitment=commitment)
    assert [tables.leave("t"), tables.leave("t")] == [None, None]
    record = tables.leave("t")
    assert record is not None
    assert record.commitment == "first"
    assert [viewer.player_id for viewer in record.viewers] == ["p1", "p2", "p3"]
    assert len(tables) == 0


@pytest.mark.parametrize(
    ("counts", "finished", "counted"),
    [
        (True, True, {"tables opened": 1, "tables finished": 1, "finished solo": 1, "timeouts solo": 2}),
        (True, False, {"tables opened": 1, "unobserved tables": 1, "timeouts solo": 2}),
        (False, True, {}),
    ],
    ids=["observed end", "unobserved end", "counted by another"],
)
def test_a_table_and_its_timeouts_are_counted_by_one_viewer(
    tables: TableRecords, measures: Measures, counts: bool, finished: bool, counted: dict[str, int]
) -> None:
    for player in ("p1", "p2"):
        add(tables, player, counts=counts and player == "p1").timeouts += [5, 7]
    if finished:
        tables.mark_finished("t")
    for _ in range(2):
        tables.leave("t")
    assert +measures.counts == counted


def test_remaining_tables_are_counted_and_removed(tables: TableRecords, measures: Measures) -> None:
    add(tables, "p1", counts=True)
    add(tables, "p2", "u")
    assert [record.table_id for record in tables.remaining()] == ["t", "u"]
    assert measures.counts["unobserved tables"] == 1
    assert tables.remaining() == []


def test_a_table_is_played_until_its_end_or_until_all_players_have_left(tables: TableRecords) -> None:
    first, second, _ = (add(tables, player) for player in ("p1", "p2", "a spectator"))
    first.seat, second.seat = 0, 1
    played = [tables.has_active_players("t")]
    for leaver in (first, second):
        leaver.left_milliseconds = 5
        played.append(tables.has_active_players("t"))
    assert played == [True, True, False]
    second.left_milliseconds = None
    tables.mark_finished("t")
    assert not tables.has_active_players("t")


def test_another_table_is_a_running_one_without_a_seat_of_the_player(tables: TableRecords) -> None:
    for player, table in (("p1", "t"), ("p2", "u"), ("p3", "over")):
        add(tables, player, table, counts=True)
    add(tables, "a spectator", "of an earlier run")
    tables.mark_finished("over")
    found = tables.other_table("p1", Random(1))
    assert found is not None
    assert found.table_id == "u"
    add(tables, "p1", "u")
    assert tables.other_table("p1", Random(1)) is None
