"""Keeps what one viewer of a table hears, sends and is answered, and takes the times of his actions."""

import time
from typing import Any

from croupier_api.v1 import engine_pb2
from croupier_client import Client, CroupierError
from loadtest.measures import ACKNOWLEDGED, Measures
from loadtest.players.cheats import Attempt
from loadtest.players.counting import count_refused_action, is_failure
from loadtest.players.tables import wall_milliseconds
from loadtest.record import Answered, Expected, Heard, Opened, SeatRecord, Sent
from loadtest.scenarios import Manner

SLOW_READ_SECONDS = 0.5
"""How long a slow reader looks away before a message."""
LOOKS_AWAY = 0.3
"""How often he does."""


class Recorder:
    """Writes a SeatRecord."""

    def __init__(self, record: SeatRecord, measures: Measures) -> None:
        self.record = record
        self.measures = measures
        self._game = ""
        self._under_way: dict[str, tuple[float, str]] = {}
        self._accepted: set[str] = set()
        self._is_timed = record.manner != Manner.SLOW
        """Whoever reads slowly would take the time of his own reading."""

    def opens(self, after_sequence: int | None) -> None:
        """A stream is being opened; what went on the one before and was not answered goes again."""
        self.record.opened.append(Opened(wall_milliseconds(), after_sequence))
        self._count_unanswered()

    def hears(self, message: engine_pb2.PlayResponse | engine_pb2.WatchTableResponse) -> None:
        """A message came, and nobody has looked at it yet."""
        record = self.record
        record.heard.append(Heard(wall_milliseconds(), len(record.opened) - 1, message.SerializeToString()))
        self.measures.counts["messages"] += 1
        if message.HasField("snapshot"):
            self._game = message.snapshot.table.game
            record.seat = message.snapshot.viewer_seat if message.snapshot.HasField("viewer_seat") else None
        elif message.update.acted_by == engine_pb2.ACTED_BY_TIMEOUT:
            record.timeouts.append(message.update.sequence)
        if isinstance(message, engine_pb2.PlayResponse) and message.HasField("answer"):
            self._hears_answer(message.answer)

    def _hears_answer(self, answer: engine_pb2.ActionAnswer) -> None:
        if answer.WhichOneof("outcome") == "sequence":
            self.accepted(answer.request_id, answer.sequence)
            return
        self._under_way.pop(answer.request_id, None)
        self.measures.count(f"refused {answer.refusal.reason}")
        self._refused(answer.request_id, answer.refusal.code, answer.refusal)

    def _refused(self, request_id: str, code: int, told: engine_pb2.Refusal | CroupierError) -> None:
        refusal = Answered(wall_milliseconds(), request_id, None, code, told.reason, told.rule, told.message)
        self.record.answered.append(refusal)
        count_refused_action(self.measures, told.reason)

    def sends(self, request: engine_pb2.SubmitActionRequest, expected: Expected | None) -> None:
        """An action is sent, for the first time or on purpose once more."""
        seen = request.expected_sequence if request.HasField("expected_sequence") else None
        action = request.action.SerializeToString()
        self.record.sent.append(Sent(wall_milliseconds(), request.request_id, action, seen, expected))
        verb = request.action.WhichOneof("verb") or "nothing"
        self._under_way[request.request_id] = (time.perf_counter(), verb)

    def accepted(self, request_id: str, sequence: int) -> None:
        """An action was accepted; told twice, it counts once."""
        self.record.answered.append(Answered(wall_milliseconds(), request_id, sequence))
        sent = self._under_way.pop(request_id, None)
        if request_id in self._accepted:
            return
        self._accepted.add(request_id)
        self.measures.count("actions")
        self.measures.count(f"actions accepted {self._game}")
        if sent is not None and self._is_timed:
            seconds = time.perf_counter() - sent[0]
            self.measures.took(ACKNOWLEDGED, seconds)
            self.measures.took(f"{self._game} {sent[1]}", seconds)

    def ended(self, request_id: str, error: CroupierError) -> None:
        """A call of its own was refused, or failed, after which it is not known how it went."""
        if self._under_way.pop(request_id, None) is None:
            return
        if is_failure(error) or not error.reason:
            self.measures.count(f"unanswered actions {self._game}")
        else:
            self._refused(request_id, error.code.value[0], error)

    async def calls(self, client: Client, table_id: str, attempt: Attempt, request_id: str) -> int:
        """Send an action by a call of its own; gives its sequence, raises CroupierError."""
        asked: dict[str, Any] = {"table_id": table_id, "request_id": request_id, "action": attempt.action}
        asked["expected_sequence"] = attempt.expected_sequence
        self.sends(engine_pb2.SubmitActionRequest(**asked), attempt.expected)
        try:
            answer = await client.submit_action(**asked)
        except CroupierError as error:
            self.ended(request_id, error)
            raise
        self.accepted(request_id, answer.sequence)
        return answer.sequence

    def closes(self) -> None:
        """Nothing more is heard."""
        self._count_unanswered()
        self._under_way.clear()

    def _count_unanswered(self) -> None:
        if self._under_way:
            self.measures.count(f"unanswered actions {self._game}", len(self._under_way))
