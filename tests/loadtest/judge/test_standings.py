"""The judge accepts scoring's own statistics and leaderboards, and finds every change of them."""

import asyncio
import pickle
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from croupier.runtime.database.database import open_database, sqlite_url
from croupier.runtime.server.service import now_milliseconds
from croupier.scoring import codec
from croupier.scoring.ledger import Ledger
from croupier.scoring.schema import METADATA
from croupier.scoring.standings import Scope
from croupier.scoring.standings_store import LeaderboardEntry, StandingsStore
from croupier_api.v1 import scoring_pb2, tables_pb2
from croupier_internal.v1 import scoring_control_pb2
from croupier_loadtest.judge.rules.interface import Standing
from croupier_loadtest.judge.standings import Occupant, TableOutcome, check_standings
from croupier_loadtest.judge.verdict import judge
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import DescribedGame
from tests.loadtest.judge.played import EVENTFUL, PlayedTable, played
from tests.loadtest.judge.viewer_records import record_of

GAMES = ("thulla", "thulla", "thulla", "one_ten", "solo")
PLAYERS = [f"player-{seat}" for seat in range(4)]
PUBLIC = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_EVERYONE)
Entry = scoring_pb2.LeaderboardEntry
Statistics = scoring_pb2.GetPlayerStatisticsResponse


class Standings(NamedTuple):
    """Scoring's answers after some tables, which tests change."""

    boards: dict[str, list[Entry]]
    statistics: dict[str, Statistics]

    def broken(self, outcomes: list[TableOutcome], **settings: Any) -> set[Invariant]:
        """Return the invariants that the judge finds violated."""
        boards = {game: [line.SerializeToString() for line in lines] for game, lines in self.boards.items()}
        statistics = {player: standings.SerializeToString() for player, standings in self.statistics.items()}
        found = check_standings(outcomes, boards, statistics, **settings)
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
    database = open_database(sqlite_url(path))
    await database.write(METADATA.create_all)
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
        standing = table(number).result_request.standing
        result = scoring_control_pb2.RecordResultRequest(result=sheet.result, access=PUBLIC, standing=standing)
        await ledger.record_result(*codec.decode_result(result))
    boards = {game: await standings.leaderboard(game, None, 100) for game in GAMES}
    statistics = {player: await standings.statistics(player, Scope.PUBLIC) for player in PLAYERS}
    await database.close()
    return Standings(
        {
            game: [codec.encode_entry(position_in(lines, line), line) for line in lines]
            for game, lines in boards.items()
        },
        {
            player: Statistics(player_id=player, games=map(codec.encode_statistics, games))
            for player, games in statistics.items()
        },
    )


def position_in(lines: Sequence[LeaderboardEntry], line: LeaderboardEntry) -> int:
    return next(number for number, other in enumerate(lines, 1) if other.statistics.rank == line.statistics.rank)


def test_correct_standings_are_accepted(standings: Standings, outcomes: list[TableOutcome]) -> None:
    assert len(outcomes) == len(GAMES)
    assert any(done.counts for it in standings.statistics.values() for done in it.games)
    # Without a finished game there are no statistics.
    statistics = standings.statistics | {"unknown": Statistics(player_id="unknown")}
    assert not standings._replace(statistics=statistics).broken(outcomes)


def test_a_result_without_outcomes_counts_nowhere(standings: Standings, outcomes: list[TableOutcome]) -> None:
    counted = outcomes[0]._replace(table_id="another", is_ranked=False)
    assert standings.broken([*outcomes, counted._replace(outcomes=())]) == set()
    assert standings.broken([*outcomes, counted]) == {Invariant.STATISTICS_DIFFER}


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
    private = [one._replace(is_public=False, is_ranked=False) for one in outcomes]
    assert standings.broken(private) == {Invariant.STATISTICS_DIFFER, Invariant.LEADERBOARD_DIFFERS}
    assert standings.broken(private, own_statistics=True) == {Invariant.LEADERBOARD_DIFFERS}
    unknown = {player: Statistics(player_id=player) for player in PLAYERS}
    empty = Standings({game: [] for game in standings.boards}, unknown)
    assert not empty.broken(private)


