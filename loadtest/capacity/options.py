"""The command line of the capacity test."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadtest.command_line import Parser, new_folder


@dataclass(frozen=True, slots=True)
class CapacityOptions:
    """What is to be done."""

    parts: tuple[str, ...]
    memory_mebibytes: int
    """At which the engine's memory is full."""
    wave: int
    """Tables that are opened before their streams are."""
    most_tables: int
    sleeping: int
    idle_seconds: int
    woken: int
    limit_seconds: float
    """How long each part may take."""
    seed: int
    results: Path
    command: str


PARTS = ("idle", "asleep")


def read_capacity_options(arguments: Sequence[str]) -> CapacityOptions:
    """The options of a command line; ends the process with 2 and a clear line if they are wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    parts = tuple(given.parts.split(","))
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"--parts cannot be {unknown[0]!r}: take of {', '.join(PARTS)}, with commas between")
    parser.refuse_less_than_one(given, "memory_mebibytes", "wave", "most_tables", "sleeping", "idle_seconds", "woken")
    seed, command = parser.repeated(arguments, given.seed)
    return CapacityOptions(
        parts=parts,
        memory_mebibytes=given.memory_mebibytes,
        wave=given.wave,
        most_tables=given.most_tables,
        sleeping=given.sleeping,
        idle_seconds=given.idle_seconds,
        woken=min(given.woken, given.sleeping),
        limit_seconds=given.limit_seconds,
        seed=seed,
        results=given.results or new_folder("capacity"),
        command=command,
    )


def _parser() -> Parser:
    parser = Parser(
        "loadtest.capacity",
        "How many tables services of our own hold while nobody acts: in memory, with seated players and "
        "open streams, and asleep in the log, from where some are woken. Exit code 0, 1 if a table was not as it had "
        "been left, 2 if nothing could be tested.",
    )
    parser.add_argument("--parts", default=",".join(PARTS), metavar="PART,...", help=f"of {', '.join(PARTS)} (both)")
    parser.add_argument("--memory-mebibytes", type=int, default=2048, help="when the engine's memory is full (2048)")
    parser.add_argument("--wave", type=int, default=500, metavar="TABLES", help="opened before their streams are (500)")
    parser.add_argument("--most-tables", type=int, default=1_000_000, metavar="TABLES", help="open at most so many")
    parser.add_argument("--sleeping", type=int, default=100_000, metavar="TABLES", help="fall asleep (100000)")
    parser.add_argument("--idle-seconds", type=int, default=5, help="after which a table leaves memory (5)")
    parser.add_argument("--woken", type=int, default=2_000, metavar="TABLES", help="of them are woken (2000)")
    parser.add_argument("--limit-seconds", type=float, default=7_200, help="each part takes at most so long (7200)")
    parser.add_argument("--seed", type=int, help="fixes games and chance; else it is chosen and told")
    parser.add_argument("--results", type=Path, help="the folder for the results (results/TIME-capacity)")
    return parser
