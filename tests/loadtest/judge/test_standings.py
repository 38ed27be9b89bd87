"""The judge accepts scoring's own statistics and leaderboards, and finds every change of them."""

import asyncio
import pickle
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from croupier.runtime.service import now_milliseconds
from croupier.scoring import codec
from croupier.scoring.ledger import Ledger
from croupier.scoring.schema import METADATA
from croupier.scoring.standings import Scope
from croupier.scoring.standings_store import StandingsStore
from croupier_api.v1 import scoring_pb2, tables_pb2
from croupier_internal.v1 import scoring_control_pb2
from loadtest.judge.standings import TableOutcome, check_standings
from loadtest.judge.verdict import judge
from loadtest.judge.violations import Invariant
from tests.loadtest.judge.played import EVENTFUL, PlayedTable, played
from tests.loadtest.judge.viewer_records import record_of

GAMES = ("thulla", "thulla", "thulla", "one_ten")
PLAYERS = [f"player-{seat}" for seat in range(4)]
PUBLIC = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_EVERYONE)
Entry = scoring_pb2.LeaderboardEntry
Statistics = scoring_pb2.GetPlayerStatisticsResponse


class Standings(NamedTuple):
    """Scoring's answers after some tables, which tests change."""

    boards: dict[str, list[Entry]]
    statistics: dict[str, Statistics]

    def broken(
        self, outcomes: list[TableOutcome], *, undecided: tuple[str, ...] = (), own_statistics: bool = False
    ) -> set[Invariant]:
        """Return the invariants that the judge finds violated."""
        boards = {game: [line.SerializeToString() for line in lines] for game, lines in self.boards.items()}
        statistics = {player: standings.SerializeToString() for player, standings in self.statistics.items()}
        found = check_standings(outcomes, boards, statistics, undecided=undecided, own_statistics=own_statistics)
        return {violation.invariant for violation in found}


def table(number: int) -> PlayedTable:
    # At the third table a seat is absent in the end.
    return played(GAMES[number], number + 1, replace(EVENTFUL, leavers=(3,)) if number == 2 else EVENTFUL)


@pytest.fixture(scope="module")
def outcomes() -> list[TableOutcome]:
    """Return the outcomes of the tables by the judge."""
    found = [judge(record_of(table(number))).outcome for number in range(len(GAMES))]
    return [one._replace(table_id=f"table-{number}") for number, one in enumerate(found) if one is not None]


@pytest.fixture(scope="module")
def standings(tmp_path_factory: pytest.TempPathFactory) -> Standings:
    """Return scoring's standings of the same tables."""
    return asyncio.run(read_standings(tmp_path_factory.mktemp("ledger") / "scoring.db"))


async def read_standings(path: Path) -> Standings:
    database = create_async_engine(f"sqlite+aiosqlite:///{path}")
    async with database.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    ledger, standings = Ledger(database, now_milliseconds), StandingsStore(database)
    for number, game in enumerate(GAMES):
        sheet = table(number).sheet
        table_id = f"table-{number}"
        for score in sheet.rounds:
            entry = scoring_control_pb2.RecordRoundRequest(
                table_id=table_id, game=game, seats=sheet.seats, score=score, access=PUBLIC
            )
            await ledger.record_round(*codec.decode_round(entry))
        sheet.result.table_id = table_id
        result = scoring_control_pb2.RecordResultRequest(result=sheet.result, access=PUBLIC)
        await ledger.record_result(*codec.decode_result(result))
    boards = {game: await standings.leaderboard(game, None, 100) for game in GAMES}
    statistics = {player: await standings.statistics(player, Scope.PUBLIC) for player in PLAYERS}
    await database.dispose()
    return Standings(
        {
            game: [codec.encode_entry(number, line) for number, line in enumerate(lines, 1)]
            for game, lines in boards.items()
        },
        {
            player: Statistics(player_id=player, games=map(codec.encode_statistics, games))
            for player, games in statistics.items()
        },
    )


def test_correct_standings_are_accepted(standings: Standings, outcomes: list[TableOutcome]) -> None:
    assert len(outcomes) == len(GAMES)
    assert any(done.counts for it in standings.statistics.values() for done in it.games)
    assert not standings.broken(outcomes)


def test_a_void_result_counts_nowhere(standings: Standings, outcomes: list[TableOutcome]) -> None:
    void = outcomes[0]._replace(table_id="void", is_void=True)
    assert standings.broken([*outcomes, void]) == set()
    assert standings.broken([*outcomes, void._replace(is_void=False)]) != set()


