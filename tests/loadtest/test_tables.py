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


@pytest.mark.parametrize(
    ("counts", "finished", "counted"),
    [
        (True, True, {"tables opened": 1, "tables finished": 1, "finished solo": 1, "timeouts solo": 2}),
        (True, False, {"tables opened": 1, "unheard tables": 1, "timeouts solo": 2}),
        (False, True, {}),
    ],
    ids=["seen to end", "nobody saw the end", "counted elsewhere"],
)
def test_a_table_and_its_timeouts_are_counted_once_by_one_of_its_people(
    house: House, counts: bool, finished: bool, counted: dict[str, int]
) -> None:
    for player in ("p1", "p2"):
        house.sit_down(player, counts=counts and player == "p1").timeouts += [5, 7]
    if finished:
        house.tables.finished("t")
    for _ in range(2):
        house.tables.leave("t")
    assert +house.measures.counts == counted


def test_the_first_commitment_that_was_seen_is_kept(house: House) -> None:
    for player, commitment in (("p1", ""), ("p2", "first"), ("p3", "second")):
        house.sit_down(player, commitment=commitment)
    assert [record.commitment for record in house.tables.remaining()] == ["first"]


def test_what_is_left_in_the_end_is_counted_and_forgotten(house: House) -> None:
    house.sit_down("p1", counts=True)
    house.sit_down("p2", "u")
    assert [record.table_id for record in house.tables.remaining()] == ["t", "u"]
    assert house.measures.counts["unheard tables"] == 1
    assert house.tables.remaining() == []


def test_a_table_is_played_at_until_its_end_was_seen_or_all_its_players_have_left(house: House) -> None:
    first, second, watching = (house.sit_down(player) for player in ("p1", "p2", "a spectator"))
    first.seat, second.seat = 0, 1
    played = [house.tables.is_played("t")]
    for leaver in (first, second):
        leaver.left_milliseconds = 5
        played.append(house.tables.is_played("t"))
    assert (played, watching.left_milliseconds) == ([True, True, False], None)
    second.left_milliseconds = None
    house.tables.finished("t")
    assert not house.tables.is_played("t")


def test_elsewhere_is_where_a_player_has_no_seat_and_the_game_is_on(house: House) -> None:
    for player, table in (("p1", "t"), ("p2", "u"), ("p3", "over")):
        house.sit_down(player, table, counts=True)
    house.sit_down("a spectator", "of an earlier run")
    house.tables.finished("over")
    found = house.tables.elsewhere("p1", Random(1))
    assert found is not None
    assert found.table_id == "u"
    house.sit_down("p1", "u")
    assert house.tables.elsewhere("p1", Random(1)) is None
