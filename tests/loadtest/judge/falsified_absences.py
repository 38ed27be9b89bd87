"""Records of tables whose players leave and return, which the engine ignores, delays or reports wrongly."""

from croupier.engine.core.clock import Absence
from croupier.engine.core.log import ActedBy, AwaySet
from croupier.games.interface import SeatActed
from croupier_api.v1 import engine_pb2
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import TableRecord
from tests.loadtest.judge.falsified_records import change_all, change_sheet
from tests.loadtest.judge.falsified_rows import alone, change_body, change_ledger, change_row
from tests.loadtest.judge.played import AcceptedRequest, PlayedTable
from tests.loadtest.judge.viewer_records import Cases, Falsify, change_message


def change_of(table: PlayedTable, *, is_away: bool) -> AcceptedRequest:
    """Return a request by which a player left or returned, in the middle of the log."""
    made = {one.entry.sequence: one.entry for one in table.transitions[10:] if isinstance(one.entry.event, AwaySet)}
    return next(
        request
        for request in table.requested
        if request.body == ("away", is_away)
        and request.sequence in made
        and made[request.sequence].request_id == request.request_id
    )


def action_after_return(table: PlayedTable) -> int:
    """Return the sequence of a player's action that comes after their return, when the bot delay is over."""
    before, delay = table.transitions[0], table.config.clock.bot_delay_milliseconds
    returned = set[int]()
    for made in table.transitions:
        event, entry = made.entry.event, made.entry
        if isinstance(event, AwaySet) and not event.is_away:
            returned.add(event.seat)
        elif isinstance(event, SeatActed):
            waited = entry.at - before.after.clock.since[event.seat]
            if event.seat in returned and waited >= delay and entry.acted_by is ActedBy.PLAYER:
                return entry.sequence
            returned.discard(event.seat)
        before = made
    raise LookupError


def action_for_left_seat(table: PlayedTable) -> int:
    """Return the sequence of an action of the engine for a player who has left."""
    for before, made in zip(table.transitions, table.transitions[1:], strict=False):
        event = made.entry.event
        if not isinstance(event, SeatActed) or made.entry.acted_by is not ActedBy.TIMEOUT:
            continue
        if before.after.clock.absences[event.seat] is Absence.LEFT and before.after.seats_to_act == (event.seat,):
            return made.entry.sequence
    raise LookupError


def ignore_a_return(record: TableRecord, table: PlayedTable) -> None:
    """Show the time of a player who returned as that of one who is away, and let the engine act for them then."""
    sequence = action_after_return(table)
    at = table.transitions[sequence - 1].entry.at
    change_all(record, sequence - 1, clock=engine_pb2.TurnClock(deadline_unix_ms=at))
    change_all(record, sequence, acted_by=engine_pb2.ACTED_BY_TIMEOUT)


def ignore_a_return_in_rows(record: TableRecord, table: PlayedTable) -> None:
    change_body(record, action_after_return(table) - 1, by=1)


def let_a_left_seat_delay(record: TableRecord, table: PlayedTable) -> None:
    """Show the time of a player who left as that of one who is there, and let the engine use it."""
    sequence = action_for_left_seat(table)
    began = table.transitions[sequence - 2].entry.at
    limit = began + table.config.clock.action_milliseconds
    change_all(record, sequence - 1, clock=engine_pb2.TurnClock(deadline_unix_ms=limit))
    change_all(record, sequence, stored_unix_ms=limit)


def let_a_left_seat_delay_in_rows(record: TableRecord, table: PlayedTable) -> None:
    sequence = action_for_left_seat(table)
    at = table.transitions[sequence - 2].entry.deadline + 3_000
    change_row(record, sequence - 1, at=at, committed_milliseconds=None)


def give_a_left_seat_time(record: TableRecord, table: PlayedTable) -> None:
    sequence = action_for_left_seat(table)
    limit = table.transitions[sequence - 2].entry.at + table.config.clock.action_milliseconds
    change_row(record, sequence - 2, deadline=limit)


