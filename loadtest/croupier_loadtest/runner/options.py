"""The options that the load test adds to Locust's, and their values."""

import secrets
import shlex
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from croupier.runtime.server.addresses import is_address
from croupier_client import Endpoints, Tls
from croupier_client.sockets import GRPC, WEBSOCKET, check_transport
from croupier_loadtest.installed import chosen_games, installed_mix
from croupier_loadtest.mix import read_weights
from croupier_loadtest.players.attackers.attack_process import ATTACKS
from croupier_loadtest.players.pages import PAGE_SEATS
from croupier_loadtest.players.user_context import LoadSettings
from croupier_loadtest.scenarios import SCENARIOS, Scenario, UserKind, read_behaviours

PEM = b"-----BEGIN CERTIFICATE-----"
DEFAULT_SCENARIO = "smoke"
DEFAULT_SILENCE = "30"
WEB_HOST = "127.0.0.1"
ARGUMENTS: Mapping[str, dict[str, Any]] = {
    "tables": {"metavar": "N", "help": "the approximate number of tables, in place of --users; else the scenario's"},
    "mix": {"metavar": "GAME[=WEIGHT],...", "help": "the games by weight; else all that are installed"},
    "behaviours": {"metavar": "NAME[=WEIGHT],...", "help": "the behaviours of players by weight; else the scenario's"},
    "attacks": {"metavar": "NAME[=PACE],...", "help": "the attacks, and the factor of their pace; else every one"},
    "seed": {"metavar": "N", "help": "the seed of players and their decisions; drawn and printed by default"},
    "think": {"metavar": "SECONDS", "help": "the median of think times; 0 for none; else the scenario's"},
    "judged": {"metavar": "SHARE", "help": "the share of tables that are judged, 0 to 1; else the scenario's"},
    "grace": {"metavar": "SECONDS", "help": "the time for running games to end when the run drains"},
    "transport": {
        "metavar": "NAME",
        "default": GRPC,
        "help": f"the transport of players' tables, {GRPC} or {WEBSOCKET} ({GRPC})",
    },
    "silence": {
        "metavar": "SECONDS",
        "default": DEFAULT_SILENCE,
        "help": "the time after which a silent stream is checked (30)",
    },
    "results": {"metavar": "FOLDER", "help": "the folder of the results (results/TIME-SCENARIO)"},
    "ca-file": {
        "metavar": "FILE",
        "help": "TLS to --host, trusting this PEM file; https:// trusts the system's authorities",
    },
    "metrics": {"metavar": "NAME=HOST:PORT,...", "help": "the metrics addresses of the instances at --host"},
    "shared": {"action": "store_true", "default": False, "help": "others use the services at --host too"},
    "database": {"metavar": "URL", "help": "PostgreSQL for services that the run starts (SQLite)"},
    "engines": {"metavar": "N", "default": "1", "help": "the number of engines that the run starts (1)"},
}
"""By name; all values are texts, as Locust's web page sends them."""
ON_THE_PAGE = frozenset({"mix", "behaviours", "attacks", "seed", "think", "judged", "transport"})


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of the load test to Locust's, whose page then is for this machine only by default."""
    parser.description = "Usage: croupier load [options]"
    parser.epilog = f"The page listens on {WEB_HOST} unless --web-host names another address."
    parser.set_defaults(web_host=WEB_HOST)
    group = parser.add_argument_group("croupier", "Scenarios (--tags): " + ", ".join(SCENARIOS))
    for name, settings in ARGUMENTS.items():
        action: Any = group.add_argument(f"--{name}", **{"default": "", **settings})
        action.include_in_web_ui = name in ON_THE_PAGE
        action.is_secret = action.is_required = action.is_multiple = False


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run; with `endpoints` None it starts services."""

    settings: LoadSettings
    """The settings of the load processes, without endpoints."""
    arrivals_per_second: float
    seconds: float
    is_seed_drawn: bool
    results: Path
    endpoints: Endpoints | None
    metrics: Mapping[str, str]
    """Metrics addresses by instance; not needed for services that the run starts."""
    shared: bool
    database: str
    engines: int
    command: str


def scenario_of(given: Namespace) -> Scenario:
    """Return the scenario that --tags names; raises ValueError."""
    tags = given.tags or [DEFAULT_SCENARIO]
    if len(tags) > 1 or given.exclude_tags:
        raise ValueError("a run has one scenario: name it with --tags, without --exclude-tags")
    if tags[0] not in SCENARIOS:
        raise ValueError(f"unknown scenario {tags[0]!r}: expected one of {', '.join(SCENARIOS)}")
    return SCENARIOS[tags[0]]


def user_counts(given: Namespace) -> Mapping[UserKind, int]:
    """Return the number of users of each kind at full load; raises ValueError."""
    scenario = scenario_of(given)
    if given.num_users:
        return scenario.users(given.num_users / sum(scenario.users_per_table.values()))
    return scenario.users(_number(given, "tables", 1, int, default=scenario.tables))


def read_options(given: Namespace, host: str | None) -> Options:
    """Return the options of a run against `host`, or services that it starts; raises ValueError with one line."""
    scenario = scenario_of(given)
    seed = _number(given, "seed", 0, int)
    median_seconds = _number(given, "think", 0, float, default=scenario.think_time.median_seconds)
    settings = LoadSettings(
        scenario=replace(
            scenario,
            grace_seconds=_number(given, "grace", 0, float, default=scenario.grace_seconds),
            judged_share=_number(given, "judged", 0, float, 1, default=scenario.judged_share),
            behaviours=read_behaviours(given.behaviours) if given.behaviours else scenario.behaviours,
            think_time=replace(scenario.think_time, median_seconds=median_seconds),
        ),
        games=chosen_games(given.mix),
        installed=tuple(installed_mix().values()),
        seed=secrets.randbelow(2**31) if seed is None else seed,
        users=given.num_users or sum(user_counts(given).values()),
        silence_seconds=_number(given, "silence", 0, float) or float(DEFAULT_SILENCE),
        transport=given.transport or GRPC,
        attacks=read_weights(given.attacks, ATTACKS) if given.attacks else dict.fromkeys(ATTACKS, 1),
    )
    endpoints = _endpoints(host or "", given.ca_file)
    if settings.has_pages and all(PAGE_SEATS not in entry.seats for entry in settings.games):
        raise ValueError(f"{scenario.name} needs a game for {PAGE_SEATS} seats: name one with --mix")
    if settings.has_pages and endpoints and len(set(endpoints.by_service().values())) > 1:
        raise ValueError(f"{scenario.name} needs a gateway, which serves the page: give its address as --host")
    check_transport(settings.transport)
    if settings.transport == WEBSOCKET and endpoints and not endpoints.websocket:
        raise ValueError("--transport websocket needs the engines' ports for it: add websocket=HOST:PORT to --host")
    options = Options(
        settings=settings,
        arrivals_per_second=given.spawn_rate or scenario.arrivals_per_second,
        seconds=given.run_time or scenario.seconds,
        is_seed_drawn=seed is None,
        results=Path(given.results or f"results/{time.strftime('%Y%m%d-%H%M%S')}-{scenario.name}"),
        endpoints=endpoints,
        metrics=_metrics(given.metrics),
        shared=given.shared,
        database=given.database,
        engines=_number(given, "engines", 1, int, default=1),
        command="",
    )
    if options.endpoints is not None and (options.database or options.engines > 1):
        raise ValueError("--database and --engines are for services that the run starts: omit them with --host")
    if options.engines > 1 and not options.database:
        raise ValueError("several engines need a PostgreSQL database: name it with --database")
    return replace(options, command=_command(options, given, host or ""))


def _command(options: Options, given: Namespace, host: str) -> str:
    """Return the command that repeats the run, without the database's URL, which may hold a password."""
    words = ["croupier", "load", "--headless", "--tags", options.settings.scenario.name]
    words += ["-u", str(options.settings.users), "-r", f"{options.arrivals_per_second:g}", "-t", f"{options.seconds:g}"]
    words += ["--host", host] if host else []
    words += ["--processes", str(given.processes)] if given.processes else []
    words += ["--seed", str(options.settings.seed)]
    for name, settings in ARGUMENTS.items():
        value = getattr(given, name.replace("-", "_"))
        if name in ("tables", "seed") or value == settings.get("default", ""):
            continue
        words += [f"--{name}"] if value is True else [f"--{name}", "URL" if name == "database" else value]
    return shlex.join(words)


