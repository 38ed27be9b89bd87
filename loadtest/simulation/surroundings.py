"""What a seed makes for its replicas and players to live in."""

import json
from collections.abc import Mapping
from random import Random
from typing import cast

from sqlalchemy.ext.asyncio import AsyncEngine

from loadtest.judge.violations import Invariant
from loadtest.simulation.database import Change, InlineEngine, Schema, SimulatedDatabase
from loadtest.simulation.faults import Faults, chance_of
from loadtest.simulation.findings import Findings
from loadtest.simulation.loop import VirtualLoop
from loadtest.simulation.network import Network
from loadtest.simulation.news import NewsHub
from loadtest.simulation.observer import ENGINE_TRIGGERS, Observer
from loadtest.simulation.plan import plan_of
from loadtest.simulation.trace import Trace

SCORING_TRIGGERS = """
CREATE TEMP TRIGGER round_changed AFTER UPDATE ON rounds BEGIN SELECT noted('round', NEW.table_id); END;
CREATE TEMP TRIGGER result_changed AFTER UPDATE ON results BEGIN SELECT noted('result', NEW.table_id); END;
"""


class Surroundings:
    """The plan of a run, its network, its databases and what goes wrong with them, and who observes all that."""

    def __init__(
        self, seed: int, loop: VirtualLoop, trace: Trace, schemas: Mapping[str, Schema], scenario: str = ""
    ) -> None:
        self.seed = seed
        self.loop = loop
        self.trace = trace
        self.plan = plan_of(self.chance("plan"), scenario)
        self.findings = Findings(loop.stop)
        self.faults = Faults(seed, self.plan.rates, trace)
        self.observer = Observer(self.findings, loop.now_milliseconds, trace)
        self.network = Network(self.observer, self.faults, self.chance("routes"), trace)
        self.hub = NewsHub(self.faults, self.chance("hub"))
        self.databases = {
            "engine": SimulatedDatabase("engine", schemas["engine"], ENGINE_TRIGGERS, self.faults, self._committed),
            "lobby": SimulatedDatabase("lobby", schemas["lobby"], "", self.faults, lambda _: None),
            "scoring": SimulatedDatabase("scoring", schemas["scoring"], SCORING_TRIGGERS, self.faults, self._changed),
        }
        self.access = {kind: cast("AsyncEngine", InlineEngine(one)) for kind, one in self.databases.items()}
        """SQLAlchemy's way to each service's database."""

    def chance(self, name: str) -> Random:
        """A source of randomness for one part of the world."""
        return chance_of(self.seed, name)

    def _committed(self, changes: list[Change]) -> None:
        for kind, *values in changes:
            if kind == "news":
                self.hub.publish(kind, values[0], json.loads(values[1]))
        self.observer.committed([change for change in changes if change[0] != "news"])

    def _changed(self, changes: list[Change]) -> None:
        for kind, table_id in changes:
            self.findings.add(Invariant.LEDGER_DIFFERS, f"a {kind} that scoring had was changed", table_id)
