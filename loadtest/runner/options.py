"""What the load test adds to Locust's command line, and what it makes of the whole of it."""

import secrets
import shlex
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from croupier_client import Endpoints, Tls
from loadtest.mix import ALL_GAMES, read_mix
from loadtest.process.plan import Plan
from loadtest.scenarios import SCENARIOS, Kind, Scenario

PEM = b"-----BEGIN CERTIFICATE-----"
USUAL_SCENARIO = "smoke"
USUAL_SILENCE = "30"
ARGUMENTS: Mapping[str, dict[str, Any]] = {
    "tables": {"metavar": "N", "help": "about how many tables there are, in place of --users; else the scenario's"},
    "mix": {"metavar": "GAME[=WEIGHT],...", "default": ALL_GAMES, "help": f"which games are played ({ALL_GAMES})"},
    "behaviours": {"metavar": "NAME[=WEIGHT],...", "help": "how players behave; else the scenario's"},
    "seed": {"metavar": "N", "help": "fixes players and their decisions; else it is drawn and printed"},
    "think": {"metavar": "SECONDS", "help": "the median of thinking time; 0 for none; else the scenario's"},
    "judged": {"metavar": "SHARE", "help": "share of the tables that are judged, 0 to 1; else the scenario's"},
    "grace": {"metavar": "SECONDS", "help": "how long games may be played to their ends afterwards"},
    "silence": {"metavar": "SECONDS", "default": USUAL_SILENCE, "help": "seconds until a quiet stream is checked (30)"},
    "results": {"metavar": "FOLDER", "help": "where the results go (results/TIME-SCENARIO)"},
    "ca-file": {
        "metavar": "FILE",
        "help": "TLS to --host, trusting this PEM file; https:// trusts the usual authorities",
    },
    "metrics": {"metavar": "NAME=HOST:PORT,...", "help": "where the instances at --host serve their metrics"},
    "shared": {"action": "store_true", "default": False, "help": "others use the services at --host too"},
    "database": {"metavar": "URL", "help": "PostgreSQL for services of its own (SQLite)"},
    "engines": {"metavar": "N", "default": "1", "help": "engines of its own (1)"},
}
"""By name; all are texts, since Locust's web page hands them over as such."""
ON_THE_PAGE = frozenset({"mix", "behaviours", "seed", "think", "judged"})


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of the load test to Locust's."""
    group = parser.add_argument_group("croupier", "Scenarios (--tags): " + ", ".join(SCENARIOS))
    for name, settings in ARGUMENTS.items():
        action: Any = group.add_argument(f"--{name}", **{"default": "", **settings})
        action.include_in_web_ui = name in ON_THE_PAGE
        action.is_secret = action.is_required = action.is_multiple = False


@dataclass(frozen=True, slots=True)
class Options:
    """What is to be done; `endpoints` None means services of its own."""

    plan: Plan
    """What the load processes need to know, but for where the services are."""
    arrivals_per_second: float
    seconds: float
    is_seed_drawn: bool
    results: Path
    endpoints: Endpoints | None
    metrics: Mapping[str, str]
    """Where instances serve their metrics, by name; those of services of its own are known."""
    shared: bool
    database: str
    engines: int
    command: str


def scenario_of(given: Namespace) -> Scenario:
    """The scenario that --tags names; raises ValueError."""
    tags = given.tags or [USUAL_SCENARIO]
    if len(tags) > 1 or given.exclude_tags:
        raise ValueError("a run has one scenario: name it with --tags, and leave --exclude-tags out")
    if tags[0] not in SCENARIOS:
        raise ValueError(f"there is no scenario {tags[0]!r}: take one of {', '.join(SCENARIOS)}")
    return SCENARIOS[tags[0]]


def people(given: Namespace) -> Mapping[Kind, int]:
    """How many users of each kind there are at full load; raises ValueError."""
    scenario = scenario_of(given)
    if given.num_users:
        return scenario.people(given.num_users / sum(scenario.crowd.values()))
    return scenario.people(_number(given, "tables", 1, int) or scenario.tables)


