"""Records whose rows, ledger, outages or time-outs are not true; most are told from the databases alone."""

import json
from collections.abc import Callable
from typing import Any

import grpc

from croupier.engine.log import ActedBy
from croupier_api.v1 import table_pb2
from loadtest.judge.violations import Invariant
from loadtest.record import Lag, Ledger, Outage, SeatRecord, Sent, StoredEntry, TableRecord
from tests.loadtest.judge.played import Asked, Falsify, Played, heard_at, refused

MIDDLE = 40
"""A row in the middle of the log, as an index."""


def rows(record: TableRecord, change: Callable[[list[StoredEntry]], object]) -> None:
    """Change the rows of the log."""
    assert record.stored is not None
    entries = list(record.stored.entries)
    change(entries)
    record.stored = record.stored._replace(entries=tuple(entries))


def body(record: TableRecord, index: int, **fields: Any) -> None:
    """Change fields of a row's body."""

    def change(entries: list[StoredEntry]) -> None:
        entries[index] = entries[index]._replace(body=json.dumps(json.loads(entries[index].body) | fields))

    rows(record, change)


def row(record: TableRecord, index: int, **columns: Any) -> None:
    """Change columns of a row."""
    rows(record, lambda entries: entries.__setitem__(index, entries[index]._replace(**columns)))


def forget_viewers(record: TableRecord) -> None:
    """Nobody followed the table, and there is no replay."""
    record.viewers, record.replays, record.sheet = [], [], None


def asked(table: Played) -> Asked:
    """An action of a player in the middle of the game."""
    return next(one for one in table.asked if one.sequence > MIDDLE)


def timed_out(table: Played) -> int:
    """The first entry that acted for a player whose time had run out."""
    return next(made.entry.sequence for made in table.steps if made.entry.acted_by is ActedBy.TIMEOUT)


def viewer_of(record: TableRecord, table: Played, sequence: int) -> SeatRecord:
    """The player for whom an entry acted."""
    seat = getattr(table.steps[sequence - 1].entry.event, "seat", None)
    return next(one for one in record.viewers if one.seat == seat)


# The rows by themselves


def leave_out_a_row(record: TableRecord, _: Played) -> None:
    rows(record, lambda entries: entries.pop(MIDDLE))


def turn_back_time(record: TableRecord, table: Played) -> None:
    row(record, MIDDLE, at=table.steps[MIDDLE - 1].entry.at - 1)


def commit_before_it_is_stored(record: TableRecord, table: Played) -> None:
    row(record, MIDDLE, committed_milliseconds=table.steps[MIDDLE].entry.at - 300)


def leave_open_what_is_over(record: TableRecord, _: Played) -> None:
    assert record.stored is not None
    record.stored = record.stored._replace(status="open")


def finish_what_is_not_over(record: TableRecord, _: Played) -> None:
    forget_viewers(record)
    rows(record, lambda entries: entries.pop())


def write_what_nobody_can_read(record: TableRecord, _: Played) -> None:
    row(record, MIDDLE, body="{")


def write_an_unknown_body(record: TableRecord, _: Played) -> None:
    row(record, MIDDLE, body='{"seat": 77, "action": {}}')


def write_cards_as_numbers(record: TableRecord, _: Played) -> None:
    body(record, 0, cards=[1, 2, 3])


def configure_other_seats(record: TableRecord, _: Played) -> None:
    assert record.stored is not None
    config = json.loads(record.stored.config)
    record.stored = record.stored._replace(config=json.dumps(config | {"seats": config["seats"][1:]}))


def configure_no_clock(record: TableRecord, _: Played) -> None:
    assert record.stored is not None
    record.stored = record.stored._replace(config="{}")


def store_another_deadline(record: TableRecord, table: Played) -> None:
    row(record, MIDDLE, deadline=table.steps[MIDDLE].entry.deadline + 1)


def store_another_deal(record: TableRecord, _: Played) -> None:
    assert record.stored is not None
    first, second, *others = json.loads(record.stored.entries[0].body)["cards"].split()
    body(record, 0, cards=" ".join((second, first, *others)))


def store_another_deal_alone(record: TableRecord, table: Played) -> None:
    store_another_deal(record, table)
    forget_viewers(record)


