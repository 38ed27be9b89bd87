"""Which tables the referee goes through, and what of it is told."""

from random import Random

import pytest

from loadtest.measures import Measures
from loadtest.record import Noted, SeatRecord, TableRecord
from loadtest.referee.violations import Invariant
from loadtest.swarm.judging import Judging

PATIENCE_SECONDS = 60.0


class Never(Random):
    """Chance that chooses no table."""

    def random(self) -> float:
        return 1.0


def table(name: str) -> TableRecord:
    """A table at which somebody found something wrong himself."""
    viewer = SeatRecord("p1", 0, noted=[Noted(Invariant.STREAM_SILENT, 3, "nothing came")])
    return TableRecord(name, "solo", 4, viewers=[viewer], replays=["no replay"])


@pytest.mark.parametrize(("share", "judged"), [(0.1, 1), (0.0, 0)])
async def test_the_first_table_is_judged_unless_none_shall_be(share: float, judged: int) -> None:
    measures = Measures()
    judging = Judging(measures, share, Never())
    try:
        for name in ("t1", "t2", "t3"):
            await judging.hand_over(table(name))
        await judging.finish(PATIENCE_SECONDS)
    finally:
        judging.close()
    assert measures.counts["tables judged"] == judged
    assert judging.waiting == 0


async def test_what_was_found_is_told_with_the_replay() -> None:
    measures = Measures()
    judging = Judging(measures, 1.0, Random(1))
    try:
        await judging.hand_over(table("t1"))
        await judging.finish(PATIENCE_SECONDS)
    finally:
        judging.close()
    found = {one["invariant"]: one for one in measures.take()["violations"]}
    assert found["stream_silent"]["table_id"] == "t1"
    assert found["stream_silent"]["replay"] == "no replay"
