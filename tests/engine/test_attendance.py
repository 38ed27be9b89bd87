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
from croupier.engine.schema import ENGINES, INTERRUPTIONS
from croupier.engine.sql_attendance import SqlAttendanceStore
from croupier.runtime.database import open_database
from tests.engine.fakes import START, FakeClock, FakeRoll, RecordingLogger, StoreDown
from tests.engine.play import soon
from tests.waiting import settled

LATE = START + GONE_MILLISECONDS + 1


@pytest.fixture
def roll(database: AsyncEngine) -> SqlAttendanceStore:
    return SqlAttendanceStore(database)


def interruption(began: int, noted: int) -> Interruption:
    return Interruption(began, noted + RETURN_MILLISECONDS)


async def engines(database: AsyncEngine) -> dict[str, int]:
    async with database.connect() as connection:
        return {row.engine_id: row.seen_at for row in await connection.execute(select(ENGINES))}


async def count_of_interruptions(database: AsyncEngine) -> int:
    async with database.connect() as connection:
        return int((await connection.execute(select(func.count()).select_from(INTERRUPTIONS))).scalar_one())


async def test_an_engine_that_is_alone_is_certain_of_everything_up_to_now(roll: SqlAttendanceStore) -> None:
    for now in (START, START + 1_000, START + 2_000):
        assert await roll.attend("e1", now) == Roll(now, ())


async def test_it_is_certain_only_what_was_before_the_last_word_of_every_engine(roll: SqlAttendanceStore) -> None:
    await roll.attend("e1", START)
    assert await roll.attend("e2", START + 500) == Roll(START, ())
    assert await roll.attend("e1", START + 1_000) == Roll(START + 500, ())
    assert await roll.attend("e2", START + 400) == Roll(START + 400, ())


async def test_an_engine_that_was_silent_for_long_is_gone_and_interrupted_those_it_served(
    roll: SqlAttendanceStore, database: AsyncEngine
) -> None:
    await roll.attend("e1", START)
    await roll.attend("e2", LATE - 1_000)
    assert await roll.attend("e2", LATE - 1) == Roll(START, ())
    assert await roll.attend("e2", LATE) == Roll(LATE, (interruption(START, LATE),))
    assert await engines(database) == {"e2": LATE}
    assert await roll.attend("e2", LATE + 1) == Roll(LATE + 1, (interruption(START, LATE),))


async def test_an_engine_that_was_away_itself_says_so_when_it_is_back(roll: SqlAttendanceStore) -> None:
    await roll.attend("e1", START)
    assert (await roll.attend("e1", START + GONE_MILLISECONDS)).interruptions == ()
    later = START + 2 * GONE_MILLISECONDS + 1
    assert await roll.attend("e1", later) == Roll(later, (interruption(START + GONE_MILLISECONDS, later),))


async def test_what_two_notice_is_noted_once(roll: SqlAttendanceStore, database: AsyncEngine) -> None:
    await roll.attend("e1", START)
    await roll.attend("e2", LATE - 1)
    await roll.attend("e2", LATE)
    assert await roll.attend("e1", LATE + 10) == Roll(LATE, (interruption(START, LATE),))
    assert await count_of_interruptions(database) == 1


async def test_an_engine_that_both_notice_and_that_comes_back_is_noted_once(database_url: str) -> None:
    databases = [open_database(database_url) for _ in range(3)]
    stores = [SqlAttendanceStore(each) for each in databases]
    await stores[0].attend("gone", START)
    for name, store in zip(("gone", "e1", "e2"), stores, strict=True):
        if name != "gone":
            await store.attend(name, LATE - 1_000)
    rolls = await soon(
        asyncio.gather(*(store.attend(name, LATE) for name, store in zip(("gone", "e1", "e2"), stores, strict=True)))
    )
    known = {each for roll in rolls for each in roll.interruptions}
    assert known == {interruption(START, LATE)}
    assert await count_of_interruptions(databases[0]) == 1
    for database in databases:
        await database.dispose()


async def test_an_engine_that_leaves_is_off_the_roll_and_interrupts_from_then_on(
    roll: SqlAttendanceStore, database: AsyncEngine
) -> None:
    await roll.attend("e1", START)
    await roll.attend("e2", START)
    for now in (START + 10, START + 11):
        await roll.leave("e1", now)
    assert await engines(database) == {"e2": START}
    assert await roll.attend("e2", START + 20) == Roll(START + 20, (interruption(START + 10, START + 10),))


async def test_what_is_older_than_any_seats_time_is_forgotten(roll: SqlAttendanceStore, database: AsyncEngine) -> None:
    await roll.attend("e1", START)
    await roll.leave("e1", START)
    old = START + RETURN_MILLISECONDS + REMEMBERED_MILLISECONDS
    assert len((await roll.attend("e2", old - 1)).interruptions) == 1
    assert (await roll.attend("e2", old)).interruptions == ()
    assert await count_of_interruptions(database) == 1
    await roll.leave("e2", old + 1)
    assert await count_of_interruptions(database) == 1


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


class SlowRoll(FakeRoll):
    """One whose answer takes a while."""

    async def attend(self, engine_id: str, now: int) -> Roll:
        await settled()
        return await super().attend(engine_id, now)


def attendance(store: FakeRoll, clock: FakeClock) -> Attendance:
    return Attendance(store, "e1", lambda: True, clock, RecordingLogger())


async def test_many_tables_that_want_to_know_ask_once() -> None:
    store, clock = SlowRoll(), FakeClock()
    mine = attendance(store, clock)
    assert await asyncio.gather(*(mine.is_certain_of(START) for _ in range(20))) == [True] * 20
    assert store.asked == 1
    assert await mine.is_certain_of(START - 5)
    assert store.asked == 1
    assert not await mine.is_certain_of(START + 1)
    assert store.asked == 2


async def test_an_engine_goes_on_attending_after_its_database_was_away() -> None:
    store, clock = FakeRoll(), FakeClock()
    clock.drive()
    mine = attendance(store, clock)
    attending = asyncio.create_task(mine.run())
    for down in (False, True, True, False):
        store.down, asked = down, store.asked
        for _ in range(30):
            clock.advance(100)
            await settled()
        assert store.asked > asked
    assert mine.roll.certain_until > START + 9_000
    store.down = True
    with pytest.raises(StoreDown):
        await mine.attend()
    attending.cancel()


async def test_an_engine_that_has_left_is_not_put_on_the_roll_again(
    database: AsyncEngine, roll: SqlAttendanceStore
) -> None:
    mine = Attendance(roll, "e1", lambda: True, FakeClock(), RecordingLogger())
    await mine.attend()
    await asyncio.gather(mine.leave(), mine.attend(), mine.is_certain_of(START + 1))
    await mine.attend()
    assert await engines(database) == {}


async def test_an_engine_whose_commits_do_not_come_through_is_not_there() -> None:
    store, clock = FakeRoll(), FakeClock()
    flows = True
    mine = Attendance(store, "e1", lambda: flows, clock, RecordingLogger())
    assert await mine.is_certain_of(START)
    flows = False
    clock.advance(1_000)
    await mine.attend()
    assert not await mine.is_certain_of(START + 1_000)
    assert store.asked == 1
    flows = True
    assert await mine.is_certain_of(START + 1_000)
