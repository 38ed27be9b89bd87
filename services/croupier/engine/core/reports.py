"""Reports to scoring: the rounds and the result of a log."""

from typing import NamedTuple, TypeAlias

from croupier.engine.core.clock import Absence
from croupier.engine.core.fold import Transition
from croupier.engine.core.log import TableConfig
from croupier.games.facts import GameEnded, RoundEnded, RoundScore
from croupier.games.interface import Standing


class RoundReport(NamedTuple):
    """The report of a scored round."""

    config: TableConfig
    score: RoundScore


class SeatConduct(NamedTuple):
    """How a seat was played: how often the engine acted for its player, and whether it did when the game ended.

    `left`: whether the engine did so because the player had left.
    """

    timeouts: int
    finished_by_engine: bool
    left: bool


class ResultReport(NamedTuple):
    """The report of a result: totals and conduct by seat; `finished_at` is in milliseconds since 1970 UTC.

    `outcomes` are by seat, of those of the standing; empty if the result counts for no seat.
    """

    config: TableConfig
    ended: GameEnded
    totals: tuple[int, ...]
    conduct: tuple[SeatConduct, ...]
    finished_at: int
    outcomes: tuple[str, ...]
    standing: Standing


Report: TypeAlias = RoundReport | ResultReport


def reports_of_transition(config: TableConfig, transition: Transition) -> list[Report]:
    """Return the reports of a transition, in order."""
    reports: list[Report] = []
    for fact in transition.facts:
        if isinstance(fact, RoundEnded):
            reports.append(RoundReport(config, fact.score))
        elif isinstance(fact, GameEnded):
            after = transition.after
            clock = after.clock
            conduct = tuple(
                SeatConduct(timeouts, bool(absence), left=absence >= Absence.LEFT)
                for timeouts, absence in zip(clock.timeouts, clock.absences, strict=True)
            )
            rules = after.rules
            outcomes = () if fact.is_void else rules.outcomes(fact.ranking, fact.reason)
            at = transition.entry.at
            reports.append(ResultReport(config, fact, after.scores, conduct, at, outcomes, rules.standing))
    return reports
