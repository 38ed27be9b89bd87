"""The load of a fault run: the players of the load tests, some of them through the proxy."""

import asyncio
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Self

from croupier_client import CroupierError, Endpoints, new_request_id
from croupier_client.sockets import GRPC
from croupier_loadtest.faults.deployment import Deployment
from croupier_loadtest.faults.rows import add_rows
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.measures import Measures
from croupier_loadtest.mix import MixEntry
from croupier_loadtest.players.adversaries import Attempt
from croupier_loadtest.players.client import Connections, PlayerClient
from croupier_loadtest.players.counting import is_failure
from croupier_loadtest.players.recorder import Recorder, wall_milliseconds
from croupier_loadtest.players.table import RecordedTable, Sleep
from croupier_loadtest.players.user_context import LoadSettings
from croupier_loadtest.process.judge_queue import JudgeQueue
from croupier_loadtest.process.load import Load
from croupier_loadtest.process.standings import offered_games
from croupier_loadtest.record import Outage, ReportedViolation, SeatRecord, TableRecord
from croupier_loadtest.scenarios import Limits, Scenario, ThinkTime, UserKind, read_behaviours

PROXIED = "proxied"
"""The name prefix of players who connect through the proxy."""
PROXIED_SHARE, SPECTATOR_SHARE = 0.25, 0.1
CONNECTIONS, PROXIED_CONNECTIONS, PAIR_CONNECTIONS = 12, 4, 4
"""Connections to each service; enough that none has more streams than a gateway accepts."""
SILENCE_SECONDS = 60.0
"""The maximum silence of a stream while services are down."""
JUDGE_NICENESS = 5
JUDGE_SECONDS = 600.0
SHORT_SCALE = 0.35


SCENARIO = Scenario(
    name="faults",
    description="people play while services, databases and networks fail",
    tables=0,
    seconds=0,
    users_per_table={},
    behaviours=read_behaviours("steady=70,flaky=8,duplicate=10,late=6,away=4,leaver=2"),
    think_time=ThinkTime(max_seconds=2.5),
    limits=Limits(p99_milliseconds=0, failed_share=1),
)
"""Without the number of tables and the median of think times, which are those of the run."""


@dataclass(frozen=True, slots=True)
class FaultRunPlan:
    """The plan of a run; in a short one, faults last less long."""

    seed: int
    tables: int
    think_seconds: float
    short: bool
    games: tuple[MixEntry, ...]
    gateway: bool = False
    """Whether all players connect to the gateway."""
    transport: str = GRPC
    """The transport of players' tables."""

    @property
    def scale(self) -> float:
        """The factor of durations, 1 in a full run."""
        return SHORT_SCALE if self.short else 1.0


