"""Writes the record of each table, from all messages between clients and services and all commits of the engines."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import grpc

from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_client import CroupierError, from_rpc_error, from_status
from croupier_loadtest import record as records
from croupier_loadtest.judge.rows import archived_body, archived_entries
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.simulation.calls import SimulatedCall, Status
from croupier_loadtest.simulation.database import Change
from croupier_loadtest.simulation.findings import Findings
from croupier_loadtest.simulation.lobby_observer import LobbyObserver
from croupier_loadtest.simulation.plan import SimulationPlan
from croupier_loadtest.simulation.trace import Trace

ENGINE_TRIGGERS = """
CREATE TEMP TRIGGER opened AFTER UPDATE OF status ON tables WHEN OLD.status = 'prepared' AND NEW.status = 'open'
BEGIN SELECT record_change('opened', NEW.table_id, NEW.game, NEW.rules_version, NEW.config, NEW.seed); END;
CREATE TEMP TRIGGER finished AFTER UPDATE OF status ON tables WHEN NEW.status = 'finished'
BEGIN SELECT record_change('finished', NEW.table_id); END;
CREATE TEMP TRIGGER appended AFTER INSERT ON entries
BEGIN SELECT record_change('appended', NEW.table_id, NEW.sequence, NEW.at, NEW.deadline, NEW.body); END;
CREATE TEMP TRIGGER changed AFTER UPDATE ON entries
BEGIN SELECT record_change('changed', NEW.table_id, NEW.sequence); END;
CREATE TEMP TRIGGER removed AFTER DELETE ON entries
BEGIN SELECT record_change('removed', OLD.table_id, OLD.sequence); END;
CREATE TEMP TRIGGER archived AFTER INSERT ON archive BEGIN SELECT record_change('archived', NEW.table_id, NEW.log); END;
"""
"""Triggers that report all changes of logs."""
_UNARY_CALLS: Mapping[str, tuple[Any, Any]] = {
    "SubmitAction": (engine_pb2.SubmitActionRequest, engine_pb2.SubmitActionResponse),
    "CreateProposal": (engine_pb2.CreateProposalRequest, engine_pb2.CreateProposalResponse),
    "CastVote": (engine_pb2.CastVoteRequest, engine_pb2.CastVoteResponse),
    "SetAway": (engine_pb2.SetAwayRequest, engine_pb2.SetAwayResponse),
}
"""The messages of players' unary calls."""
THINKS_MILLISECONDS = 20_000
"""Steady players act within this time, also while their connections break."""
_FAILED = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN})


