"""Leaderboards and statistics against the outcomes of all tables of a run."""

from collections.abc import Iterator, Mapping, Sequence

from loadtest.judge.verdict import Outcome
from loadtest.judge.violations import Violation


def standings_broken(
    outcomes: Sequence[Outcome], boards: Mapping[str, Sequence[bytes]], statistics: Mapping[str, bytes]
) -> Iterator[Violation]:
    """What scoring shows that does not follow from the outcomes: `boards` by game (lines), `statistics` by player."""
    del outcomes, boards, statistics
    yield from ()