def test_a_game_that_a_player_left_is_not_won_and_has_the_last_place(
    standings: Standings, outcomes: list[TableOutcome]
) -> None:
    replaced = [one._replace(finished_by_engine=()) for one in outcomes]
    assert replaced != outcomes
    assert standings.broken(replaced) == {Invariant.STATISTICS_DIFFER, Invariant.LEADERBOARD_DIFFERS}


def game_of(number: int, people: Sequence[str], end: int = 1, *, is_ranked: bool = True) -> TableOutcome:
    """Return the outcome of a public table; its players have their places in this order."""
    seats, ranking = tuple(Occupant(one, one) for one in people), tuple((seat,) for seat in range(len(people)))
    outcomes = ("won", *("lost",) * (len(people) - 1))
    return TableOutcome(str(number), "thulla", seats, ranking, {}, end, outcomes, is_public=True, is_ranked=is_ranked)


def board_of(*lines: tuple[int, str, scoring_pb2.GameStatistics], game: str = "thulla") -> Standings:
    """Return a leaderboard of these positions and players, who are named by their ids."""
    entries = [Entry(position=at, player_id=player, name=player, statistics=done) for at, player, done in lines]
    return Standings({game: entries}, {})


def one_game(place: int, games_left: int = 0) -> scoring_pb2.GameStatistics:
    """Return the statistics of a player with one game, which they have won if their place is the first."""
    won = int(place == 1)
    return scoring_pb2.GameStatistics(
        game="thulla",
        games_finished=1,
        games_won=won,
        win_rate=won,
        average_place=place,
        games_left=games_left,
        figure=scoring_pb2.Figure(name="games_won", value=won),
        outcomes={"won": won, "lost": 1 - won},
    )


def test_a_leaver_whose_seat_wins_has_the_last_place_too() -> None:
    """Anna left, and the engine won for her; she is as good as Carl, who was last."""
    anna, ben, carl = one_game(3, games_left=1), one_game(2), one_game(3)
    board, game = board_of((1, "b", ben), (2, "a", anna), (2, "c", carl)), game_of(1, "abc")
    assert not board.broken([game._replace(finished_by_engine=(0,))])
    assert board.broken([game]) == {Invariant.LEADERBOARD_DIFFERS}


def test_a_game_without_a_judge_is_ordered_as_its_services_say() -> None:
    """Anna's places are worse than Ben's, and her id is the lower one."""
    board, undecided = board_of((1, "a", one_game(3)), (1, "b", one_game(2)), game="whist"), ("a", "b")
    by_places, by_games = (DescribedGame(standing=Standing(places_matter=matter)) for matter in (True, False))
    assert board.broken([], undecided=undecided, described={"whist": by_places}) == {Invariant.LEADERBOARD_DIFFERS}
    assert not board.broken([], undecided=undecided, described={"whist": by_games})


HOUR = 3_600_000


def ranks_found(games: Sequence[tuple[str, int, bool]], undecided: tuple[str, ...] = ()) -> list[str]:
    """Return the numbers of wrongly ranked games; each has players, the hour of its end, and whether it is ranked."""
    outcomes = [
        game_of(number, people, hour * HOUR, is_ranked=is_ranked)
        for number, (people, hour, is_ranked) in enumerate(games)
    ]
    found = check_standings(outcomes, {}, {}, undecided=undecided)
    return [one.table_id for one in found if one.invariant is Invariant.LEADERBOARD_DIFFERS]


def test_a_pair_has_at_most_five_ranked_games_in_a_day() -> None:
    five = [("ab", hour, True) for hour in range(5)]
    assert not ranks_found([*five, ("ab", 5, False), ("ba", 23, False), ("ab", 24, True), ("ac", 5, True)])
    assert ranks_found([*five, ("ba", 23, True)]) == ["5"]
    # It counts for the whole table if any two of its players have as many.
    assert not ranks_found([*five, ("cbda", 5, False), ("cda", 5, True)])
    assert ranks_found([*five, ("cbda", 5, True)]) == ["5"]


