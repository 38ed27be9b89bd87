"""The command line of the ceiling."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from loadtest.command_line import Parser, new_folder
from loadtest.mix import ALL_GAMES, read_mix


class Setup(NamedTuple):
    """What is put under load."""

    name: str
    engines: int
    is_on_postgres: bool


SETUPS: Mapping[str, Setup] = MappingProxyType(
    {
        setup.name: setup
        for setup in (Setup("sqlite", 1, False), Setup("postgres", 1, True), Setup("two-engines", 2, True))
    }
)


@dataclass(frozen=True, slots=True)
class CeilingOptions:
    """What is to be done."""

    setups: tuple[Setup, ...]
    seconds: float
    """How long each step is measured, after its crowd has come."""
    first: int
    results: Path
    processes: int
    mix: str
    seed: int | None
    command: str


def read_ceiling_options(arguments: Sequence[str]) -> CeilingOptions:
    """The options of a command line; ends the process with 2 and a clear line if they are wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.on.split(",") if name not in SETUPS]:
        parser.error(f"--on cannot be {unknown[0]!r}: take of {', '.join(SETUPS)}, with commas between")
    parser.refuse_less_than_one(given, "seconds", "first", "processes")
    try:
        read_mix(given.mix)
    except ValueError as fault:
        parser.error(str(fault))
    return CeilingOptions(
        setups=tuple(SETUPS[name] for name in given.on.split(",")),
        seconds=given.seconds,
        first=given.first,
        results=given.results or new_folder("ceiling"),
        processes=given.processes,
        mix=given.mix,
        seed=given.seed,
        command=f"{parser.prog} {shlex.join(arguments)}",
    )


def _parser() -> Parser:
    parser = Parser(
        "loadtest.ceiling",
        "Finds the highest load that services of our own carry, where nobody thinks: tables are added step "
        "by step until 99 of 100 actions take more than 100 ms, something breaks or fails, or the generator is at its "
        "own limit. Exit code 0 if a load was found that keeps all limits and nothing broke, 1 if not, 2 if nothing "
        "could be tested.",
    )
    parser.add_argument("--on", default=",".join(SETUPS), metavar="SETUP,...", help=f"of {', '.join(SETUPS)} (all)")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long each step is measured (15)")
    parser.add_argument("--first", type=int, default=25, metavar="TABLES", help="tables of the first step (25)")
    parser.add_argument("--results", type=Path, help="the folder for the results (results/TIME-ceiling)")
    parser.add_argument("--processes", type=int, default=1, help="processes that play, beside the conductor (1)")
    parser.add_argument("--mix", default=ALL_GAMES, metavar="GAME[=WEIGHT],...", help=f"what is played ({ALL_GAMES})")
    parser.add_argument("--seed", type=int, help="fixes people and their decisions; else it is chosen and told")
    return parser
