"""The judge accepts the answers of players who play again, and finds every answer that is not as Rematch promises."""

from collections.abc import Callable

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from croupier_api.v1.tables_pb2 import (
    TABLE_STATE_FORMING,
    VISIBILITY_EVERYONE,
    VISIBILITY_SEATED,
    Seat,
    Table,
    TableAccess,
    TimeControl,
)
from croupier_loadtest.judge.rematches import RESERVED_MILLISECONDS, ShownTable, check_rematch
from croupier_loadtest.judge.violations import Invariant

CREATED_SECONDS = 1_700_000_000
CREATED = CREATED_SECONDS * 1000
FREE = CREATED + RESERVED_MILLISECONDS


def finished_table() -> Table:
    table = Table(
        table_id="finished",
        game="thulla",
        time_control=TimeControl(action_time=Duration(seconds=5)),
        access=TableAccess(visibility=VISIBILITY_EVERYONE),
        seats=[Seat(player_id="anna"), Seat(player_id="ben"), Seat(bot="random")],
    )
    table.options.update({"best_of": 3})
    return table


def next_table() -> Table:
    """Return the table that follows, with anna alone at it."""
    table = finished_table()
    table.table_id, table.previous_table_id, table.state = "next", "finished", TABLE_STATE_FORMING
    table.create_time.CopyFrom(Timestamp(seconds=CREATED_SECONDS))
    del table.seats[:]
    table.seats.extend([Seat(bot="random"), Seat(player_id="anna"), Seat(reserved_player_id="ben")])
    return table


def with_ben() -> Table:
    table = next_table()
    table.seats[2].CopyFrom(Seat(player_id="ben"))
    return table


def with_stranger() -> Table:
    table = next_table()
    table.seats[2].CopyFrom(Seat(player_id="carl"))
    return table


def found(*answers: ShownTable, given_up: tuple[str, ...] = (), named: str = "next") -> set[tuple[Invariant, str]]:
    violations = check_rematch(finished_table(), named, answers, given_up)
    return {(violation.invariant, violation.table_id) for violation in violations}


WRONG = {(Invariant.REMATCH_WRONG, "finished")}
FALSIFICATIONS: dict[str, Callable[[Table], object]] = {
    "another table": lambda table: setattr(table, "table_id", "other"),
    "no previous table": lambda table: table.ClearField("previous_table_id"),
    "another game": lambda table: setattr(table, "game", "solo"),
    "other options": lambda table: table.options.update({"best_of": 1}),
    "other times": lambda table: table.time_control.bot_delay.CopyFrom(Duration(seconds=1)),
    "other access": lambda table: setattr(table.access, "visibility", VISIBILITY_SEATED),
    "another bot": lambda table: setattr(table.seats[0], "bot", "search"),
    "no bot": lambda table: table.seats[0].CopyFrom(Seat()),
    "fewer seats": lambda table: table.seats.pop(),
    "a seat that is not reserved": lambda table: table.seats[2].CopyFrom(Seat()),
    "seats that did not move": lambda table: table.seats.insert(0, table.seats.pop()),
    "no seat for the player": lambda table: table.seats[1].CopyFrom(Seat(reserved_player_id="anna")),
}


def test_true_answers_are_accepted() -> None:
    first, second = ShownTable(CREATED, "anna", next_table()), ShownTable(CREATED + 1, "ben", with_ben())
    assert not found(first, second, first)


@pytest.mark.parametrize("name", FALSIFICATIONS)
def test_a_false_answer_is_found(name: str) -> None:
    table = next_table()
    FALSIFICATIONS[name](table)
    true = ShownTable(CREATED + 1, "ben", with_ben())
    assert found(true, ShownTable(CREATED, "anna", table)) == WRONG


def test_a_finished_table_that_names_no_next_one_is_found() -> None:
    assert found(ShownTable(CREATED, "anna", next_table()), named="") == WRONG


def test_a_stranger_gets_a_reserved_seat_after_a_minute_only() -> None:
    assert found(ShownTable(FREE - 1, "carl", with_stranger())) == WRONG
    assert not found(ShownTable(FREE, "carl", with_stranger()))


def test_a_stranger_gets_a_seat_that_its_player_gave_up() -> None:
    assert not found(ShownTable(CREATED, "carl", with_stranger()), given_up=("ben",))


def test_a_bot_keeps_its_seat_after_a_minute() -> None:
    table = next_table()
    table.seats[0].CopyFrom(Seat(player_id="carl"))
    assert found(ShownTable(FREE, "carl", table)) == WRONG
