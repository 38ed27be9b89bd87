"""Runs load tests by Locust's own command, against services with or without a defect."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from croupier.cli.launcher.replicas import START_ORDER
from croupier.cli.launcher.supervisor import SupervisorSettings, running_services
from croupier.cli.services import endpoints_of

ROOT = Path(__file__).parents[2]
LOCUST = (sys.executable, "-m", "croupier.cli", "load")
RUN_SECONDS = 600.0
RESULTS = "results"
SMALL = ("--tables=2", "--run-time=4", "--think=0", "--grace=20", "--seed=1", "--mix=solo,thulla")
"""A short run, of games that end soon."""
BEHAVIOURS = "--behaviours=steady,flaky,duplicate,leaver,away"
"""The behaviours with which games end soon: leavers come back when time is up."""
TIME_LIMITS = frozenset(
    {
        "99 of 100 actions",
        "99 of 100 actions of each kind",
        "99 of 100 actions under attack",
        "generator",
        *(f"{service} longest loop step" for service in START_ORDER),
    }
)
"""The limits that may not be kept on a busy machine."""


@dataclass(frozen=True, slots=True)
class LoadTestOutcome:
    """The exit code, the output and the results of a load test."""

    code: int
    output: str
    errors: str
    folder: Path

    @property
    def result(self) -> Mapping[str, Any]:
        """The content of result.json; empty if there is none."""
        file = self.folder / "result.json"
        found: Mapping[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        return found

    @property
    def named(self) -> frozenset[str]:
        """The violated invariants, and the limits that were not kept."""
        broken = {one["invariant"] for one in self.result.get("violations", ())}
        return frozenset(broken | {one["name"] for one in self.result.get("checks", ()) if not one["passed"]})

    def __str__(self) -> str:
        return f"exit code {self.code}\n{self.output}\n{self.errors}"


def assert_passed(outcome: LoadTestOutcome, scenario: str) -> None:
    """Assert that all limits were kept that do not depend on a busy machine, and that the report is complete."""
    result = outcome.result
    assert outcome.named <= TIME_LIMITS, str(outcome)
    is_in_time = not outcome.named
    assert (outcome.code, result["passed"]) == (0 if is_in_time else 1, is_in_time), str(outcome)
    assert result["conditions"]["scenario"] == scenario
    assert result["tables_finished"] > 0
    assert result["tables_judged"] > 0
    assert result["checks_made"]["entries"] > 0
    assert {file.name for file in outcome.folder.iterdir()} >= {"result.json", "junit.xml", "report.html"}


@asynccontextmanager
async def services_with(defects: Sequence[str], folder: Path) -> AsyncIterator[list[str]]:
    """Run services with these defects; yields the flags of a load test against them."""
    command = (sys.executable, "-m", "tests.loadtest.defects", "+".join(defects))
    async with running_services(folder, settings=SupervisorSettings(command=command, grace_seconds=0)) as services:
        endpoints = endpoints_of(services.addresses)
        metrics = ",".join(f"{name}={instance['metrics']}" for name, instance in services.addresses.items())
        yield [
            f"--host=lobby={endpoints.lobby},engine={endpoints.engine},scoring={endpoints.scoring}",
            f"--metrics={metrics}",
        ]


@asynccontextmanager
async def locust(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a Locust process, and kill it if it has not ended by itself."""
    pipe, ports = asyncio.subprocess.PIPE, list[str]()
    if any(argument.startswith("--processes") for argument in arguments):
        # Another run on this machine may have Locust's usual port.
        with socket.create_server(("127.0.0.1", 0)) as listener:
            _, port = listener.getsockname()
        ports = [f"--master-bind-port={port}", f"--master-port={port}"]
    process = await asyncio.create_subprocess_exec(
        *LOCUST, *arguments, *ports, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def run_load_test(
    arguments: Sequence[str], folder: Path, scenario: str = "smoke", environment: Mapping[str, str] | None = None
) -> LoadTestOutcome:
    """Run a scenario without the web page, with a folder for its results."""
    results = folder / RESULTS
    given = ["--headless", "--only-summary", f"--tags={scenario}", f"--results={results}", *arguments]
    async with locust(given, environment) as process, asyncio.timeout(RUN_SECONDS):
        output, errors = await process.communicate()
    return LoadTestOutcome(process.returncode or 0, output.decode(), errors.decode(), results)
