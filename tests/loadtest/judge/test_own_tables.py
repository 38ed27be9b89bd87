"""The judge accepts true lists and streams of own tables, and finds all that show other tables, seats or turns."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from croupier_api.v1.lobby_pb2 import MySeat, MyTable, WatchTablesResponse
from croupier_api.v1.tables_pb2 import (
    TABLE_STATE_FINISHED,
    TABLE_STATE_FORMING,
    TABLE_STATE_PLAYING,
    Seat,
    Table,
    TableState,
)
from croupier_loadtest.judge.notation import Deck
from croupier_loadtest.judge.own_tables import OwnStream, Stay, check_list, check_stream
from croupier_loadtest.judge.streams import ViewerState, history_of
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import DeliveryLimit, SeatRecord, ShownSeat, TableRecord
from tests.loadtest.judge.played import EVENTFUL, SEATS, played
from tests.loadtest.judge.viewer_records import found, record_of

LIMIT = DeliveryLimit(1_000)
ASKED, ANSWERED = 5_000, 5_100
STAYS = (Stay("old", 1, 100, 100, 90_000, 90_000), Stay("new", 0, 200, 200, 90_000, 90_000))


def own(table_id: str, seat: int, state: TableState.ValueType = TABLE_STATE_FORMING) -> MyTable:
    """Return a table of anna and bots; the old one was created before the new one."""
    table = Table(table_id=table_id, state=state, create_time=Timestamp(seconds=1 if table_id == "old" else 2))
    table.seats.extend([Seat(bot="random"), Seat(bot="random"), Seat(bot="random")])
    table.seats[seat].CopyFrom(Seat(player_id="anna"))
    mine = MyTable(table=table, my_seat=MySeat(seat=seat))
    if state == TABLE_STATE_FORMING:
        mine.my_seat.is_away = False
    return mine


def tables() -> list[MyTable]:
    return [own("new", 0), own("old", 1, TABLE_STATE_PLAYING)]


def faults_of_list(listed: Sequence[MyTable], stays: Sequence[Stay] = STAYS) -> list[str]:
    return [one.table_id for one in check_list("anna", stays, ASKED, ANSWERED, listed) if _is_own(one.invariant)]


def _is_own(invariant: Invariant) -> bool:
    assert invariant is Invariant.OWN_TABLES_WRONG
    return True


FALSE_LISTS: dict[str, Callable[[list[MyTable]], object]] = {
    "a table is missing": lambda listed: listed.pop(),
    "they are not newest first": lambda listed: listed.reverse(),
    "the seat is another one": lambda listed: setattr(listed[1].my_seat, "seat", 2),
    "the seat is missing": lambda listed: listed[0].ClearField("my_seat"),
    "a foreign table is listed": lambda listed: setattr(listed[0].table.seats[0], "player_id", "carl"),
    "the player sits elsewhere": lambda listed: listed.__setitem__(0, own("new", 2)),
    "the table is over": lambda listed: setattr(listed[1].table, "state", TABLE_STATE_FINISHED),
    "a forming table has a turn": lambda listed: setattr(listed[0].my_seat, "is_to_act", True),
    "the player is away": lambda listed: setattr(listed[0].my_seat, "is_away", True),
}


def test_a_true_list_is_accepted() -> None:
    assert not faults_of_list(tables())


@pytest.mark.parametrize("name", FALSE_LISTS)
def test_a_false_list_is_found(name: str) -> None:
    listed = tables()
    FALSE_LISTS[name](listed)
    assert faults_of_list(listed)


def test_a_table_may_be_listed_or_not_while_its_seat_is_taken_or_left() -> None:
    for stay in (Stay("new", 0, 4_900, 5_050, 90_000), Stay("new", 0, 200, 200, 5_050, 5_060)):
        assert not faults_of_list(tables(), [STAYS[0], stay])
        assert not faults_of_list(tables()[1:], [STAYS[0], stay])


def test_a_table_is_not_listed_any_more_once_its_seat_is_left() -> None:
    assert faults_of_list(tables(), [STAYS[0], Stay("new", 0, 200, 200, 4_000, 4_999)]) == ["new"]


def change(mine: MyTable) -> WatchTablesResponse:
    return WatchTablesResponse(table=mine.table, my_seat=mine.my_seat, is_list_complete=True)


def stream(*changes: tuple[int, WatchTablesResponse], ended: int = 20_000) -> OwnStream:
    """Return a stream that begins with the old table alone at 150 ms."""
    first = change(tables()[1])
    first.is_list_complete = False
    end = WatchTablesResponse(is_list_complete=True)
    return OwnStream(150, [(160, first), (170, end), *changes], ended)


def faults_of_stream(one: OwnStream, stays: Sequence[Stay] = STAYS, limit: DeliveryLimit = LIMIT) -> list[str]:
    return [found.table_id for found in check_stream("anna", stays, one, limit) if _is_own(found.invariant)]


NEW = (400, change(own("new", 0)))


def test_a_true_stream_is_accepted() -> None:
    alive = (15_000, WatchTablesResponse(is_list_complete=True))
    assert not faults_of_stream(stream(NEW, alive, (16_000, change(own("new", 0, TABLE_STATE_PLAYING)))))


def test_a_change_that_comes_late_or_with_another_seat_is_found() -> None:
    late = (1_201, NEW[1])
    for one in (stream(), stream(late), stream((400, change(own("new", 2))))):
        assert faults_of_stream(one) == ["new"]
    assert not faults_of_stream(stream(ended=1_199))
    assert not faults_of_stream(stream(late), limit=DeliveryLimit(1_000, since_milliseconds=300))


def test_a_stream_without_a_table_at_its_beginning_is_found() -> None:
    assert faults_of_stream(OwnStream(300, [(310, WatchTablesResponse(is_list_complete=True))], 400)) == ["old", "new"]


def test_a_stream_that_begins_again_or_goes_back_is_found() -> None:
    again = change(own("new", 0))
    again.is_list_complete = False
    assert faults_of_stream(stream((400, again))) == ["new"]
    playing = change(own("new", 0, TABLE_STATE_PLAYING))
    assert faults_of_stream(stream((300, playing), NEW)) == ["new"]


def test_a_stream_with_a_foreign_table_is_found() -> None:
    foreign = change(own("foreign", 0))
    foreign.table.seats[0].player_id = "carl"
    assert faults_of_stream(stream(NEW, (500, foreign))) == ["foreign"]


def test_a_seat_that_the_stream_shows_for_too_long_is_found() -> None:
    left = [STAYS[0], Stay("new", 0, 200, 200, 10_000, 10_000)]
    gone = WatchTablesResponse(table=Table(table_id="new"), is_list_complete=True)
    assert faults_of_stream(stream(NEW), left) == ["new"]
    assert not faults_of_stream(stream(NEW, ended=10_999), left)
    assert not faults_of_stream(stream(NEW, (10_500, gone)), left)
    assert not faults_of_stream(stream(NEW, (10_500, change(own("new", 0, TABLE_STATE_FINISHED)))), left)


LASTING = 1_000
"""The milliseconds of a turn that is longer than the differences of clocks."""


def record_with_turn(falsify: Callable[[MySeat], object], milliseconds: int = 0) -> TableRecord:
    """Return a record with a player who is shown their turn in the middle of it, or so much later."""
    record = record_of(played("one_oh_one", SEATS, EVENTFUL))
    viewer, state = next(found for one in record.viewers if (found := (one, long_turn(one)))[1] is not None)
    assert state is not None
    mine = MySeat(seat=viewer.seat or 0, is_to_act=True, is_away=viewer.seat in state.clock.away_seats)
    mine.deadline_time.FromMilliseconds(state.clock.deadline_unix_ms)
    falsify(mine)
    at = state.received_milliseconds + LASTING // 2 + milliseconds
    viewer.shown_seats.append(ShownSeat(at, at, mine.SerializeToString()))
    return record


def long_turn(viewer: SeatRecord) -> ViewerState | None:
    """Return the first state in which a player has been to act for long."""
    states = [*history_of(viewer, SEATS, Deck({})).states.values()]
    lasting = (one for one, after in pairwise(states) if lasts(one, after) and viewer.seat in one.view.seats_to_act)
    return next(lasting, None)


def lasts(state: ViewerState, following: ViewerState) -> bool:
    return following.received_milliseconds - state.received_milliseconds >= LASTING


def to_other_deadline(mine: MySeat) -> None:
    mine.deadline_time.FromMilliseconds(mine.deadline_time.ToMilliseconds() + 1)


def test_a_true_turn_is_accepted() -> None:
    assert Invariant.OWN_TABLES_WRONG not in found(record_with_turn(lambda _: None))


@pytest.mark.parametrize(
    "falsify",
    [
        lambda mine: setattr(mine, "is_to_act", False),
        lambda mine: setattr(mine, "is_away", not mine.is_away),
        to_other_deadline,
    ],
)
def test_a_false_turn_is_found(falsify: Callable[[MySeat], object]) -> None:
    assert Invariant.OWN_TABLES_WRONG in found(record_with_turn(falsify))


def test_a_turn_that_was_over_when_it_was_asked_for_is_found() -> None:
    assert Invariant.OWN_TABLES_WRONG in found(record_with_turn(lambda _: None, milliseconds=600_000))


def test_a_turn_at_a_table_whose_entries_are_received_late_is_accepted() -> None:
    record = record_with_turn(lambda _: None)
    for viewer in record.viewers:
        viewer.received = [it._replace(at_milliseconds=it.at_milliseconds + 600_000) for it in viewer.received]
        viewer.sent.clear()
        viewer.answered.clear()
    assert Invariant.OWN_TABLES_WRONG not in found(record)


def test_a_turn_of_a_time_before_the_first_received_state_is_accepted() -> None:
    assert Invariant.OWN_TABLES_WRONG not in found(record_with_turn(lambda _: None, milliseconds=-600_000))
