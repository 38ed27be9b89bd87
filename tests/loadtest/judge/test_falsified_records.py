"""Every way in which a record can be untrue is found under its name."""

import pytest

from loadtest.judge.violations import Invariant
from tests.loadtest.judge.falsified_answers import ANSWERS
from tests.loadtest.judge.falsified_records import RECORDS
from tests.loadtest.judge.falsified_rows import ROWS
from tests.loadtest.judge.falsified_streams import NEED_A_REPLAY, STREAMS
from tests.loadtest.judge.played import EVENTFUL, Falsify, found, played, record_of, stored_record

ALL = {**STREAMS, **ANSWERS, **RECORDS}
WITHOUT_A_REPLAY = [falsify for falsify in (*STREAMS, *ANSWERS) if falsify not in NEED_A_REPLAY]


def name_of(falsify: Falsify) -> str:
    return falsify.__name__


@pytest.mark.parametrize("falsify", ALL, ids=name_of)
def test_a_record_of_viewers_is_untrue(falsify: Falsify) -> None:
    record = record_of(played())
    falsify(record, played())
    assert ALL[falsify] in found(record)


@pytest.mark.parametrize("falsify", WITHOUT_A_REPLAY, ids=name_of)
def test_a_record_of_viewers_without_a_replay_is_untrue(falsify: Falsify) -> None:
    record = record_of(played())
    record.replays, record.sheet = [], None
    falsify(record, played())
    assert ALL[falsify] in found(record)


@pytest.mark.parametrize("falsify", ROWS, ids=name_of)
def test_a_record_with_rows_is_untrue(falsify: Falsify) -> None:
    table = played("one_oh_one", 3, 4, EVENTFUL)
    record = stored_record(table)
    falsify(record, table)
    assert ROWS[falsify] in found(record)


def test_what_the_run_itself_caused_is_no_violation() -> None:
    table = played("one_oh_one", 3, 4, EVENTFUL)
    for falsify, invariant in ROWS.items():
        if invariant is Invariant.TIMED_OUT_UNEXCUSED:
            record = stored_record(table)
            falsify(record, table)
            for one in record.viewers:
                one.hampered = True
            assert invariant not in found(record)
