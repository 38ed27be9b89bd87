"""Records whose rows, ledger, outages or time-outs are not true; most are told from the databases alone."""

import json
from collections.abc import Callable
from typing import Any

import grpc

from croupier.engine.log import ActedBy
from croupier_api.v1 import table_pb2
from loadtest.judge.violations import Invariant
from loadtest.record import Lag, Ledger, Outage, SeatRecord, Sent, StoredEntry, TableRecord
from tests.loadtest.judge.falsified_answers import answers_instead
from tests.loadtest.judge.falsified_records import replayed
from tests.loadtest.judge.played import Asked, Cases, Falsify, Played, heard_at

MIDDLE = 40
"""A row in the middle of the log, as an index."""
THROW_DOWN = {"type": "throw_down"}


def rows(record: TableRecord, change: Callable[[list[StoredEntry]], object]) -> None:
    """Change the rows of the log."""
    assert record.stored is not None
    entries = list(record.stored.entries)
    change(entries)
    record.stored = record.stored._replace(entries=tuple(entries))


def row(record: TableRecord, index: int, **columns: Any) -> None:
    """Change columns of a row."""
    rows(record, lambda entries: entries.__setitem__(index, entries[index]._replace(**columns)))


def body(record: TableRecord, index: int, **fields: Any) -> None:
    """Change fields of a row's body."""
    assert record.stored is not None
    row(record, index, body=json.dumps(json.loads(record.stored.entries[index].body) | fields))


def table_row(record: TableRecord, **columns: Any) -> None:
    """Change columns of the table's own row."""
    assert record.stored is not None
    record.stored = record.stored._replace(**columns)


def alone(change: Falsify) -> Falsify:
    """Nobody followed the table, and there is no replay; the rows are changed."""

    def falsify(record: TableRecord, table: Played) -> None:
        record.viewers, record.replays, record.sheet = [], [], None
        change(record, table)

    return falsify


def asked(table: Played) -> Asked:
    """An action of a player in the middle of the game."""
    return next(one for one in table.asked if one.sequence > MIDDLE)


def body_asked(record: TableRecord, table: Played, **fields: Any) -> None:
    """Change fields of the row of that action."""
    body(record, asked(table).sequence - 1, **fields)


def timed_out(table: Played) -> int:
    """The first entry that acted for a player whose time had run out."""
    return next(made.entry.sequence for made in table.steps if made.entry.acted_by is ActedBy.TIMEOUT)


def viewer_timed_out(record: TableRecord, table: Played) -> SeatRecord:
    """The player for whom it acted."""
    seat = getattr(table.steps[timed_out(table) - 1].entry.event, "seat", None)
    return next(one for one in record.viewers if one.seat == seat)


# The rows


def configure_other_seats(record: TableRecord, _: Played) -> None:
    assert record.stored is not None
    config = json.loads(record.stored.config)
    table_row(record, config=json.dumps(config | {"seats": config["seats"][1:]}))


def store_another_deal(record: TableRecord, _: Played) -> None:
    assert record.stored is not None
    first, second, *others = json.loads(record.stored.entries[0].body)["cards"].split()
    body(record, 0, cards=" ".join((second, first, *others)))


def store_a_request_twice(record: TableRecord, table: Played) -> None:
    one = asked(table).sequence
    rows(record, lambda entries: entries.append(entries[one - 1]._replace(sequence=len(entries) + 1)))


def lose_the_end(record: TableRecord, table: Played) -> None:
    rows(record, lambda entries: entries.__delitem__(slice(table.asked[-1].sequence - 1, None)))


def refuse_what_is_stored(record: TableRecord, table: Played) -> None:
    stale = {"code": grpc.StatusCode.ABORTED.value[0], "reason": "STALE_SEQUENCE", "message": "too late"}
    answers_instead(record, asked(table), sequence=None, **stale)


