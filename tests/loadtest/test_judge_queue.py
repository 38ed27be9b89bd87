"""The tables that are judged, and the measures of their verdicts."""

import json
import pickle
import zlib
from random import Random

from croupier_api.v1 import actions_pb2, engine_pb2
from loadtest.judge.violations import Invariant
from loadtest.measures import Measures
from loadtest.process.judge_queue import JudgeQueue, judge_packed, transcript_of
from loadtest.record import Answered, Received, ReportedViolation, SeatRecord, Sent, TableRecord

TIMEOUT_SECONDS = 60.0


class Never(Random):
    """A random source that draws no table."""

    def random(self) -> float:
        return 1.0


def table(name: str) -> TableRecord:
    """Return a table with a violation that a player has reported."""
    viewer = SeatRecord("p1", 0, reported=[ReportedViolation(Invariant.STREAM_SILENT, 3, "nothing came")])
    return TableRecord(name, "solo", 4, viewers=[viewer], replays=["no replay"])


async def judged(records: list[TableRecord], share: float) -> Measures:
    """Return the measures of the judged tables, without any that is drawn."""
    measures = Measures()
    queue = JudgeQueue(measures, share, Never())
    try:
        for record in records:
            await queue.add(record)
        await queue.finish(TIMEOUT_SECONDS)
        assert queue.waiting == 0
    finally:
        queue.close()
    return measures


async def test_the_first_table_is_judged_and_reported_with_its_replay() -> None:
    measures = await judged([table("t1"), table("t2"), table("t3")], 0.1)
    assert measures.counts["tables judged"] == 1
    found = next(one for one in measures.take()["violations"] if one["invariant"] == "stream_silent")
    assert (found["table_id"], found["replay"]) == ("t1", "no replay")


async def test_with_a_share_of_zero_no_table_is_judged() -> None:
    assert (await judged([table("t1")], 0.0)).counts["tables judged"] == 0


def test_without_a_replay_the_transcript_is_kept() -> None:
    record = table("t1")
    record.replays.clear()
    assert judge_packed(zlib.compress(pickle.dumps(record))).kept == transcript_of(record)


def test_a_transcript_is_in_the_order_of_time() -> None:
    record = table("t1")
    action, beat = actions_pb2.Action(draw=actions_pb2.DrawAction()), engine_pb2.Heartbeat(sequence=4)
    message = engine_pb2.PlayTableResponse(table_event=engine_pb2.TableEvent(heartbeat=beat))
    record.viewers[0].received.append(Received(7, 0, message.SerializeToString()))
    record.viewers[0].answered.append(Answered(6, "a", 4))
    record.viewers[0].sent.append(Sent(5, "a", action.SerializeToString(), 3))
    head, *lines = map(json.loads, transcript_of(record).splitlines())
    assert (head["table_id"], head["game"]) == ("t1", "solo")
    assert [line["at"] for line in lines] == [5, 6, 7]
    assert [line["seat"] for line in lines] == [0, 0, 0]
    assert lines[0]["sent"] == {"request_id": "a", "action": {"draw": {}}, "expected_sequence": 3}
    assert lines[1]["answered"]["sequence"] == 4
    assert lines[2]["received"] == {"table_event": {"heartbeat": {"sequence": "4"}}}
