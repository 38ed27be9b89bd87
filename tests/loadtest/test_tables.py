"""Who is at which table, who leaves it last, and what is counted then."""

from random import Random

import pytest

from loadtest.measures import Measures
from loadtest.players.tables import Tables
from loadtest.record import SeatRecord, TableRecord
from loadtest.scenarios import Manner


class House:
    """Tables, and the records that the judge was handed."""

    def __init__(self) -> None:
        self.handed_over: list[TableRecord] = []
        self.measures = Measures()
        self.tables = Tables(self.measures, self._take)

    async def _take(self, record: TableRecord) -> None:
        self.handed_over.append(record)

    def sit_down(self, player: str, table: str = "t", *, commitment: str = "c", counts: bool = False) -> SeatRecord:
        record = TableRecord(table, "solo", 4, commitment)
        return self.tables.sit_down(record, player, Manner.STEADY, b"seed", counts=counts)


@pytest.fixture
def house() -> House:
    return House()


async def test_whoever_leaves_last_sees_the_table_off(house: House) -> None:
    house.sit_down("p1", counts=True)
    house.sit_down("p2")
    assert house.tables.leave("t") is None
    house.tables.finished("t")
    record = house.tables.leave("t")
    assert record is not None
    assert [viewer.player_id for viewer in record.viewers] == ["p1", "p2"]
    await house.tables.see_off(record)
    assert house.handed_over == [record]
    assert len(house.tables) == 0


def test_a_table_is_counted_by_one_of_its_people(house: House) -> None:
    house.sit_down("p1", counts=True)
    house.sit_down("p2")
    house.tables.finished("t")
    for _ in range(2):
        house.tables.leave("t")
    counts = house.measures.counts
    assert (counts["tables opened"], counts["tables finished"], counts["finished solo"]) == (1, 1, 1)


def test_a_table_whose_counter_is_played_elsewhere_is_not_counted_here(house: House) -> None:
    house.sit_down("p2")
    house.tables.finished("t")
    house.tables.leave("t")
    assert house.measures.counts["tables opened"] == 0
    assert house.measures.counts["tables finished"] == 0


def test_a_table_that_nobody_saw_end_is_counted_as_unheard(house: House) -> None:
    house.sit_down("p1", counts=True)
    house.tables.leave("t")
    assert house.measures.counts["unheard tables"] == 1
    assert house.measures.counts["tables finished"] == 0


def test_an_entry_for_which_time_ran_out_is_counted_once_for_all_who_heard_it(house: House) -> None:
    for player in ("p1", "p2"):
        house.sit_down(player, counts=player == "p1").timeouts += [5, 7]
    for _ in range(2):
        house.tables.leave("t")
    assert house.measures.counts["timeouts solo"] == 2


def test_the_first_commitment_that_was_seen_is_kept(house: House) -> None:
    house.sit_down("p1", commitment="")
    house.sit_down("p2", commitment="first")
    house.sit_down("p3", commitment="second")
    assert [record.commitment for record in house.tables.remaining()] == ["first"]


def test_what_is_left_in_the_end_is_counted_and_forgotten(house: House) -> None:
    house.sit_down("p1", counts=True)
    house.sit_down("p2", "u")
    assert [record.table_id for record in house.tables.remaining()] == ["t", "u"]
    assert house.measures.counts["unheard tables"] == 1
    assert house.tables.remaining() == []


def test_elsewhere_is_where_a_player_has_no_seat_and_the_game_is_on(house: House) -> None:
    house.sit_down("p1", "t", counts=True)
    house.sit_down("p2", "u", counts=True)
    house.sit_down("p3", "over", counts=True)
    house.sit_down("a spectator", "of an earlier run")
    house.tables.finished("over")
    found = house.tables.elsewhere("p1", Random(1))
    assert found is not None
    assert found.table_id == "u"
    house.sit_down("p1", "u")
    assert house.tables.elsewhere("p1", Random(1)) is None
