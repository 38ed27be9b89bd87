"""Checks ListMyTables and WatchTables of own tables: they show the tables at which the player sits, and their turns.

A run knows when a player had a seat of a table that was forming or being played, at least in part: a Stay.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from croupier_api.v1 import lobby_pb2, tables_pb2
from croupier_loadtest.judge.log import SLACK_MILLISECONDS, Log
from croupier_loadtest.judge.streams import ViewerHistory, ViewerState
from croupier_loadtest.judge.violations import Found, Invariant, Violation
from croupier_loadtest.record import DeliveryLimit, ShownSeat

MAX_TURNS = 4
"""The number of states that a violation names."""
RUNNING = (tables_pb2.TABLE_STATE_FORMING, tables_pb2.TABLE_STATE_PLAYING)


class Stay(NamedTuple):
    """The time of a player on a seat of a table that is forming or being played, in milliseconds since 1970 UTC.

    It is certain in a part of the time in which it is possible; `possible_until` is None if its end is not known.
    """

    table_id: str
    seat: int
    possible_from: int
    certain_from: int
    certain_until: int
    possible_until: int | None = None

    def is_possible(self, since: int, until: int) -> bool:
        """Return whether it may have lasted at some moment of a time."""
        return self.possible_from <= until and (self.possible_until is None or self.possible_until >= since)

    def is_certain(self, since: int, until: int) -> bool:
        """Return whether it has certainly lasted throughout a time."""
        return self.certain_from < since and until < self.certain_until


@dataclass(slots=True)
class OwnStream:
    """A stream of own tables: when it was opened and ended, and its messages with the times of their arrival."""

    opened_milliseconds: int
    messages: list[tuple[int, lobby_pb2.WatchTablesResponse]] = field(default_factory=list)
    ended_milliseconds: int = 0


def check_list(
    player_id: str, stays: Sequence[Stay], asked: int, answered: int, tables: Sequence[lobby_pb2.MyTable]
) -> Iterator[Violation]:
    """Yield the faults of a whole list of a player's tables, by the times of its request and its answer."""
    created = [mine.table.create_time.ToMilliseconds() for mine in tables]
    if created != sorted(created, reverse=True):
        yield _wrong("", f"the tables of {player_id} are not listed newest first")
    for mine in tables:
        table_id = mine.table.table_id
        possible = {stay.seat for stay in stays if stay.table_id == table_id and stay.is_possible(asked, answered)}
        if fault := _fault(player_id, mine):
            yield _wrong(table_id, fault)
        elif mine.table.state not in RUNNING:
            yield _wrong(table_id, f"it is listed for {player_id}, and is over")
        elif mine.my_seat.seat not in possible and any(stay.table_id == table_id for stay in stays):
            yield _wrong(
                table_id, f"it is listed with seat {mine.my_seat.seat} of {player_id}, who had {sorted(possible)}"
            )
    listed = {mine.table.table_id for mine in tables}
    for stay in stays:
        if stay.table_id not in listed and stay.is_certain(asked, answered):
            yield _wrong(stay.table_id, f"it is not listed for {player_id}, who had seat {stay.seat}")


def check_stream(player_id: str, stays: Sequence[Stay], stream: OwnStream, limit: DeliveryLimit) -> Iterator[Violation]:
    """Yield the faults of a stream of a player's tables: it begins with a list, and then brings each change in time."""
    begun = next((number for number, (_, message) in enumerate(stream.messages) if message.is_list_complete), None)
    if begun is not None:
        first = [_own(message) for _, message in stream.messages[: begun + 1] if message.HasField("table")]
        yield from check_list(player_id, stays, stream.opened_milliseconds, stream.messages[begun][0], first)
        yield from _check_changes(player_id, stream.messages, begun)
        yield from _check_delivery(player_id, stays, stream, limit)


def _check_changes(
    player_id: str, messages: Sequence[tuple[int, lobby_pb2.WatchTablesResponse]], begun: int
) -> Iterator[Violation]:
    """Yield the faults of messages after the list, one by one, and of states of a table that go back."""
    states: dict[str, int] = {}
    for number, (_, message) in enumerate(messages):
        table = message.table
        if number > begun and not message.is_list_complete:
            yield _wrong(table.table_id, f"the stream of {player_id} begins again in its middle")
        if not table.table_id or not table.state:
            continue
        if number > begun and (fault := _fault(player_id, _own(message))):
            yield _wrong(table.table_id, fault)
        if table.state < states.get(table.table_id, 0):
            yield _wrong(table.table_id, f"its state goes back on the stream of {player_id}")
        states[table.table_id] = table.state


def _check_delivery(
    player_id: str, stays: Sequence[Stay], stream: OwnStream, limit: DeliveryLimit
) -> Iterator[Violation]:
    """Yield the seats that the stream does not bring in time, and those at whose end it still shows them."""
    last = {message.table.table_id: message for _, message in stream.messages if message.HasField("table")}
    for stay in stays:
        due = max(stay.certain_from, limit.since_milliseconds) + limit.max_milliseconds
        is_new = stay.certain_from >= stream.opened_milliseconds
        lasts = stay.possible_until is None or due <= stay.possible_until
        if is_new and lasts and due <= stream.ended_milliseconds and not _shows(stream, stay, due):
            yield _wrong(stay.table_id, f"its stream does not show seat {stay.seat} to {player_id} in time")
    for table_id, message in last.items():
        is_shown = message.HasField("my_seat") and message.table.state in RUNNING
        since = max(stream.ended_milliseconds - limit.max_milliseconds, limit.since_milliseconds)
        own = [stay for stay in stays if stay.table_id == table_id]
        is_late = limit.since_milliseconds + limit.max_milliseconds <= stream.ended_milliseconds
        if is_shown and is_late and own and not any(stay.is_possible(since, stream.ended_milliseconds) for stay in own):
            yield _wrong(
                table_id, f"its stream still shows a seat to {player_id}, who has none, or a game that is over"
            )