class FaultLoad:
    """All players of a fault run, and the judge of their tables."""

    def __init__(self, deployment: Deployment, plan: FaultRunPlan) -> None:
        think_time = replace(SCENARIO.think_time, median_seconds=plan.think_seconds)
        scenario, self.measures = replace(SCENARIO, tables=plan.tables, think_time=think_time), Measures()
        settings = LoadSettings(scenario, plan.games, plan.seed, silence_seconds=SILENCE_SECONDS)
        complete, random = partial(add_rows, deployment.databases), Random(f"{plan.seed} judging")
        self._judge_queue = JudgeQueue(self.measures, 1, random, complete, JUDGE_NICENESS)
        self._load = Load(settings, self._new_client, self._submit, self.measures)
        self._interruptions: list[Outage] = []
        self._interrupted_since: int | None = None
        direct = deployment.endpoints(gateway=plan.gateway)
        proxied = deployment.endpoints(gateway=plan.gateway, through_proxy=True)
        self._direct = Connections(direct, CONNECTIONS, plan.transport)
        self._proxied = Connections(proxied, PROXIED_CONNECTIONS, plan.transport)
        self._proxied_clients: list[PlayerClient] = []
        self.pair: tuple[Connections, ...] = ()
        """The connections by which every action is sent at once; empty for the player's stream alone."""
        self._pairs: list[Connections] = []

    async def start(self) -> None:
        """Start all players; raises UnfitServices."""
        client = self._load.new_context().guest("check")
        self._load.begin(await offered_games(client, self._load.settings.games))
        tables = self._load.settings.scenario.tables
        for number in range(tables):
            prefix = PROXIED if number < tables * PROXIED_SHARE else "direct"
            self._load.start(f"{prefix} group {number}", UserKind.GROUP)
        for number in range(round(tables * SPECTATOR_SHARE)):
            self._load.start(f"spectator {number}", UserKind.SPECTATOR)

    async def _submit(self, record: TableRecord) -> None:
        """Queue the record of a table for the judge, with the interruptions until now."""
        under_way = self._interrupted_since
        current = () if under_way is None else (Outage(under_way, wall_milliseconds()),)
        record.interruptions = (*self._interruptions, *current)
        await self._judge_queue.add(record)

    def begin_interruption(self) -> None:
        """Record that the run begins to keep services or databases from answering."""
        self._interrupted_since = wall_milliseconds()

    def end_interruption(self) -> None:
        """Record that all tables go on, or have had their time for it."""
        if self._interrupted_since is not None:
            self._interruptions.append(Outage(self._interrupted_since, wall_milliseconds()))
            self._interrupted_since = None

    def running(self) -> list[TableRecord]:
        """Return the records of all tables that have viewers; they still grow."""
        return self._load.tables.running()

    def _new_client(self, name: str, measures: Measures, sleep: Sleep) -> PlayerClient:
        is_proxied, settings = name.startswith(PROXIED), self._load.settings
        connections, secret = self._proxied if is_proxied else self._direct, f"fault run {settings.seed} {name}"
        client = _Client(connections, secret, name, measures, sleep)
        client.load = self
        if is_proxied:
            self._proxied_clients.append(client)
        return client

    def mark_impaired(self) -> None:
        """Mark the players behind the proxy as impaired: the run may keep them from acting in time."""
        impaired = {client.player.player_id for client in self._proxied_clients if client.player is not None}
        for record in self.running():
            for viewer in record.viewers:
                viewer.impaired = viewer.impaired or viewer.player_id in impaired

    def send_twice(self, endpoints: Sequence[Endpoints]) -> None:
        """Send every action to all of these endpoints at once from now on, under one request id."""
        self.pair = tuple(Connections(each, PAIR_CONNECTIONS) for each in endpoints)
        self._pairs += self.pair

    def send_once(self) -> None:
        """Send actions on the player's own stream again; calls under way get their answers."""
        self.pair = ()

    async def check_acknowledged(self) -> None:
        """Let the judge compare the acknowledged actions of running tables with the rows."""
        for record in self.running():
            await self._judge_queue.add(_acknowledged(record))

    async def end(self, grace_seconds: float) -> None:
        """Drain the load, and wait until the judge has finished its queue."""
        await self._load.drain(grace_seconds)
        await self._judge_queue.finish(JUDGE_SECONDS)

    async def close(self) -> None:
        """End the players, all connections and the judge's process."""
        await self._load.drain(0)
        self._judge_queue.close()
        # Calls of players end with their connections, so these are closed after the last player only.
        for connections in (self._direct, self._proxied, *self._pairs):
            await connections.close()


def _acknowledged(record: TableRecord) -> TableRecord:
    """Return a record of the acknowledged actions of a table alone."""
    viewers = []
    for viewer in record.viewers:
        answered = [answer for answer in viewer.answered if answer.sequence is not None]
        accepted = {answer.request_id for answer in answered}
        sent = [one for one in viewer.sent if one.request_id in accepted]
        viewers.append(SeatRecord(viewer.player_id, viewer.seat, viewer.behaviour, sent=sent, answered=answered))
    return TableRecord(record.table_id, record.game, record.seats, described=record.described, viewers=viewers)


class _Client(PlayerClient):
    """A player's client whose actions may be sent to two engines at once."""

    load: FaultLoad

    def recorded_table(self, table_id: str, record: SeatRecord) -> RecordedTable:
        """Return a player's stream at a table."""
        return _DuplicatingTable(self, table_id, Recorder(record, self._measures), self._sleep)

    def over(self, connections: Connections) -> Self:
        """Return the same player over other connections."""
        other = copy(self)
        other._channels_shared = connections.share()
        return other


class _DuplicatingTable(RecordedTable):
    """A table whose actions may be sent to two engines at once."""

    _client: _Client

    async def attempt(self, attempt: Attempt, *, request_id: str = "", by_call: bool = False) -> int:
        """Send an action; returns its sequence, raises CroupierError."""
        pair = self._client.load.pair
        if not pair or by_call:
            return await super().attempt(attempt, request_id=request_id, by_call=by_call)
        return await self._attempt_twice(pair, attempt, new_request_id())

    async def _attempt_twice(self, pair: Sequence[Connections], attempt: Attempt, request_id: str) -> int:
        # Measured once, recorded twice.
        record = self._recorder.record
        recorders = (self._recorder, *(Recorder(record, Measures()) for _ in pair[1:]))
        calls = [
            recorder.call(self._client.over(connections), self.table_id, attempt, request_id)
            for recorder, connections in zip(recorders, pair, strict=True)
        ]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        accepted = [answer for answer in answers if isinstance(answer, int)]
        for error in (answer for answer in answers if isinstance(answer, BaseException)):
            if not isinstance(error, CroupierError) or not accepted:
                raise error
            if not is_failure(error):
                detail = f"one engine accepted what another refused: {error}"
                record.reported.append(ReportedViolation(Invariant.REPEAT_DIFFERS, accepted[0], detail))
        await self.wait_for_change(after=max(accepted) - 1)
        return accepted[0]
