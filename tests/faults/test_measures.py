"""What is measured of pauses and takeovers, on tables whose times are known."""

from loadtest.faults.measures import longest_pause, percentile, takeovers
from loadtest.faults.records import Heard, Move, Opened, Stream, TableRecord

KILLED_AT, KILLED_MILLISECONDS = 100.0, 1_000_000


def table(*moves: float, client: int = 1, has_leavers: bool = False) -> TableRecord:
    """A table with moves at these times, each stored when it was heard of."""
    record = TableRecord("t", "solo", 4, has_leavers=has_leavers)
    record.streams.append(Stream(0, [Heard(1, b"", b"", at) for at in moves], client=client))
    record.moves = [Move(at, KILLED_MILLISECONDS + round((at - KILLED_AT) * 1000)) for at in moves]
    return record


def seconds(record: TableRecord, broken_at: float = 100.1) -> list[float]:
    return [it.seconds for it in takeovers([record], {1: [broken_at]}, KILLED_AT, KILLED_MILLISECONDS)]


def test_a_takeover_lasts_from_the_kill_to_the_next_move_that_was_stored_after_it() -> None:
    assert seconds(table(99.0, 99.9, 101.5, 103.0)) == [1.5]


def test_a_move_that_was_stored_before_the_kill_and_heard_of_later_is_no_takeover() -> None:
    late = table(100.2, 102.0)
    late.moves[0] = Move(100.2, KILLED_MILLISECONDS - 1)
    assert seconds(late) == [2.0]


def test_tables_without_a_broken_stream_and_those_with_leavers_do_not_count() -> None:
    assert seconds(table(99.0, 101.0), broken_at=98.0) == []
    assert seconds(table(99.0, 101.0), broken_at=104.0) == []
    assert seconds(table(99.0, 101.0, has_leavers=True)) == []


def test_the_longest_pause_is_one_that_ended_after_the_fault_began() -> None:
    assert longest_pause([table(10.0, 50.0, 51.0, 54.0), table(50.0, 52.0)], since=50.5) == 3.0
    assert longest_pause([], since=0.0) == 0.0


def test_a_percentile_is_a_value_that_came() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(value) for value in range(100)], 0.99) == 99.0
    assert percentile([], 0.99) == 0.0


def test_who_comes_back_knows_of_what_happened_meanwhile() -> None:
    record = table(99.0)
    record.heard(1, KILLED_MILLISECONDS, True, 99.0)
    assert (record.head, record.last_seen) == (1, 1)
    record.streams[0].messages.append(Opened(7, b"", 108.0))
    assert (record.head, record.last_seen) == (1, 7)
