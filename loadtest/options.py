"""The command line of the load test."""

import argparse
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from croupier_client import Endpoints
from loadtest.mix import KINDS, Kind, read_mix


@dataclass(frozen=True, slots=True)
class Options:
    """What is to be done; `endpoints` None means services of its own."""

    tables: int
    kinds: tuple[Kind, ...]
    seconds: float
    seed: int
    grace_seconds: float
    patience_seconds: float
    probed_share: float
    web_port: int | None
    endpoints: Endpoints | None


def read_options(arguments: Sequence[str] | None) -> Options:
    """The options of a command line; ends the process with 2 and a clear line if they are wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    services = [given.lobby, given.engine, given.scoring]
    if any(services) and not all(services):
        parser.error("--lobby, --engine and --scoring belong together: name all three, or --host for a front door")
    if given.host and any(services):
        parser.error("--host is one front door for all services: leave --lobby, --engine and --scoring out")
    if given.tables < 1 or given.seconds <= 0:
        parser.error("at least one table and more than 0 seconds are needed")
    if not 0 <= given.probed <= 1:
        parser.error("--probed is a share: a number from 0 to 1")
    try:
        kinds = read_mix(given.mix)
    except ValueError as fault:
        parser.error(f"--mix: {fault}")
    try:
        endpoints = Endpoints(*services) if all(services) else Endpoints.single(given.host) if given.host else None
    except ValueError as fault:
        parser.error(str(fault))
    return Options(
        tables=given.tables,
        kinds=kinds,
        seconds=given.seconds,
        seed=secrets.randbelow(2**31) if given.seed is None else given.seed,
        grace_seconds=given.grace,
        patience_seconds=given.patience,
        probed_share=given.probed,
        web_port=given.web_port if given.web else None,
        endpoints=endpoints,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m loadtest",
        description="Plays many tables at once and referees each of them. Exit code 1 if an invariant broke or no "
        "game was finished, 2 if the services cannot be reached.",
    )
    parser.add_argument("--tables", type=int, default=50, help="tables at the same time (50)")
    games = ",".join(KINDS)
    parser.add_argument("--mix", default=games, metavar="GAME[=WEIGHT],...", help=f"what is played ({games})")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long new games are begun (60)")
    parser.add_argument("--seed", type=int, help="fixes the players and their decisions; else it is chosen and told")
    parser.add_argument("--grace", type=float, default=20.0, help="seconds that games get to end after that (20)")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds that an answer may take (10)")
    parser.add_argument("--probed", type=float, default=0.06, help="share of turns with an illegal try (0.06)")
    parser.add_argument("--web", action="store_true", help="show Locust's web page on loopback meanwhile")
    parser.add_argument("--web-port", type=int, default=8089, help="its port (8089)")
    parser.add_argument("--host", metavar="HOST:PORT", help="the front door of running services")
    for service in ("lobby", "engine", "scoring"):
        parser.add_argument(f"--{service}", metavar="HOST:PORT,...", help=f"the running {service}")
    return parser
