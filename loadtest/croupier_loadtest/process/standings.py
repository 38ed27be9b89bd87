"""Checks that services can be load tested, and compares standings with the outcomes of all tables of a run."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import grpc

from croupier_api.v1 import scoring_pb2
from croupier_client import Client, CroupierError, NotFound
from croupier_loadtest.judge.standings import Occupant, TableOutcome, check_standings
from croupier_loadtest.judge.verdict import Verdict
from croupier_loadtest.judge.violations import Violation
from croupier_loadtest.mix import MixEntry
from croupier_loadtest.players.client import PlayerClient
from croupier_loadtest.players.described_games import described_game
from croupier_loadtest.record import DescribedGame, TableRecord

ANSWER_SECONDS = 8.0
NO_ANSWER = f"the services did not answer within {ANSWER_SECONDS:g} seconds"
UNKNOWN_TABLE = "no-such-table"
PAGE_SIZE = 100
PAUSES_SECONDS = (0.0, 2.0, 4.0)
"""Standings are read again until they agree: those that others see have the result of a table only after its watch
delay, and tables of strangers may end between two pages."""
READERS = 8
"""The number of players who read statistics: the budget of one would take minutes for thousands."""


class UnfitServices(Exception):
    """The services cannot be load tested; the message is the reason, in one line."""


async def offered_games(client: PlayerClient, games: Sequence[MixEntry]) -> Mapping[str, DescribedGame]:
    """Return all games of the services, by id; raises UnfitServices unless they offer these and serve the contract."""
    service = "lobby"
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await client.sign_in()
            offered = {one.game: one for one in (await client.list_games()).games}
            service = "engine"
            with suppress(NotFound):
                await client.get_view(table_id=UNKNOWN_TABLE)
            pages = {game: (await client.get_rules(game=game)).markdown for game in offered}
            service = "scoring"
            with suppress(NotFound):
                await client.get_score_sheet(table_id=UNKNOWN_TABLE)
    except CroupierError as error:
        if error.code is grpc.StatusCode.UNIMPLEMENTED:
            reason = f"the {service} does not serve croupier_api.v1: it is another version, or another program"
            raise UnfitServices(reason) from None
        raise UnfitServices(f"the {service} does not serve: {error}") from None
    except TimeoutError:
        raise UnfitServices(NO_ANSWER) from None
    for entry in games:
        if entry.game not in offered:
            raise UnfitServices(f"the lobby does not offer {entry.game}: remove it from --mix")
    return {game: described_game(description, pages[game]) for game, description in offered.items()}


def judged_table(record: TableRecord, verdict: Verdict) -> dict[str, object]:
    """Return a table as a dictionary for JSON; its outcome is None where the end of the game is not known."""
    players = sorted({viewer.player_id for viewer in record.viewers if viewer.seat is not None})
    outcome = None
    if (known := verdict.outcome) is not None:
        outcome = {
            **known._asdict(),
            "counts": [[*seat_and_name, sum_] for seat_and_name, sum_ in known.counts.items()],
        }
    return {"table_id": record.table_id, "game": record.game, "players": players, "outcome": outcome}


async def compare_standings(
    clients: Sequence[Client],
    tables: Sequence[Mapping[str, Any]],
    described: Mapping[str, DescribedGame],
    *,
    has_strangers: bool,
) -> list[Violation]:
    """Read the standings of these tables' games and players, and compare them; raises CroupierError.

    `described` are the games of the services; `has_strangers` says that players of no table here may be on the
    leaderboards.
    """
    outcomes = [_outcome(table["outcome"]) for table in tables if table["outcome"] is not None]
    undecided = {player for table in tables if table["outcome"] is None for player in table["players"]}
    players = {player for table in tables for player in table["players"]} - undecided
    check = partial(check_standings, outcomes, described=described, undecided=undecided, has_strangers=has_strangers)
    violations: list[Violation] = []
    for seconds in PAUSES_SECONDS:
        await asyncio.sleep(seconds)
        games = sorted({table["game"] for table in tables})
        lines = {game: await read_leaderboard(clients[0], game) for game in games}
        boards = {game: [line.SerializeToString() for line in found] for game, found in lines.items()}
        statistics = await _statistics(clients, sorted(players))
        violations = await asyncio.to_thread(lambda *read: list(check(*read)), boards, statistics)
        if not violations:
            break
    return violations


async def read_leaderboard(client: Client, game: str) -> Sequence[scoring_pb2.LeaderboardEntry]:
    """Return all lines of a game's leaderboard, page by page; raises CroupierError."""
    lines: list[scoring_pb2.LeaderboardEntry] = []
    token = ""
    while True:
        page = await client.get_leaderboard(game=game, page_size=PAGE_SIZE, page_token=token)
        lines += page.entries
        token = page.next_page_token
        if not token:
            return lines


async def _statistics(clients: Sequence[Client], players: Sequence[str]) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}

    async def read(client: Client, mine: Sequence[str]) -> None:
        for player_id in mine:
            shown = await client.get_player_statistics(player_id=player_id)
            found[player_id] = shown.SerializeToString()

    count = len(clients)
    await asyncio.gather(*(read(client, players[place::count]) for place, client in enumerate(clients)))
    return found


def _outcome(table: Mapping[str, Any]) -> TableOutcome:
    seats, by_engine = tuple(Occupant(*seat) for seat in table["seats"]), tuple(table["finished_by_engine"])
    ranking = tuple(map(tuple, table["ranking"]))
    counts = {(seat, name): sum_ for seat, name, sum_ in table["counts"]}
    outcomes = tuple(table["outcomes"])
    decoded = {"seats": seats, "ranking": ranking, "counts": counts, "outcomes": outcomes}
    return TableOutcome(**{**table, **decoded, "finished_by_engine": by_engine})
