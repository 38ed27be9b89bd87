"""Rounds, totals, ranking and counts as the streams, the replay, scoring's sheet and its rows tell them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from croupier_api.v1 import engine_pb2, scoring_pb2, table_pb2
from loadtest.judge.log import Log
from loadtest.judge.replay import Replay
from loadtest.judge.rules.interface import Round
from loadtest.judge.streams import Followed
from loadtest.record import Ledger

Line = tuple[int, list[int], list[int]]
Result = tuple[list[list[int]], list[int]]
"""Ranking and totals."""
Counts = Mapping[tuple[int, str], int]
"""By seat and name."""


def results_differ(
    followed: Sequence[Followed], replay: Replay | None, sheet: scoring_pb2.GetScoreSheetResponse | None
) -> Iterator[str]:
    """Where viewers, the replay and scoring's sheet tell other rounds, or another result, than each other."""
    for one in followed:
        if replay is not None:
            yield from _replayed_otherwise(one, replay)
        if sheet is not None:
            yield from _entered_otherwise(one, sheet)
    if replay is None or sheet is None:
        return
    lines, replayed = [_line(line) for line in sheet.rounds], _lines(replay)
    if lines != replayed:
        yield f"scoring's rounds are {lines}, the replay's {replayed}"
    if replay.entries and sheet.result.finished_milliseconds != replay.entries[-1].at_milliseconds:
        yield f"scoring's result is of {sheet.result.finished_milliseconds}, the replay ends otherwise"
    if _entered(sheet) != _result_of(replay):
        yield f"scoring's result is {_entered(sheet)}, the replay's {_result_of(replay)}"


def _replayed_otherwise(one: Followed, replay: Replay) -> Iterator[str]:
    replayed, result = _lines(replay), _told(one)
    for told in rounds_told(one.updates):
        if _line(told) not in replayed:
            yield f"{one.name} was told round {_line(told)}, which is not in the replay"
    if result is not None and result != _result_of(replay):
        yield f"{one.name} saw the result {result}, the replay has {_result_of(replay)}"


def _entered_otherwise(one: Followed, sheet: scoring_pb2.GetScoreSheetResponse) -> Iterator[str]:
    result, entered = _told(one), {line.round: line for line in sheet.rounds}
    if result is not None and result != _entered(sheet):
        yield f"scoring's result is {_entered(sheet)}, {one.name} saw {result}"
    players, seated = ([(who.player_id, who.name, who.bot) for who in of.seats] for of in (sheet.result, one.info))
    if one.info.table_id and players != seated:
        yield f"scoring's players are {players}"
    for ended in rounds_told(one.updates):
        line = entered.get(ended.round)
        if line is None or _said(line) != _said(ended):
            yield f"scoring's round {ended.round} is not what {one.name} was told"


def _lines(replay: Replay) -> list[Line]:
    return [(number, *ended) for number, ended in enumerate(replay.rounds, start=1)]


def _told(one: Followed) -> Result | None:
    """How the game ended by what a viewer saw last."""
    final = one.moments[max(one.moments)].view if one.moments else table_pb2.TableView()
    return ([list(group.seats) for group in final.ranking], [it.score for it in final.seats]) if final.ranking else None


def _entered(sheet: scoring_pb2.GetScoreSheetResponse) -> Result:
    return [list(group.seats) for group in sheet.result.ranking], list(sheet.result.totals)


def _result_of(replay: Replay) -> Result:
    return (replay.result["ranking"], replay.result["totals"]) if replay.result is not None else ([], [])


def rounds_told(updates: Mapping[int, engine_pb2.TableUpdate]) -> list[table_pb2.RoundEnded]:
    """The rounds that entries by their sequence tell of, in order."""
    return [
        fact.round_ended
        for _, update in sorted(updates.items())
        for fact in update.facts
        if fact.HasField("round_ended")
    ]


def _line(one: table_pb2.RoundEnded | scoring_pb2.SheetRound) -> Line:
    return one.round, list(one.points), list(one.totals)


def _said(one: table_pb2.RoundEnded | scoring_pb2.SheetRound) -> tuple[Any, ...]:
    counts = [(count.name, count.seat, count.amount) for count in one.counts]
    return *_line(one), list(one.notes), one.headline, dict(one.details), counts


def counted_in(rounds: Sequence[table_pb2.RoundEnded | scoring_pb2.SheetRound]) -> Counts:
    """What rounds count, summed."""
    counts: Counter[tuple[int, str]] = Counter()
    for count in (count for ended in rounds for count in ended.counts):
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
