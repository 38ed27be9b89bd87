"""Queues records of tables for the judge, which works in a child process at a low priority."""

import asyncio
import json
import pickle
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from random import Random
from typing import Any, NamedTuple

from google.protobuf.json_format import MessageToDict

from croupier.runtime.server.child_process import end_with_parent
from croupier_api.v1 import actions_pb2, engine_pb2
from croupier_loadtest.judge.notation import reason_text
from croupier_loadtest.judge.verdict import Verdict, judge
from croupier_loadtest.measures import MAX_REPLAY_CHARACTERS, SEEN_BY_ALL, Measures
from croupier_loadtest.process.standings import judged_table
from croupier_loadtest.record import SeatRecord, TableRecord
from croupier_loadtest.tuning import LEAST_PRIORITY, lower_priority

MAX_WAITING = 500
"""The length of the queue; while it is full, players wait before their next table."""


class JudgeQueue:
    """The queue of the judge, which judges a `share` of the tables: drawn at random, but always the first.

    Otherwise a short run might judge no table. `complete` adds data to a record that players do not have, such as rows
    of databases, in the judge's process.
    """

    def __init__(
        self,
        measures: Measures,
        share: float,
        random: Random,
        complete: Callable[[TableRecord], None] | None = None,
        niceness: int = LEAST_PRIORITY,
    ) -> None:
        self._measures = measures
        self._share = share
        self._random = random
        self._complete = complete
        self._has_begun = False
        self._pool = ProcessPoolExecutor(
            1, mp_context=get_context("spawn"), initializer=_start_judge, initargs=(niceness,)
        )
        self._room = asyncio.Semaphore(MAX_WAITING)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def waiting(self) -> int:
        """The number of tables that have not been judged yet."""
        return len(self._tasks)

    async def add(self, record: TableRecord) -> None:
        """Add a table as soon as there is room; returns before it is judged."""
        if not self._share or (self._has_begun and self._random.random() >= self._share):
            return
        self._has_begun = True
        await self._room.acquire()
        # A tenth of the size, for a fraction of the time that judging takes.
        body = await asyncio.to_thread(lambda: zlib.compress(pickle.dumps(record), 1))
        task = asyncio.create_task(self._judge(body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _judge(self, body: bytes) -> None:
        try:
            judged = await asyncio.get_running_loop().run_in_executor(self._pool, judge_packed, body, self._complete)
        except Exception as error:  # noqa: BLE001 - a judge that fails makes the run red, and the next table is judged
            self._measures.record_failure(f"load test: the judge raised {type(error).__name__}", str(error))
            return
        finally:
            self._room.release()
        verdict, measures = judged.verdict, self._measures
        measures.count("tables judged")
        measures.count("tables verified", int(verdict.is_verified))
        for name, times in verdict.checks_made.items():
            measures.count(f"checked {name}", times)
        for milliseconds in verdict.seen_by_all_milliseconds:
            measures.record_time(SEEN_BY_ALL, milliseconds / 1000)
        measures.record_violations(verdict.violations, judged.kept)
        measures.judged.append(judged.table)

    async def finish(self, seconds: float) -> None:
        """Wait until all tables are judged, but not longer than this."""
        if not self._tasks:
            return
        _, left = await asyncio.wait(set(self._tasks), timeout=seconds)
        if left:
            self._measures.record_failure("judging", f"{len(left)} tables were not judged within {seconds:g} s")

    def close(self) -> None:
        """End the judge's process after its current table."""
        self._pool.shutdown(cancel_futures=True)


class JudgedTable(NamedTuple):
    """A verdict, a copy of the table if something broke there, and its contribution to the standings."""

    verdict: Verdict
    kept: str
    """The replay, or else the transcript; empty without violations."""
    table: dict[str, object]
    """The table as `standings` compares it."""


def judge_packed(body: bytes, complete: Callable[[TableRecord], None] | None = None) -> JudgedTable:
    """Return the judge's verdict on a packed record."""
    record: TableRecord = pickle.loads(zlib.decompress(body))  # noqa: S301 - written by this program itself
    if complete is not None:
        complete(record)
    verdict = judge(record)
    kept = ""
    if verdict.violations:
        kept = record.replays[0] if record.replays else transcript_of(record)[:MAX_REPLAY_CHARACTERS]
    return JudgedTable(verdict, kept, judged_table(record, verdict))


def _start_judge(niceness: int) -> None:
    """Lower the priority of the judge's process, and end it with the parent."""
    lower_priority(niceness)
    end_with_parent()


def transcript_of(record: TableRecord) -> str:
    """Return the transcript of a table as lines of JSON: all that its viewers sent and received, in order of time."""
    head = {"table_id": record.table_id, "game": record.game, "seats": record.seats, "commitment": record.commitment}
    lines = sorted((line for viewer in record.viewers for line in _lines_of(viewer)), key=lambda line: int(line["at"]))
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (head, *lines))


def _lines_of(one: SeatRecord) -> Iterator[dict[str, Any]]:
    viewer = {"player_id": one.player_id, "seat": one.seat}
    for sent in one.sent:
        action = MessageToDict(actions_pb2.Action.FromString(sent.action), preserving_proto_field_name=True)
        request = {"request_id": sent.request_id, "action": action, "expected_sequence": sent.expected_sequence}
        yield {"at": sent.at_milliseconds, **viewer, "sent": request}
    for answer in one.answered:
        reason = reason_text(answer.reason)
        yield {"at": answer.at_milliseconds, **viewer, "answered": answer._asdict() | {"reason": reason}}
    for received in one.received:
        message = MessageToDict(
            engine_pb2.PlayTableResponse.FromString(received.body), preserving_proto_field_name=True
        )
        yield {"at": received.at_milliseconds, **viewer, "stream": received.stream, "received": message}
