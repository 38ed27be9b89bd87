"""What the services have on record about a finished table, and whether all of it agrees."""

import asyncio
import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from croupier.cli.demo_players import PATIENCE_SECONDS, POLL_SECONDS, PlayedTable
from croupier.cli.faults import CommandFault
from croupier.engine.codec import decode_action
from croupier.engine.replay import ReplayFault, ReplaySummary, verify_replay
from croupier.engine.shuffles import shuffle, stream_key
from croupier.games.actions import action_from_json, action_to_json
from croupier.games.catalogue import GAMES
from croupier.games.facts import RoundEnded
from croupier.games.interface import SeatActed, ShuffleNeeded
from croupier_api.v1 import scoring_pb2
from croupier_client.aio import Client
from croupier_client.errors import NotFound

Ranking = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A finished table as the engine's replay and scoring's records tell it; statistics of the players by seat."""

    replay: str
    sheet: scoring_pb2.GetScoreSheetResponse
    results: tuple[scoring_pb2.TableResult, ...]
    statistics: tuple[scoring_pb2.GetPlayerStatisticsResponse, ...]


async def gather_evidence(client: Client, table_id: str) -> Evidence:
    """Ask the services; raises CroupierError, or CommandFault if scoring does not have the result in time."""
    replay = (await client.get_replay(table_id=table_id)).replay
    sheet = await _finished_sheet(client, table_id)
    listed = await client.list_results(player_id=client.player.player_id if client.player else "")
    results = tuple(result for result in listed.results if result.table_id == table_id)
    players = [seat.player_id for seat in sheet.seats]
    return Evidence(
        replay, sheet, results, tuple([await client.get_player_statistics(player_id=player) for player in players])
    )


async def _finished_sheet(client: Client, table_id: str) -> scoring_pb2.GetScoreSheetResponse:
    """The score sheet once the result is on it: the engine reports to scoring after the players have heard."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                try:
                    sheet = await client.get_score_sheet(table_id=table_id)
                except NotFound:
                    sheet = scoring_pb2.GetScoreSheetResponse()
                if sheet.HasField("result"):
                    return sheet
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise CommandFault(f"scoring has no result of {table_id} after {PATIENCE_SECONDS:g} seconds") from None


def disagreements(played: PlayedTable, evidence: Evidence) -> Iterator[str]:
    """Everything on which the players' streams, the replay and scoring do not agree, one sentence each."""
    ranking, totals = played.rankings[0], played.totals[0]
    for seat, (seen, scored) in enumerate(zip(played.rankings, played.totals, strict=True)):
        yield from _differs(f"the ranking in the stream of seat {seat}", seen, "that of seat 0", ranking)
        yield from _differs(f"the totals in the stream of seat {seat}", scored, "those of seat 0", totals)
    try:
        summary = verify_replay(evidence.replay)
    except ReplayFault as fault:
        yield f"the replay does not hold: {fault}"
        return
    yield from _differs("the replay's ranking", summary.ranking, "the players'", ranking)
    yield from _differs("the replay's totals", summary.totals, "the players'", totals)
    lines = [json.loads(line) for line in evidence.replay.splitlines()]
    yield from _missing_actions(played, lines)
    rounds = _rounds_by_the_rules(lines)
    yield from _sheet_differences(evidence.sheet, rounds, summary)
    yield from _count_differences(evidence, rounds)
    yield from _result_differences(evidence, played, ranking, totals)


def _differs(what: str, it: object, other: str, expected: object) -> Iterator[str]:
    if it != expected:
        yield f"{what} is {it}, {other} {expected}"


