"""The database's clock, which all engines share despite different clocks of their own."""

import asyncio

import pytest

from croupier.engine.cluster.database_clock import MEASURE_SECONDS, DatabaseClock, time_query
from croupier.runtime.database.database import Database
from tests.engine.fakes import START, FakeClock, RecordingLogger, StoreDown
from tests.waiting import settled


class RemoteClock:
    """A remote clock, with delays of requests and answers."""

    def __init__(self, ahead: int) -> None:
        self.local = FakeClock()
        self.ahead = ahead
        self.ways: list[tuple[int, int]] = []
        self.down = False
        self.asked = 0
        self.logger = RecordingLogger()
        self.clock = DatabaseClock(self.local, self._ask, self.logger)

    async def _ask(self) -> int:
        self.asked += 1
        if self.down:
            raise StoreDown
        remote, back = self.ways.pop(0) if self.ways else (0, 0)
        self.local.advance(remote)
        answer = self.local() + self.ahead
        self.local.advance(back)
        return answer


@pytest.mark.parametrize(("ahead", "place"), [(0, 0), (5_000, 1), (-5_000, 2)])
async def test_the_clock_uses_the_quickest_of_three_answers(ahead: int, place: int) -> None:
    remote = RemoteClock(ahead)
    assert remote.clock() == START
    remote.ways = [(900, 0), (0, 700), (400, 100)]
    remote.ways[place] = (10, 30)
    await remote.clock.measure()
    assert remote.asked == 3
    assert remote.clock() == remote.local() + ahead - 10
    remote.local.advance(1_000)
    assert remote.clock() == remote.local() + ahead - 10


async def test_the_last_measurement_holds_while_the_database_is_down() -> None:
    remote = RemoteClock(5_000)
    remote.local.drive()
    await remote.clock.measure()
    running = asyncio.create_task(remote.clock.run())
    await settled()
    remote.ahead = 7_000
    for down, ahead in ((True, 5_000), (True, 5_000), (False, 7_000)):
        remote.down = down
        remote.local.advance(round(MEASURE_SECONDS * 1000))
        await settled()
        assert remote.clock() == remote.local() + ahead
    # The database has logged it.
    assert remote.logger.lines == []
    running.cancel()


async def test_two_engines_on_one_server_have_the_same_time_and_on_a_file_their_own(database: Database) -> None:
    time = asyncio.get_running_loop().time
    clocks = [
        DatabaseClock(local, time_query(database, local), RecordingLogger())
        for local in (lambda: round(time() * 1000), lambda: round(time() * 1000) + 5_000)
    ]
    for clock in clocks:
        await clock.measure()
    difference = abs(clocks[0]() - clocks[1]())
    assert difference >= 5_000 if database.dialect == "sqlite" else difference < 500
