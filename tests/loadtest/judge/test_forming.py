"""The judge accepts what the contract promises about forming tables, and finds every answer that is not so."""

from collections.abc import Callable

import pytest
from google.protobuf.duration_pb2 import Duration

from croupier_api.v1 import games_pb2, lobby_pb2
from croupier_api.v1.tables_pb2 import TABLE_STATE_FORMING, Seat, Table, TimeControl
from croupier_loadtest.judge.forming import (
    check_creation,
    check_look,
    check_match,
    check_name,
    check_repeat,
    check_seat,
    check_update,
)
from croupier_loadtest.judge.violations import Invariant

REQUEST = lobby_pb2.CreateTableRequest(game="thulla", seat_count=4, bots=["random"], is_ready=True)


def table() -> Table:
    """Return a table that anna hosts, as it was just created."""
    made = Table(
        table_id="t", game="thulla", host_player_id="anna", seed_commitment="a" * 64, state=TABLE_STATE_FORMING
    )
    made.time_control.CopyFrom(TimeControl(action_time=Duration(seconds=30)))
    made.seats.extend([Seat(player_id="anna", is_ready=True), Seat(bot="random", is_ready=True), Seat(), Seat()])
    return made


def with_ben(*, is_ready: bool = False) -> Table:
    made = table()
    made.seats[2].CopyFrom(Seat(player_id="ben", is_ready=is_ready))
    return made


def updated() -> Table:
    """Return the table with anna and ben after a change of its times."""
    made = with_ben()
    made.time_control.action_time.seconds, made.seed_commitment = 40, "b" * 64
    return made


WRONG_CREATIONS: dict[str, Callable[[Table], object]] = {
    "another game": lambda made: setattr(made, "game", "solo"),
    "another host": lambda made: setattr(made, "host_player_id", "ben"),
    "host not ready": lambda made: setattr(made.seats[0], "is_ready", False),
    "no bot": lambda made: made.seats[1].CopyFrom(Seat()),
    "another player": lambda made: made.seats[2].CopyFrom(Seat(player_id="ben")),
    "fewer seats": lambda made: made.seats.pop(),
    "no commitment": lambda made: made.ClearField("seed_commitment"),
}
WRONG_UPDATES: dict[str, Callable[[Table], object]] = {
    "the old commitment": lambda made: setattr(made, "seed_commitment", "a" * 64),
    "no commitment": lambda made: made.ClearField("seed_commitment"),
    "another player who is still ready": lambda made: setattr(made.seats[2], "is_ready", True),
    "another host": lambda made: setattr(made, "host_player_id", "ben"),
    "a lost player": lambda made: made.seats[2].CopyFrom(Seat()),
}
WRONG_LOOKS: dict[str, Callable[[Table], object]] = {
    "a seat of the player": lambda made: made.seats[2].CopyFrom(Seat(player_id="ben")),
    "another readiness": lambda made: setattr(made.seats[0], "is_ready", False),
    "another commitment": lambda made: setattr(made, "seed_commitment", "b" * 64),
}


def test_a_table_as_it_was_requested_is_accepted() -> None:
    assert not [*check_creation("anna", REQUEST, table())]


@pytest.mark.parametrize("name", WRONG_CREATIONS)
def test_a_table_that_is_not_as_requested_is_found(name: str) -> None:
    made = table()
    WRONG_CREATIONS[name](made)
    assert {one.invariant for one in check_creation("anna", REQUEST, made)} == {Invariant.FORMING_WRONG}


def test_a_repeated_request_that_creates_another_table_is_found() -> None:
    other = table()
    assert not [*check_repeat(table(), other)]
    other.table_id = "other"
    assert [one.invariant for one in check_repeat(table(), other)] == [Invariant.REPEAT_DIFFERS]


@pytest.mark.parametrize("name", WRONG_LOOKS)
def test_a_look_that_changes_the_table_is_found(name: str) -> None:
    changed = table()
    WRONG_LOOKS[name](changed)
    assert not [*check_look("ben", table(), table(), table())]
    for shown, after in ((changed, table()), (table(), changed)):
        assert {one.invariant for one in check_look("ben", table(), shown, after)} == {Invariant.FORMING_WRONG}


