"""How results count: wins in most games, and escapes in Solo, whose rules of standings are here by their ids."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from croupier.engine.api.table_codec import encode_game
from croupier.engine.core.fold import LIMIT_REASON
from croupier.games.facts import Ranking
from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES
from croupier.runtime.database.database import open_database, sqlite_url
from croupier.runtime.server.service import now_milliseconds
from croupier.runtime.table_access import OPEN
from croupier.scoring import codec
from croupier.scoring.ledger import Ledger, Result, Seat, SeatConduct, Sheet
from croupier.scoring.schema import METADATA
from croupier.scoring.standings import Scope, Standing
from croupier.scoring.standings_store import LeaderboardEntry, StandingsStore
from croupier_api.v1 import games_pb2
from croupier_loadtest.judge.rules.registry import standing_of
from tests.games import dispatch
from tests.games.positions import acts, over
from tests.games.positions_solo import DO, EIGHTH, SOLO, dealt
from tests.games.toy import TOY

WINNERS = [game for game in (*OWN_GAMES.values(), TOY) if game.id != SOLO.id]
LOST_DO = f"{DO} 9S KS JS 7S JC AC TC 8C"
"""With the eighth hands of Solo: seats 1 and 3 get 6 points each."""
SAFE = {"buck_only": ((0, 1, 2), (3,)), "out_order": ((0, 2), (1,), (3,))}


def described(game: Game) -> games_pb2.Standing:
    return encode_game(game).standing


@pytest.mark.parametrize("game", WINNERS, ids=lambda game: game.id)
def test_the_first_group_wins_and_wins_order_the_leaderboard(game: Game) -> None:
    order = games_pb2.LeaderboardOrder(figure="games_won", counted="won", order="descending")
    order.tie_breakers.extend(("average_place", "games_finished"))
    expected = games_pb2.Standing(outcomes=["won", "lost"], winning_outcomes=["won"], leaderboard=order)
    assert described(game) == expected
    rankings: Sequence[Ranking] = (((1,), (0, 2)), ((0, 2), (1,)), ((0, 1, 2),))
    for reason in ("any", LIMIT_REASON):
        outcomes = [game.outcomes(ranking, reason) for ranking in rankings]
        assert outcomes == [("lost", "won", "lost"), ("won", "lost", "won"), ("won",) * 3]


@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=lambda game: game.id)
def test_the_judge_counts_results_in_the_same_way(game: Game) -> None:
    standing = standing_of(game.id)
    assert standing is not None
    better, worse, *others = standing
    assert ((better, worse), *others) == game.standing


@pytest.mark.parametrize("ranking", SAFE)
def test_SOLO_STAT_1_three_seats_have_escaped_and_one_has_the_buck_whatever_the_ranking(ranking: str) -> None:
    state = acts(dealt(EIGHTH, scores=(36, 32, 36, 10), ranking=ranking), LOST_DO)
    ended = over(state)
    assert (dispatch.scores(state), ended.reason) == ((36, 36, 36, 16), "buck")
    assert SOLO.outcomes(ended.ranking, ended.reason) == ("escaped", "escaped", "escaped", "buck")
    assert SOLO.outcomes(SAFE[ranking], ended.reason) == ("escaped", "escaped", "escaped", "buck")


def test_SOLO_STAT_1_a_game_that_ends_at_a_limit_counts_as_neither() -> None:
    state = dealt(EIGHTH, scores=(36, 32, 36, 10))
    at_limit = dispatch.ranking_at_limit(state._replace(progress=state.progress._replace(went_out=(2, 0, 1, 0))))
    assert at_limit is not None
    assert SOLO.outcomes(at_limit, LIMIT_REASON) == ()


def test_SOLO_STAT_4_outcomes_and_figure_are_data_of_the_game() -> None:
    standing = described(SOLO)
    order = standing.leaderboard
    assert (list(standing.outcomes), list(standing.winning_outcomes)) == (["escaped", "buck"], [])
    assert (order.figure, order.counted, list(order.of)) == ("escape_rate", "escaped", ["escaped", "buck"])
    assert (order.order, list(order.tie_breakers)) == ("descending", ["games_finished"])


CAREERS = {
    "hugo": (1, 0),
    "anna": (9, 1),
    "ben": (30, 10),
    "carl": (6, 2),
    "dora": (3, 1),
    "emil": (3, 1),
    "fay": (0, 2),
}
"""Escapes and Bucks, in the order of the leaderboard."""


async def record_careers(ledger: Ledger) -> None:
    """Record a table for each game, at which the others are at a table for the first time."""
    standing = Standing(*SOLO.standing)
    for player_id, (escapes, bucks) in reversed(CAREERS.items()):
        for number in range(escapes + bucks):
            others = [Seat(f"{player_id} {number} {seat}", "", "") for seat in range(3)]
            seats = [Seat(player_id, player_id, ""), *others]
            groups: Ranking = ((0, 1, 2), (3,)) if number < escapes else ((1, 2, 3), (0,))
            outcomes = SOLO.outcomes(groups, "buck")
            result = Result(groups, (0,) * 4, 1_000, (SeatConduct(0, False),) * 4, outcomes=outcomes)
            await ledger.record_result(Sheet(f"{player_id} {number}", "solo", tuple(seats), OPEN), result, standing)
    # A game that ends at a limit lists none of its players.
    seats = [Seat("nobody", "", ""), *(Seat(f"limit {seat}", "", "") for seat in range(3))]
    limited = Result(((0,), (1, 2, 3)), (36, 0, 0, 0), 1_000, (SeatConduct(0, False),) * 4)
    await ledger.record_result(Sheet("limit", "solo", tuple(seats), OPEN), limited, standing)


async def careers_of(path: Path) -> list[LeaderboardEntry]:
    """Return the leaderboard, read in pages."""
    database = open_database(sqlite_url(path / "scoring.db"))
    await database.write(METADATA.create_all)
    await record_careers(Ledger(database, now_milliseconds))
    store = StandingsStore(database)
    board = await store.leaderboard("solo", None, 40)
    while page := await store.leaderboard("solo", board[-1], 40):
        board += page
    assert await store.statistics("nobody", Scope.ALL) == ()
    await database.close()
    return list(board)


async def test_SOLO_STAT_2_SOLO_STAT_3_the_escape_rate_orders_the_leaderboard_and_is_no_win_rate(
    tmp_path: Path,
) -> None:
    board = await careers_of(tmp_path)
    assert "nobody" not in {line.player_id for line in board}
    known = {line.player_id: line.statistics for line in board if line.player_id in CAREERS}
    assert list(known) == list(CAREERS)
    for player_id, (escapes, bucks) in CAREERS.items():
        shown = codec.encode_statistics(known[player_id])
        assert (shown.figure.name, shown.figure.value) == ("escape_rate", escapes / (escapes + bucks))
        assert dict(shown.outcomes) == {"escaped": escapes, "buck": bucks}
        assert (shown.games_finished, shown.games_won, shown.HasField("win_rate")) == (escapes + bucks, 0, False)
    # Dora and Emil share a position.
    assert known["dora"].rank == known["emil"].rank
    assert len({one.rank for one in known.values()}) == len(CAREERS) - 1