def test_a_result_is_ranked_unless_a_pair_has_too_many() -> None:
    four = [("ab", hour, True) for hour in range(4)]
    assert ranks_found([*four, ("ab", 4, False)]) == ["4"]
    assert ranks_found([*four, ("abc", 4, False)]) == ["4"]
    assert ranks_found([*four, ("ab", 4, True), ("ab", 24, False)]) == ["5"]
    # The order of reports is scoring's: the result of the first game may be the last one.
    assert not ranks_found([("ab", 0, False), *(("ab", hour, True) for hour in range(1, 6))])
    # They may have other ranked games that the judge does not know.
    assert not ranks_found([*four, ("ab", 4, False)], undecided=("a", "b"))
    assert ranks_found([*four, ("ab", 4, False)], undecided=("a", "c")) == ["4"]


def test_players_with_equal_statistics_share_a_position() -> None:
    won, lost = one_game(1), one_game(2)
    outcomes = [game_of(0, "ab"), game_of(1, "cd")]
    for positions, expected in (((1, 1, 3, 3), set()), ((1, 2, 3, 4), {Invariant.LEADERBOARD_DIFFERS})):
        board = board_of(*zip(positions, "acbd", (won, won, lost, lost), strict=True))
        assert board.broken(outcomes) == expected


def game_of_solo(number: int, *escaped: str, buck: str) -> TableOutcome:
    """Return the outcome of a public table of Solo, at which the escaped went out one after the other."""
    one = game_of(number, (*escaped, buck))
    return one._replace(game="solo", outcomes=(*("escaped",) * len(escaped), "buck"))


def escapes(games: int, escaped: int, average_place: float) -> scoring_pb2.GameStatistics:
    return scoring_pb2.GameStatistics(
        game="solo",
        games_finished=games,
        average_place=average_place,
        figure=scoring_pb2.Figure(name="escape_rate", value=escaped / games),
        outcomes={"escaped": escaped, "buck": games - escaped},
    )


def test_a_leaderboard_without_winners_is_sorted_by_the_figure_and_then_by_games() -> None:
    """Neither wins nor places count: Ben went out after Anna, and shares the position of Anna."""
    tables = [
        game_of_solo(0, "a", "b", "c", buck="d"),
        game_of_solo(1, "a", "b", buck="c"),
        game_of_solo(2, "e", buck="f"),
    ]
    anna, ben, carl = escapes(2, 2, 1), escapes(2, 2, 2), escapes(2, 1, 3)
    dora, emil, fay = escapes(1, 0, 4), escapes(1, 1, 1), escapes(1, 0, 2)
    lines = [(1, "a", anna), (1, "b", ben), (3, "e", emil), (4, "c", carl), (5, "d", dora), (5, "f", fay)]
    assert not board_of(*lines, game="solo").broken(tables)
    by_games = [lines[0], lines[1], (3, "c", carl), (4, "e", emil), *lines[4:]]
    by_place = [(1, "a", anna), (2, "b", ben), *lines[2:]]
    for wrong in (by_games, by_place, lines[:-1]):
        assert board_of(*wrong, game="solo").broken(tables) == {Invariant.LEADERBOARD_DIFFERS}
    # The escape rate is no win rate, and without a Buck nobody has escaped.
    anna.win_rate = 1.0
    assert board_of(*lines, game="solo").broken(tables) == {Invariant.LEADERBOARD_DIFFERS}
    assert not board_of(game="solo").broken([one._replace(outcomes=(), is_ranked=False) for one in tables])


def test_a_player_who_left_a_game_without_winners_has_the_last_outcome() -> None:
    """Emil left, and the engine escaped for him."""
    emil, fay = escapes(1, 0, 2), escapes(1, 0, 2)
    emil.games_left = 1
    board, game = board_of((1, "e", emil), (1, "f", fay), game="solo"), game_of_solo(2, "e", buck="f")
    assert not board.broken([game._replace(finished_by_engine=(0,))])
    assert board.broken([game]) == {Invariant.LEADERBOARD_DIFFERS}


def test_outcomes_can_be_pickled(outcomes: list[TableOutcome]) -> None:
    assert pickle.loads(pickle.dumps(outcomes)) == outcomes  # noqa: S301 - written just here
    assert all(type(one.counts) is dict for one in outcomes)


def one_ten(statistics: Statistics, game: str = "one_ten") -> scoring_pb2.GameStatistics:
    return next(done for done in statistics.games if done.game == game)


