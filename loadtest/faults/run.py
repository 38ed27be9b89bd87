"""A run: parties play, faults come one after the other, each is followed by the audit, and all is counted."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from croupier_client import Endpoints
from loadtest.faults.auditor import Auditor
from loadtest.faults.findings import Finding, Kind
from loadtest.faults.harm import Scene
from loadtest.faults.house import House
from loadtest.faults.inspection import Inspection
from loadtest.faults.measures import Lag, longest_pause, takeovers
from loadtest.faults.probe import CommitProbe
from loadtest.faults.scenarios import Scenario
from loadtest.faults.swarm import Manners, Swarm, until_playing
from loadtest.faults.witness import Connections, counted

GROUPS, FRAIL_GROUPS = 16, 4
"""So many that no connection carries more calls at once than a front door lets it."""
START_SECONDS = 90.0
SETTLE_SECONDS = 40.0
"""After a fault every table must go on within this time."""
END_SECONDS, SHORT_END_SECONDS = 90.0, 8.0
"""Then games may go on, but they must have gone on since the last fault."""
CALM_SECONDS = 1.5
POLL_SECONDS = 0.1
SLOW_SECONDS = 3.0
SHORT_SCALE = 0.35


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is to be; a short one is for machines that do something else beside it."""

    seed: int
    tables: int
    moves: int
    think_seconds: float
    short: bool
    door: bool = False
    """Whether all players come through the front door."""

    @property
    def scale(self) -> float:
        """What lasts a second in a full run lasts so long in this one."""
        return SHORT_SCALE if self.short else 1.0


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that was made: how long it lasted, and how long players waited because of it, in seconds."""

    name: str
    lasted_seconds: float
    pause_seconds: float
    lag_seconds: float
    """The longest time for which the harness itself did not get to its turn; of the pause, so much may be its own."""
    commit_seconds: float
    """The longest commit of the harness's own on PostgreSQL; 0 on SQLite."""
    errors: Mapping[str, int]
    """What calls and streams ended with; clients try again by themselves."""
    raised: Mapping[str, int]
    """What clients raised in the end."""
    findings: int
    door: bool
    """Whether players came through the front door."""


@dataclass(slots=True)
class Tally:
    """What was counted."""

    tables: int = 0
    finished: int = 0
    acknowledged: int = 0
    faults: list[Fault] = field(default_factory=list)
    takeovers: list[float] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


Say = Callable[[str], None]


