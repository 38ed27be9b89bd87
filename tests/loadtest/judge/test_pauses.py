"""Pauses of a table: only actions end them, and only a player who was there, and could act, makes them a violation."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from croupier.engine.core.log import ClockCompensated
from croupier.games.bots import random_of
from croupier.games.interface import SeatActed
from croupier_loadtest.judge.timeouts import MAX_PAUSE_MILLISECONDS
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import Outage, TableRecord
from tests.loadtest.judge.played import CLOCK_OFFSET, EventRates, PlayedTable, append, played
from tests.loadtest.judge.viewer_records import found, record_of

COMPENSATED = 10_000
STEPS = MAX_PAUSE_MILLISECONDS // COMPENSATED


def paused_table(milliseconds: int, *, is_compensated: bool = True) -> PlayedTable:
    """Return a table at which nobody acts for so long, while outages are compensated one after another."""
    plain = played(rates=EventRates(max_entries=20))
    table = PlayedTable(plain.config, list(plain.transitions))
    began = table.last.after.at
    for step in range(1, STEPS * is_compensated + 1):
        append(table, began + step * COMPENSATED - 1, ClockCompensated(COMPENSATED))
    now = table.last.after
    (seat,) = now.seats_to_act
    action = random_of(now.legal_actions(seat), lambda _: 0)
    append(table, began + milliseconds, SeatActed(seat, action), request_id="late")
    return table


def record_of_quick_players(table: PlayedTable) -> TableRecord:
    """Return the record of players who always act soon."""
    record = record_of(table)
    for viewer in record.viewers:
        viewer.thinks_milliseconds = 1_000
    return record


def is_found(record: TableRecord) -> bool:
    return Invariant.TABLE_PAUSED in found(record)


def test_compensations_do_not_end_a_pause() -> None:
    assert is_found(record_of_quick_players(paused_table(MAX_PAUSE_MILLISECONDS)))


def test_a_pause_before_the_end_of_a_record_counts() -> None:
    table = paused_table(MAX_PAUSE_MILLISECONDS + 1)
    table.transitions.pop()
    append(table, table.last.after.at + 5, ClockCompensated(1))
    assert is_found(record_of_quick_players(table))


def test_a_shorter_pause_is_no_violation() -> None:
    assert not is_found(record_of_quick_players(paused_table(MAX_PAUSE_MILLISECONDS - 1, is_compensated=False)))


def left(record: TableRecord) -> None:
    for viewer in record.viewers:
        viewer.left_milliseconds = viewer.opened[0].at_milliseconds + MAX_PAUSE_MILLISECONDS


def all_with(**fields: Any) -> Callable[[TableRecord], None]:
    def excuse(record: TableRecord) -> None:
        record.viewers = [replace(viewer, **fields) for viewer in record.viewers]

    return excuse


def interrupted(record: TableRecord) -> None:
    began = record.viewers[0].received[-1].at_milliseconds - COMPENSATED - CLOCK_OFFSET
    record.interruptions = (Outage(began, began + 1_000),)


@pytest.mark.parametrize(
    "excuse",
    [all_with(impaired=True), all_with(reads_slowly=True), all_with(thinks_milliseconds=None), left, interrupted],
)
def test_a_pause_of_players_who_could_not_act_is_no_violation(excuse: Callable[[TableRecord], None]) -> None:
    record = record_of_quick_players(paused_table(MAX_PAUSE_MILLISECONDS))
    excuse(record)
    assert not is_found(record)


def test_a_pause_is_unknown_where_entries_are_missing() -> None:
    table = paused_table(MAX_PAUSE_MILLISECONDS)
    record = record_of_quick_players(table)
    missing = len(table.transitions) - 2
    for viewer in record.viewers:
        viewer.received.pop(missing)
    assert not is_found(record)
