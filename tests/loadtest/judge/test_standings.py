"""Statistics and leaderboards of scoring itself add up by the judge, and none that is another does."""

import asyncio
import pickle
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from croupier.scoring import codec
from croupier.scoring.ledger import Ledger
from croupier.scoring.records import Records
from croupier.scoring.schema import METADATA
from croupier_api.v1 import scoring_pb2
from loadtest.judge.standings import Outcome, standings_broken
from loadtest.judge.verdict import judge
from loadtest.judge.violations import Invariant
from tests.loadtest.judge.played import EVENTFUL, Played, played, record_of

GAMES = ("thulla", "thulla", "thulla", "one_ten")
PLAYERS = [f"player-{seat}" for seat in range(4)]
Line = scoring_pb2.LeaderboardLine
Statistics = scoring_pb2.GetPlayerStatisticsResponse


class Standings(NamedTuple):
    """What scoring answers after some tables; to be changed."""

    boards: dict[str, list[Line]]
    statistics: dict[str, Statistics]

    def broken(
        self, outcomes: list[Outcome], *, has_others: bool = False, undecided: tuple[str, ...] = ()
    ) -> set[Invariant]:
        """What the judge finds."""
        boards = {game: [line.SerializeToString() for line in lines] for game, lines in self.boards.items()}
        statistics = {player: told.SerializeToString() for player, told in self.statistics.items()}
        found = standings_broken(outcomes, boards, statistics, has_others=has_others, undecided=undecided)
        return {violation.invariant for violation in found}


def table(number: int) -> Played:
    return played(GAMES[number], number + 1, EVENTFUL)


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    """How the judge says that the tables ended."""
    found = [judge(record_of(table(number))).outcome for number in range(len(GAMES))]
    return [one._replace(table_id=f"table-{number}") for number, one in enumerate(found) if one is not None]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Standings:
    """What scoring makes of the same tables."""
    return asyncio.run(_told(tmp_path_factory.mktemp("ledger") / "scoring.db"))


async def _told(path: Path) -> Standings:
    database = create_async_engine(f"sqlite+aiosqlite:///{path}")
    async with database.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    ledger, records = Ledger(database), Records(database)
    for number, game in enumerate(GAMES):
        sheet = table(number).sheet
        about = {"table_id": f"table-{number}", "game": game}
        for line in sheet.rounds:
            entry = scoring_pb2.RecordRoundRequest(seats=sheet.seats, round=line, **about)
            await ledger.enter_round(*codec.read_round_entry(entry))
        sheet.result.table_id = about["table_id"]
        await ledger.enter_result(*codec.read_result_entry(scoring_pb2.RecordResultRequest(result=sheet.result)))
    boards = {game: await records.leaderboard(game, None, 100) for game in GAMES}
    statistics = {player: await records.statistics(player) for player in PLAYERS}
    await database.dispose()
    return Standings(
        {
            game: [codec.write_line(number, line) for number, line in enumerate(lines, 1)]
            for game, lines in boards.items()
        },
        {
            player: Statistics(player_id=player, games=map(codec.write_statistics, games))
            for player, games in statistics.items()
        },
    )


def test_true_standings_add_up(told: Standings, outcomes: list[Outcome]) -> None:
    assert len(outcomes) == len(GAMES)
    assert any(done.counts for it in told.statistics.values() for done in it.games)
    assert not told.broken(outcomes)


def test_players_who_finished_nothing_have_no_statistics(told: Standings, outcomes: list[Outcome]) -> None:
    told = deepcopy(told)
    told.statistics["nobody"] = Statistics(player_id="nobody")
    assert not told.broken(outcomes)


def test_others_on_a_board_are_judged_by_their_order_alone(told: Standings, outcomes: list[Outcome]) -> None:
    told = deepcopy(told)
    last = told.boards["thulla"][-1]
    done = scoring_pb2.GameStatistics(games_finished=9, average_place=9)
    other = Line(position=last.position + 1, player_id="stranger", statistics=done)
    told.boards["thulla"].append(other)
    assert told.broken(outcomes) == {Invariant.LEADERBOARD_DIFFERS}
    assert not told.broken(outcomes, has_others=True)
    other.statistics.games_won = 99
    assert told.broken(outcomes, has_others=True) == {Invariant.LEADERBOARD_DIFFERS}


def test_players_of_tables_that_nobody_saw_end_are_not_judged(told: Standings, outcomes: list[Outcome]) -> None:
    everybody = tuple(seat.player_id for seat in outcomes[0].seats if seat.player_id)
    assert told.broken(outcomes[1:]) == {Invariant.STATISTICS_DIFFER, Invariant.LEADERBOARD_DIFFERS}
    assert not told.broken(outcomes[1:], undecided=everybody)
    told = deepcopy(told)
    told.boards["thulla"].reverse()
    assert told.broken(outcomes[1:], undecided=everybody) == {Invariant.LEADERBOARD_DIFFERS}


def test_outcomes_can_be_pickled(outcomes: list[Outcome]) -> None:
    assert pickle.loads(pickle.dumps(outcomes)) == outcomes  # noqa: S301 - written just here
    assert all(type(one.counts) is dict for one in outcomes), "what reads them allows no other class"


def _done(told: Standings) -> scoring_pb2.GameStatistics:
    return next(done for done in told.statistics["player-2"].games if done.game == "one_ten")


FALSIFIED: Mapping[str, Callable[[Standings], object]] = {
    "statistics: a game more": lambda told: setattr(_done(told), "games_finished", 2),
    "statistics: a win more": lambda told: setattr(_done(told), "games_won", _done(told).games_won + 1),
    "statistics: another share": lambda told: setattr(_done(told), "win_rate", 0.3),
    "statistics: another place": lambda told: setattr(_done(told), "average_place", 9.0),
    "statistics: another count": lambda told: _done(told).counts.update({"bids_made": 99}),
    "statistics: a game is missing": lambda told: told.statistics["player-2"].games.pop(),
    "statistics: another order": lambda told: told.statistics["player-2"].games.reverse(),
    "statistics: another player": lambda told: setattr(told.statistics["player-2"], "player_id", "player-3"),
    "leaderboard: another order": lambda told: told.boards["thulla"].reverse(),
    "leaderboard: a position twice": lambda told: setattr(told.boards["thulla"][1], "position", 1),
    "leaderboard: a player is missing": lambda told: told.boards["thulla"].pop(),
    "leaderboard: a player twice": lambda told: told.boards["thulla"].append(told.boards["thulla"][0]),
    "leaderboard: another name": lambda told: setattr(told.boards["thulla"][0], "name", "Somebody"),
    "leaderboard: a win more": lambda told: setattr(told.boards["thulla"][0].statistics, "games_won", 9),
    "leaderboard: another count": lambda told: told.boards["one_ten"][0].statistics.counts.update({"bids_made": 99}),
}


@pytest.mark.parametrize("name", FALSIFIED)
def test_standings_that_do_not_add_up_are_found(name: str, told: Standings, outcomes: list[Outcome]) -> None:
    falsified = deepcopy(told)
    FALSIFIED[name](falsified)
    kind = name.partition(":")[0]
    wanted = {"statistics": Invariant.STATISTICS_DIFFER, "leaderboard": Invariant.LEADERBOARD_DIFFERS}[kind]
    assert falsified.broken(outcomes) == {wanted}