class Run:
    """One house under load."""

    def __init__(self, house: House, auditor: Auditor, plan: Plan, tally: Tally, say: Say) -> None:
        self._house = house
        self._plan = plan
        self._tally = tally
        self._say = say
        frail_way, way = _ways(house, plan.door)
        self._frail = [Connections(frail_way) for _ in range(FRAIL_GROUPS)]
        others = [Connections(way) for _ in range(GROUPS - FRAIL_GROUPS)]
        self._swarm = Swarm(plan.seed, [*self._frail, *others], Manners(plan.think_seconds))
        self._inspection = Inspection(self._swarm, auditor)
        self._lag = Lag()
        self._probe = CommitProbe(house.databases.engine) if house.postgres else None

    async def go(self, scenarios: Sequence[Scenario], moves: int) -> None:
        """Make every fault in order, repeat kills until there were so many moves, and end all games."""
        started = time.monotonic()
        measuring = [asyncio.create_task(self._lag.measure())]
        if self._probe:
            measuring.append(asyncio.create_task(self._probe.measure()))
        self._swarm.start(self._plan.tables)
        await until_playing(self._swarm, self._plan.tables, START_SECONDS)
        self._say(f"{len(self._swarm.playing)} tables are played at")
        random = Random(self._plan.seed)
        waiting = [scenario for scenario in scenarios if not self._is_left_out(scenario)]
        kills = [scenario for scenario in scenarios if scenario.name == "engine_killed"] or list(scenarios)
        try:
            while waiting or self._acknowledged < moves:
                await self._fault(waiting.pop(0) if waiting else kills[0], random)
            await self._end()
        finally:
            await self._swarm.stop()
            for task in measuring:
                task.cancel()
            self._tally.seconds += time.monotonic() - started

    def _is_left_out(self, scenario: Scenario) -> bool:
        if scenario.name != "network_cut" or self._house.network is not None:
            return False
        self._say(f"network_cut is left out: {self._house.left_out}")
        return True

    @property
    def _acknowledged(self) -> int:
        return self._inspection.acknowledged + self._swarm.acknowledged

    async def _fault(self, scenario: Scenario, random: Random) -> None:
        await asyncio.sleep(CALM_SECONDS)
        scene = Scene(self._house, self._swarm, self._frail, random, self._plan.scale, self._plan.door)
        heads = self._heads()
        began, began_milliseconds = time.monotonic(), time.time_ns() // 1_000_000
        await scenario.do(scene)
        ended = time.monotonic()
        stuck = await self._settle(heads)
        records = list(self._swarm.records())
        if scenario.is_takeover:
            broken = {id(client): client.broken_at for client in self._swarm.clients}
            played = [record for record in records if record.table_id in heads]
            taken = takeovers(played, broken, began, began_milliseconds)
            self._tally.takeovers += [it.seconds for it in taken]
            for slow in (it for it in taken if it.seconds >= SLOW_SECONDS):
                self._say(f"    {slow.seconds:.1f} s: {slow.told}")
        errors = counted(self._swarm.errors.beneath, since=began)
        raised = counted(self._swarm.errors.raised, since=began)
        pause, lag = longest_pause(records, began), self._lag.take()
        commit = self._probe.take() if self._probe else 0.0
        findings = stuck + await self._inspection.look()
        if scenario.is_quiet:
            findings += [
                Finding(Kind.CLIENT_ERROR, "-", 0, f"{scenario.name} was seen {count} times as: {error}")
                for error, count in raised.items()
            ]
        self._tally.findings += findings
        self._tally.errors += errors
        lasted, seen = ended - began, (dict(errors), dict(raised))
        fault = Fault(scenario.name, lasted, pause, lag, commit, *seen, len(findings), self._plan.door)
        self._tally.faults.append(fault)
        self._say(_line(len(self._tally.faults), fault, self._acknowledged))
        for finding in findings[:3]:
            self._say(f"    {finding}")

    def _heads(self) -> dict[str, int]:
        return {table_id: record.last_seen for table_id, record in self._swarm.playing.items()}

    async def _settle(self, heads: Mapping[str, int]) -> list[Finding]:
        """Wait until every table has gone on or ended; gives those that have not in time."""
        deadline = time.monotonic() + SETTLE_SECONDS
        after = self._heads()
        heads = {table_id: max(head, after.get(table_id, head)) for table_id, head in heads.items()}
        while waiting := [it for it in heads if it in self._swarm.playing and not self._has_moved(it, heads[it])]:
            if time.monotonic() > deadline:
                detail = f"nothing happened for {SETTLE_SECONDS:g} s after the fault"
                return [Finding(Kind.STUCK, table_id, heads[table_id], detail) for table_id in waiting]
            await asyncio.sleep(POLL_SECONDS)
        return []

    def _has_moved(self, table_id: str, head: int) -> bool:
        return self._swarm.playing[table_id].last_seen > head

    async def _end(self) -> None:
        """Let every game be played to its end, and audit what has not been."""
        self._swarm.manners.think_seconds /= 2
        heads = self._heads()
        await self._swarm.end(SHORT_END_SECONDS if self._plan.short else END_SECONDS)
        findings = [
            Finding(Kind.STUCK, table_id, record.last_seen, "the table does not go on after the last fault")
            for table_id, record in self._swarm.playing.items()
            if record.last_seen == heads.get(table_id)
        ]
        unfinished = list(self._swarm.playing.values())
        findings += await self._inspection.finish()
        self._tally.findings += findings
        self._tally.finished += self._inspection.finished
        self._tally.tables += self._swarm.tables
        self._tally.acknowledged += self._acknowledged
        self._say(f"{len(unfinished)} games go on, all others are over; {len(findings)} findings")


def _ways(house: House, door: bool) -> tuple[Endpoints, Endpoints]:
    """The way through the proxy, and the way past it."""
    if door:
        return house.at_door_through_proxy(), house.at_door()
    return house.through_proxy(), house.direct()


def _line(number: int, fault: Fault, acknowledged: int) -> str:
    errors = ", ".join(f"{count} {error}" for error, count in Counter(fault.errors).most_common(2))
    own = f"lag {fault.lag_seconds:.1f}, own commit {fault.commit_seconds:.1f}"
    waits = f"{fault.lasted_seconds:5.1f} s, pause {fault.pause_seconds:4.1f} s ({own})"
    return f"{number:3}. {fault.name:30} {waits}, {acknowledged} moves, {fault.findings} findings; {errors}"
