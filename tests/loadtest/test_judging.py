"""Which tables are judged, and what is reported of it."""

import json
import pickle
import zlib
from random import Random

from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.account import account_of
from loadtest.judge.violations import Invariant
from loadtest.measures import Measures
from loadtest.process.judging import Judging, verdict_on
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


async def judged(records: list[TableRecord], share: float) -> Measures:
    """What is measured of the tables that are judged, if chance chooses none."""
    measures = Measures()
    judging = Judging(measures, share, Never())
    try:
        for record in records:
            await judging.take(record)
        await judging.finish(PATIENCE_SECONDS)
        assert judging.waiting == 0
    finally:
        judging.close()
    return measures


async def test_the_first_table_is_judged_and_told_with_its_replay() -> None:
    measures = await judged([table("t1"), table("t2"), table("t3")], 0.1)
    assert measures.counts["tables judged"] == 1
    found = next(one for one in measures.take()["violations"] if one["invariant"] == "stream_silent")
    assert (found["table_id"], found["replay"]) == ("t1", "no replay")


async def test_no_table_is_judged_if_none_shall_be() -> None:
    assert (await judged([table("t1")], 0.0)).counts["tables judged"] == 0


def test_where_there_is_no_replay_what_was_heard_is_kept() -> None:
    record = table("t1")
    record.replays.clear()
    assert verdict_on(zlib.compress(pickle.dumps(record))).kept == account_of(record)


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
