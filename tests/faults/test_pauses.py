"""The watch of a fault run prints each long pause of a table, with what the seats to act have received and sent."""

import pytest

from loadtest.faults.measures import LONG_PAUSE_SECONDS, MAX_PRINTED, PauseWatch
from loadtest.record import TableRecord
from tests.loadtest.judge.played import EVENTFUL, EventRates, PlayedTable, played
from tests.loadtest.judge.viewer_records import record_of

FIRST, SECOND = (round(seconds * 1000) for seconds in LONG_PAUSE_SECONDS[:2])


@pytest.fixture
def table() -> PlayedTable:
    return played(rates=EventRates(max_entries=20))


def last_received(record: TableRecord) -> int:
    return max(viewer.received[-1].at_milliseconds for viewer in record.viewers)


def watch_of(*records: TableRecord) -> tuple[PauseWatch, list[str]]:
    printed: list[str] = []
    return PauseWatch(lambda: records, printed.append), printed


def test_a_pause_is_printed_once_at_each_of_its_marks(table: PlayedTable) -> None:
    record = record_of(table)
    watch, printed = watch_of(record)
    acted = last_received(record)
    watch.look(acted + FIRST - 1)
    assert not printed
    watch.look(acted + FIRST)
    watch.look(acted + SECOND - 1)
    assert len(printed) == 2
    watch.look(acted + SECOND)
    assert len(printed) == 4


def test_the_seat_to_act_is_described(table: PlayedTable) -> None:
    record = record_of(table)
    (seat,) = table.last.after.seats_to_act
    viewer = record.viewers[seat]
    viewer.behaviour, viewer.impaired = "steady", True
    viewer.left_milliseconds = now = last_received(record) + FIRST
    sent = viewer.sent[-1]
    viewer.answered = [answer for answer in viewer.answered if answer.request_id != sent.request_id]
    watch, printed = watch_of(record)
    watch.look(now)
    about_table, about_seat = printed
    assert f"of thulla: no action for 20.0 s after entry {len(table.transitions)}, now at entry" in about_table
    assert "its deadline is in " in about_table
    for part in (
        f"seat {seat}: steady player player-{seat}",
        "left 0.0 s ago",
        "may be kept from acting by the run",
        "stream 1 opened ",
        f"has entry {len(table.transitions)} with ",
        "not answered",
    ):
        assert part in about_seat


def test_a_bot_is_described_as_one() -> None:
    table = played("one_oh_one", 3, EVENTFUL)
    bot = next(number for number, made in enumerate(table.transitions, 1) if made.after.seats_to_act == (1,))
    record = record_of(PlayedTable(table.config, table.transitions[:bot]))
    watch, printed = watch_of(record)
    watch.look(last_received(record) + FIRST)
    assert "seat 1: a bot, random" in printed[1]


def test_of_many_tables_the_first_are_described_and_the_others_are_counted(table: PlayedTable) -> None:
    records = [record_of(table) for _ in range(MAX_PRINTED + 2)]
    for number, record in enumerate(records):
        record.table_id = f"table-{number}"
    watch, printed = watch_of(*records)
    watch.look(last_received(records[0]) + FIRST)
    assert len(printed) == 2 * MAX_PRINTED + 1
    assert "so do 2 other tables" in printed[-1]


def test_finished_tables_do_not_pause() -> None:
    records = [record_of(played()) for _ in range(MAX_PRINTED + 1)]
    for number, record in enumerate(records):
        record.table_id = f"table-{number}"
    watch, printed = watch_of(*records)
    watch.look(last_received(records[0]) + FIRST)
    assert not printed