def read_options(given: Namespace, host: str | None) -> Options:
    """The options of a run against `host`, or against services of its own; raises ValueError with one line."""
    scenario = scenario_of(given)
    seed = _number(given, "seed", 0, int)
    plan = Plan(
        scenario=scenario.name,
        users=given.num_users or sum(people(given).values()),
        seed=secrets.randbelow(2**31) if seed is None else seed,
        mix=given.mix,
        grace_seconds=_number(given, "grace", 0, float),
        silence_seconds=_number(given, "silence", 0, float) or float(USUAL_SILENCE),
        think_seconds=_number(given, "think", 0, float),
        judged_share=_number(given, "judged", 0, float, 1),
        manners=given.behaviours,
    )
    options = Options(
        plan=plan,
        arrivals_per_second=given.spawn_rate or scenario.arrivals_per_second,
        seconds=given.run_time or scenario.seconds,
        is_seed_drawn=seed is None,
        results=Path(given.results or f"results/{time.strftime('%Y%m%d-%H%M%S')}-{scenario.name}"),
        endpoints=_endpoints(host or "", given.ca_file),
        metrics=_metrics(given.metrics),
        shared=given.shared,
        database=given.database,
        engines=_number(given, "engines", 1, int) or 1,
        command="",
    )
    _check(options)
    return replace(options, command=_command(options, given, host or ""))


def _check(options: Options) -> None:
    read_mix(options.plan.mix)
    options.plan.resolved()
    if options.endpoints is not None and (options.database or options.engines > 1):
        raise ValueError("--database and --engines are for services of its own: leave them out where --host is named")
    if options.engines > 1 and not options.database:
        raise ValueError("several engines need a PostgreSQL database: name it with --database")


def _command(options: Options, given: Namespace, host: str) -> str:
    """The command that does the same again; a database's URL may hold a password, and is left to its owner."""
    words = ["locust", "-f", "loadtest/locustfile.py", "--headless", "--tags", options.plan.scenario]
    words += ["-u", str(options.plan.users), "-r", f"{options.arrivals_per_second:g}", "-t", f"{options.seconds:g}"]
    words += ["--host", host] if host else []
    words += ["--processes", str(given.processes)] if given.processes else []
    words += ["--seed", str(options.plan.seed)]
    for name, settings in ARGUMENTS.items():
        value = getattr(given, name.replace("-", "_"))
        if name in ("tables", "seed") or value == settings.get("default", ""):
            continue
        words += [f"--{name}"] if value is True else [f"--{name}", "URL" if name == "database" else value]
    return shlex.join(words)


def _number(given: Namespace, name: str, least: float, kind: type[Any], most: float = float("inf")) -> Any:
    """A number among the options, None if it is not given; raises ValueError."""
    text = str(getattr(given, name) or "").strip()
    if not text:
        return None
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        limits = f"from {least:g} to {most:g}" if most < float("inf") else f"from {least:g} on"
        raise ValueError(f"--{name} is a number {limits}, not {text!r}")
    return value


def _metrics(text: str) -> Mapping[str, str]:
    pairs = [one.partition("=") for one in text.split(",") if one]
    if any(not (name and address) for name, _, address in pairs):
        raise ValueError("--metrics is NAME=HOST:PORT for each instance, with commas between")
    return {name: address for name, _, address in pairs}


def _endpoints(host: str, ca_file: str) -> Endpoints | None:
    if not host:
        if ca_file:
            raise ValueError("--ca-file is for services that run already: name --host, or leave it out")
        return None
    scheme, _, address = host.rpartition("://")
    tls = Tls(_authorities(Path(ca_file))) if ca_file else Tls() if scheme == "https" else None
    if "=" in address:
        return _several(address, tls)
    if scheme not in ("", "http", "https") or not address:
        raise ValueError(f"--host {host} is no gateway: name HOST:PORT, or https://HOST:PORT for TLS")
    return Endpoints.single(address.rstrip("/"), tls)


def _several(text: str, tls: Tls | None) -> Endpoints:
    """Services without a gateway: lobby=HOST:PORT,engine=HOST:PORT,engine=HOST:PORT,scoring=HOST:PORT."""
    addresses: dict[str, list[str]] = {"lobby": [], "engine": [], "scoring": []}
    for service, _, address in (one.partition("=") for one in text.split(",")):
        if service not in addresses:
            raise ValueError(f"--host cannot name {service!r}: without a gateway, name lobby=, engine= and scoring=")
        addresses[service].append(address)
    if not all(addresses.values()):
        raise ValueError("--host lobby=...,engine=...,scoring=... names all three services")
    return Endpoints(**{service: ",".join(found) for service, found in addresses.items()}, tls=tls)


def _authorities(file: Path) -> bytes:
    try:
        authorities = file.read_bytes()
    except OSError as fault:
        raise ValueError(f"--ca-file {file} cannot be read: {fault.strerror}") from None
    if PEM not in authorities:
        raise ValueError(f"--ca-file {file} holds no certificate: it is to be a PEM file")
    return authorities
