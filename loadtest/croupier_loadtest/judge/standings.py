"""Recomputes statistics and leaderboards from the judged tables, as scoring.proto defines them."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from croupier_api.v1 import scoring_pb2
from croupier_loadtest.judge.results import Counts, places, ranked_seats
from croupier_loadtest.judge.rules.interface import Standing
from croupier_loadtest.judge.rules.registry import standing_of
from croupier_loadtest.judge.violations import Invariant, Violation
from croupier_loadtest.record import UNDESCRIBED, DescribedGame

MAX_GAMES_OF_A_PAIR = 5
"""The ranked games of two players with each other in a day."""
DAY_MILLISECONDS = 86_400_000


class Occupant(NamedTuple):
    """The player of a seat; `player_id` is empty for a bot."""

    player_id: str
    name: str


class TableOutcome(NamedTuple):
    """The outcome of a table: seats in order, groups of seats, best first, and the sums of its rounds' counts.

    `outcomes` are those of the seats by the rules; a table without them counts nowhere. `finished_by_engine` are the
    seats for which the engine played when the game ended: their players left. `is_ranked` is what scoring says; whether
    it may say so depends on the other tables of these players.
    """

    table_id: str
    game: str
    seats: tuple[Occupant, ...]
    ranking: tuple[tuple[int, ...], ...]
    counts: Counts
    finished_milliseconds: int
    outcomes: tuple[str, ...]
    is_public: bool = False
    finished_by_engine: tuple[int, ...] = ()
    is_ranked: bool = False

    @property
    def may_rank(self) -> bool:
        """Whether the result is on the leaderboard, unless a pair of its players has had too many before it."""
        people = [seat for seat, occupant in enumerate(self.seats) if occupant.player_id]
        return bool(ranked_seats(people, counts=self.is_public and bool(self.outcomes)))

    @property
    def pairs(self) -> list[tuple[str, ...]]:
        """The players, two by two, in the order of their ids."""
        return list(combinations(sorted(seat.player_id for seat in self.seats if seat.player_id), 2))


@dataclass(slots=True)
class _GameTotals:
    """The totals of a player in one game; `better` counts the tables with the better outcome."""

    finished: int = 0
    better: int = 0
    place_sum: int = 0
    left: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def shown(self, standing: Standing) -> tuple[object, ...]:
        """Return tables finished, won and left, the averages, counts, the figure, and tables by outcome."""
        share = round(self.better / self.finished, 9)
        by_outcome = {standing.better: self.better, standing.worse: self.finished - self.better}
        return (
            (self.finished, self.better if standing.has_winners else 0, self.left),
            (share if standing.has_winners else None, round(self.place_sum / self.finished, 9)),
            dict(self.counts),
            (standing.figure, share if standing.is_share else self.better),
            by_outcome,
        )


_Standings = Mapping[str, Mapping[str, _GameTotals]]
"""By player and game."""
_StandingOf: TypeAlias = Callable[[str], Standing]
NONE_DESCRIBED: Mapping[str, DescribedGame] = MappingProxyType({})


def check_standings(
    outcomes: Iterable[TableOutcome],
    boards: Mapping[str, Sequence[bytes]],
    statistics: Mapping[str, bytes],
    described: Mapping[str, DescribedGame] = NONE_DESCRIBED,
    *,
    undecided: Collection[str] = (),
    own_statistics: bool = False,
    has_strangers: bool = False,
) -> Iterator[Violation]:
    """Yield the differences between leaderboards, statistics and the outcomes of tables.

    `outcomes` hold every table that their players have ever finished, except for players who are `undecided`: they
    were at a table with an unknown outcome. `boards` are the LeaderboardEntry messages by game, in the order of the
    pages; `statistics` the GetPlayerStatisticsResponse messages by player. Of the lines of the undecided only the order
    is judged. Statistics are as others see them, of public tables only, unless all are `own_statistics` of the players
    who read them. `described` says how games count that no judge knows. If boards have strangers, the lines of players
    of these tables are judged among themselves, and no other line.
    """

    def standing(game: str) -> Standing:
        return standing_of(game) or described.get(game, UNDESCRIBED).standing

    known = sorted(outcomes, key=lambda one: (one.finished_milliseconds, one.table_id))
    for table_id, detail in _check_pairs(known, undecided):
        yield Violation(Invariant.LEADERBOARD_DIFFERS, table_id, 0, detail)
    standings = _standings((one for one in known if own_statistics or one.is_public), standing)
    ranked = _standings((one for one in known if one.is_ranked), standing)
    judged = {player_id: games for player_id, games in ranked.items() if player_id not in undecided}
    names = {seat.player_id: seat.name for one in known for seat in one.seats}
    tables = {seat.player_id: one.table_id for one in known for seat in one.seats}
    for player_id, body in statistics.items():
        if player_id in undecided:
            continue
        shown = scoring_pb2.GetPlayerStatisticsResponse.FromString(body)
        own = [(game, *done.shown(standing(game))) for game, done in sorted(standings.get(player_id, {}).items())]
        if shown.player_id != player_id or [(one.game, *_shown(one)) for one in shown.games] != own:
            detail = f"the statistics of {player_id} are {shown.games}, by their tables {own}"
            yield Violation(Invariant.STATISTICS_DIFFER, tables.get(player_id, ""), 0, detail)
    for game, lines in boards.items():
        board = [scoring_pb2.LeaderboardEntry.FromString(line) for line in lines]
        board = among(board, {*names, *undecided}) if has_strangers else board
        for player_id, detail in _check_board(game, standing(game), board, judged, names, undecided):
            violation = f"the leaderboard of {game}: {detail}"
            yield Violation(Invariant.LEADERBOARD_DIFFERS, tables.get(player_id, ""), 0, violation)


def _check_pairs(outcomes: Sequence[TableOutcome], undecided: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield tables that are ranked, or not, against the limit of a pair; the order of reports is scoring's."""
    ends: dict[tuple[str, ...], list[int]] = defaultdict(list)
    undecided_ids = set(undecided)
    for one in (one for one in outcomes if one.is_ranked):
        for pair in one.pairs:
            ends[pair].append(one.finished_milliseconds)
    for one in (one for one in outcomes if one.may_rank):
        end = one.finished_milliseconds
        before = max(_between(ends[pair], end - DAY_MILLISECONDS, end + 1) for pair in one.pairs)
        around = max(_between(ends[pair], end - DAY_MILLISECONDS, end + DAY_MILLISECONDS) for pair in one.pairs)
        # Two undecided players may have other ranked games.
        is_known = all(not undecided_ids.issuperset(pair) for pair in one.pairs)
        if one.is_ranked and before > MAX_GAMES_OF_A_PAIR:
            yield one.table_id, f"it is ranked as the number {before} of two of its players in a day"
        if not one.is_ranked and around < MAX_GAMES_OF_A_PAIR and is_known:
            yield one.table_id, f"it is not ranked, and no two of its players have {MAX_GAMES_OF_A_PAIR} ranked games"


