"""Writes the record of each table, from every message between clients and services and every commit of the engines."""

import json
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import grpc

from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_client.errors import from_rpc_error
from loadtest.judge.violations import Invariant
from loadtest.record import (
    Answered,
    Closed,
    Heard,
    Opened,
    Said,
    SeatRecord,
    Sent,
    StoredEntry,
    StoredTable,
    TableRecord,
    Viewed,
)
from loadtest.simulation.calls import Call, Status
from loadtest.simulation.database import Change
from loadtest.simulation.findings import Findings
from loadtest.simulation.trace import Trace

ENGINE_TRIGGERS = """
CREATE TEMP TRIGGER opened AFTER UPDATE OF status ON tables WHEN OLD.status = 'prepared' AND NEW.status = 'open'
BEGIN SELECT noted('opened', NEW.table_id, NEW.game, NEW.rules_version, NEW.config, NEW.seed); END;
CREATE TEMP TRIGGER finished AFTER UPDATE OF status ON tables WHEN NEW.status = 'finished'
BEGIN SELECT noted('finished', NEW.table_id); END;
CREATE TEMP TRIGGER appended AFTER INSERT ON entries
BEGIN SELECT noted('appended', NEW.table_id, NEW.sequence, NEW.at, NEW.deadline, NEW.body); END;
CREATE TEMP TRIGGER changed AFTER UPDATE ON entries BEGIN SELECT noted('changed', NEW.table_id, NEW.sequence); END;
CREATE TEMP TRIGGER removed AFTER DELETE ON entries BEGIN SELECT noted('removed', OLD.table_id, OLD.sequence); END;
CREATE TEMP TRIGGER archived AFTER INSERT ON archive BEGIN SELECT noted('archived', NEW.table_id, NEW.log); END;
"""
"""Triggers that report all that happens to logs."""
_ASKED: Mapping[str, tuple[Any, Any]] = {
    "SubmitAction": (engine_pb2.SubmitActionRequest, engine_pb2.SubmitActionResponse),
    "Propose": (engine_pb2.ProposeRequest, engine_pb2.ProposeResponse),
    "Vote": (engine_pb2.VoteRequest, engine_pb2.VoteResponse),
}
"""What players ask for by single calls: the messages of request and answer."""
_FAILED = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN})