def acknowledge_before_the_commit(record: TableRecord, table: Played) -> None:
    sequence = asked(table).sequence
    row(record, sequence - 1, committed_milliseconds=heard_at(table, sequence) - 1)


def ledger(change: Callable[[Ledger], dict[str, Any]]) -> Falsify:
    """The ledger is another one."""

    def falsify(record: TableRecord, _: Played) -> None:
        assert record.ledger is not None
        record.ledger = record.ledger._replace(**change(record.ledger))

    return falsify


# Time


def give_nothing_back(record: TableRecord, table: Played) -> None:
    """An outage just before a player's time ran out, which nobody gave back."""
    at = table.steps[timed_out(table) - 1].entry.at
    record.outages = (*record.outages, Outage(at - 20_000, at - 15_000))


def run_out_early(record: TableRecord, table: Played) -> None:
    at = timed_out(table) - 1
    row(record, at, at=table.steps[at - 1].entry.deadline - 1)


def wait_too_long(record: TableRecord, table: Played) -> None:
    at = timed_out(table) - 1
    rows(record, lambda entries: entries.__delitem__(slice(at + 1, None)))
    row(record, at, at=table.steps[at - 1].entry.deadline + 13_000)


def run_out_early_by_the_players_clock(record: TableRecord, table: Played) -> None:
    sequence = timed_out(table)
    for one in record.viewers:
        one.opened = [opened._replace(at_milliseconds=opened.at_milliseconds - 10_000) for opened in one.opened]
        one.heard = [
            heard._replace(at_milliseconds=heard.at_milliseconds - 10_000 * (index >= sequence - 1))
            for index, heard in enumerate(one.heard)
        ]


def run_out_though_an_action_was_sent(record: TableRecord, table: Played) -> None:
    at = table.steps[timed_out(table) - 2].entry.deadline - 5_000
    action = table_pb2.Action(draw=table_pb2.DrawAction()).SerializeToString()
    viewer_timed_out(record, table).sent.append(Sent(at, "not taken", action, None))


def run_out_unasked(record: TableRecord, table: Played) -> None:
    """The player received everything before the time-out only after it."""
    sequence = timed_out(table)
    one, late = viewer_timed_out(record, table), heard_at(table, sequence)
    one.heard[2:sequence] = [heard._replace(at_milliseconds=late) for heard in one.heard[2:sequence]]


def miss_the_end_and_wait(record: TableRecord, table: Played) -> None:
    one = record.viewers[0]
    one.heard.pop()
    one.left_milliseconds = table.steps[-1].entry.at + 6_000


def run_out_before_leaving(record: TableRecord, table: Played) -> None:
    run_out_though_an_action_was_sent(record, table)
    viewer_timed_out(record, table).left_milliseconds = table.steps[timed_out(table) - 2].entry.deadline + 1_000


def be_told_late(record: TableRecord, _: Played) -> None:
    record.lag = Lag(1_000)
    one = record.viewers[0]
    one.heard[MIDDLE:] = [heard._replace(at_milliseconds=heard.at_milliseconds + 2_000) for heard in one.heard[MIDDLE:]]


