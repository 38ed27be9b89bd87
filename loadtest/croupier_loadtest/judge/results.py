"""Compares rounds, totals, ranking, counts and conduct of the streams, the replay, the score sheet and the ledger."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from croupier_api.v1 import engine_pb2, facts_pb2, scoring_pb2, tables_pb2
from croupier_loadtest.judge.clock import Absences
from croupier_loadtest.judge.game_end import GameEnd
from croupier_loadtest.judge.log import Log
from croupier_loadtest.judge.notation import AUTO
from croupier_loadtest.judge.replay import Replay, ReplayEntry
from croupier_loadtest.judge.streams import ViewerHistory
from croupier_loadtest.record import Ledger

MIN_RANKED_PLAYERS = 2
_TIMEOUT = AUTO[engine_pb2.ACTED_BY_TIMEOUT]
Line = tuple[int, list[int], list[int]]
"""The number of a round, its points and the totals by seat."""
Counts = Mapping[tuple[int, str], int]
"""By seat and name."""


class Result(NamedTuple):
    """The end of a game, as a viewer, the replay or scoring has it."""

    ranking: list[list[int]]
    totals: list[int]
    is_void: bool


class Conduct(NamedTuple):
    """How a seat was played: the number of its time-outs, and whether it was away at the end, and had been left."""

    timeouts: int
    finished_by_engine: bool
    left: bool


def conduct_of(entries: Sequence[ReplayEntry], absences: Absences, seats: int) -> list[Conduct]:
    """Return the conduct of each seat by the actions of a finished game, and the absences at its end."""
    timeouts = Counter(entry.line["seat"] for entry in entries if entry.line.get("auto") == _TIMEOUT)
    return [Conduct(timeouts[seat], seat in absences.away, seat in absences.left) for seat in range(seats)]


def is_public(info: tables_pb2.PlayedTable) -> bool:
    """Return whether all players find a table."""
    return info.access.visibility == tables_pb2.VISIBILITY_EVERYONE


def ranked_seats(people: Collection[int], *, counts: bool) -> list[int]:
    """Return the seats on the leaderboard, if the result of the table counts: it is public, and has outcomes.

    Tables of quick match are public too. A result is not ranked if a pair of its players has had too many before it.
    """
    return sorted(people) if counts and len(people) >= MIN_RANKED_PLAYERS else []


def compare_results(
    histories: Sequence[ViewerHistory],
    replay: Replay | None,
    sheet: scoring_pb2.GetScoreSheetResponse | None,
    conduct: Sequence[Conduct] | None,
    outcomes: Sequence[str] | None,
) -> Iterator[str]:
    """Yield wrong teams, and differences between the rounds and results of viewers, replay and score sheet.

    `conduct` is that of the seats, `outcomes` are those of the seats by the rules; None if they are not known.
    """
    for history in histories:
        yield from _check_teams(history)
        if replay is not None:
            yield from _compare_with_replay(history, replay)
        if sheet is not None:
            yield from _compare_with_sheet(history, sheet)
    if replay is None or sheet is None:
        return
    lines, replayed = [_line(line) for line in sheet.rounds], _replay_lines(replay)
    if lines != replayed:
        yield f"scoring's rounds are {lines}, the replay's {replayed}"
    ended = sheet.result.end_time.ToMilliseconds()
    if replay.entries and ended != replay.entries[-1].at_milliseconds:
        yield f"scoring's result has the time {ended}, the end of the replay {replay.entries[-1].at_milliseconds}"
    if _sheet_result(sheet) != _replay_result(replay):
        yield f"scoring's result is {_sheet_result(sheet)}, the replay's {_replay_result(replay)}"
    reported = [Conduct(seat.timeouts, seat.finished_by_engine, seat.left) for seat in sheet.result.conduct]
    if conduct is not None and reported != conduct:
        yield f"scoring's conduct is {reported}, by the log it is {conduct}"
    if outcomes is not None and list(sheet.result.outcomes) != list(outcomes):
        yield f"scoring's outcomes are {list(sheet.result.outcomes)}, by the rules they are {list(outcomes)}"
    is_counted = not _replay_result(replay).is_void and outcomes != []
    yield from _check_ranked_seats(histories, replay, sheet.result, is_counted=is_counted)


def _check_ranked_seats(
    histories: Sequence[ViewerHistory], replay: Replay, result: scoring_pb2.GameResult, *, is_counted: bool
) -> Iterator[str]:
    """Yield wrong seats on the leaderboard."""
    infos = [history.info for history in histories if history.info.table_id]
    people = [seat for seat, player in enumerate(replay.header["players"]) if not player["bot"]]
    for info in infos[:1]:
        ranked = ranked_seats(people, counts=is_public(info) and is_counted)
        # Whether a pair had too many ranked results depends on other tables.
        if list(result.ranked_seats) not in ([], ranked):
            yield f"scoring ranks the seats {list(result.ranked_seats)}, by the replay {ranked} or none"


def _compare_with_replay(history: ViewerHistory, replay: Replay) -> Iterator[str]:
    replayed, result = _replay_lines(replay), _final_result(history)
    for ended in reported_rounds(history.updates):
        if _line(ended) not in replayed:
            yield f"{history.name} received round {_line(ended)}, which is not in the replay"
    if result is not None and result != _replay_result(replay):
        yield f"{history.name} saw the result {result}, the replay has {_replay_result(replay)}"


def _compare_with_sheet(history: ViewerHistory, sheet: scoring_pb2.GetScoreSheetResponse) -> Iterator[str]:
    result, sheet_lines = _final_result(history), {line.round: line for line in sheet.rounds}
    if result is not None and result != _sheet_result(sheet):
        yield f"scoring's result is {_sheet_result(sheet)}, {history.name} saw {result}"
    players, seated = (
        [(seat.player_id, seat.name, seat.bot) for seat in source.seats] for source in (sheet.result, history.info)
    )
    if history.info.table_id and players != seated:
        yield f"scoring's players are {players}, the table's {seated}"
    for ended in reported_rounds(history.updates):
        line = sheet_lines.get(ended.round)
        if line is None or _content(line) != _content(ended):
            yield f"scoring's round {ended.round} differs from the one that {history.name} received"


def _check_teams(history: ViewerHistory) -> Iterator[str]:
    """Yield teams that do not have every seat once, or that the final ranking separates."""
    teams, result = [set(team.seats) for team in history.info.teams], _final_result(history)
    if teams and sorted(seat for team in teams for seat in team) != list(range(len(history.info.seats))):
        yield f"the teams are {teams} at a table for {len(history.info.seats)}"
    for team in teams if result is not None else ():
        if result is not None and not any(team <= set(group) for group in result.ranking):
            yield f"{history.name} saw the ranking {result.ranking}, which separates the team {team}"


def _replay_lines(replay: Replay) -> list[Line]:
    return [(number, *ended) for number, ended in enumerate(replay.rounds, start=1)]


def _final_result(history: ViewerHistory) -> Result | None:
    """Return the result of the game by a viewer's last state; None before the end."""
    final = history.states[max(history.states)].view if history.states else facts_pb2.TableView()
    if not final.ranking:
        return None
    return Result(_groups(final.ranking), [seat.score for seat in final.seats], final.is_void)


