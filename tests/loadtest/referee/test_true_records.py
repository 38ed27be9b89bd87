"""The judge finds nothing in what viewers of true tables recorded, whatever happened there."""

import pytest

from croupier.games.catalogue import GAMES
from croupier.games.facts import SPECTATOR
from loadtest.referee.judge import Verdict, judge
from tests.loadtest.referee.played import (
    EVENTFUL,
    PLAIN,
    TABLE,
    Course,
    Played,
    played,
    record_of,
    seat_record,
    views,
)

SEEDS = range(1, 4)


def assert_clean(verdict: Verdict) -> None:
    assert not verdict.violations, "\n".join(map(str, verdict.violations[:10]))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("course", [PLAIN, EVENTFUL], ids=["plain", "eventful"])
def test_a_true_table_is_proved_and_clean(game: str, seed: int, course: Course) -> None:
    table = played(game, seed, 4, course)
    record = record_of(table)
    for one in record.viewers:
        assert one.seat is not None
        views(one, table, one.seat, range(1, len(table.steps) + 1, 7))
    verdict = judge(record)
    assert_clean(verdict)
    assert verdict.is_proved
    assert min(verdict.checks_made[name] for name in ("entries", "views", "acknowledgements", "deals", "replays")) > 0
    assert len(verdict.seen_by_all_milliseconds) >= 0.9 * len(table.asked)