ROWS: Cases = {
    Invariant.LOG_BROKEN: {
        "leave_out_a_row": lambda record, _: rows(record, lambda entries: entries.pop(MIDDLE)),
        "turn_back_time": lambda record, table: row(record, MIDDLE, at=table.steps[MIDDLE - 1].entry.at - 1),
        "commit_before_it_is_stored": lambda record, table: row(
            record, MIDDLE, committed_milliseconds=table.steps[MIDDLE].entry.at - 300
        ),
        "leave_open_what_is_over": lambda record, _: table_row(record, status="open"),
        "finish_what_is_not_over": alone(lambda record, _: rows(record, lambda entries: entries.pop())),
        "write_what_nobody_can_read": lambda record, _: row(record, MIDDLE, body="{"),
        "write_an_unknown_body": lambda record, _: row(record, MIDDLE, body='{"seat": 77, "action": {}}'),
        "write_cards_as_numbers": lambda record, _: body(record, 0, cards=[1, 2, 3]),
        "configure_other_seats": configure_other_seats,
        "configure_no_clock": lambda record, _: table_row(record, config="{}"),
        "store_another_deadline": lambda record, _: row(record, MIDDLE, deadline=1),
    },
    Invariant.DEAL_UNFAIR: {
        "store_another_deal": store_another_deal,
        "store_another_deal_alone": alone(store_another_deal),
    },
    Invariant.ILLEGAL_ACCEPTED: {
        "store_what_is_illegal": alone(
            lambda record, table: body_asked(record, table, action={"type": "play", "card": "JK"})
        )
    },
    Invariant.ACTION_DOUBLED: {"store_a_request_twice": store_a_request_twice},
    Invariant.ACKNOWLEDGED_LOST: {
        "store_another_action": lambda record, table: body_asked(record, table, action=THROW_DOWN),
        "store_another_request": lambda record, table: body_asked(record, table, request="another"),
        "lose_the_end": lose_the_end,
    },
    Invariant.SHOWN_BEFORE_STORED: {
        "lose_the_last_entry": lambda record, _: rows(record, lambda entries: entries.pop()),
        "commit_late": lambda record, table: row(
            record, MIDDLE, committed_milliseconds=heard_at(table, MIDDLE + 1) + 1
        ),
        "acknowledge_before_the_commit": acknowledge_before_the_commit,
    },
    Invariant.WRONG_REFUSAL: {"refuse_what_is_stored": refuse_what_is_stored},
    Invariant.VIEW_DIFFERS: {
        "store_another_time": lambda record, table: row(record, MIDDLE, at=table.steps[MIDDLE].entry.at + 1),
        "store_another_seat": lambda record, table: body_asked(record, table, seat=(asked(table).seat + 1) % 4),
    },
    Invariant.REPLAY_UNTRUE: {
        "replay_another_option": replayed(lambda lines: lines[0]["options"].update(max_rounds=77)),
        "replay_another_action": lambda record, table: body_asked(record, table, action=THROW_DOWN),
    },
    Invariant.LEDGER_DIFFERS: {
        "lose_a_round": ledger(lambda it: {"rounds": it.rounds[1:]}),
        "lose_the_result": ledger(lambda _: {"results": ()}),
        "count_twice": ledger(lambda it: {"counts": [(*key, 2 * amount) for *key, amount in it.counts]}),
        "enter_players_twice": ledger(lambda it: {"players": it.players * 2}),
        "end_at_another_time": ledger(lambda _: {"finished_milliseconds": 1}),
    },
    Invariant.CREDIT_WRONG: {
        "give_back_what_nobody_missed": lambda record, _: setattr(record, "outages", ()),
        "give_nothing_back": give_nothing_back,
    },
    Invariant.PLAYED_FOR_TOO_EARLY: {
        "run_out_early": alone(run_out_early),
        "run_out_early_by_the_players_clock": run_out_early_by_the_players_clock,
    },
    Invariant.DEADLINE_MISSED: {"wait_too_long": alone(wait_too_long)},
    Invariant.TIMED_OUT_UNEXCUSED: {
        "run_out_though_an_action_was_sent": run_out_though_an_action_was_sent,
        "run_out_before_leaving": run_out_before_leaving,
        "run_out_though_nobody_thinks_so_long": lambda record, table: setattr(
            viewer_timed_out(record, table), "thinks_milliseconds", 2_000
        ),
        "run_out_unasked": run_out_unasked,
    },
    Invariant.STREAM_SILENT: {
        "miss_the_end": lambda record, _: record.viewers[0].heard.pop(),
        "miss_the_end_and_wait": miss_the_end_and_wait,
        "be_told_late": be_told_late,
    },
}