def _sheet_result(sheet: scoring_pb2.GetScoreSheetResponse) -> Result:
    return Result(_groups(sheet.result.ranking), list(sheet.result.totals), sheet.result.is_void)


def _replay_result(replay: Replay) -> Result:
    if replay.result is None:
        return Result([], [], is_void=False)
    return Result(replay.result["ranking"], replay.result["totals"], bool(replay.result.get("void")))


def _groups(ranking: Iterable[facts_pb2.RankGroup]) -> list[list[int]]:
    return [list(group.seats) for group in ranking]


def reported_rounds(updates: Mapping[int, engine_pb2.TableUpdate]) -> list[facts_pb2.RoundScore]:
    """Return the rounds that entries report, in order."""
    return [
        fact.round_ended.score
        for _, update in sorted(updates.items())
        for fact in update.facts
        if fact.HasField("round_ended")
    ]


def _line(one: facts_pb2.RoundScore) -> Line:
    return one.round, list(one.points), list(one.totals)


def _content(one: facts_pb2.RoundScore) -> tuple[Any, ...]:
    counts = [(count.name, count.seat, count.amount) for count in one.counts]
    return *_line(one), list(one.notes), list(one.headline), list(one.details), counts


def sum_counts(rounds: Sequence[facts_pb2.RoundScore]) -> Counts:
    """Return the sums of the rounds' counts."""
    counts: Counter[tuple[int, str]] = Counter()
    for count in (count for ended in rounds for count in ended.counts):
        counts[count.seat, count.name] += count.amount
    return counts


def places(ranking: Sequence[Sequence[int]], left: Collection[int]) -> Mapping[int, int]:
    """Return the place of each seat, from 1: tied seats share the better one, those who left have the last."""
    found: dict[int, int] = {}
    for group in ranking:
        found |= dict.fromkeys(group, len(found) + 1)
    return found | dict.fromkeys(left, len(found))


def compare_ledger(ledger: Ledger, log: Log, end: GameEnd, conduct: Sequence[Conduct]) -> Iterator[str]:
    """Yield the differences between the ledger and a finished game; counts are compared if all rounds were received."""
    people = {seat: player.player_id for seat, player in enumerate(log.info.seats) if not player.bot}
    expected: dict[str, object] = {
        "rounds": [(number, *ended) for number, ended in enumerate(end.rounds, start=1)],
        "results": [(end.ranking, end.totals)],
    }
    if log.info.table_id:
        left = [seat for seat, one in enumerate(conduct) if one.finished_by_engine]
        by_seat = places(end.ranking, left).items()
        worse = end.standing.worse
        outcomes = {seat: worse if seat in left else outcome for seat, outcome in enumerate(end.outcomes)}
        placed = ((people[seat], place, outcomes.get(seat, "")) for seat, place in by_seat if seat in people)
        expected["players"] = sorted(placed)
    reported = reported_rounds(log.entries)
    if len(reported) == len(end.rounds):
        expected["counts"] = sorted((seat, name, amount) for (seat, name), amount in sum_counts(reported).items())
    if list(ledger.conduct) != list(conduct):
        yield f"the ledger's conduct is {list(ledger.conduct)}, not {list(conduct)}"
    for name, value in expected.items():
        recorded = sorted(getattr(ledger, name))
        if recorded != value:
            yield f"the ledger's {name} are {recorded}, not {value}"
    last, finished = log.entries.get(log.ended or 0), ledger.finished_milliseconds
    if finished is not None and last is not None and finished != last.stored_unix_ms:
        yield f"the ledger's end is at {finished}, the game's at {last.stored_unix_ms}"
