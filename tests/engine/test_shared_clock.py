"""One time for all engines of a database, however far their own clocks are off."""

import asyncio
from collections.abc import Callable

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.shared_clock import MEASURE_SECONDS, SharedClock, time_of
from tests.engine.fakes import START, FakeClock, RecordingLogger, StoreDown
from tests.waiting import settled


class There:
    """A clock elsewhere: each answer takes its time on the way there and back."""

    def __init__(self, local: FakeClock, ahead: int) -> None:
        self._local = local
        self.ahead = ahead
        self.ways: list[tuple[int, int]] = []
        self.down = False
        self.asked = 0

    async def __call__(self) -> int:
        self.asked += 1
        if self.down:
            raise StoreDown
        there, back = self.ways.pop(0) if self.ways else (0, 0)
        self._local.advance(there)
        answer = self._local() + self.ahead
        self._local.advance(back)
        return answer


@pytest.mark.parametrize("ahead", [0, 5_000, -5_000])
async def test_the_time_is_that_of_the_database(ahead: int) -> None:
    local = FakeClock()
    clock = SharedClock(local, There(local, ahead), RecordingLogger())
    assert clock() == START
    await clock.measure()
    assert clock() == START + ahead
    local.advance(1_000)
    assert clock() == START + ahead + 1_000


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_of_three_answers_the_quickest_counts(place: int) -> None:
    local = FakeClock()
    there = There(local, 5_000)
    there.ways = [(900, 0), (0, 700), (400, 100)]
    there.ways[place] = (10, 30)
    clock = SharedClock(local, there, RecordingLogger())
    await clock.measure()
    assert there.asked == 3
    assert clock() == local() + 5_000 - 10


async def test_the_last_measurement_holds_while_the_database_is_away() -> None:
    local = FakeClock()
    local.drive()
    there, logger = There(local, 5_000), RecordingLogger()
    clock = SharedClock(local, there, logger)
    await clock.measure()
    running = asyncio.create_task(clock.run())

    async def measured() -> None:
        await settled()
        local.advance(round(MEASURE_SECONDS * 1000))
        await settled()

    there.down, there.ahead = True, 7_000
    for _ in range(3):
        await measured()
    assert clock() == local() + 5_000
    assert logger.events("warning") == ["the database cannot be asked for its time"] * 3
    there.down = False
    await measured()
    assert clock() == local() + 7_000
    running.cancel()


@pytest.mark.parametrize("skew", [-5_000, 5_000])
async def test_two_engines_on_one_database_have_the_same_time(
    database: AsyncEngine, skew: int, now: Callable[[], int]
) -> None:
    def skewed() -> int:
        return now() + skew

    clocks = [SharedClock(local, time_of(database, local), RecordingLogger()) for local in (now, skewed)]
    for clock in clocks:
        await clock.measure()
    difference = abs(clocks[0]() - clocks[1]())
    if database.dialect.name == "sqlite":
        assert difference >= abs(skew)
    else:
        assert difference < 500


@pytest.fixture
def now() -> Callable[[], int]:
    return lambda: round(asyncio.get_running_loop().time() * 1000)
