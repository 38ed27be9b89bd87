"""What is measured of pauses and takeovers, on tables whose times are known."""

from croupier_api.v1 import engine_pb2
from loadtest.faults.measures import last_sequence, longest_pause, percentile, takeovers
from loadtest.record import Heard, Opened, SeatRecord, TableRecord
from loadtest.scenarios import Manner

KILLED = 100_000


def action(sequence: int, received: int, stored: int | None = None) -> Heard:
    update = engine_pb2.TableUpdate(sequence=sequence, seat=0, at_milliseconds=stored or received)
    return Heard(received, 0, engine_pb2.PlayResponse(update=update).SerializeToString())


def table(*heard: Heard, resumed: int = KILLED + 100, manner: Manner = Manner.STEADY) -> TableRecord:
    """A table whose viewer received these messages, and resumed the stream once."""
    viewer = SeatRecord("p", 0, manner, [Opened(0, None), Opened(resumed, 1)], heard=list(heard))
    return TableRecord("t", "solo", 4, viewers=[viewer])


def actions(*received: int) -> list[Heard]:
    return [action(sequence, at) for sequence, at in enumerate(received, start=1)]


def seconds(record: TableRecord) -> list[float]:
    return [takeover.seconds for takeover in takeovers([record], KILLED)]


def test_a_takeover_lasts_from_the_kill_to_the_next_action_that_was_stored_after_it() -> None:
    assert seconds(table(*actions(99_000, 99_900, 101_500, 103_000))) == [1.5]


def test_an_action_that_was_stored_before_the_kill_and_received_later_is_no_takeover() -> None:
    assert seconds(table(action(1, 100_200, stored=KILLED - 1), action(2, 102_000))) == [2.0]


def test_the_first_viewer_who_received_an_action_counts() -> None:
    record = table(*actions(99_000, 104_000))
    record.viewers.append(SeatRecord("q", 1, opened=[Opened(0, None)], heard=actions(99_000, 103_000)))
    assert seconds(record) == [3.0]


def test_tables_without_a_broken_stream_and_those_with_leavers_do_not_count() -> None:
    heard = actions(99_000, 101_000)
    assert seconds(table(*heard, resumed=98_000)) == []
    assert seconds(table(*heard, resumed=104_000)) == []
    assert seconds(table(*heard, manner=Manner.LEAVER)) == []
    assert seconds(table(*heard, manner=Manner.FLAKY)) == []


def test_the_longest_pause_is_one_that_ended_after_the_fault_began() -> None:
    tables = [table(*actions(10_000, 50_000, 51_000, 54_000)), table(*actions(50_000, 52_000))]
    assert longest_pause(tables, since=50_500) == 3.0
    assert longest_pause([], since=0) == 0.0


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(value) for value in range(100)], 0.99) == 99.0
    assert percentile([], 0.99) == 0.0


def test_a_snapshot_and_a_heartbeat_say_how_far_a_table_is() -> None:
    record = table(*actions(99_000))
    assert last_sequence(record) == 1
    for message in (
        engine_pb2.PlayResponse(snapshot=engine_pb2.Snapshot(sequence=7)),
        engine_pb2.PlayResponse(heartbeat=engine_pb2.Heartbeat(sequence=8)),
    ):
        record.viewers[0].heard.append(Heard(108_000, 1, message.SerializeToString()))
    assert last_sequence(record) == 8