def _missing_actions(played: PlayedTable, lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    entries = {line["seq"]: line for line in lines if "seq" in line}
    for one in played.acknowledged:
        number = one.sequence - bisect_left(played.credits, one.sequence)
        entry = entries.get(number, {})
        stored = entry.get("seat"), entry.get("action")
        promised = one.seat, action_to_json(decode_action(one.action))
        yield from _differs(f"entry {number} of the replay", stored, "but what was acknowledged", promised)


def _rounds_by_the_rules(lines: Sequence[dict[str, Any]]) -> list[RoundEnded]:
    """The rounds of a replay that holds, played again: its own lines have the points only."""
    header, rounds = lines[0], []
    added = tuple(bytes.fromhex(header["client_seeds"].get(str(seat), "")) for seat in range(header["seats"]))
    key = stream_key(bytes.fromhex(header["seed"]), added)
    game = GAMES[header["game"]].new(header["seats"], header["options"])
    for line in lines:
        if "seq" in line:
            awaiting = game.awaiting
            game, facts = game.apply(shuffle(key, awaiting) if isinstance(awaiting, ShuffleNeeded) else _acted(line))
            rounds += [fact for fact in facts if isinstance(fact, RoundEnded)]
    return rounds


def _acted(line: dict[str, Any]) -> SeatActed:
    return SeatActed(line["seat"], action_from_json(line["action"]))


def _sheet_differences(
    sheet: scoring_pb2.GetScoreSheetResponse, rounds: Sequence[RoundEnded], summary: ReplaySummary
) -> Iterator[str]:
    replayed = [(ended.round_number, ended.points, ended.totals) for ended in rounds]
    scored = [(line.round, tuple(line.points), tuple(line.totals)) for line in sheet.rounds]
    yield from _differs("the score sheet", scored, "by the replay it should be", replayed)
    for line, ended in zip(sheet.rounds, rounds, strict=False):
        said = (
            tuple(line.notes),
            line.headline,
            dict(line.details),
            [(it.name, it.seat, it.amount) for it in line.counts],
        )
        expected = ended.notes, ended.headline, dict(ended.details), list(map(tuple, ended.counts))
        yield from _differs(f"what the score sheet says of round {line.round}", said, "by the rules", expected)
    if sheet.rounds:
        yield from _differs(
            "the score sheet's last total", tuple(sheet.rounds[-1].totals), "the replay's", summary.totals
        )


def _count_differences(evidence: Evidence, rounds: Sequence[RoundEnded]) -> Iterator[str]:
    """Whether statistics that know just this table of each player add up what he did at it."""
    for seat, statistics in enumerate(evidence.statistics):
        expected: Counter[str] = Counter()
        for count in chain.from_iterable(ended.counts for ended in rounds):
            expected[count.name] += count.amount if count.seat == seat else 0
        counted = {done.game: dict(done.counts) for done in statistics.games}
        by_the_rules = {evidence.sheet.game: dict(+expected)}
        yield from _differs(f"what is counted of seat {seat}", counted, "by the rules", by_the_rules)


def _result_differences(
    evidence: Evidence, played: PlayedTable, ranking: Ranking, totals: tuple[int, ...]
) -> Iterator[str]:
    if len(evidence.results) != 1:
        yield f"scoring lists the result {len(evidence.results)} times, not once"
    for result in (evidence.sheet.result, *evidence.results):
        placed = tuple(tuple(group.seats) for group in result.ranking)
        yield from _differs("scoring's ranking", placed, "the players'", ranking)
        yield from _differs("scoring's totals", tuple(result.totals), "the players'", totals)
        seated = tuple(seat.player_id for seat in result.seats)
        yield from _differs("scoring's list of players", seated, "at the table sat", played.players)


async def leaderboard(client: Client, game: str) -> list[scoring_pb2.LeaderboardLine]:
    """All lines of a game's leaderboard."""
    lines: list[scoring_pb2.LeaderboardLine] = []
    token = ""
    while True:
        page = await client.get_leaderboard(game=game, page_size=100, page_token=token)
        lines += page.lines
        token = page.next_page_token
        if not token:
            return lines


def leaderboard_differences(
    lines: Sequence[scoring_pb2.LeaderboardLine], tables: Sequence[PlayedTable]
) -> Iterator[str]:
    """Whether a leaderboard that knows just these tables counts right: each player sat at one of them."""
    counts = {line.player_id: (line.statistics.games_finished, line.statistics.games_won) for line in lines}
    expected = {
        player: (1, int(seat in table.rankings[0][0])) for table in tables for seat, player in enumerate(table.players)
    }
    for player in sorted(counts.keys() | expected.keys()):
        what = f"the leaderboard's (finished, won) of player {player}"
        yield from _differs(what, counts.get(player), "by the tables", expected.get(player))