def _number(
    given: Namespace, name: str, minimum: float, kind: type[Any], maximum: float = float("inf"), default: Any = None
) -> Any:
    """Return a number among the options, or the default if it is not set; raises ValueError."""
    text = str(getattr(given, name) or "").strip()
    if not text:
        return default
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not minimum <= value <= maximum:
        limits = f"from {minimum:g} to {maximum:g}" if maximum < float("inf") else f"from {minimum:g} on"
        raise ValueError(f"invalid --{name} {text!r}: expected a number {limits}")
    return value


def _metrics(text: str) -> Mapping[str, str]:
    pairs = [one.partition("=") for one in text.split(",") if one]
    if any(not (name and is_address(address)) for name, _, address in pairs):
        raise ValueError("invalid --metrics: expected NAME=HOST:PORT for each instance, with commas between")
    return {name: address for name, _, address in pairs}


def _endpoints(host: str, ca_file: str) -> Endpoints | None:
    if not host:
        if ca_file:
            raise ValueError("--ca-file needs --host")
        return None
    scheme, _, address = host.rpartition("://")
    tls = Tls(_authorities(Path(ca_file))) if ca_file else Tls() if scheme == "https" else None
    if "=" in address:
        return _separate_services(address, tls)
    address = address.rstrip("/")
    if scheme not in ("", "http", "https") or not is_address(address):
        raise ValueError(
            f"invalid --host {host!r}: expected HOST:PORT, IPv6 as [HOST]:PORT, or https://HOST:PORT for TLS"
        )
    return Endpoints.single(address, tls)


def _separate_services(text: str, tls: Tls | None) -> Endpoints:
    """Return services without a gateway: lobby=HOST:PORT,engine=HOST:PORT,engine=HOST:PORT,scoring=HOST:PORT.

    For WebSocket each engine has a websocket=HOST:PORT too.
    """
    addresses: dict[str, list[str]] = {"lobby": [], "engine": [], "scoring": [], "websocket": []}
    for service, _, address in (one.partition("=") for one in text.split(",")):
        if service not in addresses or not is_address(address):
            raise ValueError(f"invalid --host part '{service}={address}': without a gateway, name lobby=HOST:PORT, ...")
        addresses[service].append(address)
    if not all(found for service, found in addresses.items() if service != "websocket"):
        raise ValueError("invalid --host: lobby=...,engine=...,scoring=... must name all three services")
    return Endpoints(**{service: ",".join(found) for service, found in addresses.items()}, tls=tls)


def _authorities(file: Path) -> bytes:
    try:
        authorities = file.read_bytes()
    except OSError as fault:
        raise ValueError(f"--ca-file {file} cannot be read: {fault.strerror}") from None
    if PEM not in authorities:
        raise ValueError(f"--ca-file {file} holds no certificate: expected a PEM file")
    return authorities