def test_a_look_at_another_table_or_at_the_code_is_found() -> None:
    other, with_code = table(), table()
    other.table_id, with_code.invite_code = "other", "ABCD2345"
    for shown in (other, with_code):
        assert [one.invariant for one in check_look("ben", table(), shown, table())] == [Invariant.FORMING_WRONG]


def test_a_player_without_the_seat_of_their_choice_is_found() -> None:
    assert not [*check_seat("ben", 2, with_ben())]
    twice = with_ben()
    twice.seats[3].CopyFrom(Seat(player_id="ben"))
    for wrong in ([*check_seat("ben", 3, with_ben())], [*check_seat("ben", 2, twice)]):
        assert [one.invariant for one in wrong] == [Invariant.FORMING_WRONG]


def test_a_player_without_their_new_name_is_found() -> None:
    ben, renamed = lobby_pb2.Player(player_id="ben", name="Ben"), with_ben()
    for name, count in (("Ben 2", 0), ("Other", 1), ("", 1)):
        renamed.seats[2].name = name
        assert [one.invariant for one in check_name("Ben", [ben], renamed)] == [Invariant.FORMING_WRONG] * count
    renamed.seats[2].name, ben.name = "Ben", "Benjamin"
    assert [one.invariant for one in check_name("Ben", [ben], renamed)] == [Invariant.FORMING_WRONG]


def test_a_change_of_the_settings_is_accepted() -> None:
    assert not [*check_update(with_ben(is_ready=True), updated())]


@pytest.mark.parametrize("name", WRONG_UPDATES)
def test_a_wrong_change_of_the_settings_is_found(name: str) -> None:
    after = updated()
    WRONG_UPDATES[name](after)
    assert {one.invariant for one in check_update(with_ben(is_ready=True), after)} == {Invariant.FORMING_WRONG}


def test_changes_of_seats_alone_keep_the_commitment() -> None:
    assert not [*check_update(table(), with_ben(is_ready=True))]
    after = with_ben()
    after.seed_commitment = "b" * 64
    assert [one.invariant for one in check_update(table(), after)] == [Invariant.FORMING_WRONG]


BLITZ = games_pb2.PresetDescription(name="blitz", action_time=Duration(seconds=10), reserve_time=Duration(seconds=30))
BLITZ.options.update({"best_of": 3})


def matched() -> Table:
    """Return a table at which anna and ben were matched, with a bot, by a preset."""
    made = Table(table_id="t", game="thulla", seats=[Seat(player_id="anna"), Seat(player_id="ben"), Seat(bot="random")])
    made.time_control.CopyFrom(TimeControl(action_time=BLITZ.action_time, reserve_time=BLITZ.reserve_time))
    made.options.update({"best_of": 3, "scoring": "cards"})
    return made


WRONG_MATCHES: dict[str, Callable[[Table], object]] = {
    "another game": lambda made: setattr(made, "game", "solo"),
    "more seats": lambda made: made.seats.append(Seat(bot="random")),
    "no seat for the player": lambda made: setattr(made.seats[1], "player_id", "carl"),
    "two seats for the player": lambda made: setattr(made.seats[0], "player_id", "ben"),
    "other times": lambda made: setattr(made.time_control.action_time, "seconds", 30),
    "other options": lambda made: made.options.update({"best_of": 1}),
}


@pytest.mark.parametrize("name", WRONG_MATCHES)
def test_a_wrong_match_is_found(name: str) -> None:
    made = matched()
    assert not [*check_match("ben", "thulla", 3, BLITZ, made, may_have_bots=True)]
    WRONG_MATCHES[name](made)
    wrong = [*check_match("ben", "thulla", 3, BLITZ, made, may_have_bots=True)]
    assert [one.invariant for one in wrong] == [Invariant.FORMING_WRONG]


def test_a_match_with_bots_of_a_player_who_has_set_no_time_for_it_is_found() -> None:
    wrong = [*check_match("ben", "thulla", 3, None, matched(), may_have_bots=False)]
    assert [one.invariant for one in wrong] == [Invariant.FORMING_WRONG]
