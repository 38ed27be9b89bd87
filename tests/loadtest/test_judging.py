"""Which tables are judged, and what is reported of it."""

import json
from random import Random

import pytest

from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.account import account_of
from loadtest.judge.violations import Invariant
from loadtest.measures import Measures
from loadtest.process.judging import Judging
from loadtest.record import Answered, Heard, Noted, SeatRecord, Sent, TableRecord

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
            await judging.take(table(name))
        await judging.finish(PATIENCE_SECONDS)
    finally:
        judging.close()
    assert measures.counts["tables judged"] == judged
    assert judging.waiting == 0


@pytest.mark.parametrize("replays", [["no replay"], []])
async def test_what_was_found_is_told_with_the_replay_or_else_what_was_heard(replays: list[str]) -> None:
    measures, record = Measures(), table("t1")
    record.replays = replays
    judging = Judging(measures, 1.0, Random(1))
    try:
        await judging.take(record)
        await judging.finish(PATIENCE_SECONDS)
    finally:
        judging.close()
    found = {one["invariant"]: one for one in measures.take()["violations"]}
    assert found["stream_silent"]["table_id"] == "t1"
    assert found["stream_silent"]["replay"] == (replays[0] if replays else account_of(record))


def test_an_account_has_everything_in_the_order_of_time() -> None:
    record = table("t1")
    action, beat = table_pb2.Action(draw=table_pb2.DrawAction()), engine_pb2.Heartbeat(sequence=4)
    record.viewers[0].heard.append(Heard(7, 0, engine_pb2.PlayResponse(heartbeat=beat).SerializeToString()))
    record.viewers[0].answered.append(Answered(6, "a", 4))
    record.viewers[0].sent.append(Sent(5, "a", action.SerializeToString(), 3))
    head, *lines = map(json.loads, account_of(record).splitlines())
    assert (head["table_id"], head["game"]) == ("t1", "solo")
    assert [line["at"] for line in lines] == [5, 6, 7]
    assert [line["seat"] for line in lines] == [0, 0, 0]
    assert lines[0]["sent"] == {"request_id": "a", "action": {"draw": {}}, "expected_sequence": 3}
    assert lines[1]["answered"]["sequence"] == 4
    assert lines[2]["heard"] == {"heartbeat": {"sequence": "4"}}
