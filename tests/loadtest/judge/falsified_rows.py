"""Records with wrong rows, ledger, outages or time-outs; most are found by the databases alone."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import grpc

from croupier.engine.core.log import ActedBy
from croupier_api.v1 import actions_pb2, engine_pb2
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import DeliveryLimit, Ledger, Outage, SeatRecord, Sent, StoredEntry, TableRecord
from tests.loadtest.judge.falsified_records import change_answer, change_replay, change_sheet
from tests.loadtest.judge.played import AcceptedAction, PlayedTable
from tests.loadtest.judge.viewer_records import Cases, Falsify, delay, falsify_message, reason_of, received_at

MIDDLE = 40
"""The index of a row in the middle of the log."""
THROW_DOWN = {"type": "throw_down"}


def change_rows(record: TableRecord, change: Callable[[list[StoredEntry]], object]) -> None:
    assert record.stored is not None
    entries = list(record.stored.entries)
    change(entries)
    record.stored = record.stored._replace(entries=tuple(entries))


def change_row(record: TableRecord, index: int, **columns: Any) -> None:
    """Change columns of a row."""
    change_rows(record, lambda entries: entries.__setitem__(index, entries[index]._replace(**columns)))


def change_body(record: TableRecord, index: int, **fields: Any) -> None:
    """Change fields of a row's body."""
    assert record.stored is not None
    change_row(record, index, body=json.dumps(json.loads(record.stored.entries[index].body) | fields))


def change_table_row(record: TableRecord, **columns: Any) -> None:
    """Change columns of the table's own row."""
    assert record.stored is not None
    record.stored = record.stored._replace(**columns)


def alone(change: Falsify) -> Falsify:
    """Change the rows of a table without viewers and replay."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        record.viewers, record.replays, record.sheet = [], [], None
        change(record, table)

    return falsify


def accepted_action(table: PlayedTable) -> AcceptedAction:
    """Return an action of a player in the middle of the game."""
    return next(one for one in table.accepted if one.sequence > MIDDLE)


def change_accepted_body(record: TableRecord, table: PlayedTable, **fields: Any) -> None:
    """Change fields of the row of that action."""
    change_body(record, accepted_action(table).sequence - 1, **fields)


def at_of(table: PlayedTable, index: int) -> int:
    return table.transitions[index].entry.at


def timed_out(table: PlayedTable) -> int:
    """Return the sequence of the first time-out of a person."""
    return next(made.entry.sequence for made in table.transitions if made.entry.acted_by is ActedBy.TIMEOUT)


def viewer_timed_out(record: TableRecord, table: PlayedTable) -> SeatRecord:
    """Return the player of that time-out."""
    seat = getattr(table.transitions[timed_out(table) - 1].entry.event, "seat", None)
    return next(viewer for viewer in record.viewers if viewer.seat == seat)


# The rows


def configure(record: TableRecord, _: PlayedTable, **fields: Any) -> None:
    """Change fields of the table's configuration."""
    assert record.stored is not None
    change_table_row(record, config=json.dumps(json.loads(record.stored.config) | fields))


def store_another_deal(record: TableRecord, _: PlayedTable) -> None:
    assert record.stored is not None
    first, second, *others = json.loads(record.stored.entries[0].body)["cards"].split()
    change_body(record, 0, cards=" ".join((second, first, *others)))


def store_a_request_twice(record: TableRecord, table: PlayedTable) -> None:
    one = accepted_action(table).sequence
    change_rows(record, lambda entries: entries.append(entries[one - 1]._replace(sequence=len(entries) + 1)))


def lose_the_end(record: TableRecord, table: PlayedTable) -> None:
    change_rows(record, lambda entries: entries.__delitem__(slice(table.accepted[-1].sequence - 1, None)))


def refuse_what_is_stored(record: TableRecord, table: PlayedTable) -> None:
    stale = {"code": grpc.StatusCode.ABORTED.value[0], "reason": reason_of("STALE_SEQUENCE"), "message": "too late"}
    change_answer(record, accepted_action(table), sequence=None, **stale)


def acknowledge_before_the_commit(record: TableRecord, table: PlayedTable) -> None:
    sequence = accepted_action(table).sequence
    change_row(record, sequence - 1, committed_milliseconds=received_at(table, sequence) - 1)


def change_ledger(change: Callable[[Ledger], dict[str, Any]]) -> Falsify:
    def falsify(record: TableRecord, _: PlayedTable) -> None:
        assert record.ledger is not None
        record.ledger = record.ledger._replace(**change(record.ledger))

    return falsify


# Time


def omit_compensation(record: TableRecord, table: PlayedTable, index: int | None = None) -> None:
    """Add an outage just before an entry of the engine, or else a time-out, without compensation."""
    at = at_of(table, timed_out(table) - 1 if index is None else index)
    record.outages = (*record.outages, Outage(at - 20_000, at - 15_000))