class Observer:
    """Observes all messages when they are sent, and all commits; `tables` are the records so far.

    Unless they are steady, all players of a simulation are impaired, since they are late, absent and disconnected on
    purpose.
    """

    def __init__(self, findings: Findings, now: Callable[[], int], trace: Trace, plan: SimulationPlan) -> None:
        self._plan = plan
        self.tables: dict[str, records.TableRecord] = {}
        self.finished: set[str] = set()
        self.archived: set[str] = set()
        self.players: dict[str, str] = {}
        """Players' ids by the name of their client's process."""
        self.lobby = LobbyObserver(findings, now, self.players, self._seat_shown)
        self.resumes = 0
        self._is_open = True
        self.now = now
        self._rows: dict[str, list[records.StoredEntry]] = {}
        self._viewers: dict[tuple[str, str], records.SeatRecord] = {}
        self._streams: dict[int, tuple[records.SeatRecord, int]] = {}
        self._seeds: dict[str, bytes] = {}
        self._findings = findings
        self._trace = trace

    @property
    def opened(self) -> list[records.TableRecord]:
        """The records of tables that were opened."""
        return [record for record in self.tables.values() if record.stored is not None]

    # Commits

    def committed(self, changes: list[Change]) -> None:
        """Record the changes of an engine's transaction."""
        for kind, table_id, *values in changes if self._is_open else ():
            if kind == "opened":
                self._opened(table_id, *values)
            elif kind == "appended":
                self._trace.write("appended", table_id, *values)
                sequence, at, deadline, body = values
                self._rows[table_id].append(records.StoredEntry(sequence, at, deadline, body, self.now()))
            elif kind == "finished":
                self.finished.add(table_id)
            elif kind == "archived":
                self._archived(table_id, *values)
            elif kind == "changed" or table_id not in self.archived:
                self._findings.add(Invariant.LOG_BROKEN, f"a stored entry was {kind}", table_id, *values)

    def _opened(self, table_id: str, game: str, rules_version: int, config: str, seed: bytes) -> None:
        self._trace.write("opened", table_id, game)
        record = self._record(table_id)
        if record.stored is not None:
            self._findings.add(Invariant.LOG_BROKEN, "the table was opened twice", table_id)
        record.game, record.seats = game, json.loads(config)["seat_count"]
        record.commitment = self.lobby.commitments.get(table_id, "")
        self._rows[table_id] = []
        record.stored = records.StoredTable("open", game, rules_version, config, seed, ())

    def _archived(self, table_id: str, log: bytes) -> None:
        self._trace.write("archived", table_id)
        stored = [(*row[:3], archived_body(json.loads(row.body))) for row in self._rows[table_id]]
        if [(*entry[:3], json.loads(entry.body)) for entry in archived_entries(log)] != stored:
            self._findings.add(Invariant.LOG_BROKEN, "the archive does not hold the whole log", table_id)
        self.archived.add(table_id)

    def close(self) -> None:
        """End the observation, and add the rows to the records."""
        self._is_open = self.lobby.is_open = False
        for record in self.opened:
            assert record.stored is not None
            record.is_finished = record.table_id in self.finished
            status = "finished" if record.is_finished else "open"
            record.stored = record.stored._replace(status=status, entries=tuple(self._rows[record.table_id]))

    # Requests

    def requested(self, call: SimulatedCall, raw: bytes) -> None:
        """Record a message of a client."""
        if self._is_open:
            self.lobby.requested(call, raw)
        match call.name if self._is_open else "":
            case "PlayTable":
                message = engine_pb2.PlayTableRequest.FromString(raw)
                if message.HasField("action"):
                    self._request_sent(call, message.action)
                else:
                    self._stream_opened(call, message.watch)
            case "WatchTable":
                self._stream_opened(call, engine_pb2.WatchTableRequest.FromString(raw))
            case kind if kind in _UNARY_CALLS:
                self._request_sent(call, _UNARY_CALLS[kind][0].FromString(raw))
            case "SetReady":
                self._seeds[call.client.name] = lobby_pb2.SetReadyRequest.FromString(raw).client_seed
            case "FindMatch":
                self._seeds[call.client.name] = lobby_pb2.FindMatchRequest.FromString(raw).client_seed

    def _stream_opened(self, call: SimulatedCall, watch: engine_pb2.WatchTableRequest) -> None:
        viewer = self._viewer(call, watch.table_id)
        after = watch.after_sequence if watch.HasField("after_sequence") else None
        self.resumes += after is not None
        viewer.opened.append(records.Opened(self.now(), after))
        viewer.reads_slowly |= call.has_slow_reader
        stream = len(viewer.opened) - 1
        self._streams[call.number] = viewer, stream
        call.on_close.append(lambda: viewer.closed.append(records.Closed(self.now(), stream)))

    def _request_sent(self, call: SimulatedCall, request: Any) -> None:
        viewer, now, request_id = self._viewer(call, request.table_id), self.now(), request.request_id
        self._trace.write("requested", call.client.name, request.table_id, request_id)
        if (body := _body_of(request)) is not None:
            viewer.sent_requests.append(records.SentRequest(now, request_id, body))
        elif all(sent.request_id != request_id for sent in reversed(viewer.sent)):
            expected = request.expected_sequence if request.HasField("expected_sequence") else None
            viewer.sent.append(records.Sent(now, request_id, request.action.SerializeToString(), expected))

    # Answers

    def answered(self, call: SimulatedCall, raw: bytes) -> None:
        """Record a message of a service."""
        kind = call.name if self._is_open else ""
        self._trace.write("answered", call.number, kind, len(raw))
        if kind:
            self.lobby.answered(call, raw)
        match kind:
            case "PlayTable" | "WatchTable":
                self._stream_message(call, raw)
            case _ if kind in _UNARY_CALLS:
                self._unary_answer(call, kind, _UNARY_CALLS[kind][1].FromString(raw).sequence)
            case "GetView":
                request = engine_pb2.GetViewRequest.FromString(call.request)
                snapshot = engine_pb2.GetViewResponse.FromString(raw).snapshot.SerializeToString()
                self._viewer(call, request.table_id).viewed.append(records.Viewed(self.now(), snapshot))
            case "SignIn":
                self.players[call.client.name] = lobby_pb2.SignInResponse.FromString(raw).player.player_id

    def _stream_message(self, call: SimulatedCall, raw: bytes) -> None:
        viewer, stream = self._streams[call.number]
        viewer.received.append(records.Received(self.now(), stream, raw))
        message = engine_pb2.PlayTableResponse.FromString(raw)
        answer = message.answer
        if answer.HasField("sequence"):
            viewer.answered.append(records.Answered(self.now(), answer.request_id, answer.sequence))
        elif message.HasField("answer"):
            viewer.answered.append(
                records.Answered(self.now(), answer.request_id, None, *_refusal(from_status(answer.refusal)))
            )

    def refused(self, call: SimulatedCall, status: Status) -> None:
        """Record the error of a call."""
        kind = call.name if self._is_open else ""
        if kind and status.code in _FAILED:
            self._findings.add(Invariant.INTERNAL_ERROR, f"{kind} ended with {status}")
        if kind in _UNARY_CALLS:
            self._unary_answer(call, kind, None, *_refusal(from_rpc_error(status.error())))

    def _unary_answer(self, call: SimulatedCall, kind: str, *answer: Any) -> None:
        request = _UNARY_CALLS[kind][0].FromString(call.request)
        self._viewer(call, request.table_id).answered.append(records.Answered(self.now(), request.request_id, *answer))

    # Records

    def _seat_shown(self, call: SimulatedCall, table_id: str, shown: records.ShownSeat) -> None:
        self._viewer(call, table_id).shown_seats.append(shown)

    def _record(self, table_id: str) -> records.TableRecord:
        if table_id not in self.tables:
            entries, milliseconds = self._plan.max_table_entries, self._plan.abandoned_seconds * 1000
            record = records.TableRecord(table_id, "", 0, max_entries=entries, abandoned_milliseconds=milliseconds)
            self.tables[table_id] = record
        return self.tables[table_id]

    def _viewer(self, call: SimulatedCall, table_id: str) -> records.SeatRecord:
        name = call.client.name
        if (table_id, name) not in self._viewers:
            viewer = records.SeatRecord(self.players[name], client_seed=self._seeds.get(name, b""))
            viewer.impaired = not self._plan.are_players_steady
            viewer.thinks_milliseconds = None if viewer.impaired else THINKS_MILLISECONDS
            self._viewers[table_id, name] = viewer
            self._record(table_id).viewers.append(viewer)
        return self._viewers[table_id, name]


def _body_of(request: Any) -> tuple[str | int, ...] | None:
    """Return what a request asks for, as the log has it; None for an action."""
    match request:
        case engine_pb2.CreateProposalRequest():
            return "propose", request.proposal
        case engine_pb2.CastVoteRequest():
            return "vote", request.proposal_sequence, request.vote == engine_pb2.VOTE_AGREE
        case engine_pb2.SetAwayRequest():
            return "away", request.is_away
    return None


def _refusal(error: CroupierError) -> tuple[int, ErrorReason.ValueType, str, str]:
    """Return the code, reason, rule and message of a refusal."""
    code: int = error.code.value[0]
    return code, error.reason, error.rule, error.message
