"""The judge finds every falsification of a record by its invariant, and docs/judge.md lists every invariant once."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from croupier_loadtest.judge.violations import Invariant
from tests.loadtest.judge.falsified_absences import ABSENCES, ABSENCES_IN_ROWS
from tests.loadtest.judge.falsified_records import ANSWERS, RECORDS
from tests.loadtest.judge.falsified_rows import ABANDONED, LIMITED, ROWS
from tests.loadtest.judge.falsified_streams import NEED_A_REPLAY, STREAMS
from tests.loadtest.judge.played import EVENTFUL, EVERYBODY_LEAVES, LEAVING, EventRates, played
from tests.loadtest.judge.viewer_records import Falsify, found, parameters, record_of, stored_record

PAGE = (Path(__file__).parents[3] / "docs" / "judge.md").read_text(encoding="utf-8")
BY_STANDINGS = {Invariant.STATISTICS_DIFFER, Invariant.LEADERBOARD_DIFFERS}
"""Falsified in test_standings.py."""
BY_LOBBY = {Invariant.REMATCH_WRONG, Invariant.FORMING_WRONG, Invariant.OWN_TABLES_WRONG}
"""Falsified in test_rematches.py, test_forming.py and test_own_tables.py."""


@pytest.mark.parametrize(("invariant", "falsify"), parameters(STREAMS, ANSWERS, RECORDS))
def test_a_falsified_record_of_viewers_is_found(invariant: Invariant, falsify: Falsify) -> None:
    record = record_of(played())
    falsify(record, played())
    assert invariant in found(record)


@pytest.mark.parametrize(
    ("invariant", "falsify"), [way for way in parameters(STREAMS, ANSWERS) if way.id not in NEED_A_REPLAY]
)
def test_a_falsified_record_without_a_replay_is_found(invariant: Invariant, falsify: Falsify) -> None:
    record = record_of(played())
    record.replays, record.sheet = [], None
    falsify(record, played())
    assert invariant in found(record)


@pytest.mark.parametrize(
    ("rates", "invariant", "falsify"),
    [
        pytest.param(rates, *way.values, id=way.id)
        for rates, cases in ((EVENTFUL, ROWS), (replace(EVENTFUL, limit=20), LIMITED), (EVERYBODY_LEAVES, ABANDONED))
        for way in parameters(cases)
    ],
)
def test_a_falsified_record_with_rows_is_found(rates: EventRates, invariant: Invariant, falsify: Falsify) -> None:
    table = played("one_oh_one", 3, rates)
    record = stored_record(table)
    assert invariant not in found(record)
    falsify(record, table)
    assert invariant in found(record)


@pytest.mark.parametrize(
    ("has_rows", "invariant", "falsify"),
    [
        pytest.param(has_rows, *way.values, id=f"{way.id}-{'rows' if has_rows else 'streams'}")
        for has_rows, cases in ((False, ABSENCES), (True, ABSENCES), (True, ABSENCES_IN_ROWS))
        for way in parameters(cases)
    ],
)
def test_a_falsified_absence_is_found(has_rows: bool, invariant: Invariant, falsify: Falsify) -> None:
    table = played("thulla", 1, LEAVING)
    record = stored_record(table) if has_rows else record_of(table)
    assert invariant not in found(record)
    falsify(record, table)
    assert invariant in found(record)


def test_an_engine_that_plays_on_without_people_is_found() -> None:
    table = played("one_oh_one", 3, replace(EVERYBODY_LEAVES, plays_on=True))
    assert {Invariant.LOG_BROKEN, Invariant.VIEW_DIFFERS} <= found(record_of(table))


def test_timeouts_that_the_run_caused_are_no_violation() -> None:
    table = played("one_oh_one", 3, EVENTFUL)
    for falsify in ROWS[Invariant.TIMEOUT_UNEXCUSED].values():
        record = stored_record(table)
        falsify(record, table)
        for viewer in record.viewers:
            viewer.impaired = True
        assert Invariant.TIMEOUT_UNEXCUSED not in found(record)


def test_every_invariant_is_on_the_page_once() -> None:
    named = re.findall(r"^\| `([a-z_]+)` \| .+ \| .+ \| [LDFSG ]+ \|$", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(Invariant)


def test_every_invariant_is_found_in_a_falsified_record_or_by_a_harness() -> None:
    reported = re.findall(r"^\| `([a-z_]+)` \|.*\| reported by [a-z ]+ \|", PAGE, re.MULTILINE)
    found = {*ANSWERS, *RECORDS, *ROWS, *STREAMS} | BY_STANDINGS | BY_LOBBY
    assert (found | set(reported), found & set(reported)) == (set(Invariant), set())