def _between(ends: Sequence[int], after: int, before: int) -> int:
    """Return the number of times between two others; they ascend."""
    return bisect_left(ends, before) - bisect_right(ends, after)


def among(
    board: Sequence[scoring_pb2.LeaderboardEntry], players: Collection[str]
) -> list[scoring_pb2.LeaderboardEntry]:
    """Return the lines of some players, as a leaderboard of these players alone would number them."""
    lines = [line for line in board if line.player_id in players]
    positions = sorted(line.position for line in lines)
    return [
        scoring_pb2.LeaderboardEntry(
            position=1 + bisect_left(positions, line.position),
            player_id=line.player_id,
            name=line.name,
            statistics=line.statistics,
        )
        for line in lines
    ]


def _standings(outcomes: Iterable[TableOutcome], standing: _StandingOf) -> _Standings:
    """Return the sums over outcomes; games that a player left have the worse outcome."""
    standings: dict[str, dict[str, _GameTotals]] = defaultdict(lambda: defaultdict(_GameTotals))
    for one in outcomes:
        for seat, place in places(one.ranking, one.finished_by_engine).items():
            if not one.outcomes or not one.seats[seat].player_id:
                continue
            has_left = seat in one.finished_by_engine
            done = standings[one.seats[seat].player_id][one.game]
            done.finished += 1
            done.better += one.outcomes[seat] == standing(one.game).better and not has_left
            done.left += has_left
            done.place_sum += place
            done.counts.update({name: amount for (of, name), amount in one.counts.items() if of == seat})
    return standings


def _shown(statistics: scoring_pb2.GameStatistics) -> tuple[object, ...]:
    win_rate = round(statistics.win_rate, 9) if statistics.HasField("win_rate") else None
    return (
        (statistics.games_finished, statistics.games_won, statistics.games_left),
        (win_rate, round(statistics.average_place, 9)),
        dict(statistics.counts),
        (statistics.figure.name, round(statistics.figure.value, 9)),
        dict(statistics.outcomes),
    )


def _check_board(
    game: str,
    standing: Standing,
    board: Sequence[scoring_pb2.LeaderboardEntry],
    standings: _Standings,
    names: Mapping[str, str],
    undecided: Collection[str],
) -> Iterator[tuple[str, str]]:
    """Yield the violations of a leaderboard, each with its player."""
    expected = {player_id: games[game].shown(standing) for player_id, games in standings.items() if game in games}
    position, equal = 0, None
    for number, line in enumerate(board, start=1):
        if (figures := _rank(standing, line)[:-1]) != equal:
            position, equal = number, figures
        if line.position != position:
            yield line.player_id, f"{line.player_id} has position {line.position} instead of {position}"
        if line.player_id not in expected and line.player_id not in undecided:
            yield line.player_id, f"{line.player_id} is on it, and has finished no table that counts"
    for before, after in pairwise(board):
        if _rank(standing, before) >= _rank(standing, after):
            yield after.player_id, f"{before.player_id} stands before {after.player_id}"
    lines = {line.player_id: (_shown(line.statistics), line.name, line.statistics.game) for line in board}
    for player_id, done in expected.items():
        own = done, names[player_id], game
        if lines.get(player_id) != own:
            yield player_id, f"{player_id} is on it with {lines.get(player_id)}, by the tables {own}"


def _rank(standing: Standing, line: scoring_pb2.LeaderboardEntry) -> tuple[float, float, int, str]:
    """Return the sort key: the greater figure, the better average place where it matters, more games, the id."""
    done = line.statistics
    place = done.average_place if standing.places_matter else 0
    return -done.figure.value, place, -done.games_finished, line.player_id
