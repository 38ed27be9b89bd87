"""Long runs in pictures."""

from dataclasses import replace

from loadtest.report.coarser import MOST_POINTS, coarser, slices_in_a_point
from tests.loadtest.report.sample import moment


def test_a_short_run_is_left_as_it_is() -> None:
    moments = tuple(map(moment, range(MOST_POINTS)))
    assert coarser(moments) == moments
    assert coarser(()) == ()
    assert slices_in_a_point(()) == 1


def test_neighbours_share_a_point_and_nothing_bad_is_lost() -> None:
    moments = [moment(at) for at in range(1, MOST_POINTS * 3)]
    moments[100] = replace(moments[100], p99=5_000.0, failures=7)
    moments[101] = replace(moments[101], failures=2)
    merged = coarser(moments)
    assert slices_in_a_point(moments) == 3
    assert len(merged) == MOST_POINTS
    assert merged[33].p99 == 5_000.0
    assert merged[33].failures == 9
    assert [one.seconds for one in merged[:2]] == [15.0, 30.0]
    assert merged[-1].seconds == moments[-1].seconds
    assert merged[1].tables == moments[5].tables
    assert merged[1].server_memory_bytes == moments[5].server_memory_bytes
    assert merged[1].actions_per_second * 3 == sum(one.actions_per_second for one in moments[3:6])
