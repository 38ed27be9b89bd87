"""Watches every byte between clients and engines, and every commit: what has to hold at every step."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import Message

from croupier.engine.codec import encode_action
from croupier.engine.log import Entry, Proposed, Voted, config_from_json, entry_from_row
from croupier.engine.packing import unpacked
from croupier.games.interface import SeatActed
from croupier_api.v1 import engine_pb2, lobby_pb2
from loadtest.simulation.calls import Call, Status
from loadtest.simulation.database import Change
from loadtest.simulation.record import TableRecord
from loadtest.simulation.stopwatch import Span
from loadtest.simulation.trace import Trace
from loadtest.simulation.verdict import Verdict

WATCH_ENGINES = """
CREATE TEMP TRIGGER opened AFTER UPDATE OF status ON tables WHEN OLD.status = 'prepared' AND NEW.status = 'open'
BEGIN SELECT noted('opened', NEW.table_id, NEW.game, NEW.rules_version, NEW.seed, NEW.config); END;
CREATE TEMP TRIGGER appended AFTER INSERT ON entries
BEGIN SELECT noted('appended', NEW.table_id, NEW.sequence, NEW.at, NEW.deadline, NEW.body); END;
CREATE TEMP TRIGGER changed AFTER UPDATE ON entries BEGIN SELECT noted('changed', NEW.table_id, NEW.sequence); END;
CREATE TEMP TRIGGER removed AFTER DELETE ON entries BEGIN SELECT noted('removed', OLD.table_id, OLD.sequence); END;
CREATE TEMP TRIGGER archived AFTER INSERT ON archive BEGIN SELECT noted('archived', NEW.table_id, NEW.log); END;
"""
"""Triggers that tell of all that happens to logs."""
NOT_FINAL = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED})
"""After these the same request may be sent again, and may have been stored."""
_REQUESTS: dict[str, type[Any]] = {
    "SubmitAction": engine_pb2.SubmitActionRequest,
    "Propose": engine_pb2.ProposeRequest,
    "Vote": engine_pb2.VoteRequest,
    "GetView": engine_pb2.GetViewRequest,
    "WatchTable": engine_pb2.WatchTableRequest,
}
_RESPONSES: dict[str, type[Any]] = {
    "SubmitAction": engine_pb2.SubmitActionResponse,
    "Propose": engine_pb2.ProposeResponse,
    "Vote": engine_pb2.VoteResponse,
    "GetView": engine_pb2.GetViewResponse,
}


@dataclass(slots=True)
class Following:
    """How far one stream of a viewer is; `sequence` None before its snapshot; it began at `since`, in milliseconds."""

    table_id: str
    sequence: int | None
    since: int


class Referee:
    """Holds what was committed against what was asked and answered."""

    def __init__(
        self, verdict: Verdict, now: Callable[[], int], interruptions: Callable[[], Iterable[Span]], trace: Trace
    ):
        self.tables: dict[str, TableRecord] = {}
        self.players: dict[str, str] = {}
        """Players' ids by the name of their client's process."""
        self.acknowledged = 0
        self.resumes = 0
        self._verdict = verdict
        self.now = now
        self._interruptions = interruptions
        self._trace = trace
        self._following: dict[int, Following] = {}
        self._asked: dict[tuple[str, str, str], Message] = {}
        self._archived: set[str] = set()

    @property
    def archived(self) -> int:
        """How many tables went to the archive."""
        return len(self._archived)

    # What the database stores

    def committed(self, changes: list[Change]) -> None:
        """A transaction of an engine was committed."""
        for kind, *values in changes:
            if kind == "opened":
                self._opened(*values)
            elif kind == "appended":
                self._appended(*values)
            elif kind == "archived":
                self._archive(*values)
            elif kind == "changed" or (kind == "removed" and values[0] not in self._archived):
                self._verdict.fail("a log only grows", f"entry {values} was {kind}")

    def _opened(self, table_id: str, game: str, rules_version: int, seed: bytes, config: str) -> None:
        self._trace.note("opened", table_id, game)
        self._verdict.expect(table_id not in self.tables, "a table opens once", table_id)
        self.tables[table_id] = TableRecord(
            config_from_json(table_id, game, rules_version, seed, config), self._verdict
        )

    def _appended(self, table_id: str, sequence: int, at: int, deadline: int, body: str) -> None:
        self._trace.note("appended", table_id, sequence, at, deadline, body)
        entry = entry_from_row(sequence, at, deadline, body)
        try:
            self.tables[table_id].commit(entry, self.now(), self._interruptions())
        except Exception as error:  # noqa: BLE001 - whatever it is, such an entry should not be there
            self._verdict.fail("a log can be folded", f"{table_id} {entry}: {error!r}")

    def _archive(self, table_id: str, log: bytes) -> None:
        self._trace.note("archived", table_id)
        kept = list(unpacked(log)) == self.tables[table_id].entries
        self._verdict.expect(kept, "the archive holds the whole log", table_id)
        self._archived.add(table_id)

    # What clients ask

    def requested(self, call: Call, raw: bytes) -> None:
        """A client sends something."""
        kind = call.method.rpartition("/")[2]
        if kind in ("SubmitAction", "Propose", "Vote"):
            self._note_request(call, _REQUESTS[kind].FromString(raw))
        elif kind == "Play":
            said = engine_pb2.PlayRequest.FromString(raw)
            if said.HasField("action"):
                self._note_request(call, said.action)
            else:
                self._note_watch(call, said.watch)
        elif kind == "WatchTable":
            self._note_watch(call, engine_pb2.WatchTableRequest.FromString(raw))

    def _note_request(self, call: Call, request: Any) -> None:
        self._trace.note("asked", call.client.name, request.table_id, request.request_id)
        self._asked[call.client.name, request.table_id, request.request_id] = request

    def _note_watch(self, call: Call, watch: engine_pb2.WatchTableRequest) -> None:
        after = watch.after_sequence if watch.HasField("after_sequence") else None
        self.resumes += after is not None
        self._following[call.number] = Following(watch.table_id, after, self.now())

    # What servers answer

    def answered(self, call: Call, raw: bytes) -> None:
        """A server sends something."""
        kind = call.method.rpartition("/")[2]
        self._trace.note("answered", call.number, kind, len(raw))
        if kind in ("Play", "WatchTable"):
            self._streamed(call, raw)
        elif kind in ("SubmitAction", "Propose", "Vote"):
            request, response = _REQUESTS[kind].FromString(call.request), _RESPONSES[kind].FromString(raw)
            self._accepted(call, request.table_id, request.request_id, response.sequence)
        elif kind == "GetView":
            request = engine_pb2.GetViewRequest.FromString(call.request)
            self._snapshot(call, request.table_id, engine_pb2.GetViewResponse.FromString(raw).snapshot)
        elif kind == "SignIn":
            self.players[call.client.name] = lobby_pb2.SignInResponse.FromString(raw).player.player_id

    def refused(self, call: Call, status: Status) -> None:
        """A server ends a call with an error."""
        kind = call.method.rpartition("/")[2]
        if kind in ("SubmitAction", "Propose", "Vote"):
            request = _REQUESTS[kind].FromString(call.request)
            self._refused(call, request.table_id, request.request_id, status.code, status.details)
        self._verdict.expect(
            status.code not in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN),
            "no call fails inside",
            call.method,
            status,
        )

    def _accepted(self, call: Call, table_id: str, request_id: str, sequence: int) -> None:
        self.acknowledged += 1
        record = self.tables[table_id]
        seat = record.viewer(self.players[call.client.name])
        entry = record.by_request.get((seat, request_id))
        about = f"request {request_id} of seat {seat} at {table_id}, answered with {sequence}"
        if entry is None:
            self._verdict.fail("what is acknowledged is in the log", about)
            return
        self._verdict.expect(entry.sequence == sequence, "an answer names the entry", about, "it is", entry)
        asked = self._asked[call.client.name, table_id, request_id]
        self._verdict.expect(_says(entry, asked), "the log holds what was asked", about, entry, asked)

    def _refused(self, call: Call, table_id: str, request_id: str, code: Any, why: str) -> None:
        record = self.tables.get(table_id)
        if code in NOT_FINAL or record is None:
            return
        seat = record.viewer(self.players[call.client.name])
        stored = record.by_request.get((seat, request_id))
        self._verdict.expect(
            stored is None,
            "what is in the log is not refused",
            f"{request_id} at {table_id}: {code} {why}, but",
            stored,
        )

    def check_lag(self, call: Call, most_milliseconds: int) -> None:
        """A stream under way may be behind the log for a moment only."""
        following = self._following.get(call.number)
        record = self.tables.get(following.table_id) if following else None
        if following is None or record is None or following.sequence is None:
            return
        if following.sequence < len(record.entries):
            behind = self.now() - max(record.committed_at[following.sequence], following.since)
            self._verdict.expect(
                behind <= most_milliseconds, "what is stored is soon seen", call.number, call.client.name, following
            )

    def _streamed(self, call: Call, raw: bytes) -> None:
        following = self._following[call.number]
        record = self.tables.get(following.table_id)
        if record is None:
            self._verdict.fail("nothing is visible before it is stored", f"a stream of {following.table_id}")
            return
        viewer = record.viewer(self.players[call.client.name])
        rest = self._update(following, record, viewer, raw)
        if rest:
            self._other(call, following, record, engine_pb2.PlayResponse.FromString(rest))

    def _update(self, following: Following, record: TableRecord, viewer: int, raw: bytes) -> bytes:
        """Take the next update off a message, if it is one; gives the rest."""
        if following.sequence is None or following.sequence >= len(record.entries):
            return raw
        expected = record.entitled(following.sequence + 1, viewer)
        if raw.startswith(expected):
            following.sequence += 1
            return raw[len(expected) :]
        got = engine_pb2.PlayResponse.FromString(raw)
        if not got.HasField("update"):
            return raw
        answer = engine_pb2.PlayResponse(answer=got.answer) if got.HasField("answer") else None
        got.ClearField("answer")
        wanted = engine_pb2.PlayResponse.FromString(expected)
        self._verdict.expect(
            got == wanted,
            "a viewer gets what the log entitles him to",
            f"viewer {viewer} of {following.table_id} after {following.sequence}: got {got}, entitled to {wanted}",
        )
        following.sequence += 1
        return answer.SerializeToString() if answer else b""

    def _other(self, call: Call, following: Following, record: TableRecord, message: engine_pb2.PlayResponse) -> None:
        match message.WhichOneof("event"):
            case "update":
                self._verdict.fail(
                    "nothing is visible before it is stored",
                    f"{following.table_id} has {len(record.entries)} entries, a stream goes on after "
                    f"{following.sequence} with {message.update.sequence}",
                )
            case "snapshot":
                self._verdict.expect(following.sequence is None, "a stream has one snapshot", following.table_id)
                following.sequence = message.snapshot.sequence
                self._snapshot(call, following.table_id, message.snapshot)
            case "heartbeat":
                told = message.heartbeat.sequence
                self._verdict.expect(told == following.sequence, "a heartbeat tells what was sent", told, following)
        if message.HasField("answer"):
            self._answer(call, following.table_id, message.answer)

    def _answer(self, call: Call, table_id: str, answer: engine_pb2.ActionAnswer) -> None:
        if answer.WhichOneof("outcome") == "sequence":
            self._accepted(call, table_id, answer.request_id, answer.sequence)
            return
        code = next(code for code in grpc.StatusCode if code.value[0] == answer.refusal.code)
        self._refused(call, table_id, answer.request_id, code, answer.refusal.message)

    def _snapshot(self, call: Call, table_id: str, snapshot: engine_pb2.Snapshot) -> None:
        record = self.tables[table_id]
        if snapshot.sequence > len(record.entries):
            self._verdict.fail("nothing is visible before it is stored", f"snapshot {snapshot.sequence} of {table_id}")
            return
        entitled = record.snapshot(snapshot.sequence, record.viewer(self.players[call.client.name]))
        self._verdict.expect(snapshot == entitled, "a viewer gets what the log entitles him to", snapshot, entitled)


def _says(entry: Entry, asked: Any) -> bool:
    """Whether an entry holds what a client asked for."""
    match entry.event:
        case SeatActed(_, action):
            return bool(encode_action(action) == asked.action)
        case Proposed(_, proposal, _):
            return bool(proposal == asked.proposal)
        case Voted(_, sequence, agree):
            return bool((sequence, agree) == (asked.proposal_sequence, asked.agree))
    return False
