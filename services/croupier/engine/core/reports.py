"""Reports to scoring: the rounds and the result of a log."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from croupier.engine.core.fold import Transition, transitions_of
from croupier.engine.core.log import Entry, TableConfig
from croupier.games.facts import GameEnded, RoundEnded, RoundScore


class RoundReport(NamedTuple):
    """A round that was scored."""

    config: TableConfig
    score: RoundScore


class ResultReport(NamedTuple):
    """The end of a game, with totals by seat; `finished_at` is in milliseconds since 1970 UTC."""

    config: TableConfig
    ended: GameEnded
    totals: tuple[int, ...]
    finished_at: int


Report: TypeAlias = RoundReport | ResultReport


def reports_of_transition(config: TableConfig, made: Transition) -> list[Report]:
    """Return the reports that a transition gives rise to, in order."""
    reports: list[Report] = []
    for fact in made.facts:
        if isinstance(fact, RoundEnded):
            reports.append(RoundReport(config, fact.score))
        elif isinstance(fact, GameEnded):
            reports.append(ResultReport(config, fact, made.after.scores, made.entry.at))
    return reports


def reports_of(config: TableConfig, entries: Sequence[Entry]) -> list[Report]:
    """Return all reports that a log gives rise to, in order."""
    return [report for made in transitions_of(config, entries) for report in reports_of_transition(config, made)]
