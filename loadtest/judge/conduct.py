"""How the seats of a table were played, and which of them are on the leaderboard, by the entries of the game."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from croupier_api.v1 import engine_pb2, tables_pb2
from loadtest.judge.notation import AUTO
from loadtest.judge.replay import ReplayEntry

MIN_RANKED_PLAYERS = 2
_TIMEOUT = AUTO[engine_pb2.ACTED_BY_TIMEOUT]


class Conduct(NamedTuple):
    """How a seat was played: the number of its time-outs, and whether its last action was one."""

    timeouts: int
    finished_by_engine: bool


def conduct_of(entries: Sequence[ReplayEntry], seats: int) -> list[Conduct]:
    """Return the conduct of each seat by the actions of a finished game."""
    by_seat: list[list[bool]] = [[] for _ in range(seats)]
    for line in (entry.line for entry in entries if "action" in entry.line):
        by_seat[line["seat"]].append(line.get("auto") == _TIMEOUT)
    return [Conduct(sum(actions), actions[-1:] == [True]) for actions in by_seat]


def is_public(info: tables_pb2.Table) -> bool:
    """Return whether all players find a table."""
    return info.access.visibility == tables_pb2.VISIBILITY_EVERYONE


def ranked_seats(people: Collection[int], *, counts: bool) -> list[int]:
    """Return the seats on the leaderboard, if the result of the table counts: it is public, and not void.

    Tables of quick match are public too. A result is not ranked if a pair of its players has had too many before it.
    """
    return sorted(people) if counts and len(people) >= MIN_RANKED_PLAYERS else []
