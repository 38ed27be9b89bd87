"""The environment of a simulation: plan, network, databases, faults and observer."""

from collections.abc import Mapping, Sequence
from random import Random

from croupier.runtime.database.database import Database
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.simulation.database import Change, Schema, SimulatedConnections, SimulatedDatabase
from croupier_loadtest.simulation.faults import Faults, seeded_random
from croupier_loadtest.simulation.findings import Findings
from croupier_loadtest.simulation.lobby_observer import LOBBY_TRIGGERS
from croupier_loadtest.simulation.loop import VirtualLoop
from croupier_loadtest.simulation.network import SimulatedNetwork
from croupier_loadtest.simulation.notifications import NotificationHub
from croupier_loadtest.simulation.observer import ENGINE_TRIGGERS, Observer
from croupier_loadtest.simulation.scenarios import plan_of
from croupier_loadtest.simulation.short_games import ShortGame
from croupier_loadtest.simulation.trace import Trace

SCORING_TRIGGERS = """
CREATE TEMP TRIGGER round_changed AFTER UPDATE ON rounds BEGIN SELECT record_change('round', NEW.table_id); END;
CREATE TEMP TRIGGER result_changed AFTER UPDATE ON results BEGIN SELECT record_change('result', NEW.table_id); END;
"""


class Environment:
    """The plan of a seed, the network, the databases, the faults, and their observer."""

    def __init__(
        self,
        seed: int,
        loop: VirtualLoop,
        trace: Trace,
        schemas: Mapping[str, Schema],
        games: Sequence[ShortGame],
        scenario: str,
    ) -> None:
        self.seed = seed
        self.loop = loop
        self.trace = trace
        self.plan = plan_of(self.random("plan"), scenario, games)
        self.findings = Findings(loop.stop)
        self.faults = Faults(seed, self.plan.rates, trace)
        self.observer = Observer(self.findings, loop.now_milliseconds, trace, self.plan)
        self.network = SimulatedNetwork(self.observer, self.faults, self.random("routes"), trace)
        self.databases = {
            "engine": SimulatedDatabase(
                "engine", schemas["engine"], ENGINE_TRIGGERS, self.faults, self.observer.committed
            ),
            "lobby": SimulatedDatabase(
                "lobby", schemas["lobby"], LOBBY_TRIGGERS, self.faults, self.observer.lobby.committed
            ),
            "scoring": SimulatedDatabase("scoring", schemas["scoring"], SCORING_TRIGGERS, self.faults, self._changed),
        }
        self.hub = NotificationHub(self.faults, self.random("hub"), self.databases["engine"].cut_off)
        self.access = {kind: Database(SimulatedConnections(one)) for kind, one in self.databases.items()}
        """What the services use of these databases."""

    def random(self, name: str) -> Random:
        """Return the random source of one part of the environment."""
        return seeded_random(self.seed, name)

    def _changed(self, changes: list[Change]) -> None:
        for kind, table_id in changes:
            self.findings.add(Invariant.LEDGER_DIFFERS, f"a stored {kind} was changed", table_id)
