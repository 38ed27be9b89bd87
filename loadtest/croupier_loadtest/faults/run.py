"""A fault run: groups play, one fault follows another, and every table is judged."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from croupier_loadtest.faults.deployment import Deployment
from croupier_loadtest.faults.load import FaultLoad, FaultRunPlan
from croupier_loadtest.faults.measures import EventLoopLag, PauseWatch, Takeover, last_action, longest_pause, takeovers
from croupier_loadtest.faults.scenarios import FaultContext, FaultScenario
from croupier_loadtest.judge.violations import Invariant, Violation
from croupier_loadtest.measures import RULES_NOT_JUDGED
from croupier_loadtest.players.counting import is_retried
from croupier_loadtest.players.leaving import INTERRUPTED
from croupier_loadtest.players.seat_player import ABANDONING, FOLLOWING
from croupier_loadtest.record import TableRecord

START_SECONDS = 90.0
RECOVERY_SECONDS = 60.0
"""After a fault every table must have another action within this time, also on a busy machine."""
END_SECONDS, SHORT_END_SECONDS = 90.0, 8.0
"""The grace period for running games at the end."""
PAUSE_SECONDS = 1.5
POLL_SECONDS = 0.1
MAX_TAKEOVER_SECONDS = 3.0
LOST_REACTION = "reacting: UNAVAILABLE"
"""A client does not repeat a call that is not idempotent, if its connection is lost before the answer."""
MAX_PRINTED = 3
DEFECTS = ("load test", "judging")
"""The prefixes of failures of the harness itself."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An injected fault, with its duration and the longest wait of players, in seconds."""

    name: str
    gateway: bool
    lasted_seconds: float
    pause_seconds: float
    lag_seconds: float
    """The longest lag of the harness itself, which the pause may include."""
    errors: Mapping[str, int]
    """Failures of single calls and streams, which clients retry by themselves."""
    raised: Mapping[str, int]
    """Errors that clients raised after their retries."""
    violations: int
    """The number of violations since the last fault."""


@dataclass(slots=True)
class RunTotals:
    """The totals of a run."""

    tables: int = 0
    finished: int = 0
    verified: int = 0
    acknowledged: int = 0
    unjudged: set[str] = field(default_factory=set)
    """Games whose rules were not judged."""
    faults: list[Fault] = field(default_factory=list)
    takeovers: list[Takeover] = field(default_factory=list)
    violations: dict[tuple[Invariant, str, int], Violation] = field(default_factory=dict)
    """Each once, since a running table is judged after every fault."""
    defects: list[str] = field(default_factory=list)
    """Failures of the harness itself."""
    seconds: float = 0.0

    def add(self, batch: Mapping[str, Any]) -> list[Violation]:
        """Add a batch of measures; returns the new violations in it."""
        counts: Mapping[str, int] = batch["counts"]
        self.tables += counts.get("tables opened", 0)
        self.finished += counts.get("tables finished", 0)
        self.verified += counts.get("tables verified", 0)
        self.acknowledged += counts.get("actions", 0)
        self.unjudged |= {name.removeprefix(RULES_NOT_JUDGED) for name in counts if name.startswith(RULES_NOT_JUDGED)}
        # Games that end with the run are judged by their rows.
        failures = {name: failed for name, failed in batch["failures"].items() if name != INTERRUPTED}
        self.defects += [f"{name}: {first}" for name, (_, first) in failures.items() if name.startswith(DEFECTS)]
        left = [
            Violation(Invariant.CLIENT_ERROR, "", 0, f"players left their tables {count} times after {name}: {first}")
            for name, (count, first) in failures.items()
            if name.startswith((FOLLOWING, ABANDONING))
        ]
        judged = (
            Violation(Invariant(one["invariant"]), one["table_id"], one["sequence"], one["detail"])
            for one in batch["violations"]
        )
        return self.add_violations((*left, *judged))

    def add_violations(self, violations: Iterable[Violation]) -> list[Violation]:
        """Add violations; returns the new ones."""
        by_place = {(one.invariant, one.table_id, one.sequence): one for one in violations}
        new = {place: one for place, one in by_place.items() if place not in self.violations}
        self.violations |= new
        return list(new.values())


Print = Callable[[str], None]


