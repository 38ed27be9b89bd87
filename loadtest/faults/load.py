"""The load of a fault run: the players of the load tests, some of them behind the proxy.

This module alone knows the load process.
"""

import asyncio
from collections.abc import Sequence
from copy import copy
from functools import partial
from random import Random
from typing import Self

from croupier_client import CroupierError, Endpoints
from croupier_client.table import new_request_id
from loadtest.faults.deployment import Deployment
from loadtest.faults.reading import add_rows
from loadtest.judge.violations import Invariant
from loadtest.measures import Measures
from loadtest.mix import KINDS
from loadtest.players.cheats import Attempt
from loadtest.players.client import Connections, PlayerClient
from loadtest.players.counting import is_failure
from loadtest.players.recorder import Recorder
from loadtest.players.table import Seat, Sleep
from loadtest.players.world import Manners
from loadtest.process.judging import Judging
from loadtest.process.load import Load
from loadtest.record import Noted, SeatRecord, TableRecord
from loadtest.scenarios import Kind, Limits, Manner, Scenario, Thinking

PROXIED = "proxied"
"""Names of players who connect through the proxy begin so."""
PROXIED_SHARE, SPECTATOR_SHARE = 0.25, 0.1
CONNECTIONS, PROXIED_CONNECTIONS, PAIR_CONNECTIONS = 12, 4, 4
"""To each service; so many that no connection carries more streams than a gateway accepts."""
ACTS_MILLISECONDS = 20_000
"""Every player acts within this time, on a busy machine and while calls are retried too."""
SILENCE_SECONDS = 60.0
"""A stream may be silent for so long while services are away."""
JUDGE_NICENESS = 5
JUDGE_SECONDS = 600.0


def _scenario(tables: int, think_seconds: float) -> Scenario:
    return Scenario(
        name="faults",
        meaning="people play on while services, databases and networks fail",
        tables=tables,
        seconds=0,
        crowd={},
        manners={Manner.STEADY: 74, Manner.FLAKY: 8, Manner.DUPLICATE: 10, Manner.LATE: 6, Manner.LEAVER: 2},
        thinking=Thinking(median_seconds=think_seconds, most_seconds=2.5),
        limits=Limits(p99_milliseconds=0, failed_share=1),
    )


class FaultLoad:
    """All players of a run, and the judge of their tables."""

    def __init__(self, deployment: Deployment, seed: int, tables: int, think_seconds: float, *, gateway: bool) -> None:
        games, scenario = tuple(KINDS.values()), _scenario(tables, think_seconds)
        manners, self.measures = Manners(scenario, games, seed, silence_seconds=SILENCE_SECONDS), Measures()
        complete, random = partial(add_rows, deployment.databases), Random(f"{seed} judging")
        self._judging = Judging(self.measures, 1, random, complete, JUDGE_NICENESS)
        self._load = Load(manners, self._new_client, self._judging.take, self.measures)
        self._direct = Connections(deployment.endpoints(gateway=gateway), CONNECTIONS)
        self._proxied = Connections(deployment.endpoints(gateway=gateway, through_proxy=True), PROXIED_CONNECTIONS)
        self._proxied_clients: list[PlayerClient] = []
        self.pair: tuple[Connections, ...] = ()
        """Where every action is sent at the same moment; empty for the stream alone."""

    def start(self) -> None:
        """Let all players begin."""
        tables = self._load.manners.scenario.tables
        for number in range(tables):
            prefix = PROXIED if number < tables * PROXIED_SHARE else "direct"
            self._load.start(f"{prefix} party {number}", Kind.PARTY)
        for number in range(round(tables * SPECTATOR_SHARE)):
            self._load.start(f"spectator {number}", Kind.SPECTATOR)

    def running(self) -> list[TableRecord]:
        """The records of the tables that somebody follows; they grow as long as that is so."""
        return self._load.tables.running()

    def _new_client(self, name: str, measures: Measures, sleep: Sleep) -> PlayerClient:
        is_proxied, manners = name.startswith(PROXIED), self._load.manners
        connections, secret = self._proxied if is_proxied else self._direct, f"fault run {manners.seed} {name}"
        client = _Client(connections, secret, name, measures, sleep)
        client.load = self
        if is_proxied:
            self._proxied_clients.append(client)
        return client

    def hamper_proxied(self) -> None:
        """Mark the players behind the proxy: the run itself may keep them from acting in time."""
        hampered = {client.player.player_id for client in self._proxied_clients if client.player is not None}
        for record in self.running():
            for viewer in record.viewers:
                viewer.hampered = viewer.hampered or viewer.player_id in hampered

    def send_twice(self, endpoints: Sequence[Endpoints]) -> None:
        """From now on send every action to each of these at the same moment, under one request id."""
        self.pair = tuple(Connections(each, PAIR_CONNECTIONS) for each in endpoints)

    async def send_once(self) -> None:
        """Send actions by the player's own stream again."""
        pair, self.pair = self.pair, ()
        # What is under way gets its answer first.
        await asyncio.sleep(1)
        for connections in pair:
            await connections.close()

    async def check_acknowledged(self) -> None:
        """Have the judge compare what was acknowledged at running tables with what is stored."""
        for record in self.running():
            await self._judging.take(_acknowledged(record))

    async def end(self, grace_seconds: float) -> None:
        """Let games be played to their ends for so long, and wait until the judge has gone through everything."""
        await self._load.drain(grace_seconds)
        await self._judging.finish(JUDGE_SECONDS)

    async def close(self) -> None:
        """End the players, all connections and the judge's process."""
        await self._load.drain(0)
        self._judging.close()
        await self._direct.close()
        await self._proxied.close()


