"""The command line of the load test."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from croupier_client import Endpoints, Tls
from loadtest.command_line import Parser, new_folder
from loadtest.mix import ALL_GAMES, read_mix
from loadtest.scenarios import SCENARIOS, read_manners

PEM = b"-----BEGIN CERTIFICATE-----"
MOST_PLAIN_TABLES = 50
"""Greenlets with streams of gRPC carry about 5,400 messages a second for 50 users, and collapse at 3,000."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is to be done; `endpoints` None means services of its own."""

    scenario: str
    tables: int
    seconds: float
    mix: str
    seed: int
    processes: int
    results: Path
    grace_seconds: float | None
    silence_seconds: float
    think_seconds: float | None
    judged_share: float | None
    manners: str
    """As read_manners reads them; empty for the scenario's."""
    endpoints: Endpoints | None
    metrics: Mapping[str, str]
    """Where instances serve their metrics, by name; those of services of its own are known."""
    shared: bool
    database: str
    engines: int
    web_port: int | None
    workers: int
    """Workers that a master waits for; 0 for a run in this process alone."""
    bind: str
    master: str
    """The master's address, host:port, that a worker is to join; empty for all others."""
    command: str
    is_plain: bool = False
    """Whether plain Locust users play, in greenlets of this process, rather than swarms."""


