"""The roll of engines in real databases: who is there, who has gone, and what that interrupted."""

import asyncio
from random import Random

import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.attendance import (
    GONE_MILLISECONDS,
    REMEMBERED_MILLISECONDS,
    RETURN_MILLISECONDS,
    Attendance,
    Roll,
)
from croupier.engine.credits import Interruption
from croupier.engine.schema import INTERRUPTIONS
from croupier.engine.sql_attendance import SqlAttendanceStore
from croupier.runtime.database import open_database
from tests.engine.fakes import START, FakeClock, FakeRoll, RecordingLogger, StoreDown
from tests.engine.play import soon
from tests.engine.timing import pass_time
from tests.waiting import settled


@pytest.fixture
def roll(database: AsyncEngine) -> SqlAttendanceStore:
    return SqlAttendanceStore(database)


def interruption(began: int, noted: int) -> Interruption:
    return Interruption(began, noted + RETURN_MILLISECONDS)


async def count_of_interruptions(database: AsyncEngine) -> int:
    async with database.connect() as connection:
        return int((await connection.execute(select(func.count()).select_from(INTERRUPTIONS))).scalar_one())


LATE = GONE_MILLISECONDS + 1
GONE = (interruption(START, START + LATE),)
LEFT = (interruption(START + 10, START + 10),)

Said = tuple[str, int, int | None, tuple[Interruption, ...]]
"""Who attends when, until when the roll is certain then (None: he leaves), and what it knows; times are since START."""

CASES: dict[str, list[Said]] = {
    "alone": [("e1", 0, 0, ()), ("e1", 1_000, 1_000, ())],
    "certain up to the last word of all": [
        ("e1", 0, 0, ()),
        ("e2", 500, 0, ()),
        ("e1", 1_000, 500, ()),
        ("e2", 400, 400, ()),
    ],
    "silent for long, and back": [
        ("e1", 0, 0, ()),
        ("e2", LATE - 1, 0, ()),
        ("e2", LATE, LATE, GONE),
        ("e2", LATE + 1, LATE + 1, GONE),
        ("e1", LATE + 10, LATE + 1, GONE),
    ],
    "away itself": [("e1", 1 - LATE, 1 - LATE, ()), ("e1", 0, 0, ()), ("e1", LATE, LATE, GONE)],
    "left": [("e1", 0, 0, ()), ("e2", 0, 0, ()), ("e1", 10, None, ()), ("e1", 11, None, ()), ("e2", 20, 20, LEFT)],
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_the_roll_says_who_is_there_and_when_players_had_nobody(
    roll: SqlAttendanceStore, case: list[Said]
) -> None:
    for engine_id, at, certain_until, known in case:
        if certain_until is None:
            await roll.leave(engine_id, START + at)
        else:
            assert await roll.attend(engine_id, START + at) == Roll(START + certain_until, known)


async def test_what_is_older_than_any_seats_time_is_forgotten(roll: SqlAttendanceStore, database: AsyncEngine) -> None:
    await roll.attend("e1", START)
    await roll.leave("e1", START)
    old = START + RETURN_MILLISECONDS + REMEMBERED_MILLISECONDS
    assert (await roll.attend("e2", old - 1)).interruptions == (interruption(START, START),)
    assert (await roll.attend("e2", old)).interruptions == ()
    assert await count_of_interruptions(database) == 1
    await roll.leave("e2", old + 1)
    assert await count_of_interruptions(database) == 1


async def test_what_several_notice_at_once_is_noted_once(database_url: str) -> None:
    databases = {name: open_database(database_url) for name in ("gone", "e1", "e2")}
    stores = {name: SqlAttendanceStore(database) for name, database in databases.items()}
    for name, store in stores.items():
        await store.attend(name, START if name == "gone" else START + LATE - 1_000)
    rolls = await soon(asyncio.gather(*(store.attend(name, START + LATE) for name, store in stores.items())))
    assert {each for roll in rolls for each in roll.interruptions} == set(GONE)
    assert await count_of_interruptions(databases["e1"]) == 1
    for database in databases.values():
        await database.dispose()


async def test_five_engines_never_wait_for_each_other(postgres_url: str, seed: int) -> None:
    """All of them find others gone, come back and leave all the time; nobody is refused because of a deadlock."""
    databases = [open_database(postgres_url, pool_size=2) for _ in range(5)]

    async def one(number: int) -> None:
        random, now = Random(f"{seed} {number}"), START
        store = SqlAttendanceStore(databases[number])
        for _ in range(20):
            now += random.choice((0, 1, 700, GONE_MILLISECONDS + 1, 2 * GONE_MILLISECONDS))
            if random.random() < 0.1:
                await store.leave(f"e{number}", now)
            else:
                await store.attend(f"e{number}", now)

    async with asyncio.timeout(60):
        await asyncio.gather(*(one(number) for number in range(5) for _ in range(2)))
    for database in databases:
        await database.dispose()


# An engine's own


class Own:
    """The attendance of an engine on a fake roll."""

    def __init__(self) -> None:
        self.store, self.clock, self.flows = FakeRoll(), FakeClock(), True
        self.attendance = Attendance(self.store, "e1", lambda: self.flows, self.clock, RecordingLogger())


async def test_many_tables_that_want_to_know_ask_once(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Own()
    attend = own.store.attend

    async def slow(engine_id: str, now: int) -> Roll:
        await settled()
        return await attend(engine_id, now)

    monkeypatch.setattr(own.store, "attend", slow)
    assert await asyncio.gather(*(own.attendance.is_certain_of(START) for _ in range(20))) == [True] * 20
    assert await own.attendance.is_certain_of(START - 5)
    assert own.store.asked == 1
    assert not await own.attendance.is_certain_of(START + 1)
    assert own.store.asked == 2


async def test_an_engine_goes_on_attending_after_its_database_was_away() -> None:
    own = Own()
    own.clock.drive()
    attending = asyncio.create_task(own.attendance.run())
    for down in (False, True, False):
        own.store.down, asked = down, own.store.asked
        await pass_time(own.clock, 3_000)
        assert own.store.asked > asked
    assert own.attendance.roll.certain_until > START + 6_000
    own.store.down = True
    with pytest.raises(StoreDown):
        await own.attendance.attend()
    attending.cancel()


async def test_an_engine_that_has_left_is_not_put_on_the_roll_again(
    roll: SqlAttendanceStore,
) -> None:
    mine = Attendance(roll, "e1", lambda: True, FakeClock(), RecordingLogger())
    await mine.attend()
    await asyncio.gather(mine.attend(), mine.leave(), mine.attend(), mine.is_certain_of(START + 1))
    await mine.attend()
    assert (await roll.attend("e2", START + 10)).certain_until == START + 10


async def test_an_engine_whose_commits_do_not_come_through_is_not_there() -> None:
    own = Own()
    assert await own.attendance.is_certain_of(START)
    own.flows = False
    own.clock.advance(1_000)
    await own.attendance.attend()
    assert not await own.attendance.is_certain_of(START + 1_000)
    assert own.store.asked == 1
    own.flows = True
    assert await own.attendance.is_certain_of(START + 1_000)
