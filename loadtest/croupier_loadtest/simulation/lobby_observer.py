"""Observes the lobby: all versions of its tables, and what answers and streams show of them to players."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.duration_pb2 import Duration

from croupier_api.v1 import lobby_pb2, tables_pb2
from croupier_loadtest.judge.forming import check_repeat, check_seat, check_update
from croupier_loadtest.judge.own_tables import OwnStream, Stay, check_list, check_stream
from croupier_loadtest.judge.rematches import ShownTable, check_rematch
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import DeliveryLimit, ShownSeat
from croupier_loadtest.simulation.calls import SimulatedCall
from croupier_loadtest.simulation.database import Change
from croupier_loadtest.simulation.findings import Findings

_COLUMNS = ("table_id", "state", "host_player_id", "seed_commitment", "seats", "options", "time_control", "visibility")
_VALUES = ", ".join(f"NEW.{column}" for column in _COLUMNS)
LOBBY_TRIGGERS = f"""
CREATE TEMP TRIGGER table_added AFTER INSERT ON lobby_tables BEGIN SELECT record_change('table', {_VALUES}); END;
CREATE TEMP TRIGGER table_changed AFTER UPDATE OF version ON lobby_tables
BEGIN SELECT record_change('table', {_VALUES}); END;
"""
"""Triggers that report all versions of tables."""
FOREVER = 2**62
SHOWN_STATES: Mapping[str, tables_pb2.TableState.ValueType] = {
    "FORMING": tables_pb2.TABLE_STATE_FORMING,
    "OPENING": tables_pb2.TABLE_STATE_FORMING,
    "PLAYING": tables_pb2.TABLE_STATE_PLAYING,
    "FINISHED": tables_pb2.TABLE_STATE_FINISHED,
    "CLOSED": tables_pb2.TABLE_STATE_CLOSED,
}
"""As players see them; a table that quick match prepares is shown to nobody."""
VISIBILITIES: Mapping[str, tables_pb2.Visibility.ValueType] = {
    "public": tables_pb2.VISIBILITY_EVERYONE,
    "link": tables_pb2.VISIBILITY_LINK,
    "seated": tables_pb2.VISIBILITY_SEATED,
}
RUNNING = (tables_pb2.TABLE_STATE_FORMING, tables_pb2.TABLE_STATE_PLAYING)
MAX_DELIVERY_MILLISECONDS = 4_000
"""The time limit from the storage of a table to the streams of its players, without faults."""
TURN_MILLISECONDS = 35_000
"""The age that a turn on a stream may have: 30 s, and the time of a call to the engine."""
SEATING = frozenset({"CreateTable", "JoinTable", "Rematch", "FindMatch"})


@dataclass(frozen=True, slots=True)
class Rematch:
    """A finished table that is played again, and the answers of calls that took seats of the next one."""

    finished: tables_pb2.Table
    answers: list[ShownTable] = field(default_factory=list)


class LobbyObserver:
    """Observes the lobby; `players` are players' ids by the name of their client's process.

    `show_seat` receives the turn that a player is shown at a table.
    """

    def __init__(
        self,
        findings: Findings,
        now: Callable[[], int],
        players: Mapping[str, str],
        show_seat: Callable[[SimulatedCall, str, ShownSeat], None],
    ) -> None:
        self.rematches: dict[str, Rematch] = {}
        """By finished table."""
        self.commitments: dict[str, str] = {}
        self.is_open = True
        self.updates = 0
        self.lists = 0
        self._findings = findings
        self._now = now
        self._players = players
        self._show_seat = show_seat
        self._tables: dict[str, tables_pb2.Table] = {}
        self._stays: dict[str, dict[str, list[Stay]]] = {}
        """By player and table."""
        self._given_up: set[str] = set()
        """The players who left a table."""
        self._seating: set[str] = set()
        """The players who have asked for a seat."""
        self._created: dict[tuple[str, str], tables_pb2.Table] = {}
        self._asked: dict[int, int] = {}
        self._streams: dict[int, OwnStream] = {}
        self._faultless_from = FOREVER

    def end_faults(self) -> None:
        """Record that from now on changes are delivered in time."""
        self._faultless_from = self._now()

    # Commits

    def committed(self, changes: list[Change]) -> None:
        """Check and record the changes of a lobby's transaction."""
        for _, *values in changes if self.is_open else ():
            table = _table(dict(zip(_COLUMNS, values, strict=True)))
            before = self._tables.get(table.table_id)
            if before is not None and before.state == table.state == tables_pb2.TABLE_STATE_FORMING:
                self.updates += before.time_control != table.time_control
                self._find(check_update(before, table))
            self._tables[table.table_id] = table
            self.commitments[table.table_id] = table.seed_commitment
            self._record_seats(table)

    def _record_seats(self, table: tables_pb2.Table) -> None:
        """End the stays that are over, and begin the new ones."""
        now, table_id = self._now(), table.table_id
        is_running = table.state in RUNNING
        seats = {seat.player_id: number for number, seat in enumerate(table.seats) if seat.player_id and is_running}
        for player_id in seats.keys() | {one for one, stays in self._stays.items() if table_id in stays}:
            stays = self._stays.setdefault(player_id, {}).setdefault(table_id, [])
            seat = stays[-1].seat if stays and stays[-1].possible_until is None else None
            if seat == seats.get(player_id):
                continue
            if seat is not None:
                stays[-1] = stays[-1]._replace(certain_until=now, possible_until=now)
            if player_id in seats:
                stays.append(Stay(table_id, seats[player_id], now, now, FOREVER))
                if player_id not in self._seating:
                    detail = f"{player_id} has a seat, and has asked for none"
                    self._findings.add(Invariant.FORMING_WRONG, detail, table_id)

    def _stays_of(self, player_id: str) -> list[Stay]:
        return [stay for stays in self._stays.get(player_id, {}).values() for stay in stays]

    # Requests and answers

    def requested(self, call: SimulatedCall, raw: bytes) -> None:
        """Record a request of a player."""
        if call.name in SEATING:
            self._seating.add(self._players[call.client.name])
        elif call.name == "LeaveTable":
            self._given_up.add(self._players[call.client.name])
        elif call.name == "ListMyTables":
            self._asked[call.number] = self._now()
        elif call.name == "WatchTables" and lobby_pb2.WatchTablesRequest.FromString(raw).mine:
            self._streams[call.number] = OwnStream(self._now())
            call.on_close.append(lambda: self._end(call))

    def answered(self, call: SimulatedCall, raw: bytes) -> None:
        """Check an answer to a player, also a lost one."""
        match call.name:
            case "CreateTable":
                self._created_table(call, lobby_pb2.CreateTableResponse.FromString(raw).table)
            case "Rematch" | "JoinTable":
                # A RematchResponse parses as a JoinTableResponse.
                self._joined(call, lobby_pb2.JoinTableResponse.FromString(raw).table)
            case "ListMyTables":
                self._listed(call, lobby_pb2.ListMyTablesResponse.FromString(raw))
            case "WatchTables" if call.number in self._streams:
                self._watched(call, lobby_pb2.WatchTablesResponse.FromString(raw))

    def _created_table(self, call: SimulatedCall, table: tables_pb2.Table) -> None:
        request = lobby_pb2.CreateTableRequest.FromString(call.request)
        first = self._created.setdefault((call.client.name, request.request_id), table)
        self._find(check_repeat(first, table))

    def _joined(self, call: SimulatedCall, table: tables_pb2.Table) -> None:
        """Check the answer to a player who took a seat."""
        finished_id, player_id = table.previous_table_id, self._players[call.client.name]
        if call.name == "Rematch":
            finished_id = lobby_pb2.RematchRequest.FromString(call.request).table_id
        elif (request := lobby_pb2.JoinTableRequest.FromString(call.request)).HasField("seat"):
            self._find(check_seat(player_id, request.seat, table))
        if (rematch := self.rematches.get(finished_id)) is not None:
            rematch.answers.append(ShownTable(self._now(), player_id, table))
            self.check_rematch(rematch, rematch.answers[0].table.table_id)

    def check_rematch(self, rematch: Rematch, next_table_id: str) -> None:
        """Add a finding for each answer so far that does not show the next table of a finished one."""
        self._find(check_rematch(rematch.finished, next_table_id, rematch.answers, self._given_up))

    def _listed(self, call: SimulatedCall, page: lobby_pb2.ListMyTablesResponse) -> None:
        player_id, asked, now = self._players[call.client.name], self._asked[abs(call.number)], self._now()
        self.lists += 1
        self._find(check_list(player_id, self._stays_of(player_id), asked, now, page.tables))
        for mine in page.tables:
            self._turn(call, mine.table, mine.my_seat, asked)

    def _watched(self, call: SimulatedCall, message: lobby_pb2.WatchTablesResponse) -> None:
        stream, now = self._streams[call.number], self._now()
        stream.messages.append((now, message))
        if not message.is_list_complete:
            self._turn(call, message.table, message.my_seat, stream.opened_milliseconds)
        elif self._faultless_from < now - TURN_MILLISECONDS:
            self._turn(call, message.table, message.my_seat, now - TURN_MILLISECONDS)

    def _turn(self, call: SimulatedCall, table: tables_pb2.Table, seat: lobby_pb2.MySeat, since: int) -> None:
        if seat.HasField("is_to_act"):
            self._show_seat(call, table.table_id, ShownSeat(since, self._now(), seat.SerializeToString()))

    def _end(self, call: SimulatedCall) -> None:
        """Check a stream that has ended, or broke."""
        stream, player_id = self._streams.pop(call.number), self._players[call.client.name]
        stream.ended_milliseconds = self._now()
        if not self.is_open:
            return
        # Those of slow readers wait for them.
        since = FOREVER if call.has_slow_reader else self._faultless_from
        limit = DeliveryLimit(MAX_DELIVERY_MILLISECONDS, since)
        self._find(check_stream(player_id, self._stays_of(player_id), stream, limit))

    def _find(self, violations: Any) -> None:
        for found in violations:
            self._findings.add(found.invariant, found.detail, found.table_id)


def _table(row: Mapping[str, Any]) -> tables_pb2.Table:
    """Return the table of a row, as far as the checks need it."""
    table = tables_pb2.Table(
        table_id=row["table_id"],
        state=SHOWN_STATES.get(row["state"], tables_pb2.TABLE_STATE_UNSPECIFIED),
        host_player_id=row["host_player_id"],
        seed_commitment=row["seed_commitment"],
        seats=[
            tables_pb2.Seat(player_id=seat.get("player_id"), bot=seat.get("bot"), is_ready=seat.get("is_ready", False))
            for seat in json.loads(row["seats"])
        ],
    )
    table.options.update(json.loads(row["options"]))
    times = json.loads(row["time_control"])
    table.time_control.CopyFrom(
        tables_pb2.TimeControl(
            action_time=Duration(seconds=times["action_seconds"]),
            reserve_time=Duration(seconds=times["reserve_seconds"]),
        )
    )
    table.access.visibility = VISIBILITIES[row["visibility"]]
    return table
