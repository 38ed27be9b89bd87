"""The command line of the rehearsal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from loadtest.command_line import Parser, new_folder
from rehearsal.load import Wanted
from rehearsal.plan import Container, Deployment, Plan

SHORT_SECONDS, SHORT_TABLES = 60.0, 4
USUAL_SECONDS, USUAL_TABLES = 210.0, 30
SHORT_PACE = 0.2
SHORT_ENGINES = 2
SHORT_MIX = "solo,thulla"
SHORT_MANNERS = "steady,flaky,duplicate"
"""Those who do not let others wait until their time has run out."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is rehearsed: how much load, in which folder, and whether shortly."""

    load: Wanted
    results: Path
    is_short: bool
    command: str

    @property
    def settling_seconds(self) -> float:
        """How long everything is left alone before and after something happens."""
        return 2.0 if self.is_short else 8.0

    @property
    def replaced(self) -> Sequence[str]:
        """The deployments that are replaced, one after the other."""
        return ("engine",) if self.is_short else ("engine", "door")

    @property
    def names_seconds(self) -> float:
        """How old names may be: the 30 seconds of CoreDNS as kubeadm sets it up."""
        return 2.0 if self.is_short else 30.0

    @property
    def backoff_seconds(self) -> float:
        """How long a killed engine stays away: the kubelet's wait after a second crash."""
        return 1.0 if self.is_short else 20.0

    def of_plan(self, plan: Plan) -> Plan:
        """The plan that is rehearsed: a short one has fewer pods and waits less."""
        return plan if not self.is_short else replace(plan, deployments=tuple(map(_hurried, plan.deployments)))


def _hurried(one: Deployment) -> Deployment:
    replicas = min(one.replicas, SHORT_ENGINES if one.name == "engine" else 1)
    pod = replace(one.pod, containers=tuple(map(_with_less_sleep, one.pod.containers)))
    return replace(one, replicas=replicas, min_ready_seconds=SHORT_PACE * one.min_ready_seconds, pod=pod)


def _with_less_sleep(one: Container) -> Container:
    return replace(one, pre_stop_seconds=SHORT_PACE * one.pre_stop_seconds)


def read_options(arguments: Sequence[str]) -> Options:
    """The options of a command line; ends the process with 2 and a clear line if they are wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    parser.refuse_less_than_one(given, "tables", "seconds")
    seed, command = parser.repeated(arguments, given.seed)
    wanted = Wanted(
        tables=given.tables or (SHORT_TABLES if given.short else USUAL_TABLES),
        seconds=given.seconds or (SHORT_SECONDS if given.short else USUAL_SECONDS),
        seed=seed,
        mix=SHORT_MIX if given.short else "",
        manners=SHORT_MANNERS if given.short else "",
    )
    return Options(
        load=wanted,
        results=given.results or new_folder("rehearsal"),
        is_short=given.short,
        command=command,
    )


def _parser() -> Parser:
    parser = Parser(
        "rehearsal",
        "Starts on this machine what the production overlay describes, replaces and kills its engines "
        "under a refereed load, and says whether anything was lost. Exit code 0 if nothing was, 1 if something was not "
        "as it should be, 2 if nothing could be rehearsed.",
    )
    parser.add_argument("--seed", type=int, help="fixes people and their decisions; else it is chosen and told")
    parser.add_argument("--seconds", type=float, help=f"how long load is put on ({USUAL_SECONDS:g})")
    parser.add_argument("--tables", type=int, help=f"how many tables there are about ({USUAL_TABLES})")
    parser.add_argument("--short", action="store_true", help="in two minutes: fewer pods, less waiting, no Prometheus")
    parser.add_argument("--results", type=Path, help="the folder for the results (results/TIME-rehearsal)")
    return parser