def _acknowledged(record: TableRecord) -> TableRecord:
    """What was acknowledged so far at a table, and nothing else."""
    viewers = []
    for viewer in record.viewers:
        answered = [answer for answer in viewer.answered if answer.sequence is not None]
        accepted = {answer.request_id for answer in answered}
        sent = [one for one in viewer.sent if one.request_id in accepted]
        viewers.append(SeatRecord(viewer.player_id, viewer.seat, viewer.manner, sent=sent, answered=answered))
    return TableRecord(record.table_id, record.game, record.seats, viewers=viewers)


class _Client(PlayerClient):
    """A player's client whose actions may be sent to two engines at once."""

    load: FaultLoad

    def seat(self, table_id: str, record: SeatRecord) -> Seat:
        """The stream of a player at a table."""
        record.thinks_milliseconds = ACTS_MILLISECONDS
        return _Seat(self, table_id, Recorder(record, self._measures), self._sleep)

    def over(self, connections: Connections) -> Self:
        """The same player over other connections."""
        other = copy(self)
        other._channels_shared = connections.share()
        return other


class _Seat(Seat):
    """A table whose actions may be sent to two engines at once."""

    _client: _Client

    async def attempt(self, attempt: Attempt, *, request_id: str = "", by_call: bool = False) -> int:
        """Send an action; returns its sequence, raises CroupierError."""
        pair = self._client.load.pair
        if not pair or by_call:
            return await super().attempt(attempt, request_id=request_id, by_call=by_call)
        return await self._attempt_twice(pair, attempt, new_request_id())

    async def _attempt_twice(self, pair: Sequence[Connections], attempt: Attempt, request_id: str) -> int:
        # Counted once, recorded twice.
        record = self._recorder.record
        recorders = (self._recorder, *(Recorder(record, Measures()) for _ in pair[1:]))
        calls = [
            recorder.calls(self._client.over(connections), self.table_id, attempt, request_id)
            for recorder, connections in zip(recorders, pair, strict=True)
        ]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        accepted = [answer for answer in answers if isinstance(answer, int)]
        for error in (answer for answer in answers if isinstance(answer, BaseException)):
            if not isinstance(error, CroupierError) or not accepted:
                raise error
            if not is_failure(error):
                detail = f"one engine accepted what another refused: {error}"
                record.noted.append(Noted(Invariant.REPEAT_DIFFERS, accepted[0], detail))
        await self.changed(after=max(accepted) - 1)
        return accepted[0]
