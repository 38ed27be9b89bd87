"""The judge finds nothing in what viewers of true tables recorded, whatever happened there."""

from dataclasses import replace
from random import Random

import pytest

from croupier.games.catalogue import GAMES
from loadtest.judge.verdict import Verdict, judge
from tests.loadtest.judge.attempts import attempt
from tests.loadtest.judge.played import (
    EVENTFUL,
    PLAIN,
    Course,
    left,
    played,
    record_of,
    restless_record,
    stored_record,
    views,
)

SEEDS = (1, 3)


def assert_clean(verdict: Verdict) -> None:
    assert not verdict.violations, "\n".join(map(str, verdict.violations[:10]))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("course", [PLAIN, EVENTFUL], ids=["plain", "eventful"])
def test_a_true_table_is_proved_and_clean(game: str, seed: int, course: Course) -> None:
    table = played(game, seed, course)
    record = stored_record(table)
    for one in record.viewers:
        views(one, table, 7)
    verdict = judge(record)
    assert_clean(verdict)
    assert verdict.is_proved
    assert min(verdict.checks_made[name] for name in ("entries", "views", "acknowledgements", "deals", "replays")) > 0
    assert len(verdict.seen_by_all_milliseconds) >= 0.9 * len(table.asked)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_viewers_who_come_late_lose_streams_and_go_on_are_judged_fairly(game: str, seed: int) -> None:
    verdict = judge(restless_record(played(game, seed, EVENTFUL), seed))
    assert_clean(verdict)
    assert verdict.is_proved


@pytest.mark.parametrize("game", GAMES)
def test_whoever_leaves_for_good_is_judged_by_what_he_lived_through(game: str) -> None:
    table = played(game, 1, replace(EVENTFUL, leaver=2))
    record = record_of(table, (0, 2, 3))
    left(record, 1, 20)
    verdict = judge(record)
    assert_clean(verdict)
    assert verdict.is_proved


@pytest.mark.parametrize("game", GAMES)
def test_a_viewer_who_leaves_just_after_the_end_may_have_missed_it(game: str) -> None:
    table = played(game, 1, PLAIN)
    record = stored_record(table)
    record.viewers[0].heard.pop()
    record.viewers[0].left_milliseconds = table.steps[-1].entry.at + 4_000
    assert_clean(judge(record))


@pytest.mark.parametrize("game", GAMES)
def test_a_table_that_was_left_by_all_is_judged_without_a_replay(game: str) -> None:
    verdict = judge(record_of(played(game, 1, replace(EVENTFUL, most_entries=6))))
    assert_clean(verdict)
    assert not verdict.is_proved


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("most_entries", [1, 30, 100_000])
def test_rows_alone_are_played_by_the_rules(game: str, most_entries: int) -> None:
    table = played(game, 1, replace(EVENTFUL, most_entries=most_entries))
    record = stored_record(table)
    record.replays, record.sheet = [], None
    verdict = judge(record)
    assert_clean(verdict)
    assert verdict.checks_made["deals"] > 0
    assert verdict.is_proved == table.last.after.is_over


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("has_replay", [True, False])
def test_what_the_engine_refuses_is_rightly_refused(game: str, seed: int, has_replay: bool) -> None:
    table, random = played(game, seed, EVENTFUL), Random(f"attempts {game} {seed}")
    record = record_of(table)
    if not has_replay:
        record.replays = []
    for number in range(200):
        attempt(random.choice(record.viewers), table, random, number)
    verdict = judge(record)
    assert_clean(verdict)
    assert verdict.checks_made["refusals"] > 50