def acknowledge_as(sequence: int, *, is_away: bool) -> Falsify:
    """Acknowledge a leave or return as this entry, or if it is negative as one so many before its own."""

    def falsify(record: TableRecord, table: PlayedTable) -> None:
        request = change_of(table, is_away=is_away)
        at = sequence if sequence > 0 else request.sequence + sequence
        (viewer,) = (one for one in record.viewers if one.seat == request.seat)
        viewer.answered = [
            one._replace(sequence=at) if one.request_id == request.request_id else one for one in viewer.answered
        ]

    return falsify


def acknowledge_a_repeat_otherwise(record: TableRecord, table: PlayedTable) -> None:
    """Acknowledge a stored return again, as another entry after which the player is there too."""
    request = change_of(table, is_away=False)
    (viewer,) = (one for one in record.viewers if one.seat == request.seat)
    answer = next(one for one in viewer.answered if one.request_id == request.request_id)
    viewer.answered.append(answer._replace(sequence=request.sequence + 1))


def forget_the_request(record: TableRecord, table: PlayedTable) -> None:
    request = change_of(table, is_away=True)
    (viewer,) = (one for one in record.viewers if one.seat == request.seat)
    viewer.sent_requests = [one for one in viewer.sent_requests if one.request_id != request.request_id]
    viewer.answered = [one for one in viewer.answered if one.request_id != request.request_id]


def hide_who_left(record: TableRecord, table: PlayedTable) -> None:
    for viewer in record.viewers:
        sequence = change_of(table, is_away=True).sequence
        change_message(viewer, sequence - 1, lambda event: event.update.clock.ClearField("left_seats"))


def hide_a_leave(record: TableRecord, table: PlayedTable) -> None:
    for viewer in record.viewers:
        sequence = change_of(table, is_away=True).sequence
        change_message(viewer, sequence - 1, lambda event: event.update.ClearField("is_away"))


ABSENCES: Cases = {
    Invariant.TIMEOUT_TOO_EARLY: {"ignore_a_return": ignore_a_return},
    Invariant.DEADLINE_MISSED: {"let_a_left_seat_delay": let_a_left_seat_delay},
    Invariant.ACKNOWLEDGED_LOST: {
        "acknowledge_a_leave_that_is_not_in_the_log": acknowledge_as(-1, is_away=True),
        "acknowledge_a_return_that_is_not_in_the_log": acknowledge_as(-1, is_away=False),
        "acknowledge_a_leave_as_a_missing_entry": acknowledge_as(10_000, is_away=True),
        "acknowledge_a_return_by_an_old_log": acknowledge_as(1, is_away=False),
    },
    Invariant.ACTION_DUPLICATED: {"store_a_leave_without_a_request": forget_the_request},
    Invariant.VIEW_DIFFERS: {"hide_who_left": hide_who_left, "hide_a_leave": hide_a_leave},
    Invariant.RESULT_DIFFERS: {
        "report_wrongly_who_left": change_sheet(
            lambda sheet: setattr(sheet.result.conduct[0], "left", not sheet.result.conduct[0].left)
        )
    },
}
"""Found by the streams, and with rows."""
ABSENCES_IN_ROWS: Cases = {
    Invariant.TIMEOUT_TOO_EARLY: {"ignore_a_return_in_rows": alone(ignore_a_return_in_rows)},
    Invariant.DEADLINE_MISSED: {"let_a_left_seat_delay_in_rows": alone(let_a_left_seat_delay_in_rows)},
    Invariant.LOG_BROKEN: {"give_a_left_seat_time": alone(give_a_left_seat_time)},
    Invariant.ACKNOWLEDGED_LOST: {"acknowledge_a_repeat_otherwise": acknowledge_a_repeat_otherwise},
    Invariant.LEDGER_DIFFERS: {
        "record_wrongly_who_left": change_ledger(
            lambda ledger: {"conduct": tuple((*one[:2], not one[2]) for one in ledger.conduct)}
        )
    },
}