def store_what_is_illegal(record: TableRecord, table: Played) -> None:
    forget_viewers(record)
    body(record, asked(table).sequence - 1, action={"type": "play", "card": "JK"})


# The rows and what viewers received


def store_a_request_twice(record: TableRecord, table: Played) -> None:
    one = asked(table).sequence
    rows(record, lambda entries: entries.append(entries[one - 1]._replace(sequence=len(entries) + 1)))


def store_another_action(record: TableRecord, table: Played) -> None:
    body(record, asked(table).sequence - 1, action={"type": "throw_down"}, seat=asked(table).seat)


def store_another_request(record: TableRecord, table: Played) -> None:
    body(record, asked(table).sequence - 1, request="another")


def lose_the_end(record: TableRecord, table: Played) -> None:
    rows(record, lambda entries: entries.__delitem__(slice(table.asked[-1].sequence - 1, None)))


def lose_the_end_unseen(record: TableRecord, table: Played) -> None:
    """Nobody received the last entry as an update, but a view showed it."""
    rows(record, lambda entries: entries.pop())


def refuse_what_is_stored(record: TableRecord, table: Played) -> None:
    one = record.viewers[[it.seat for it in record.viewers].index(asked(table).seat)]
    name = asked(table).request_id
    index = next(i for i, answer in enumerate(one.answered) if answer.request_id == name)
    refusal = refused(name, one.answered[index].at_milliseconds, grpc.StatusCode.ABORTED, "STALE_SEQUENCE")
    one.answered[index] = refusal


def commit_late(record: TableRecord, table: Played) -> None:
    row(record, MIDDLE, committed_milliseconds=heard_at(table, MIDDLE + 1) + 1)


def acknowledge_before_the_commit(record: TableRecord, table: Played) -> None:
    sequence = asked(table).sequence
    row(record, sequence - 1, committed_milliseconds=heard_at(table, sequence) - 1)


def store_another_time(record: TableRecord, table: Played) -> None:
    row(record, MIDDLE, at=table.steps[MIDDLE].entry.at + 1)


def store_another_seat(record: TableRecord, table: Played) -> None:
    body(record, asked(table).sequence - 1, seat=(asked(table).seat + 1) % 4)


def replay_another_option(record: TableRecord, _: Played) -> None:
    lines = record.replays[0].splitlines(keepends=True)
    header = json.loads(lines[0])
    header["options"]["max_rounds"] += 1
    record.replays[0] = json.dumps(header) + "\n" + "".join(lines[1:])


def replay_another_action(record: TableRecord, table: Played) -> None:
    body(record, asked(table).sequence - 1, action={"type": "throw_down"})


# The ledger


def ledger(change: Callable[[Ledger], Ledger], name: str) -> Falsify:
    """A case in which the ledger is another one."""

    def falsify(record: TableRecord, _: Played) -> None:
        assert record.ledger is not None
        record.ledger = change(record.ledger)

    falsify.__name__ = name
    return falsify


def twice(counts: tuple[tuple[int, str, int], ...]) -> tuple[tuple[int, str, int], ...]:
    return tuple((seat, name, 2 * amount) for seat, name, amount in counts)


# Time


def give_back_what_nobody_missed(record: TableRecord, _: Played) -> None:
    record.outages = ()


def give_nothing_back(record: TableRecord, table: Played) -> None:
    """An outage just before a player's time ran out, which nobody gave back."""
    at = table.steps[timed_out(table) - 1].entry.at
    record.outages = (*record.outages, Outage(at - 20_000, at - 15_000))


def run_out_early(record: TableRecord, table: Played) -> None:
    forget_viewers(record)
    at = timed_out(table) - 1
    row(record, at, at=table.steps[at - 1].entry.deadline - 1)


def wait_too_long(record: TableRecord, table: Played) -> None:
    forget_viewers(record)
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
    sequence = timed_out(table)
    one, action = viewer_of(record, table, sequence), table_pb2.Action(draw=table_pb2.DrawAction())
    at = table.steps[sequence - 2].entry.deadline - 5_000
    one.sent.append(Sent(at, "not taken", action.SerializeToString(), None))


def run_out_though_nobody_thinks_so_long(record: TableRecord, table: Played) -> None:
    viewer_of(record, table, timed_out(table)).thinks_milliseconds = 2_000