class Observer:
    """Sees all messages, at the moment when they are sent, and all commits; `tables` are the records so far.

    Players of a simulation are late, absent and cut off on purpose: all of them are hampered.
    """

    def __init__(self, findings: Findings, now: Callable[[], int], trace: Trace) -> None:
        self.tables: dict[str, TableRecord] = {}
        self.finished: set[str] = set()
        self.archived: set[str] = set()
        self.players: dict[str, str] = {}
        """Players' ids by the name of their client's process."""
        self.resumes = 0
        self._is_open = True
        self.now = now
        self._rows: dict[str, list[StoredEntry]] = {}
        self._viewers: dict[tuple[str, str], SeatRecord] = {}
        self._streams: dict[int, tuple[SeatRecord, int]] = {}
        self._seeds: dict[str, bytes] = {}
        self._commitments: dict[str, str] = {}
        self._findings = findings
        self._trace = trace

    @property
    def opened(self) -> list[TableRecord]:
        """The records of tables whose game has begun."""
        return [record for record in self.tables.values() if record.stored is not None]

    # What the database stores

    def committed(self, changes: list[Change]) -> None:
        """A transaction of an engine was committed."""
        for kind, table_id, *values in changes if self._is_open else ():
            if kind == "opened":
                self._trace.note("opened", table_id, values[0])
                self._opened(table_id, *values)
            elif kind == "appended":
                self._trace.note("appended", table_id, *values)
                sequence, at, deadline, body = values
                self._rows[table_id].append(StoredEntry(sequence, at, deadline, body, self.now()))
            elif kind == "finished":
                self.finished.add(table_id)
            elif kind == "archived":
                self._archived(table_id, *values)
            elif kind == "changed" or table_id not in self.archived:
                self._findings.add(Invariant.LOG_BROKEN, f"a stored entry was {kind}", table_id, *values)

    def _opened(self, table_id: str, game: str, rules_version: int, config: str, seed: bytes) -> None:
        record = self._record(table_id)
        if record.stored is not None:
            self._findings.add(Invariant.LOG_BROKEN, "the table was opened twice", table_id)
        record.game, record.seats = game, json.loads(config)["seat_count"]
        record.commitment = self._commitments.get(table_id, "")
        self._rows[table_id] = []
        record.stored = StoredTable("open", game, rules_version, config, seed, ())

    def _archived(self, table_id: str, log: bytes) -> None:
        self._trace.note("archived", table_id)
        if json.loads(zlib.decompress(log)) != [list(row[:4]) for row in self._rows[table_id]]:
            self._findings.add(Invariant.LOG_BROKEN, "the archive does not hold the whole log", table_id)
        self.archived.add(table_id)

    def close(self) -> None:
        """The run is over: put the rows into the records, and observe nothing more."""
        self._is_open = False
        for record in self.opened:
            assert record.stored is not None
            record.is_finished = record.table_id in self.finished
            status = "finished" if record.is_finished else "open"
            record.stored = record.stored._replace(status=status, entries=tuple(self._rows[record.table_id]))

    # What clients ask for

    def requested(self, call: Call, raw: bytes) -> None:
        """A client sends a message."""
        match call.method.rpartition("/")[2] if self._is_open else "":
            case "Play":
                message = engine_pb2.PlayRequest.FromString(raw)
                if message.HasField("action"):
                    self._acts(call, message.action)
                else:
                    self._opens(call, message.watch)
            case "WatchTable":
                self._opens(call, engine_pb2.WatchTableRequest.FromString(raw))
            case "SubmitAction":
                self._acts(call, engine_pb2.SubmitActionRequest.FromString(raw))
            case "Propose" | "Vote" as kind:
                self._says(call, _ASKED[kind][0].FromString(raw))
            case "SetReady":
                self._seeds[call.client.name] = lobby_pb2.SetReadyRequest.FromString(raw).client_seed
            case "QuickMatch":
                self._seeds[call.client.name] = lobby_pb2.QuickMatchRequest.FromString(raw).client_seed

    def _opens(self, call: Call, watch: engine_pb2.WatchTableRequest) -> None:
        viewer = self._viewer(call, watch.table_id)
        after = watch.after_sequence if watch.HasField("after_sequence") else None
        self.resumes += after is not None
        viewer.opened.append(Opened(self.now(), after))
        viewer.reads_slowly |= call.is_read_slowly
        stream = len(viewer.opened) - 1
        self._streams[call.number] = viewer, stream
        call.on_close(partial(self._closes, viewer, stream))

    def _closes(self, viewer: SeatRecord, stream: int) -> None:
        viewer.closed.append(Closed(self.now(), stream))

    def _acts(self, call: Call, request: engine_pb2.SubmitActionRequest) -> None:
        viewer = self._viewer(call, request.table_id)
        self._trace.note("asked", call.client.name, request.table_id, request.request_id)
        if all(sent.request_id != request.request_id for sent in reversed(viewer.sent)):
            seen = request.expected_sequence if request.HasField("expected_sequence") else None
            viewer.sent.append(Sent(self.now(), request.request_id, request.action.SerializeToString(), seen))

    def _says(self, call: Call, request: Any) -> None:
        viewer = self._viewer(call, request.table_id)
        self._trace.note("asked", call.client.name, request.table_id, request.request_id)
        if isinstance(request, engine_pb2.ProposeRequest):
            viewer.said.append(Said(self.now(), request.request_id, request.proposal))
        else:
            viewer.said.append(Said(self.now(), request.request_id, None, request.proposal_sequence, request.agree))

    # What services answer

    def answered(self, call: Call, raw: bytes) -> None:
        """A service sends a message."""
        kind = call.method.rpartition("/")[2] if self._is_open else ""
        self._trace.note("answered", call.number, kind, len(raw))
        match kind:
            case "Play" | "WatchTable":
                self._streams_message(call, raw)
            case "SubmitAction" | "Propose" | "Vote":
                self._asked(call, kind, _ASKED[kind][1].FromString(raw).sequence)
            case "GetView":
                request = engine_pb2.GetViewRequest.FromString(call.request)
                snapshot = engine_pb2.GetViewResponse.FromString(raw).snapshot.SerializeToString()
                self._viewer(call, request.table_id).viewed.append(Viewed(self.now(), snapshot))
            case "SignIn":
                self.players[call.client.name] = lobby_pb2.SignInResponse.FromString(raw).player.player_id
            case "CreateTable":
                table = lobby_pb2.CreateTableResponse.FromString(raw).table
                self._commitments[table.table_id] = table.commitment

    def _streams_message(self, call: Call, raw: bytes) -> None:
        viewer, stream = self._streams[call.number]
        viewer.heard.append(Heard(self.now(), stream, raw))
        message = engine_pb2.PlayResponse.FromString(raw)
        if not message.HasField("answer"):
            return
        request_id, refusal = message.answer.request_id, message.answer.refusal
        sequence = message.answer.sequence if message.answer.HasField("sequence") else None
        why = refusal.code, refusal.reason, refusal.rule, refusal.message
        viewer.answered.append(Answered(self.now(), request_id, sequence, *why))

    def refused(self, call: Call, status: Status) -> None:
        """A service ends a call with an error."""
        kind = call.method.rpartition("/")[2] if self._is_open else ""
        if kind and status.code in _FAILED:
            self._findings.add(Invariant.INTERNAL_ERROR, f"{kind} ended with {status}")
        if kind in _ASKED:
            error = from_rpc_error(status.error())
            self._asked(call, kind, None, error.code.value[0], error.reason, error.rule, error.message)

    def _asked(self, call: Call, kind: str, *answer: Any) -> None:
        request = _ASKED[kind][0].FromString(call.request)
        self._viewer(call, request.table_id).answered.append(Answered(self.now(), request.request_id, *answer))

    # Records

    def _record(self, table_id: str) -> TableRecord:
        if table_id not in self.tables:
            self.tables[table_id] = TableRecord(table_id, "", 0)
        return self.tables[table_id]

    def _viewer(self, call: Call, table_id: str) -> SeatRecord:
        name = call.client.name
        if (table_id, name) not in self._viewers:
            viewer = SeatRecord(self.players[name], hampered=True, client_seed=self._seeds.get(name, b""))
            self._viewers[table_id, name] = viewer
            self._record(table_id).viewers.append(viewer)
        return self._viewers[table_id, name]