def read_options(arguments: Sequence[str]) -> Options:
    """The options of a command line; ends the process with 2 and a clear line if they are wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    parser.refuse_less_than_one(given, "tables", "seconds", "processes", "engines")
    if fault := _fault(given):
        parser.error(fault)
    scenario = SCENARIOS[given.scenario]
    seed, command = parser.repeated(arguments, given.seed)
    tables, seconds = given.tables or scenario.tables, given.seconds or scenario.seconds
    return Options(
        scenario=scenario.name,
        tables=tables,
        seconds=seconds,
        mix=given.mix,
        seed=seed,
        processes=given.processes,
        results=given.results or new_folder(scenario.name),
        grace_seconds=given.grace,
        silence_seconds=given.silence,
        think_seconds=given.think,
        judged_share=given.judged,
        manners=given.manners,
        endpoints=_endpoints(given),
        metrics=dict(one.split("=", 1) for one in given.metrics),
        shared=given.shared,
        database=given.database,
        engines=given.engines,
        web_port=given.web_port if given.web else None,
        workers=given.master,
        bind=given.bind,
        master=given.worker,
        command=command,
        is_plain=given.plain,
    )


def _fault(given: argparse.Namespace) -> str:
    """What is wrong, as a line that says how it would be right; empty if nothing is."""
    services = [given.lobby, given.engine, given.scoring]
    if given.scenario not in SCENARIOS:
        return f"there is no scenario {given.scenario!r}: take one of {', '.join(SCENARIOS)}"
    if any(services) and not all(services):
        return "--lobby, --engine and --scoring belong together: name all three, or --host for a front door"
    if given.host and any(services):
        return "--host is one front door for all services: leave --lobby, --engine and --scoring out"
    if (given.host or any(services)) and (given.database or given.engines != 1):
        return "--database and --engines are for services of its own: leave them out where services are named"
    if given.engines > 1 and not given.database:
        return "several engines need a PostgreSQL database: name it with --database"
    if (given.tls or given.ca_file) and not (given.host or any(services)):
        return "--tls and --ca-file are for services that run already: name --host, or leave them out"
    if any("=" not in one for one in given.metrics):
        return "--metrics is NAME=HOST:PORT, once for each instance"
    if given.judged is not None and not 0 <= given.judged <= 1:
        return "--judged is a share of all tables: a number from 0 to 1"
    return _fault_of_plain_users(given) or _faults_of_values(given)


def _fault_of_plain_users(given: argparse.Namespace) -> str:
    if given.plain and (given.master or given.worker or given.processes > 1):
        return "--plain users play in this process alone: leave --master, --worker and --processes out"
    if given.plain and (given.tables or SCENARIOS[given.scenario].tables) > MOST_PLAIN_TABLES:
        return f"--plain users are for {MOST_PLAIN_TABLES} tables at most: name fewer --tables, or leave --plain out"
    return ""


def _faults_of_values(given: argparse.Namespace) -> str:
    try:
        read_mix(given.mix)
        if given.manners:
            read_manners(given.manners)
        _endpoints(given)
    except ValueError as fault:
        return str(fault)
    return ""


def _endpoints(given: argparse.Namespace) -> Endpoints | None:
    if given.lobby:
        return Endpoints(given.lobby, given.engine, given.scoring, _tls(given))
    return Endpoints.single(given.host, _tls(given)) if given.host else None


def _tls(given: argparse.Namespace) -> Tls | None:
    if given.ca_file is None:
        return Tls() if given.tls else None
    try:
        authorities: bytes = given.ca_file.read_bytes()
    except OSError as fault:
        raise ValueError(f"--ca-file {given.ca_file} cannot be read: {fault.strerror}") from None
    if PEM not in authorities:
        raise ValueError(f"--ca-file {given.ca_file} holds no certificate: it is to be a PEM file")
    return Tls(authorities)


def _parser() -> Parser:
    scenarios = "; ".join(f"{one.name}: {one.meaning}" for one in SCENARIOS.values())
    parser = Parser(
        "loadtest",
        "Plays many tables at once and referees each of them. Exit code 0 if all limits were kept, 1 if "
        "not or if no game was finished, 2 if nothing could be tested.",
        epilog=f"Scenarios: {scenarios}.",
    )
    parser.add_argument("scenario", metavar="SCENARIO", help=f"one of {', '.join(SCENARIOS)}")
    parser.add_argument("--tables", type=int, help="how many tables there are about; else the scenario's")
    parser.add_argument("--seconds", type=float, help="how long load is put on; else the scenario's")
    parser.add_argument("--mix", default=ALL_GAMES, metavar="GAME[=WEIGHT],...", help=f"what is played ({ALL_GAMES})")
    parser.add_argument(
        "--manners", default="", metavar="MANNER[=WEIGHT],...", help="how people play; else the scenario's"
    )
    parser.add_argument("--seed", type=int, help="fixes people and their decisions; else it is chosen and told")
    parser.add_argument("--processes", type=int, default=1, help="processes that play, beside the conductor (1)")
    parser.add_argument("--results", type=Path, help="the folder for the results (results/TIME-SCENARIO)")
    parser.add_argument("--think", type=float, metavar="SECONDS", help="the median of thinking time; 0 for none")
    parser.add_argument("--grace", type=float, help="seconds that games get to be played to their ends afterwards")
    parser.add_argument("--silence", type=float, default=30.0, help="seconds until a quiet stream is checked (30)")
    parser.add_argument("--judged", type=float, metavar="SHARE", help="share of tables that the referee goes through")
    services = parser.add_argument_group("services", "that run already; else it starts its own for the time of the run")
    services.add_argument("--host", metavar="HOST:PORT", help="the front door of running services")
    for service in ("lobby", "engine", "scoring"):
        services.add_argument(f"--{service}", metavar="HOST:PORT,...", help=f"the running {service}")
    services.add_argument("--tls", action="store_true", help="TLS, trusting the usual authorities")
    services.add_argument("--ca-file", type=Path, metavar="FILE", help="TLS, trusting what this PEM file vouches for")
    services.add_argument("--metrics", action="append", default=[], metavar="NAME=HOST:PORT", help="the metrics of one")
    services.add_argument("--shared", action="store_true", help="others use these services too")
    services.add_argument("--database", default="", metavar="URL", help="PostgreSQL for services of its own (SQLite)")
    services.add_argument("--engines", type=int, default=1, help="engines of its own (1)")
    spread = parser.add_argument_group("Locust")
    spread.add_argument("--plain", action="store_true", help="play in greenlets of this process, for a few tables")
    spread.add_argument("--web", action="store_true", help="show Locust's web page on loopback meanwhile")
    spread.add_argument("--web-port", type=int, default=8089, help="its port (8089)")
    spread.add_argument("--master", type=int, default=0, metavar="WORKERS", help="be the master of so many workers")
    spread.add_argument("--bind", default="127.0.0.1:5557", metavar="HOST:PORT", help="where a master listens")
    spread.add_argument("--worker", default="", metavar="HOST:PORT", help="be a worker of the master there")
    return parser
