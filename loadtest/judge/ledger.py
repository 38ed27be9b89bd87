"""Scoring's rows of a finished table: each round and the result once, and all that is counted, each once."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from croupier_api.v1 import scoring_pb2, table_pb2
from loadtest.judge.log import Log
from loadtest.judge.results import rounds_told
from loadtest.judge.rules.interface import Round
from loadtest.record import Ledger

Counts = Mapping[tuple[int, str], int]
"""By seat and name."""


def counted_in(rounds: Sequence[table_pb2.RoundEnded | scoring_pb2.SheetRound]) -> Counts:
    """What rounds count, summed."""
    counts: Counter[tuple[int, str]] = Counter()
    for ended in rounds:
        for count in ended.counts:
            counts[count.seat, count.name] += count.amount
    return counts


def places(ranking: Sequence[Sequence[int]]) -> Mapping[int, int]:
    """The place of each seat, from 1; tied seats share the better one."""
    found: dict[int, int] = {}
    for group in ranking:
        found |= dict.fromkeys(group, len(found) + 1)
    return found


def ledger_differs(
    ledger: Ledger, log: Log, rounds: Sequence[Round], ranking: Sequence[Sequence[int]], totals: Sequence[int]
) -> Iterator[str]:
    """Where the ledger is not what a finished game gives; the counts are judged where all rounds were received."""
    people = {seat: who.player_id for seat, who in enumerate(log.info.seats) if not who.bot}
    expected: dict[str, object] = {
        "rounds": [(number, *ended) for number, ended in enumerate(rounds, start=1)],
        "results": [([list(group) for group in ranking], list(totals))],
    }
    if log.info.table_id:
        expected["players"] = sorted((people[seat], place) for seat, place in places(ranking).items() if seat in people)
    told = rounds_told(log.entries)
    if len(told) == len(rounds):
        expected["counts"] = sorted((seat, name, amount) for (seat, name), amount in counted_in(told).items())
    for name, wanted in expected.items():
        held = sorted(getattr(ledger, name))
        if held != wanted:
            yield f"the ledger's {name} are {held}, not {wanted}"
    ended, finished = log.entries.get(log.ended or 0), ledger.finished_milliseconds
    if finished is not None and ended is not None and finished != ended.at_milliseconds:
        yield f"the ledger's end is at {finished}, that of the game at {ended.at_milliseconds}"
