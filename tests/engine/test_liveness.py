"""The heartbeats of engines and the outages that follow from them, and the clock that engines share."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest
from sqlalchemy import func, insert, select

from croupier.engine.cluster.database_clock import MEASURE_SECONDS, DatabaseClock, time_query
from croupier.engine.cluster.liveness import (
    DEAD_AFTER_MILLISECONDS,
    OUTAGE_RETENTION_MILLISECONDS,
    RECONNECT_MILLISECONDS,
    EngineLiveness,
    LivenessReport,
    SqlLivenessStore,
)
from croupier.engine.core.compensation import Outage
from croupier.engine.core.living_games import EngineGames
from croupier.engine.storage.port import TableChange, append_durably
from croupier.engine.storage.schema import ENGINES, OUTAGES
from croupier.runtime.database.database import Database, open_database
from tests.databases import execute
from tests.engine.databases import assembled, entry, opened, running
from tests.engine.fakes import START, FakeClock, FakeLivenessStore, RecordingLogger, StoreDown
from tests.engine.play import within_timeout
from tests.engine.timing import pass_time
from tests.waiting import settled

GAMES = EngineGames("these", {"hearts": [1, 2], "thulla": [1]}, ["thulla", "hearts"])


@pytest.fixture
def liveness_store(database: Database) -> SqlLivenessStore:
    return SqlLivenessStore(database, GAMES)


def outage(began: int, noted: int) -> Outage:
    return Outage(began, noted + RECONNECT_MILLISECONDS)


async def count_outages(database: Database) -> int:
    return int((await execute(database, select(func.count()).select_from(OUTAGES)))[0][0])


LATE = DEAD_AFTER_MILLISECONDS + 1
GONE = (outage(START, START + LATE),)
LEFT = (outage(START + 10, START + 10),)

LivenessCall = tuple[str, int, int | None, tuple[Outage, ...], int]
"""An engine, its heartbeat, the certain time (None: it leaves), outages and living engines; times are since START."""

CASES: dict[str, list[LivenessCall]] = {
    "alone": [("e1", 0, 0, (), 1), ("e1", 1_000, 1_000, (), 1)],
    "certain up to the last heartbeat of all": [
        ("e1", 0, 0, (), 1),
        ("e2", 500, 0, (), 2),
        ("e1", 1_000, 500, (), 2),
        ("e2", 400, 400, (), 2),
    ],
    "silent for long, and back": [
        ("e1", 0, 0, (), 1),
        ("e2", LATE - 1, 0, (), 2),
        ("e2", LATE, LATE, GONE, 1),
        ("e2", LATE + 1, LATE + 1, GONE, 1),
        ("e1", LATE + 10, LATE + 1, GONE, 2),
    ],
    "its own silence": [("e1", 1 - LATE, 1 - LATE, (), 1), ("e1", 0, 0, (), 1), ("e1", LATE, LATE, GONE, 1)],
    "left": [("e1", 0, 0, (), 1), ("e2", 0, 0, (), 2), ("e1", 10, None, (), 1), ("e2", 20, 20, LEFT, 1)],
    "left twice": [("e1", 10, 10, (), 1), ("e1", 10, None, (), 0), ("e1", 11, None, (), 0), ("e2", 20, 20, LEFT, 1)],
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_heartbeats_determine_certainty_outages_and_living_engines(
    liveness_store: SqlLivenessStore, case: list[LivenessCall]
) -> None:
    for engine_id, at, certain_until, known, engines in case:
        if certain_until is None:
            await liveness_store.leave(engine_id, START + at)
        else:
            report = await liveness_store.record_heartbeat(engine_id, START + at)
            assert report[:2] == (START + certain_until, known)
            assert len(report.living) == engines


async def test_the_games_of_living_engines_are_known(database: Database) -> None:
    older, other = GAMES._replace(digest="older"), GAMES._replace(versions={"hearts": [1]}, offered=[])
    for at, name, games in ((0, "gone", older), (10, "e1", GAMES), (10, "e2", GAMES), (10, "e3", other)):
        await SqlLivenessStore(database, games).record_heartbeat(name, START + at)
    store = SqlLivenessStore(database, GAMES)

    async def known(at: int) -> list[EngineGames | None]:
        own, *living = (await store.living_games(at)).engines
        assert own == GAMES
        return living

    assert_same(await known(START + DEAD_AFTER_MILLISECONDS), [GAMES, older, other])
    assert_same(await known(START + LATE), [GAMES, other])
    await store.leave("e3", START + LATE)
    assert await known(START + LATE) == [GAMES]
    # The column is new: an engine of an earlier version leaves it out.
    await execute(database, insert(ENGINES).values(engine_id="e0", heartbeat_at=START + LATE))
    assert_same(await known(START + LATE), [GAMES, None])
    assert (await SqlLivenessStore(database, GAMES, is_alone=True).living_games(START + LATE)).engines == (GAMES,)


def assert_same(found: list[EngineGames | None], expected: list[EngineGames | None]) -> None:
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


async def test_outages_older_than_any_turn_are_deleted(liveness_store: SqlLivenessStore, database: Database) -> None:
    await liveness_store.record_heartbeat("e1", START)
    await liveness_store.leave("e1", START)
    old = START + RECONNECT_MILLISECONDS + OUTAGE_RETENTION_MILLISECONDS
    assert (await liveness_store.record_heartbeat("e2", old - 1)).outages == (outage(START, START),)
    assert (await liveness_store.record_heartbeat("e2", old)).outages == ()
    assert await count_outages(database) == 1
    await liveness_store.leave("e2", old + 1)
    assert await count_outages(database) == 1


async def test_an_outage_that_several_engines_notice_is_stored_once(database_url: str) -> None:
    databases = {name: open_database(database_url) for name in ("gone", "e1", "e2")}
    stores = {name: SqlLivenessStore(database, GAMES) for name, database in databases.items()}
    for name, store in stores.items():
        await store.record_heartbeat(name, START if name == "gone" else START + LATE - 1_000)
    reports = await within_timeout(
        asyncio.gather(*(store.record_heartbeat(name, START + LATE) for name, store in stores.items()))
    )
    assert {each for report in reports for each in report.outages} == set(GONE)
    assert await count_outages(databases["e1"]) == 1
    for database in databases.values():
        await database.close()


async def test_five_engines_never_deadlock(postgres_url: str, seed: int) -> None:
    """All of them find others gone, come back and leave all the time."""
    databases = [open_database(postgres_url) for _ in range(5)]

    async def one(number: int) -> None:
        random, now = Random(f"{seed} {number}"), START
        store = SqlLivenessStore(databases[number], GAMES)
        for _ in range(20):
            now += random.choice((0, 1, 700, DEAD_AFTER_MILLISECONDS + 1, 2 * DEAD_AFTER_MILLISECONDS))
            if random.random() < 0.1:
                await store.leave(f"e{number}", now)
            else:
                await store.record_heartbeat(f"e{number}", now)

    async with asyncio.timeout(60):
        await asyncio.gather(*(one(number) for number in range(5) for _ in range(2)))
    for database in databases:
        await database.close()


class OnlyEngine:
    """An engine as it is wired for SQLite, with only its store running."""

    def __init__(self, url: str) -> None:
        self.database, self.clock = open_database(url), FakeClock()
        self._engine = assembled(self.database, self.clock)
        self.tables = self._engine.store

    def die(self) -> None:
        """Let another process be the engine."""
        self._engine = assembled(self.database, self.clock)

    async def heartbeat(self, at: int) -> LivenessReport:
        self.clock.now = START + at
        await self._engine.liveness.send_heartbeat()
        return self._engine.liveness.report

    async def recorded(self) -> int:
        """Return the time of the recorded heartbeat since START."""
        ((heartbeat_at,),) = await execute(self.database, select(ENGINES.c.heartbeat_at))
        return int(heartbeat_at) - START


@pytest.fixture
async def only_engine(sqlite_url: str) -> AsyncIterator[OnlyEngine]:
    engine = OnlyEngine(sqlite_url)
    async with running(engine.tables):
        yield engine
    await engine.database.close()


async def test_the_only_engine_records_heartbeats_while_a_table_is_open(only_engine: OnlyEngine) -> None:
    for at in (0, 1_000, 2_000):
        assert (await only_engine.heartbeat(at))[:2] == (START + at, ())
    assert await only_engine.recorded() == 0
    await opened(only_engine.tables)
    for at in (3_000, 4_000):
        assert (await only_engine.heartbeat(at)).outages == ()
        assert await only_engine.recorded() == at
    await append_durably(only_engine.tables, "t1", [entry(2)], TableChange(0, finished=True))
    assert (await only_engine.heartbeat(5_000))[:2] == (START + 5_000, ())
    assert await only_engine.recorded() == 4_000


@pytest.mark.parametrize(
    ("opened_at", "dies", "next_at", "outages"),
    [
        (7_200_000, False, 7_201_000, ()),
        (60_000, False, 60_000 + LATE, (outage(START + 60_000, START + 60_000 + LATE),)),
        (60_000, True, 70_000, (outage(START, START + 70_000),)),
    ],
    ids=["in time", "held up", "died"],
)
async def test_outages_before_the_first_heartbeat_of_a_table(
    only_engine: OnlyEngine, opened_at: int, dies: bool, next_at: int, outages: tuple[Outage, ...]
) -> None:
    for at in (0, opened_at):
        await only_engine.heartbeat(at)
    await opened(only_engine.tables)
    if dies:
        only_engine.die()
    assert (await only_engine.heartbeat(next_at)).outages == outages


async def test_an_engine_records_heartbeats_until_its_predecessor_is_gone(only_engine: OnlyEngine) -> None:
    await only_engine.heartbeat(0)
    only_engine.die()
    assert [len((await only_engine.heartbeat(at)).living) for at in (1_000, 2_000, LATE)] == [2, 2, 1]
    known = (await only_engine.heartbeat(LATE + 1_000)).outages
    assert [began for began, _ in known] == [START]
    assert await only_engine.recorded() == LATE


class OwnLiveness:
    def __init__(self) -> None:
        self.store, self.clock, self.is_responsive = FakeLivenessStore(), FakeClock(), True
        self.liveness = EngineLiveness(self.store, "e1", lambda: self.is_responsive, self.clock, RecordingLogger())


async def test_concurrent_questions_are_one_query(monkeypatch: pytest.MonkeyPatch) -> None:
    own = OwnLiveness()
    record_heartbeat = own.store.record_heartbeat

    async def slow(engine_id: str, now: int) -> LivenessReport:
        await settled()
        return await record_heartbeat(engine_id, now)

    monkeypatch.setattr(own.store, "record_heartbeat", slow)
    assert await asyncio.gather(*(own.liveness.is_certain_of(START) for _ in range(20))) == [True] * 20
    assert await own.liveness.is_certain_of(START - 5)
    assert own.store.asked == 1
    assert not await own.liveness.is_certain_of(START + 1)
    assert own.store.asked == 2


async def test_heartbeats_continue_after_an_outage_of_the_database() -> None:
    own = OwnLiveness()
    own.clock.drive()
    running = asyncio.create_task(own.liveness.run())
    for down in (False, True, False):
        own.store.down, asked = down, own.store.asked
        await pass_time(own.clock, 3_000)
        assert own.store.asked > asked
    assert own.liveness.report.certain_until > START + 6_000
    own.store.down = True
    with pytest.raises(StoreDown):
        await own.liveness.send_heartbeat()
    running.cancel()


async def test_an_engine_that_has_left_sends_no_heartbeat_again(liveness_store: SqlLivenessStore) -> None:
    mine = EngineLiveness(liveness_store, "e1", lambda: True, FakeClock(), RecordingLogger())
    await mine.send_heartbeat()
    await asyncio.gather(mine.send_heartbeat(), mine.leave(), mine.send_heartbeat(), mine.is_certain_of(START + 1))
    await mine.send_heartbeat()
    assert (await liveness_store.record_heartbeat("e2", START + 10)).certain_until == START + 10


async def test_an_engine_without_successful_commits_sends_no_heartbeat() -> None:
    own = OwnLiveness()
    assert await own.liveness.is_certain_of(START)
    own.is_responsive = False
    own.clock.advance(1_000)
    await own.liveness.send_heartbeat()
    assert not await own.liveness.is_certain_of(START + 1_000)
    assert own.store.asked == 1
    own.is_responsive = True
    assert await own.liveness.is_certain_of(START + 1_000)


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


async def test_slow_answers_replace_no_quick_ones_unless_a_clock_was_set() -> None:
    remote = RemoteClock(5_000)
    remote.ways = [(10, 10)] * 3
    await remote.clock.measure()
    remote.ways = [(1_600, 0)] * 3
    await remote.clock.measure()
    assert remote.clock() == remote.local() + 5_000
    remote.ahead, remote.ways = 3_000, [(1_600, 0)] * 3
    await remote.clock.measure()
    assert remote.clock() == remote.local() + 3_800
    remote.ways = [(10, 10)] * 3
    await remote.clock.measure()
    assert remote.clock() == remote.local() + 3_000


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