def _shows(stream: OwnStream, stay: Stay, until: int) -> bool:
    return any(
        at <= until
        and message.table.table_id == stay.table_id
        and message.HasField("my_seat")
        and message.my_seat.seat == stay.seat
        for at, message in stream.messages
    )


def _own(message: lobby_pb2.WatchTablesResponse) -> lobby_pb2.MyTable:
    """Return the table and the seat of a message, as a list has them."""
    mine = lobby_pb2.MyTable(table=message.table)
    if message.HasField("my_seat"):
        mine.my_seat.CopyFrom(message.my_seat)
    return mine


def _fault(player_id: str, mine: lobby_pb2.MyTable) -> str:
    """Return what is wrong with a table and the player's seat there; empty if nothing is."""
    table, my_seat = mine.table, mine.my_seat
    seats = [number for number, seat in enumerate(table.seats) if seat.player_id == player_id]
    shown = [my_seat.seat] if mine.HasField("my_seat") else []
    if seats != shown:
        return f"seat {shown} is shown as that of {player_id}, who has {seats}"
    if not shown or table.state == tables_pb2.TABLE_STATE_PLAYING:
        return ""
    if my_seat.HasField("is_to_act") or my_seat.HasField("deadline_time"):
        return f"it has a turn of {player_id}, and is not being played"
    if table.state == tables_pb2.TABLE_STATE_FORMING and my_seat.is_away != table.seats[my_seat.seat].is_away:
        return f"{player_id} is away, and is not, at the same time"
    return ""


def check_turns(history: ViewerHistory, log: Log) -> Iterator[Found]:
    """Yield the turns that a viewer was shown beside their tables and that the log does not have at that time."""
    begins = _earliest_times(log)
    for shown in history.record.shown_seats:
        seat, possible = lobby_pb2.MySeat.FromString(shown.body), _possible_states(log, begins, shown)
        if possible and not any(_agrees(seat, state) for state in possible.values()):
            detail = f"{history.name}: the list of tables shows {_turn(seat.is_to_act, _deadline(seat), seat.is_away)}"
            turns = [f"{sequence}: {_turn_at(seat.seat, state)}" for sequence, state in possible.items()]
            detail += f", asked at {shown.since_milliseconds}; the log has at entry {'; '.join(turns[-MAX_TURNS:])}"
            yield Invariant.OWN_TABLES_WRONG, max(possible), detail


def _earliest_times(log: Log) -> Mapping[int, int]:
    """Return for each state a time before which it was not: the last one at which an action up to it was sent.

    No clock of the services is needed. Where nobody acted or received anything, their offset is not known.
    """
    sent = dict(log.sent_times)
    sequences = sorted(log.states)
    return dict(zip(sequences, accumulate((sent.get(each, 0) for each in sequences), max), strict=True))


def _possible_states(log: Log, begins: Mapping[int, int], shown: ShownSeat) -> dict[int, ViewerState]:
    """Return the states that the engine may have reported, by sequence; none if the log does not have all of them."""
    sequences, since = sorted(log.states), shown.since_milliseconds - SLACK_MILLISECONDS
    # Nothing is received before it was stored.
    are_stored = [log.states[sequence].received_milliseconds < since for sequence in sequences]
    if not sequences or not are_stored[0]:
        # The table may have been in an earlier state, which no viewer received.
        return {}
    possible = {
        sequence: log.states[sequence]
        for sequence, is_over in zip(sequences, [*are_stored[1:], False], strict=True)
        if begins[sequence] <= shown.answered_milliseconds and not is_over
    }
    is_known = possible and len(possible) == max(possible) - min(possible) + 1
    has_end = log.ended is not None or log.last not in possible
    return possible if is_known and has_end else {}


def _agrees(seat: lobby_pb2.MySeat, state: ViewerState) -> bool:
    is_to_act, clock = seat.seat in state.view.seats_to_act, state.clock
    return (
        seat.is_to_act == is_to_act
        and seat.is_away == (seat.seat in clock.away_seats)
        and (not is_to_act or _deadline(seat) == clock.deadline_unix_ms)
    )


def _deadline(seat: lobby_pb2.MySeat) -> int:
    return seat.deadline_time.ToMilliseconds() if seat.HasField("deadline_time") else 0


def _turn_at(seat: int, state: ViewerState) -> str:
    clock = state.clock
    return _turn(seat in state.view.seats_to_act, clock.deadline_unix_ms, seat in clock.away_seats)


def _turn(is_to_act: bool, deadline: int, is_away: bool) -> str:
    """Return the turn of a seat in words."""
    turn = f"its turn until {deadline}" if is_to_act else "no turn"
    return f"{turn} and it is away" if is_away else turn


def _wrong(table_id: str, detail: str) -> Violation:
    return Violation(Invariant.OWN_TABLES_WRONG, table_id, 0, detail)
