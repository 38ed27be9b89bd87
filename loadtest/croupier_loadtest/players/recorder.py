"""The records of tables, and of all that each viewer sends and receives, with the times of their actions."""

import time
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Any, TypeAlias

from croupier_api.v1 import engine_pb2
from croupier_client import Client, CroupierError, from_status, new_request_id
from croupier_client.rpc import StreamMessage
from croupier_loadtest.measures import ACKNOWLEDGED, Measures
from croupier_loadtest.players.adversaries import Attempt
from croupier_loadtest.players.counting import count_refused_action, is_failure
from croupier_loadtest.record import (
    UNDESCRIBED,
    Answered,
    DescribedGame,
    Expected,
    Opened,
    Received,
    SeatRecord,
    Sent,
    SentRequest,
    TableRecord,
)
from croupier_loadtest.scenarios import Behaviour

SLOW_READ_SECONDS = 0.5
"""The pause of a slow reader before a message."""
SLOW_READ_SHARE = 0.3
"""The share of messages before which a slow reader pauses."""

Submit: TypeAlias = Callable[[TableRecord], Awaitable[None]]
"""Submits a record to the judge, as soon as there is room."""


def wall_milliseconds() -> int:
    """Return milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


class TableRecords:
    """Records by table; the last user at a table submits its record to the judge."""

    def __init__(self, measures: Measures, submit: Submit) -> None:
        self._measures = measures
        self.submit = submit
        self.described: Mapping[str, DescribedGame] = {}
        """The games of the services, by id."""
        self._records: dict[str, TableRecord] = {}
        self._present: dict[str, int] = {}
        self._counted: set[str] = set()
        self._read: set[str] = set()
        """The tables whose replays are being read, or were."""

    def __len__(self) -> int:
        return len(self._records)

    def add_viewer(
        self,
        record: TableRecord,
        player_id: str,
        behaviour: Behaviour,
        client_seed: bytes = b"",
        *,
        is_counter: bool = False,
    ) -> SeatRecord:
        """Add a viewer to a table; `record` is kept if the table is new here.

        Of all players at a table, who may be in several processes, one has `is_counter` set.
        """
        kept = self._records.setdefault(record.table_id, record)
        kept.described = self.described.get(record.game, UNDESCRIBED)
        if is_counter:
            self._counted.add(record.table_id)
            self._measures.count("tables opened")
        kept.commitment = kept.commitment or record.commitment
        viewer = SeatRecord(
            player_id, behaviour=behaviour.value, client_seed=client_seed, reads_slowly=behaviour is Behaviour.SLOW
        )
        kept.viewers.append(viewer)
        self._present[record.table_id] = self._present.get(record.table_id, 0) + 1
        return viewer

    def mark_finished(self, table_id: str) -> None:
        """Record that a viewer has received the end of a game."""
        self._records[table_id].is_finished = True

    def has_active_players(self, table_id: str) -> bool:
        """Return whether a game is not over, and one of its players here has not left."""
        record = self._records[table_id]
        has_players = any(viewer.seat is not None and viewer.left_milliseconds is None for viewer in record.viewers)
        return has_players and not record.is_finished

    def record_to_read(self, table_id: str, viewer: SeatRecord) -> TableRecord | None:
        """Return the record of a finished table to the one who has to read its replay: once, before they leave.

        That is the first player to leave, or the last viewer where no player was: spectators may have a delay.
        """
        record, is_last = self._records[table_id], self._present[table_id] == 1
        if not record.is_finished or table_id in self._read or (viewer.seat is None and not is_last):
            return None
        self._read.add(table_id)
        return record

    def leave(self, table_id: str) -> TableRecord | None:
        """Remove a viewer; returns the record if it was the last one, who has to submit it."""
        self._present[table_id] -= 1
        if self._present[table_id]:
            return None
        del self._present[table_id]
        self._read.discard(table_id)
        record = self._records.pop(table_id)
        self._count_end(record)
        return record

    def _count_end(self, record: TableRecord) -> None:
        if record.table_id not in self._counted:
            return
        self._counted.remove(record.table_id)
        if record.is_finished:
            self._measures.count("tables finished")
            self._measures.count(f"finished {record.game}")
        else:
            self._measures.count("unobserved tables")
        received = {sequence for viewer in record.viewers for sequence in viewer.timeouts}
        self._measures.count(f"timeouts {record.game}", len(received))

    def running(self) -> list[TableRecord]:
        """Return the records of all tables that have viewers here; they still grow."""
        return list(self._records.values())

    def end_timing(self) -> None:
        """Record that from now on actions are not timed, because players have no think time any more."""
        for record in self._records.values():
            record.timed_until_milliseconds = wall_milliseconds()

    def remaining(self) -> list[TableRecord]:
        """Remove and return the records that were not submitted, once all users have stopped."""
        records = list(self._records.values())
        for record in records:
            self._count_end(record)
        self._records.clear()
        self._present.clear()
        self._counted.clear()
        self._read.clear()
        return records

    def other_table(self, player_id: str, random: Random) -> TableRecord | None:
        """Return a running table that was opened here and where this player has no seat; None without one.

        Tables that are only watched here are omitted: the player may have a seat there from an earlier run.
        """
        others = [
            record
            for record in list(self._records.values())[:50]
            if record.table_id in self._counted
            and not record.is_finished
            and all(viewer.player_id != player_id for viewer in record.viewers)
        ]
        return random.choice(others) if others else None


class Recorder:
    """Writes a SeatRecord."""

    def __init__(self, record: SeatRecord, measures: Measures) -> None:
        self.record = record
        self.measures = measures
        self._game = ""
        self._under_way: dict[str, tuple[float, str]] = {}
        self._accepted: set[str] = set()
        self._is_timed = record.behaviour != Behaviour.SLOW
        """The times of slow readers would include their own pauses."""

    def opening(self, after_sequence: int | None) -> None:
        """Record that a stream is opened; unanswered requests of the one before are sent again."""
        self.record.opened.append(Opened(wall_milliseconds(), after_sequence))
        self._count_unanswered()

    def received(self, message: StreamMessage) -> None:
        """Record a message before it is processed."""
        record = self.record
        record.received.append(Received(wall_milliseconds(), len(record.opened) - 1, message.SerializeToString()))
        self.measures.counts["messages"] += 1
        event = message.table_event
        if event.HasField("snapshot"):
            self._game = event.snapshot.table.game
            record.seat = event.snapshot.viewer_seat if event.snapshot.HasField("viewer_seat") else None
        elif event.update.acted_by == engine_pb2.ACTED_BY_TIMEOUT:
            record.timeouts.append(event.update.sequence)
        if not isinstance(message, engine_pb2.PlayTableResponse) or not message.HasField("answer"):
            return
        answer = message.answer
        if answer.WhichOneof("outcome") == "sequence":
            self.accepted(answer.request_id, answer.sequence)
            return
        self._under_way.pop(answer.request_id, None)
        refusal = from_status(answer.refusal)
        self.measures.count(f"refused {refusal.reason_name}")
        self._refused(answer.request_id, refusal)

    def _refused(self, request_id: str, cause: CroupierError) -> None:
        code: int = cause.code.value[0]
        refusal = Answered(wall_milliseconds(), request_id, None, code, cause.reason, cause.rule, cause.message)
        self.record.answered.append(refusal)
        count_refused_action(self.measures, cause.reason_name)

    def sending(self, request: engine_pb2.SubmitActionRequest, expected: Expected | None) -> None:
        """Record that an action is sent, for the first time or as a deliberate repeat."""
        expected_sequence = request.expected_sequence if request.HasField("expected_sequence") else None
        action = request.action.SerializeToString()
        self.record.sent.append(Sent(wall_milliseconds(), request.request_id, action, expected_sequence, expected))
        verb = request.action.WhichOneof("verb") or "nothing"
        self._under_way[request.request_id] = (time.perf_counter(), verb)

    def accepted(self, request_id: str, sequence: int) -> None:
        """Record that an action was accepted; a repeated answer counts once."""
        self.record.answered.append(Answered(wall_milliseconds(), request_id, sequence))
        sent = self._under_way.pop(request_id, None)
        if request_id in self._accepted:
            return
        self._accepted.add(request_id)
        self.measures.count("actions")
        self.measures.count(f"actions accepted {self._game}")
        if sent is not None and self._is_timed:
            seconds = time.perf_counter() - sent[0]
            self.measures.record_time(ACKNOWLEDGED, seconds)
            self.measures.record_time(f"{self._game} {sent[1]}", seconds)

    def ended(self, request_id: str, error: CroupierError) -> None:
        """Record that a unary call was refused, or failed with an unknown outcome."""
        if self._under_way.pop(request_id, None) is None:
            return
        if is_failure(error) or not error.reason_name:
            self.measures.count(f"unanswered actions {self._game}")
        else:
            self._refused(request_id, error)

    async def call(self, client: Client, table_id: str, attempt: Attempt, request_id: str) -> int:
        """Send an action by a unary call; returns its sequence, raises CroupierError."""
        fields: dict[str, Any] = {"table_id": table_id, "request_id": request_id, "action": attempt.action}
        fields["expected_sequence"] = attempt.expected_sequence
        self.sending(engine_pb2.SubmitActionRequest(**fields), attempt.expected)
        try:
            answer = await client.submit_action(**fields)
        except CroupierError as error:
            self.ended(request_id, error)
            raise
        self.accepted(request_id, answer.sequence)
        return answer.sequence

    async def set_away(self, client: Client, table_id: str, *, is_away: bool) -> int:
        """Leave the seat to the engine, or return to it; returns the sequence of the answer, raises CroupierError."""
        request_id = new_request_id()
        self.record.sent_requests.append(SentRequest(wall_milliseconds(), request_id, ("away", is_away)))
        sequence = (await client.set_away(table_id=table_id, request_id=request_id, is_away=is_away)).sequence
        self.record.answered.append(Answered(wall_milliseconds(), request_id, sequence))
        return sequence

    def closed(self) -> None:
        """Record that the last stream was closed."""
        self._count_unanswered()
        self._under_way.clear()

    def _count_unanswered(self) -> None:
        if self._under_way:
            self.measures.count(f"unanswered actions {self._game}", len(self._under_way))
