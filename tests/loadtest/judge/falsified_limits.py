"""Falsifications of a table that ended at a limit of the operator, and of an abandoned one."""

import json

from croupier_api.v1 import engine_pb2
from loadtest.judge.violations import Invariant
from loadtest.record import Outage, StoredEntry, TableRecord
from tests.loadtest.judge.falsified_records import change_last_entry, change_replay, change_sheet
from tests.loadtest.judge.falsified_rows import alone, change_body, change_row, change_rows
from tests.loadtest.judge.played import PlayedTable
from tests.loadtest.judge.viewer_records import Cases, Falsify

VOTE = '{"t":"vote","v":1,"seat":0,"proposal_sequence":1,"agree":true,"request":"r"}'


def _end_validly(update: engine_pb2.TableUpdate) -> None:
    next(fact.game_ended for fact in update.facts if fact.HasField("game_ended")).is_void = False


def _continue_after_the_end(record: TableRecord, table: PlayedTable) -> None:
    last = table.last.entry
    late = StoredEntry(last.sequence + 1, last.at, 0, VOTE, last.at)
    change_rows(record, lambda entries: entries.append(late))


def _end_at(offset: int) -> Falsify:
    """Let the table end some milliseconds after its deadline."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        change_row(record, -1, at=table.transitions[-2].entry.deadline + offset, committed_milliseconds=None)

    return falsify


def _lose_time_in_an_outage(record: TableRecord, table: PlayedTable) -> None:
    at = table.last.entry.at
    record.outages = (*record.outages, Outage(at - 20_000, at - 15_000))


def _end_early_on_streams(record: TableRecord, table: PlayedTable) -> None:
    early = table.transitions[-2].entry.deadline - 1
    change_last_entry(lambda update: setattr(update, "stored_unix_ms", early))(record, table)


def _play_on_in_rows(record: TableRecord, table: PlayedTable) -> None:
    """Store a time-out where the table ended."""
    seat = min(table.transitions[-2].after.seats_to_act)
    body = {"t": "act", "v": 1, "seat": seat, "action": {"type": "draw"}, "by": 1}
    change_row(record, -1, body=json.dumps(body))


LIMITED: Cases = {
    Invariant.LOG_BROKEN: {
        "end_as_abandoned_with_people": lambda record, _: change_body(record, -1, limit="abandoned"),
        "end_before_the_limit": lambda record, _: setattr(record, "max_entries", record.max_entries + 1),
        "end_before_the_limit_of_rounds": lambda record, _: change_body(record, -1, limit="rounds"),
        "end_at_an_unknown_limit": lambda record, _: change_body(record, -1, limit="cards"),
        "play_on_beyond_the_limit": lambda record, _: setattr(record, "max_entries", record.max_entries - 5),
        "store_an_entry_after_the_end": alone(_continue_after_the_end),
    },
    Invariant.REPLAY_DIFFERS: {
        "write_another_limit": change_replay(lambda lines: lines[-2]["event"].update(limit="rounds")),
        "write_no_end": change_replay(lambda lines: lines.pop(-2)),
    },
    Invariant.RESULT_DIFFERS: {
        "rank_a_void_result": change_replay(lambda lines: lines[-1]["result"].update(ranking=[[0], [1, 2, 3]])),
        "write_a_valid_result": change_replay(lambda lines: lines[-1]["result"].pop("void")),
        "end_validly": change_last_entry(_end_validly),
        "enter_a_valid_result": change_sheet(lambda sheet: sheet.result.ClearField("is_void")),
    },
}


ABANDONED: Cases = {
    Invariant.LOG_BROKEN: {"play_on_without_people": alone(_play_on_in_rows)},
    Invariant.TIMEOUT_TOO_EARLY: {
        "abandon_too_early": alone(_end_at(-1)),
        "abandon_too_early_on_streams": _end_early_on_streams,
    },
    Invariant.DEADLINE_MISSED: {"abandon_late": alone(_end_at(3_000))},
    Invariant.COMPENSATION_WRONG: {"abandon_in_an_outage": alone(_lose_time_in_an_outage)},
    Invariant.RESULT_DIFFERS: {
        "rank_an_abandoned_table": change_replay(lambda lines: lines[-1]["result"].update(ranking=[[0], [1, 2, 3]])),
    },
}