def run_out_unasked(record: TableRecord, table: Played) -> None:
    """The player received everything before the time-out only after it."""
    sequence = timed_out(table)
    one, late = viewer_of(record, table, sequence), heard_at(table, sequence)
    one.heard = [
        heard._replace(at_milliseconds=late) if 2 <= index < sequence else heard
        for index, heard in enumerate(one.heard)
    ]


def be_told_late(record: TableRecord, table: Played) -> None:
    record.lag = Lag(1_000)
    one = record.viewers[0]
    for index in range(MIDDLE, len(one.heard)):
        one.heard[index] = one.heard[index]._replace(at_milliseconds=one.heard[index].at_milliseconds + 2_000)


def miss_the_end(record: TableRecord, _: Played) -> None:
    del record.viewers[0].heard[-1]


ROWS: dict[Falsify, Invariant] = {
    leave_out_a_row: Invariant.LOG_BROKEN,
    turn_back_time: Invariant.LOG_BROKEN,
    commit_before_it_is_stored: Invariant.LOG_BROKEN,
    leave_open_what_is_over: Invariant.LOG_BROKEN,
    finish_what_is_not_over: Invariant.LOG_BROKEN,
    write_what_nobody_can_read: Invariant.LOG_BROKEN,
    write_an_unknown_body: Invariant.LOG_BROKEN,
    write_cards_as_numbers: Invariant.LOG_BROKEN,
    configure_other_seats: Invariant.LOG_BROKEN,
    configure_no_clock: Invariant.LOG_BROKEN,
    store_another_deadline: Invariant.LOG_BROKEN,
    store_another_deal: Invariant.DEAL_UNFAIR,
    store_another_deal_alone: Invariant.DEAL_UNFAIR,
    store_what_is_illegal: Invariant.ILLEGAL_ACCEPTED,
    store_a_request_twice: Invariant.ACTION_DOUBLED,
    store_another_action: Invariant.ACKNOWLEDGED_LOST,
    store_another_request: Invariant.ACKNOWLEDGED_LOST,
    lose_the_end: Invariant.ACKNOWLEDGED_LOST,
    lose_the_end_unseen: Invariant.SHOWN_BEFORE_STORED,
    commit_late: Invariant.SHOWN_BEFORE_STORED,
    acknowledge_before_the_commit: Invariant.SHOWN_BEFORE_STORED,
    refuse_what_is_stored: Invariant.WRONG_REFUSAL,
    store_another_time: Invariant.VIEW_DIFFERS,
    store_another_seat: Invariant.VIEW_DIFFERS,
    replay_another_option: Invariant.REPLAY_UNTRUE,
    replay_another_action: Invariant.REPLAY_UNTRUE,
    ledger(lambda it: it._replace(rounds=it.rounds[1:]), "lose_a_round"): Invariant.LEDGER_DIFFERS,
    ledger(lambda it: it._replace(results=()), "lose_the_result"): Invariant.LEDGER_DIFFERS,
    ledger(lambda it: it._replace(counts=twice(it.counts)), "count_twice"): Invariant.LEDGER_DIFFERS,
    ledger(lambda it: it._replace(players=it.players * 2), "enter_players_twice"): Invariant.LEDGER_DIFFERS,
    ledger(lambda it: it._replace(finished_milliseconds=1), "end_at_another_time"): Invariant.LEDGER_DIFFERS,
    give_back_what_nobody_missed: Invariant.CREDIT_WRONG,
    give_nothing_back: Invariant.CREDIT_WRONG,
    run_out_early: Invariant.PLAYED_FOR_TOO_EARLY,
    run_out_early_by_the_players_clock: Invariant.PLAYED_FOR_TOO_EARLY,
    wait_too_long: Invariant.DEADLINE_MISSED,
    run_out_though_an_action_was_sent: Invariant.TIMED_OUT_UNEXCUSED,
    run_out_though_nobody_thinks_so_long: Invariant.TIMED_OUT_UNEXCUSED,
    run_out_unasked: Invariant.TIMED_OUT_UNEXCUSED,
    miss_the_end: Invariant.STREAM_SILENT,
    be_told_late: Invariant.STREAM_SILENT,
}
