"""The rate at which a table changes, and the times for which its players are not ready."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from croupier.lobby.tables.forming_table import (
    FREE_SEAT,
    Seat,
    Table,
    TableState,
    add_bot,
    join,
    leave,
    set_ready,
    with_presence,
)
from croupier.lobby.tables.table_changes import (
    IDLE_MILLISECONDS,
    RESERVED_MILLISECONDS,
    frees_at,
    next_version,
    without_idle_players,
    without_reservations,
)
from croupier.runtime.errors import LimitReached
from croupier.runtime.table_access import OPEN, SEATED, TableAccess
from tests.lobby.fakes import START, forming_table, player
from tests.lobby.matches import ADA, BOB, EVE

SECOND = 1_000
MINUTE = 60 * SECOND


def joined(table: Table, number: int, now: int) -> Table:
    return next_version(table, join(table, player(number)), now, player(number).player_id)


def ready(table: Table, number: int, now: int, *, is_ready: bool = True) -> Table:
    player_id = player(number).player_id
    return next_version(table, set_ready(table, player_id, is_ready, b""), now, player_id)


def players(table: Table) -> Sequence[str]:
    return [seat.player_id for seat in table.seats]


def changes_until_refused(table: Table, number: int, now: int) -> tuple[Table, int, LimitReached]:
    count, is_ready = 0, True
    while True:
        try:
            table = ready(table, number, now, is_ready=is_ready)
        except LimitReached as refusal:
            return table, count, refusal
        count, is_ready = count + 1, not is_ready


def test_a_player_changes_a_table_twenty_times_at_once_and_twice_a_second() -> None:
    table, count, refusal = changes_until_refused(forming_table(3), 1, START)
    assert (count, refusal.limit, refusal.retry_after_seconds) == (20, "table_changes", 0.5)
    table, count, _ = changes_until_refused(table, 1, START + 2 * SECOND)
    assert count == 4
    _, count, _ = changes_until_refused(table, 1, START + MINUTE)
    assert count == 20


def test_all_players_change_a_table_sixty_times_at_once_and_its_host_is_free_to_act() -> None:
    table = forming_table(8)
    for number in range(2, 9):
        table = joined(table, number, START)
    counts = []
    for number in range(2, 9):
        table, count, _ = changes_until_refused(table, number, START)
        counts.append(count)
    assert counts == [19, 19, 15, 0, 0, 0, 0]
    cleared = next_version(table, replace(table, seats=(*table.seats[:7], FREE_SEAT)), START, ADA.player_id)
    assert cleared.seats[7] == FREE_SEAT
    with pytest.raises(LimitReached) as refusal:
        joined(cleared, 9, START)
    assert refusal.value.retry_after_seconds is not None
    joined(cleared, 9, START + round(1000 * refusal.value.retry_after_seconds))


def test_people_who_get_ready_again_after_each_join_are_never_refused() -> None:
    table = forming_table(8)
    for number in range(2, 9):
        table = joined(table, number, START)
        for seated in range(1, number + 1):
            table = ready(table, seated, START)
    assert table.state is TableState.OPENING


def test_a_host_adds_seven_bots_at_once() -> None:
    table = ready(forming_table(8), 1, START)
    for _ in range(7):
        table = next_version(table, add_bot(table, ADA.player_id, "random"), START, ADA.player_id)
    assert table.state is TableState.OPENING


def test_changes_by_no_player_are_not_counted() -> None:
    table = forming_table()
    for _ in range(100):
        table = next_version(table, replace(table, rules_version=table.rules_version + 1), START, "")
    assert (table.version, table.changes) == (101, {})


def test_no_clock_that_is_behind_refuses_changes_or_sets_the_time_back() -> None:
    table = joined(forming_table(3), 2, START + 10 * SECOND)
    late = joined(table, 3, START)
    assert late.updated_milliseconds == START + 10 * SECOND
    assert len(late.changes) == 3


def test_only_the_rates_that_still_matter_are_kept() -> None:
    table = joined(joined(forming_table(4), 2, START), 3, START)
    assert [*joined(table, 4, START + MINUTE).changes] == [player(4).player_id, ""]


def test_a_seat_falls_free_two_minutes_after_its_player_took_it() -> None:
    table = joined(joined(forming_table(3), 2, START), 3, START + MINUTE)
    assert frees_at(table) == START + IDLE_MILLISECONDS
    assert without_idle_players(table, START + IDLE_MILLISECONDS - 1) == table
    freed = without_idle_players(table, START + IDLE_MILLISECONDS)
    assert players(freed) == [ADA.player_id, "", EVE.player_id]
    assert frees_at(freed) == START + IDLE_MILLISECONDS + MINUTE
    assert players(without_idle_players(table, START + 10 * MINUTE)) == [ADA.player_id, "", ""]


def test_a_player_who_is_ready_keeps_the_seat_and_so_do_the_others_their_readiness() -> None:
    table = ready(joined(joined(forming_table(3), 2, START), 3, START), 2, START + MINUTE)
    freed = without_idle_players(table, START + 10 * MINUTE)
    assert players(freed) == [ADA.player_id, BOB.player_id, ""]
    assert freed.seats[1].is_ready
    assert frees_at(freed) is None


def test_readiness_for_a_moment_gives_no_more_time() -> None:
    table = joined(forming_table(3), 2, START)
    table = ready(table, 2, START + 119 * SECOND)
    table = ready(table, 2, START + 10 * MINUTE, is_ready=False)
    assert frees_at(table) == START + 10 * MINUTE + SECOND


def test_players_who_have_to_get_ready_again_have_two_minutes_again() -> None:
    table = ready(joined(forming_table(4), 2, START), 2, START + MINUTE)
    table = joined(table, 3, START + 5 * MINUTE)
    assert frees_at(table) == START + 5 * MINUTE + IDLE_MILLISECONDS
    # One who was not ready has not.
    table = joined(table, 4, START + 6 * MINUTE)
    assert frees_at(table) == START + 5 * MINUTE + IDLE_MILLISECONDS
    table = ready(table, 2, START + 6 * MINUTE)
    marked = next_version(table, with_presence(table, {ADA.player_id: 1}, 1), START + 7 * MINUTE, "")
    assert players(without_idle_players(marked, START + 9 * MINUTE - 1)) == [ADA.player_id, BOB.player_id, "", ""]
    assert players(without_idle_players(marked, START + 9 * MINUTE)) == [ADA.player_id, *[""] * 3]


def test_only_guests_at_a_public_table_that_forms_lose_their_seats() -> None:
    table = joined(forming_table(), 2, START)
    for kept in (
        replace(table, access=SEATED),
        replace(table, state=TableState.PLAYING),
        forming_table(),
        replace(table, seats=(table.seats[0], replace(table.seats[1], unready_since=0))),
    ):
        assert frees_at(kept) is None
        assert without_idle_players(kept, START + 10 * MINUTE) == kept
    handed_over = next_version(table, leave(table, ADA.player_id), START, ADA.player_id)
    assert frees_at(handed_over) is None


@pytest.mark.parametrize("access", [OPEN, SEATED])
def test_a_reserved_seat_falls_free_a_minute_after_the_table_was_created(access: TableAccess) -> None:
    table = forming_table(3, access=access)
    table = replace(table, seats=(table.seats[0], Seat(reserved_player_id=BOB.player_id), FREE_SEAT))
    assert frees_at(table) == START + RESERVED_MILLISECONDS
    for freed in (without_idle_players, without_reservations):
        assert freed(table, START + RESERVED_MILLISECONDS - 1) == table
        assert freed(table, START + RESERVED_MILLISECONDS).seats == (table.seats[0], FREE_SEAT, FREE_SEAT)
    over = replace(table, state=TableState.CLOSED)
    assert frees_at(over) is None
    assert without_reservations(over, START + 10 * MINUTE) == over


def test_the_end_of_reservations_takes_no_seat_of_a_player() -> None:
    table = joined(forming_table(3), 2, START)
    assert without_reservations(table, START + 10 * MINUTE) == table