def time_out_early_rows(record: TableRecord, table: PlayedTable) -> None:
    at = timed_out(table) - 1
    change_row(record, at, at=table.transitions[at - 1].entry.deadline - 1)


def wait_too_long(record: TableRecord, table: PlayedTable) -> None:
    at = timed_out(table) - 1
    change_rows(record, lambda entries: entries.__delitem__(slice(at + 1, None)))
    change_row(record, at, at=table.transitions[at - 1].entry.deadline + 13_000)


def time_out_early_by_the_players_clock(record: TableRecord, table: PlayedTable) -> None:
    for viewer in record.viewers:
        viewer.opened = [opened._replace(at_milliseconds=opened.at_milliseconds - 10_000) for opened in viewer.opened]
        delay(viewer, -10_000, timed_out(table) - 1)


def time_out_after_a_sent_action(record: TableRecord, table: PlayedTable) -> None:
    at = table.transitions[timed_out(table) - 2].entry.deadline - 5_000
    action = actions_pb2.Action(draw=actions_pb2.DrawAction()).SerializeToString()
    viewer_timed_out(record, table).sent.append(Sent(at, "not taken", action, None))


def time_out_without_a_turn(record: TableRecord, table: PlayedTable) -> None:
    """Let the player receive everything before the time-out only after it."""
    sequence = timed_out(table)
    one, late = viewer_timed_out(record, table), received_at(table, sequence)
    one.received[2:sequence] = [received._replace(at_milliseconds=late) for received in one.received[2:sequence]]


def miss_the_end_and_wait(record: TableRecord, table: PlayedTable) -> None:
    viewer = record.viewers[0]
    viewer.received.pop()
    viewer.left_milliseconds = table.transitions[-1].entry.at + 6_000


def time_out_before_leaving(record: TableRecord, table: PlayedTable) -> None:
    time_out_after_a_sent_action(record, table)
    viewer_timed_out(record, table).left_milliseconds = table.transitions[timed_out(table) - 2].entry.deadline + 1_000


def receive_late(record: TableRecord, _: PlayedTable) -> None:
    record.delivery = DeliveryLimit(1_000)
    delay(record.viewers[0], 2_000, MIDDLE)


