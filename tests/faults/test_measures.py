"""The measures of pauses and takeovers, at tables with known times."""

from typing import Any

from croupier_api.v1 import engine_pb2
from loadtest.faults.measures import last_sequence, longest_pause, percentile, takeovers
from loadtest.record import Opened, Received, SeatRecord, TableRecord
from loadtest.scenarios import Behaviour

KILLED = 100_000


def message(**event: Any) -> bytes:
    return engine_pb2.PlayTableResponse(table_event=engine_pb2.TableEvent(**event)).SerializeToString()


def action(sequence: int, received: int, stored: int | None = None) -> Received:
    update = engine_pb2.TableUpdate(sequence=sequence, seat=0, stored_unix_ms=stored or received)
    return Received(received, 0, message(update=update))


def table(*received: Received, resumed: int = KILLED + 100, behaviour: Behaviour = Behaviour.STEADY) -> TableRecord:
    """Return a table whose viewer received these messages, and resumed the stream once."""
    viewer = SeatRecord("p", 0, behaviour, [Opened(0, None), Opened(resumed, 1)], received=list(received))
    return TableRecord("t", "solo", 4, viewers=[viewer])


def actions(*received: int) -> list[Received]:
    return [action(sequence, at) for sequence, at in enumerate(received, start=1)]


def seconds(record: TableRecord) -> list[float]:
    return [takeover.seconds for takeover in takeovers([record], KILLED)]


def test_a_takeover_lasts_from_the_kill_to_the_next_stored_action() -> None:
    assert seconds(table(*actions(99_000, 99_900, 101_500, 103_000))) == [1.5]


def test_an_action_that_was_stored_before_the_kill_does_not_end_a_takeover() -> None:
    assert seconds(table(action(1, 100_200, stored=KILLED - 1), action(2, 102_000))) == [2.0]


def test_the_first_receipt_of_an_action_counts() -> None:
    record = table(*actions(99_000, 104_000))
    record.viewers.append(SeatRecord("q", 1, opened=[Opened(0, None)], received=actions(99_000, 103_000)))
    assert seconds(record) == [3.0]


def test_tables_without_a_broken_stream_and_those_with_leavers_do_not_count() -> None:
    received = actions(99_000, 101_000)
    assert seconds(table(*received, resumed=98_000)) == []
    assert seconds(table(*received, resumed=104_000)) == []
    assert seconds(table(*received, behaviour=Behaviour.LEAVER)) == []
    assert seconds(table(*received, behaviour=Behaviour.FLAKY)) == []


def test_the_longest_pause_is_one_that_ended_after_the_fault_began() -> None:
    tables = [table(*actions(10_000, 50_000, 51_000, 54_000)), table(*actions(50_000, 52_000))]
    assert longest_pause(tables, since=50_500) == 3.0
    assert longest_pause([], since=0) == 0.0


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(value) for value in range(100)], 0.99) == 99.0
    assert percentile([], 0.99) == 0.0


def test_snapshots_turns_and_heartbeats_have_the_last_sequence() -> None:
    record = table(*actions(99_000))
    assert last_sequence(record) == 1
    bodies = (
        message(snapshot=engine_pb2.Snapshot(sequence=7)),
        message(turn_state=engine_pb2.TurnState(sequence=8)),
        message(heartbeat=engine_pb2.Heartbeat(sequence=9)),
    )
    for sequence, body in enumerate(bodies, start=7):
        record.viewers[0].received.append(Received(108_000, 1, body))
        assert last_sequence(record) == sequence
