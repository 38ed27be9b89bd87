"""The rules for joining, leaving, readiness, bots and visibility of tables."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from croupier.lobby.accounts.players import Player
from croupier.lobby.matchmaking.tickets import MatchCriteria, Ticket, matched_table
from croupier.lobby.tables.forming_table import (
    FREE_SEAT,
    Seat,
    Table,
    TableState,
    add_bot,
    clear_seat,
    join,
    leave,
    seat_of_player,
    set_ready,
)
from croupier.lobby.tables.revision import revised
from croupier.runtime.errors import IllegalNow, MalformedRequest, NotFound, NotPermitted, ServiceError
from croupier.runtime.table_access import MAX_REMOVED_PLAYERS, OPEN, SEATED
from tests.lobby.fakes import USUAL, forming_table, player

HOST, SECOND, THIRD = (player(number).player_id for number in (1, 2, 3))
CODE = "NEWC2345"


def test_joining_takes_the_first_free_seat() -> None:
    table = join(join(forming_table(3), player(2)), player(3))
    assert [seat.player_id for seat in table.seats] == [HOST, SECOND, THIRD]
    reopened = join(leave(table, SECOND), player(4))
    assert [seat.name for seat in reopened.seats] == ["Player 1", "Player 4", "Player 3"]


def test_joining_takes_the_given_seat_or_moves_there() -> None:
    table = join(forming_table(4), player(2), 3)
    assert [seat.player_id for seat in table.seats] == [HOST, "", "", SECOND]
    assert join(table, player(2), 3) is table
    table = set_ready(set_ready(join(table, player(3)), SECOND, True, b"b"), HOST, True, b"a")
    moved = join(table, player(1), 2)
    assert [(seat.player_id, seat.is_ready) for seat in moved.seats] == [
        ("", False),
        (THIRD, False),
        (HOST, True),
        (SECOND, False),
    ]
    assert (moved.host_player_id, moved.seats[2]) == (HOST, table.seats[0])
    assert join(moved, player(1)) is moved
    assert join(join(moved, player(1), 0), player(1), 2) == moved


def test_a_player_with_a_reserved_seat_may_take_another_one_and_the_host_may_block_them() -> None:
    table = set_ready(forming_table(4), HOST, True, b"")
    table = replace(table, seats=(*table.seats[:2], Seat(reserved_player_id=SECOND), Seat(reserved_player_id=THIRD)))
    for number in (None, 2):
        expected = join(table, player(2), number)
        assert (expected.seat_of(SECOND), expected.seats[0].is_ready) == (2, True)
    other = join(table, player(2), 1)
    assert (other.seats[1].player_id, other.seats[2], other.seats[0].is_ready) == (SECOND, FREE_SEAT, False)
    with pytest.raises(IllegalNow) as refusal:
        join(table, player(2), 3)
    assert refusal.value.reason_name == "SEAT_TAKEN"
    assert clear_seat(table, HOST, 2).access == table.access
    assert clear_seat(table, HOST, 2, block=True, invite_code=CODE).access.removed_players == (SECOND,)
    smaller = revised(table, 3, OPEN)
    assert [seat.player_id or seat.reserved_player_id for seat in smaller.seats] == [HOST, THIRD, SECOND]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_places_of_a_smaller_or_larger_table_are_those_of_its_players_and_bots(number: int) -> None:
    table = join(add_bot(join(forming_table(5), player(2), 3), HOST, "random", 4), Player("x", f"Bot {number + 4}"), 1)
    smaller = revised(table, 4, OPEN)
    assert [seat.player_id or seat.bot for seat in smaller.seats] == [HOST, "x", "random", SECOND]
    assert [seat.name for seat in smaller.seats[2:]] == ["Bot 3", "Player 2"]
    larger = revised(smaller, 5 + number, OPEN)
    assert larger.seats[4:] == (FREE_SEAT,) * (number + 1)
    assert larger.seats[1].name == f"Bot {number + 4} 2"
    assert [table.revision, smaller.revision, larger.revision] == [0, 1, 2]


def test_a_table_has_no_fewer_seats_than_are_taken() -> None:
    table = add_bot(join(forming_table(5), player(2)), HOST, "random")
    with pytest.raises(IllegalNow) as refusal:
        revised(table, 2, OPEN)
    assert refusal.value.reason_name == "TABLE_FULL"


def test_joining_again_has_no_effect_even_if_the_table_is_full_or_plays() -> None:
    table = join(forming_table(2), player(2))
    assert join(table, player(2)) is table
    playing = replace(table, state=TableState.PLAYING)
    assert join(playing, player(2)) is playing


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (TableState.OPENING, "TABLE_STARTED"),
        (TableState.PLAYING, "TABLE_STARTED"),
        (TableState.PREPARING, "TABLE_STARTED"),
        (TableState.FINISHED, "TABLE_FINISHED"),
        (TableState.CLOSED, "TABLE_CLOSED"),
    ],
)
@pytest.mark.parametrize(
    "act",
    [
        lambda table: join(table, player(3)),
        lambda table: join(table, player(2), 2),
        lambda table: set_ready(table, SECOND, False, b""),
        lambda table: add_bot(table, HOST, "clever"),
        lambda table: clear_seat(table, HOST, 1),
    ],
)
def test_seats_change_only_while_the_table_forms(state: TableState, reason: str, act: Callable[[Table], Table]) -> None:
    table = replace(join(forming_table(3), player(2)), state=state)
    with pytest.raises(IllegalNow) as refusal:
        act(table)
    assert refusal.value.reason_name == reason


def test_players_cannot_leave_a_table_that_has_begun() -> None:
    with pytest.raises(IllegalNow, match="begun"):
        leave(forming_table(state=TableState.OPENING), HOST)
    assert leave(forming_table(state=TableState.PLAYING), SECOND).state is TableState.PLAYING


def test_the_next_player_becomes_host_only_when_the_host_leaves() -> None:
    table = join(join(add_bot(forming_table(4), HOST, "clever"), player(2)), player(3))
    for host, heir in ((HOST, SECOND), (SECOND, THIRD), (THIRD, HOST)):
        assert leave(replace(table, host_player_id=host), host).host_player_id == heir
    left = leave(table, SECOND)
    assert (left.host_player_id, left.seats[2]) == (HOST, FREE_SEAT)


def test_a_table_without_players_closes_even_with_bots() -> None:
    table = add_bot(forming_table(3), HOST, "clever")
    closed = leave(table, HOST)
    assert closed.state is TableState.CLOSED
    assert leave(closed, HOST) is closed


def test_the_last_to_get_ready_makes_the_table_opening() -> None:
    table = join(forming_table(2), player(2))
    table = set_ready(table, HOST, True, b"one")
    assert table.state is TableState.FORMING
    withdrawn = set_ready(table, HOST, False, b"ignored")
    assert (withdrawn.seats[0].is_ready, withdrawn.seats[0].client_seed) == (False, b"")
    table = set_ready(table, SECOND, True, b"two")
    assert table.state is TableState.OPENING
    assert [seat.client_seed for seat in table.seats] == [b"one", b"two"]
    assert set_ready(table, SECOND, True, b"other") is table


@pytest.mark.parametrize(
    ("change", "ready"),
    [
        (lambda table: join(table, player(4)), set()),
        (lambda table: leave(table, THIRD), set()),
        (lambda table: leave(table, HOST), set()),
        (lambda table: add_bot(table, HOST, "clever"), {HOST}),
        (lambda table: clear_seat(table, HOST, 2), {HOST}),
        # These change no seat.
        (lambda table: join(table, player(2)), {HOST, SECOND}),
        (lambda table: leave(table, player(5).player_id), {HOST, SECOND}),
        (lambda table: clear_seat(table, HOST, 3), {HOST, SECOND}),
        (lambda table: add_bot(table, HOST, "random", 4), {HOST, SECOND}),
    ],
)
def test_a_change_of_the_seats_resets_the_readiness_of_all_other_players(
    change: Callable[[Table], Table], ready: set[str]
) -> None:
    """Seat 3 is free, and seat 4 has a bot."""
    table = add_bot(join(join(forming_table(5), player(2)), player(3)), HOST, "random", 4)
    for player_id in (HOST, SECOND):
        table = set_ready(table, player_id, True, b"a seed")
    changed = change(table)
    assert {seat.player_id for seat in changed.seats if seat.is_ready and not seat.bot} == ready
    assert {seat.player_id for seat in changed.seats if seat.client_seed} == ready
    assert changed.seats[4].is_ready


def test_a_bot_on_the_last_seat_does_not_open_the_table_of_several_players() -> None:
    table = set_ready(join(forming_table(3), player(2)), SECOND, True, b"")
    table = add_bot(set_ready(table, HOST, True, b""), HOST, "clever")
    assert table.state is TableState.FORMING
    assert set_ready(table, SECOND, True, b"").state is TableState.OPENING


def test_bots_are_ready_and_one_at_a_given_seat_is_added_once() -> None:
    table = set_ready(forming_table(3), HOST, True, b"")
    with_bot = add_bot(table, HOST, "clever", 2)
    assert [seat.bot for seat in with_bot.seats] == ["", "", "clever"]
    assert (with_bot.state, add_bot(with_bot, HOST, "clever", 2)) == (TableState.FORMING, with_bot)
    complete = add_bot(with_bot, HOST, "random")
    assert [(seat.name, seat.bot, seat.is_ready) for seat in complete.seats[1:]] == [
        ("Bot 2", "random", True),
        ("Bot 3", "clever", True),
    ]
    assert complete.state is TableState.OPENING
    assert add_bot(complete, HOST, "random", 1) == complete


def test_the_host_frees_seats_of_players_and_bots() -> None:
    table = add_bot(join(forming_table(3), player(2)), HOST, "clever")
    freed = clear_seat(clear_seat(table, HOST, 1, block=True, invite_code=CODE), HOST, 2, block=True)
    assert freed.seats[1:] == (FREE_SEAT, FREE_SEAT)
    assert clear_seat(freed, HOST, 1, block=True, invite_code=CODE) == freed
    assert freed.access.removed_players == (SECOND,)
    coded = forming_table(3, access=SEATED, invite_code="OLDC2345")
    assert clear_seat(add_bot(coded, HOST, "clever"), HOST, 1, block=True, invite_code=CODE) == coded


def test_a_removed_player_loses_access_and_one_who_left_does_not() -> None:
    table = join(forming_table(3, access=SEATED, invite_code="OLDC2345"), player(2))
    assert leave(table, SECOND) == replace(table, seats=(table.seats[0], FREE_SEAT, FREE_SEAT))
    removed = clear_seat(table, HOST, 1, block=True, invite_code=CODE)
    assert removed.invite_code == CODE
    for public in (removed, replace(removed, access=replace(OPEN, removed_players=(SECOND,)))):
        assert not public.is_shown_to(SECOND)
        with pytest.raises(NotFound) as refusal:
            join(public, player(2))
        assert refusal.value.reason_name == "UNKNOWN_TABLE"
    assert join(removed, player(3)).seat_of(THIRD) == 1


def test_a_player_whose_seat_is_cleared_may_come_back_unless_they_are_blocked() -> None:
    table = join(forming_table(3, access=SEATED, invite_code="OLDC2345"), player(2))
    cleared = clear_seat(table, HOST, 1)
    assert (cleared.access, cleared.invite_code) == (table.access, "OLDC2345")
    assert not cleared.is_shown_to(SECOND)
    assert join(cleared, player(2)) == table


def test_a_table_remembers_the_last_players_that_the_host_removed() -> None:
    table = forming_table()
    for number in range(2, MAX_REMOVED_PLAYERS + 4):
        table = clear_seat(join(table, player(number)), HOST, 1, block=True, invite_code=CODE)
    assert table.access.removed_players == tuple(player(n).player_id for n in range(4, MAX_REMOVED_PLAYERS + 4))


@pytest.mark.parametrize(
    ("act", "kind", "reason"),
    [
        (lambda table: join(join(table, player(3)), player(4)), IllegalNow, "TABLE_FULL"),
        (lambda table: add_bot(join(table, player(3)), HOST, "clever"), IllegalNow, "TABLE_FULL"),
        (lambda table: add_bot(table, SECOND, "clever"), NotPermitted, "NOT_HOST"),
        (lambda table: add_bot(table, HOST, "clever", 1), IllegalNow, "SEAT_TAKEN"),
        (lambda table: add_bot(add_bot(table, HOST, "clever", 2), HOST, "random", 2), IllegalNow, "SEAT_TAKEN"),
        (lambda table: add_bot(table, HOST, "clever", 3), MalformedRequest, "INVALID_FIELD"),
        *((lambda table, n=n: join(table, player(n), 0), IllegalNow, "SEAT_TAKEN") for n in (2, 3)),
        *((lambda table, n=n: join(table, player(n), 3), MalformedRequest, "INVALID_FIELD") for n in (2, 3)),
        (lambda table: clear_seat(table, SECOND, 0), NotPermitted, "NOT_HOST"),
        (lambda table: clear_seat(table, HOST, 0), IllegalNow, "HOST_SEAT"),
        (lambda table: clear_seat(table, HOST, 3), MalformedRequest, "INVALID_FIELD"),
        (lambda table: clear_seat(table, HOST, 4_000_000_000), MalformedRequest, "INVALID_FIELD"),
        (lambda table: set_ready(table, THIRD, True, b""), NotPermitted, "NOT_SEATED"),
    ],
)
def test_refusals(act: Callable[[Table], Table], kind: type[ServiceError], reason: str) -> None:
    with pytest.raises(kind) as refusal:
        act(join(forming_table(3), player(2)))
    assert refusal.value.reason_name == reason


def test_a_table_that_is_not_public_is_shown_to_its_players() -> None:
    private = forming_table(access=SEATED)
    assert private.is_shown_to(HOST)
    assert not private.is_shown_to(SECOND)
    assert forming_table().is_shown_to(SECOND)
    assert not forming_table(state=TableState.PREPARING).is_shown_to(HOST)


def test_names_at_a_table_differ_and_stay() -> None:
    free = [FREE_SEAT] * 6
    table = replace(forming_table(), host_player_id="1", seats=(seat_of_player(free, Player("1", "Kari")), *free[1:]))
    for number, name in enumerate(("Kari", "K\u0430ri", "Bot 6", "kari 2"), start=2):
        table = join(table, Player(str(number), name))
    table = add_bot(table, table.host_player_id, "random")
    assert [seat.name for seat in table.seats] == ["Kari", "Kari 2", "K\u0430ri 3", "Bot 6 2", "kari 2 2", "Bot 6"]


def test_names_of_matched_players_differ() -> None:
    names = enumerate(("Bo", "bo", "Bot 1"))
    tickets = [Ticket(str(number), str(number), name, MatchCriteria("pairs", 3), b"", 0) for number, name in names]
    assert [seat.name for seat in matched_table("t", USUAL, "", 0, tickets).seats] == ["Bo", "bo 2", "Bot 1 2"]