ROWS: Cases = {
    Invariant.LOG_BROKEN: {
        "omit_a_row": lambda record, _: change_rows(record, lambda entries: entries.pop(MIDDLE)),
        "turn_back_time": lambda record, table: change_row(record, MIDDLE, at=at_of(table, MIDDLE - 1) - 1),
        "commit_before_it_is_stored": lambda record, table: change_row(
            record, MIDDLE, committed_milliseconds=at_of(table, MIDDLE) - 300
        ),
        "leave_a_finished_game_open": lambda record, _: change_table_row(record, status="open"),
        "finish_a_running_game": alone(lambda record, _: change_rows(record, lambda entries: entries.pop())),
        "write_an_unreadable_row": lambda record, _: change_row(record, MIDDLE, body="{"),
        "write_an_unknown_type": lambda record, table: change_accepted_body(record, table, t="play"),
        "write_an_unknown_version": lambda record, table: change_accepted_body(record, table, v=2),
        "write_no_type": lambda record, _: change_row(record, MIDDLE, body='{"v": 1, "seat": 0, "action": {}}'),
        "write_another_type": lambda record, table: change_accepted_body(record, table, t="vote"),
        "write_a_seat_that_does_not_exist": lambda record, table: change_accepted_body(record, table, seat=77),
        "write_cards_as_numbers": lambda record, _: change_body(record, 0, cards=[1, 2, 3]),
        "configure_other_seats": partial(configure, seats=[["player-0", "Player 0", ""]]),
        "configure_no_clock": lambda record, _: change_table_row(record, config='{"v": 1}'),
        "configure_in_an_unknown_version": partial(configure, v=99),
        "store_another_deadline": lambda record, _: change_row(record, MIDDLE, deadline=1),
    },
    Invariant.DEAL_UNFAIR: {
        "store_another_deal": store_another_deal,
        "store_another_deal_alone": alone(store_another_deal),
    },
    Invariant.ILLEGAL_ACCEPTED: {
        "store_an_illegal_action": alone(
            lambda record, table: change_accepted_body(record, table, action={"type": "play", "card": "JK"})
        )
    },
    Invariant.ACTION_DUPLICATED: {"store_a_request_twice": store_a_request_twice},
    Invariant.ACKNOWLEDGED_LOST: {
        "store_another_action": lambda record, table: change_accepted_body(record, table, action=THROW_DOWN),
        "store_another_request": lambda record, table: change_accepted_body(record, table, request="another"),
        "lose_the_end": lose_the_end,
    },
    Invariant.SHOWN_BEFORE_STORED: {
        "lose_the_last_entry": lambda record, _: change_rows(record, lambda entries: entries.pop()),
        "commit_late": lambda record, table: change_row(
            record, MIDDLE, committed_milliseconds=received_at(table, MIDDLE + 1) + 1
        ),
        "acknowledge_before_the_commit": acknowledge_before_the_commit,
    },
    Invariant.WRONG_REFUSAL: {"refuse_a_stored_request": refuse_what_is_stored},
    Invariant.VIEW_DIFFERS: {
        "store_another_time": lambda record, table: change_row(record, MIDDLE, at=at_of(table, MIDDLE) + 1),
        "store_another_seat": lambda record, table: change_accepted_body(
            record, table, seat=(accepted_action(table).seat + 1) % 4
        ),
    },
    Invariant.REPLAY_DIFFERS: {
        "replay_another_option": change_replay(lambda lines: lines[0]["options"].update(max_rounds=77)),
        "replay_another_action": lambda record, table: change_accepted_body(record, table, action=THROW_DOWN),
    },
    Invariant.LEDGER_DIFFERS: {
        "lose_a_round": change_ledger(lambda it: {"rounds": it.rounds[1:]}),
        "lose_the_result": change_ledger(lambda _: {"results": ()}),
        "count_twice": change_ledger(lambda it: {"counts": [(*key, 2 * amount) for *key, amount in it.counts]}),
        "enter_players_twice": change_ledger(lambda it: {"players": it.players * 2}),
        "enter_another_outcome": change_ledger(
            lambda it: {"players": tuple((*one, "drawn") for *one, _ in it.players)}
        ),
        "forget_a_time_out": change_ledger(lambda it: {"conduct": ((0, False), *it.conduct[1:])}),
        "lose_the_conduct": change_ledger(lambda _: {"conduct": ()}),
        "end_at_another_time": change_ledger(lambda _: {"finished_milliseconds": 1}),
    },
    Invariant.COMPENSATION_WRONG: {
        "compensate_without_an_outage": lambda record, _: setattr(record, "outages", ()),
        "omit_compensation": omit_compensation,
    },
    Invariant.TIMEOUT_TOO_EARLY: {
        "time_out_early": alone(time_out_early_rows),
        "time_out_early_by_the_players_clock": time_out_early_by_the_players_clock,
    },
    Invariant.DEADLINE_MISSED: {"wait_too_long": alone(wait_too_long)},
    Invariant.TIMEOUT_UNEXCUSED: {
        "time_out_after_a_sent_action": time_out_after_a_sent_action,
        "time_out_before_leaving": time_out_before_leaving,
        "time_out_beyond_the_think_time": lambda record, table: setattr(
            viewer_timed_out(record, table), "thinks_milliseconds", 2_000
        ),
        "time_out_without_a_turn": time_out_without_a_turn,
    },
    Invariant.STREAM_SILENT: {
        "miss_the_end": lambda record, _: record.viewers[0].received.pop(),
        "miss_the_end_and_wait": miss_the_end_and_wait,
        "receive_late": receive_late,
    },
}


# The end of a table at a limit of the operator, and of an abandoned one

VOTE = '{"t":"vote","v":1,"seat":0,"proposal_sequence":1,"agree":true,"request":"r"}'


def _end_validly(event: engine_pb2.TableEvent, _: PlayedTable) -> None:
    next(fact.game_ended for fact in event.update.facts if fact.HasField("game_ended")).is_void = False


def _continue_after_the_end(record: TableRecord, table: PlayedTable) -> None:
    last = table.last.entry
    late = StoredEntry(last.sequence + 1, last.at, 0, VOTE, last.at)
    change_rows(record, lambda entries: entries.append(late))


def _end_at(record: TableRecord, table: PlayedTable, offset: int) -> None:
    """Let the table end some milliseconds after its deadline."""
    change_row(record, -1, at=table.transitions[-2].entry.deadline + offset, committed_milliseconds=None)


def _end_early_on_streams(event: engine_pb2.TableEvent, table: PlayedTable) -> None:
    event.update.stored_unix_ms = table.transitions[-2].entry.deadline - 1


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
        "end_validly": falsify_message(_end_validly, -1, to_all=True),
        "enter_a_valid_result": change_sheet(lambda sheet: sheet.result.ClearField("is_void")),
    },
}


ABANDONED: Cases = {
    Invariant.LOG_BROKEN: {"play_on_without_people": alone(_play_on_in_rows)},
    Invariant.TIMEOUT_TOO_EARLY: {
        "abandon_too_early": alone(partial(_end_at, offset=-1)),
        "abandon_too_early_on_streams": falsify_message(_end_early_on_streams, -1, to_all=True),
    },
    Invariant.DEADLINE_MISSED: {"abandon_late": alone(partial(_end_at, offset=3_000))},
    Invariant.COMPENSATION_WRONG: {"abandon_in_an_outage": alone(partial(omit_compensation, index=-1))},
    Invariant.RESULT_DIFFERS: {
        "rank_an_abandoned_table": change_replay(lambda lines: lines[-1]["result"].update(ranking=[[0], [1, 2, 3]])),
    },
}
