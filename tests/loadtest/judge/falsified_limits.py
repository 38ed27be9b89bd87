"""Falsifications of a table that ended at a limit of the operator."""

from croupier_api.v1 import engine_pb2
from loadtest.judge.violations import Invariant
from loadtest.record import StoredEntry, TableRecord
from tests.loadtest.judge.falsified_records import change_last_entry, change_replay, change_sheet
from tests.loadtest.judge.falsified_rows import alone, change_body, change_rows
from tests.loadtest.judge.played import PlayedTable
from tests.loadtest.judge.viewer_records import Cases

VOTE = '{"t":"vote","v":1,"seat":0,"proposal_sequence":1,"agree":true,"request":"r"}'


def _end_validly(update: engine_pb2.TableUpdate) -> None:
    next(fact.game_ended for fact in update.facts if fact.HasField("game_ended")).is_void = False


def _continue_after_the_end(record: TableRecord, table: PlayedTable) -> None:
    last = table.last.entry
    late = StoredEntry(last.sequence + 1, last.at, 0, VOTE, last.at)
    change_rows(record, lambda entries: entries.append(late))


LIMITED: Cases = {
    Invariant.LOG_BROKEN: {
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
