"""One time for all engines of a database, however far their own clocks are off."""

import asyncio

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.shared_clock import MEASURE_SECONDS, SharedClock, time_of
from tests.engine.fakes import START, FakeClock, RecordingLogger, StoreDown
from tests.waiting import settled


class There:
    """A clock elsewhere: each answer takes its time on the way there and back."""

    def __init__(self, ahead: int) -> None:
        self.local = FakeClock()
        self.ahead = ahead
        self.ways: list[tuple[int, int]] = []
        self.down = False
        self.asked = 0
        self.logger = RecordingLogger()
        self.clock = SharedClock(self.local, self._ask, self.logger)

    async def _ask(self) -> int:
        self.asked += 1
        if self.down:
            raise StoreDown
        there, back = self.ways.pop(0) if self.ways else (0, 0)
        self.local.advance(there)
        answer = self.local() + self.ahead
        self.local.advance(back)
        return answer


@pytest.mark.parametrize(("ahead", "place"), [(0, 0), (5_000, 1), (-5_000, 2)])
async def test_the_time_is_that_of_the_database_by_the_quickest_of_three_answers(ahead: int, place: int) -> None:
    there = There(ahead)
    assert there.clock() == START
    there.ways = [(900, 0), (0, 700), (400, 100)]
    there.ways[place] = (10, 30)
    await there.clock.measure()
    assert there.asked == 3
    assert there.clock() == there.local() + ahead - 10
    there.local.advance(1_000)
    assert there.clock() == there.local() + ahead - 10


async def test_the_last_measurement_holds_while_the_database_is_away() -> None:
    there = There(5_000)
    there.local.drive()
    await there.clock.measure()
    running = asyncio.create_task(there.clock.run())
    await settled()
    there.ahead = 7_000
    for down, ahead in ((True, 5_000), (True, 5_000), (False, 7_000)):
        there.down = down
        there.local.advance(round(MEASURE_SECONDS * 1000))
        await settled()
        assert there.clock() == there.local() + ahead
    assert there.logger.events("warning") == ["the database cannot be asked for its time"] * 2
    running.cancel()


async def test_two_engines_on_one_server_have_the_same_time_and_on_a_file_their_own(database: AsyncEngine) -> None:
    time = asyncio.get_running_loop().time
    clocks = [
        SharedClock(local, time_of(database, local), RecordingLogger())
        for local in (lambda: round(time() * 1000), lambda: round(time() * 1000) + 5_000)
    ]
    for clock in clocks:
        await clock.measure()
    difference = abs(clocks[0]() - clocks[1]())
    assert difference >= 5_000 if database.dialect.name == "sqlite" else difference < 500