WRONG_STATISTICS: Mapping[str, Callable[[Statistics], object]] = {
    "a game more": lambda shown: setattr(one_ten(shown), "games_finished", 2),
    "a win more": lambda shown: setattr(one_ten(shown), "games_won", one_ten(shown).games_won + 1),
    "a game left more": lambda shown: setattr(one_ten(shown), "games_left", 1),
    "another share": lambda shown: setattr(one_ten(shown), "win_rate", 0.3),
    "another place": lambda shown: setattr(one_ten(shown), "average_place", 9.0),
    "another figure": lambda shown: setattr(one_ten(shown).figure, "value", 9.0),
    "a figure of another name": lambda shown: setattr(one_ten(shown).figure, "name", "escape_rate"),
    "another outcome": lambda shown: one_ten(shown).outcomes.update({"drawn": 1}),
    "a win rate without winners": lambda shown: setattr(one_ten(shown, "solo"), "win_rate", 0.0),
    "a win without winners": lambda shown: setattr(one_ten(shown, "solo"), "games_won", 1),
    "another escape rate": lambda shown: setattr(one_ten(shown, "solo").figure, "value", 0.3),
    "another count": lambda shown: one_ten(shown).counts.update({"bids_made": 99}),
    "a game is missing": lambda shown: shown.games.pop(),
    "another order": lambda shown: shown.games.reverse(),
    "another player": lambda shown: setattr(shown, "player_id", "player-3"),
}


@pytest.mark.parametrize("name", WRONG_STATISTICS)
def test_wrong_statistics_are_found(name: str, standings: Standings, outcomes: list[TableOutcome]) -> None:
    falsified = deepcopy(standings)
    WRONG_STATISTICS[name](falsified.statistics["player-2"])
    assert falsified.broken(outcomes) == {Invariant.STATISTICS_DIFFER}


LAST = scoring_pb2.GameStatistics(games_finished=1, average_place=9)


def with_strangers(standings: Standings) -> Standings:
    """Return the standings after earlier tables of others, who stand before, between and after these players."""
    shown = deepcopy(standings)
    figure = scoring_pb2.Figure(value=99)
    first = scoring_pb2.GameStatistics(games_finished=99, games_won=99, win_rate=1, average_place=1, figure=figure)
    for game, lines in shown.boards.items():
        between = Entry(player_id="between", name="Between", statistics=deepcopy(lines[-1].statistics))
        strangers = Entry(player_id="before", statistics=first), Entry(player_id="after", statistics=LAST)
        shown.boards[game] = [strangers[0], *lines[:-1], between, lines[-1], strangers[1]]
        numbers = [
            (done.figure.value, done.average_place if game != "solo" else 0, done.games_finished)
            for done in (line.statistics for line in shown.boards[game])
        ]
        for line, own in zip(shown.boards[game], numbers, strict=True):
            line.position = 1 + numbers.index(own)
    return shown


def test_lines_of_players_of_other_tables_are_not_judged(standings: Standings, outcomes: list[TableOutcome]) -> None:
    shown = with_strangers(standings)
    assert shown.broken(outcomes) == {Invariant.LEADERBOARD_DIFFERS}
    assert not shown.broken(outcomes, has_strangers=True)


WRONG_LINES: Mapping[str, Callable[[list[Entry]], object]] = {
    "another order": lambda lines: lines.reverse(),
    "a position twice": lambda lines: setattr(lines[2], "position", lines[1].position),
    "a player is missing": lambda lines: lines.pop(1),
    "a player twice": lambda lines: lines.append(lines[1]),
    "another name": lambda lines: setattr(lines[1], "name", "Another"),
    "a win more": lambda lines: setattr(lines[1].statistics, "games_won", 9),
    "another figure": lambda lines: setattr(lines[1].statistics.figure, "value", 9.0),
    "another count": lambda lines: lines[1].statistics.counts.update({"bids_made": 99}),
}


@pytest.mark.parametrize("name", WRONG_LINES)
@pytest.mark.parametrize("has_strangers", [False, True])
def test_wrong_lines_are_found(
    name: str, has_strangers: bool, standings: Standings, outcomes: list[TableOutcome]
) -> None:
    shown = with_strangers(standings) if has_strangers else deepcopy(standings)
    WRONG_LINES[name](shown.boards["thulla"])
    assert shown.broken(outcomes, has_strangers=has_strangers) == {Invariant.LEADERBOARD_DIFFERS}
