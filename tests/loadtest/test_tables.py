"""The records of tables with viewers, and the counts at their end."""

from random import Random

import pytest

from loadtest.measures import Measures
from loadtest.players.recorder import TableRecords
from loadtest.record import SeatRecord, TableRecord
from loadtest.scenarios import Behaviour


class Harness:
    """Table records, and those that were submitted to the judge."""

    def __init__(self) -> None:
        self.submitted: list[TableRecord] = []
        self.measures = Measures()
        self.tables = TableRecords(self.measures, self._submit)

    async def _submit(self, record: TableRecord) -> None:
        self.submitted.append(record)

    def add_viewer(
        self, player: str, table: str = "t", *, commitment: str = "c", is_counter: bool = False
    ) -> SeatRecord:
        record = TableRecord(table, "solo", 4, commitment)
        return self.tables.add_viewer(record, player, Behaviour.STEADY, b"seed", is_counter=is_counter)


@pytest.fixture
def harness() -> Harness:
    return Harness()


async def test_the_last_viewer_submits_the_record(harness: Harness) -> None:
    harness.add_viewer("p1", is_counter=True)
    harness.add_viewer("p2")
    assert harness.tables.leave("t") is None
    harness.tables.mark_finished("t")
    record = harness.tables.leave("t")
    assert record is not None
    assert [viewer.player_id for viewer in record.viewers] == ["p1", "p2"]
    await harness.tables.submit(record)
    assert harness.submitted == [record]
    assert len(harness.tables) == 0


@pytest.mark.parametrize(
    ("is_counter", "finished", "counted"),
    [
        (True, True, {"tables opened": 1, "tables finished": 1, "finished solo": 1, "timeouts solo": 2}),
        (True, False, {"tables opened": 1, "unobserved tables": 1, "timeouts solo": 2}),
        (False, True, {}),
    ],
    ids=["observed end", "unobserved end", "counted by another"],
)
def test_a_table_and_its_timeouts_are_counted_by_one_viewer(
    harness: Harness, is_counter: bool, finished: bool, counted: dict[str, int]
) -> None:
    for player in ("p1", "p2"):
        harness.add_viewer(player, is_counter=is_counter and player == "p1").timeouts += [5, 7]
    if finished:
        harness.tables.mark_finished("t")
    for _ in range(2):
        harness.tables.leave("t")
    assert +harness.measures.counts == counted


def test_the_first_commitment_is_kept(harness: Harness) -> None:
    for player, commitment in (("p1", ""), ("p2", "first"), ("p3", "second")):
        harness.add_viewer(player, commitment=commitment)
    assert [record.commitment for record in harness.tables.remaining()] == ["first"]


def test_remaining_tables_are_counted_and_removed(harness: Harness) -> None:
    harness.add_viewer("p1", is_counter=True)
    harness.add_viewer("p2", "u")
    assert [record.table_id for record in harness.tables.remaining()] == ["t", "u"]
    assert harness.measures.counts["unobserved tables"] == 1
    assert harness.tables.remaining() == []


def test_a_table_is_played_until_its_end_or_until_all_players_have_left(harness: Harness) -> None:
    first, second, watching = (harness.add_viewer(player) for player in ("p1", "p2", "a spectator"))
    first.seat, second.seat = 0, 1
    played = [harness.tables.has_active_players("t")]
    for leaver in (first, second):
        leaver.left_milliseconds = 5
        played.append(harness.tables.has_active_players("t"))
    assert (played, watching.left_milliseconds) == ([True, True, False], None)
    second.left_milliseconds = None
    harness.tables.mark_finished("t")
    assert not harness.tables.has_active_players("t")


def test_another_table_is_a_running_one_without_a_seat_of_the_player(harness: Harness) -> None:
    for player, table in (("p1", "t"), ("p2", "u"), ("p3", "over")):
        harness.add_viewer(player, table, is_counter=True)
    harness.add_viewer("a spectator", "of an earlier run")
    harness.tables.mark_finished("over")
    found = harness.tables.other_table("p1", Random(1))
    assert found is not None
    assert found.table_id == "u"
    harness.add_viewer("p1", "u")
    assert harness.tables.other_table("p1", Random(1)) is None
