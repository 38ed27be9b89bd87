"""Rounds, totals and ranking as the streams, the replay and scoring's sheet tell them."""

from collections.abc import Iterator, Mapping
from typing import Any

from croupier_api.v1 import engine_pb2, scoring_pb2, table_pb2
from loadtest.judge.replay import Replay
from loadtest.judge.streams import Followed

Line = tuple[int, list[int], list[int]]


def told_results_differ(one: Followed, replay: Replay) -> Iterator[str]:
    """Where a viewer was told other rounds, or another result, than the replay tells."""
    replayed = [(number, *ended) for number, ended in enumerate(replay.rounds, start=1)]
    for told in rounds_told(one.updates):
        if _line(told) not in replayed:
            yield f"{one.name} was told round {_line(told)}, which is not in the replay"
    final = one.moments[max(one.moments)].view if one.moments else table_pb2.TableView()
    if final.ranking:
        ranking, totals = [list(group.seats) for group in final.ranking], [seat.score for seat in final.seats]
        if (ranking, totals) != _result_of(replay):
            yield f"{one.name} saw the result {ranking} with {totals}, the replay has {_result_of(replay)}"


def sheet_differs(sheet: scoring_pb2.GetScoreSheetResponse, one: Followed, replay: Replay | None) -> Iterator[str]:
    """Where scoring's sheet is not what a viewer was told, nor what the replay tells."""
    result, final = sheet.result, one.moments[max(one.moments)].view if one.moments else table_pb2.TableView()
    ranking, told = [list(group.seats) for group in result.ranking], [list(group.seats) for group in final.ranking]
    totals = list(result.totals)
    players, seated = [(who.player_id, who.name, who.bot) for who in result.seats], one.info.seats
    lines = [_line(line) for line in sheet.rounds]
    if final.ranking and (ranking, totals) != (told, [seat.score for seat in final.seats]):
        yield f"scoring's result is {ranking} with {totals}, {one.name} saw {told}"
    if one.info.table_id and players != [(who.player_id, who.name, who.bot) for who in seated]:
        yield f"scoring's players are {players}"
    entered = {line.round: line for line in sheet.rounds}
    for ended in rounds_told(one.updates):
        line = entered.get(ended.round)
        if line is None or _said(line) != _said(ended):
            yield f"scoring's round {ended.round} is not what {one.name} was told"
    if replay is not None:
        replayed = [(number, *ended) for number, ended in enumerate(replay.rounds, start=1)]
        if lines != replayed:
            yield f"scoring's rounds are {lines}, the replay's {replayed}"
        if replay.entries and result.finished_milliseconds != replay.entries[-1].at_milliseconds:
            yield f"scoring's result is of {result.finished_milliseconds}, the replay ends otherwise"
        if (ranking, totals) != _result_of(replay):
            yield f"scoring's result is {ranking} with {totals}, the replay's {_result_of(replay)}"


def _result_of(replay: Replay) -> tuple[Any, Any]:
    return (replay.result["ranking"], replay.result["totals"]) if replay.result is not None else (None, None)


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