def test_players_who_finished_nothing_have_no_statistics(standings: Standings, outcomes: list[TableOutcome]) -> None:
    standings = deepcopy(standings)
    standings.statistics["unknown"] = Statistics(player_id="unknown")
    assert not standings.broken(outcomes)


def test_players_of_tables_without_an_outcome_are_not_judged(
    standings: Standings, outcomes: list[TableOutcome]
) -> None:
    player_ids = tuple(seat.player_id for seat in outcomes[0].seats if seat.player_id)
    assert standings.broken(outcomes[1:]) == {Invariant.STATISTICS_DIFFER, Invariant.LEADERBOARD_DIFFERS}
    assert not standings.broken(outcomes[1:], undecided=player_ids)
    standings = deepcopy(standings)
    standings.boards["thulla"].reverse()
    assert standings.broken(outcomes[1:], undecided=player_ids) == {Invariant.LEADERBOARD_DIFFERS}


def test_tables_that_are_not_public_count_in_own_statistics_only(
    standings: Standings, outcomes: list[TableOutcome]
) -> None:
    private = [one._replace(is_public=False) for one in outcomes]
    assert standings.broken(private) == {Invariant.STATISTICS_DIFFER, Invariant.LEADERBOARD_DIFFERS}
    assert standings.broken(private, own_statistics=True) == {Invariant.LEADERBOARD_DIFFERS}
    unknown = {player: Statistics(player_id=player) for player in PLAYERS}
    empty = Standings({game: [] for game in standings.boards}, unknown)
    assert not empty.broken(private)


def test_seats_that_the_engine_finished_are_on_no_leaderboard(
    standings: Standings, outcomes: list[TableOutcome]
) -> None:
    replaced = [one._replace(finished_by_engine=()) for one in outcomes]
    assert replaced != outcomes
    assert standings.broken(replaced) == {Invariant.LEADERBOARD_DIFFERS}


def test_outcomes_can_be_pickled(outcomes: list[TableOutcome]) -> None:
    assert pickle.loads(pickle.dumps(outcomes)) == outcomes  # noqa: S301 - written just here
    assert all(type(one.counts) is dict for one in outcomes)


def statistics_of(standings: Standings) -> scoring_pb2.GameStatistics:
    return next(done for done in standings.statistics["player-2"].games if done.game == "one_ten")


LAST = scoring_pb2.GameStatistics(games_finished=9, average_place=9)

FALSIFIED: Mapping[str, Callable[[Standings], object]] = {
    "statistics: a game more": lambda standings: setattr(statistics_of(standings), "games_finished", 2),
    "statistics: a win more": lambda standings: setattr(
        statistics_of(standings), "games_won", statistics_of(standings).games_won + 1
    ),
    "statistics: another share": lambda standings: setattr(statistics_of(standings), "win_rate", 0.3),
    "statistics: another place": lambda standings: setattr(statistics_of(standings), "average_place", 9.0),
    "statistics: another count": lambda standings: statistics_of(standings).counts.update({"bids_made": 99}),
    "statistics: a game is missing": lambda standings: standings.statistics["player-2"].games.pop(),
    "statistics: another order": lambda standings: standings.statistics["player-2"].games.reverse(),
    "statistics: another player": lambda standings: setattr(standings.statistics["player-2"], "player_id", "player-3"),
    "leaderboard: another order": lambda standings: standings.boards["thulla"].reverse(),
    "leaderboard: a position twice": lambda standings: setattr(standings.boards["thulla"][1], "position", 1),
    "leaderboard: a player is missing": lambda standings: standings.boards["thulla"].pop(),
    "leaderboard: a player twice": lambda standings: standings.boards["thulla"].append(standings.boards["thulla"][0]),
    "leaderboard: a stranger": lambda standings: standings.boards["thulla"].append(
        Entry(position=len(standings.boards["thulla"]) + 1, player_id="stranger", statistics=LAST)
    ),
    "leaderboard: another name": lambda standings: setattr(standings.boards["thulla"][0], "name", "Another"),
    "leaderboard: a win more": lambda standings: setattr(standings.boards["thulla"][0].statistics, "games_won", 9),
    "leaderboard: another count": lambda standings: standings.boards["one_ten"][0].statistics.counts.update(
        {"bids_made": 99}
    ),
}


@pytest.mark.parametrize("name", FALSIFIED)
def test_wrong_standings_are_found(name: str, standings: Standings, outcomes: list[TableOutcome]) -> None:
    falsified = deepcopy(standings)
    FALSIFIED[name](falsified)
    kind = name.partition(":")[0]
    expected = {"statistics": Invariant.STATISTICS_DIFFER, "leaderboard": Invariant.LEADERBOARD_DIFFERS}[kind]
    assert falsified.broken(outcomes) == {expected}