class FaultRun:
    """One deployment under load, with its faults."""

    def __init__(self, deployment: Deployment, plan: FaultRunPlan, totals: RunTotals, print_line: Print) -> None:
        self._deployment = deployment
        self._plan = plan
        self._totals = totals
        self._print = print_line
        self._load = FaultLoad(deployment, plan)
        self._lag = EventLoopLag()
        self._pauses = PauseWatch(self._load.running, print_line)

    async def run(self, scenarios: Sequence[FaultScenario]) -> None:
        """Inject every fault in order, and end all games."""
        started = time.monotonic()
        watching = [asyncio.create_task(work) for work in (self._lag.measure(), self._pauses.run())]
        random = Random(self._plan.seed)
        try:
            await self._load.start()
            until = started + START_SECONDS
            while len(self._playing()) < self._plan.tables and time.monotonic() < until:  # noqa: ASYNC110
                await asyncio.sleep(POLL_SECONDS)
            self._print(f"{len(self._playing())} tables are running")
            for scenario in scenarios:
                if scenario.name == "network_cut" and self._deployment.network is None:
                    self._print(f"network_cut is skipped: {self._deployment.network_error}")
                else:
                    await self._fault(scenario, random)
            await self._load.end(SHORT_END_SECONDS if self._plan.short else END_SECONDS)
            new = self._totals.add(self._load.measures.take())
            self._print(f"all games are over or abandoned; {len(new)} violations since the last fault")
        finally:
            for task in watching:
                task.cancel()
            await self._load.close()
            self._totals.seconds += time.monotonic() - started

    def _playing(self) -> dict[str, TableRecord]:
        """Return the tables that are being played, and at which a player of this process has a seat."""
        return {
            record.table_id: record
            for record in self._load.running()
            if not record.is_finished and any(viewer.seat is not None for viewer in record.viewers)
        }

    async def _fault(self, scenario: FaultScenario, random: Random) -> None:
        await asyncio.sleep(PAUSE_SECONDS * self._plan.scale)
        await self._deployment.wait_until_running()
        new = self._totals.add(self._load.measures.take())
        context = FaultContext(self._deployment, self._load, random, self._plan.scale, self._plan.gateway)
        played = self._playing()
        heads = _heads(played)
        began, began_milliseconds = time.monotonic(), time.time_ns() // 1_000_000
        if scenario.impairs:
            self._load.mark_impaired()
        if scenario.interrupts:
            self._load.begin_interruption()
        await scenario.inject(context)
        lasted = time.monotonic() - began
        new += self._totals.add_violations(await self._wait_until_recovered(heads))
        await self._deployment.wait_until_running()
        self._load.end_interruption()
        if scenario.impairs:
            self._load.mark_impaired()
        measured = takeovers(played.values(), began_milliseconds) if scenario.is_takeover else []
        self._totals.takeovers += measured
        pause = longest_pause((played | self._playing()).values(), began_milliseconds)
        self._add_fault(scenario, lasted, pause, new)
        for slow in [one for one in measured if one.seconds >= MAX_TAKEOVER_SECONDS][:MAX_PRINTED]:
            self._print(f"    a takeover of {slow.seconds:.2f} s: {slow.steps}")
        await self._load.check_acknowledged()

    def _add_fault(self, scenario: FaultScenario, lasted: float, pause: float, new: list[Violation]) -> None:
        """Add a fault with all failures during it, and print it; `new` are the violations since the last one."""
        batch = self._load.measures.take()
        errors = {name: count for name, (count, _) in batch["failures"].items() if is_retried(name)}
        raised = {name: count for name, (count, _) in batch["failures"].items() if name not in errors}
        new = new + self._totals.add(batch)
        if scenario.is_quiet:
            new += self._totals.add_violations(
                Violation(Invariant.CLIENT_ERROR, "", 0, f"{scenario.name}: clients raised {count} times {name}")
                for name, count in raised.items()
                if name != LOST_REACTION
            )
        fault = Fault(scenario.name, self._plan.gateway, lasted, pause, self._lag.take(), errors, raised, len(new))
        self._totals.faults.append(fault)
        self._print(_format_fault(len(self._totals.faults), fault, self._totals.acknowledged))
        for one in new[:MAX_PRINTED]:
            self._print(f"    {one}")

    async def _wait_until_recovered(self, heads: Mapping[str, int]) -> list[Violation]:
        """Wait until every table has another action or has ended; returns a violation for each that has not in time."""
        deadline = time.monotonic() + RECOVERY_SECONDS
        after = _heads(self._playing())
        heads = {table_id: max(head, after.get(table_id, head)) for table_id, head in heads.items()}
        while heads:
            playing = self._playing()
            heads = {
                table_id: head
                for table_id, head in heads.items()
                if table_id in playing and _last_acted(playing[table_id]) <= head
            }
            if time.monotonic() > deadline:
                detail = f"no action for {RECOVERY_SECONDS:g} s after the fault"
                return [Violation(Invariant.TABLE_STUCK, table_id, head, detail) for table_id, head in heads.items()]
            await asyncio.sleep(POLL_SECONDS)
        return []


def _heads(records: Mapping[str, TableRecord]) -> dict[str, int]:
    return {table_id: _last_acted(record) for table_id, record in records.items()}


def _last_acted(record: TableRecord) -> int:
    """Return the sequence of the last action at a table, 0 before the first; other entries are no sign of life."""
    acted = last_action(record)
    return acted.sequence if acted is not None else 0


def _format_fault(number: int, fault: Fault, acknowledged: int) -> str:
    errors = ", ".join(f"{count} {error}" for error, count in Counter(fault.errors).most_common(2))
    raised = "".join(f"; raised {count} times: {error}" for error, count in Counter(fault.raised).most_common(2))
    waits = f"{fault.lasted_seconds:5.1f} s, pause {fault.pause_seconds:4.1f} s (lag {fault.lag_seconds:.1f})"
    return f"{number:3}. {fault.name:30} {waits}, {acknowledged} moves, {fault.violations} violations; {errors}{raised}"
