"""Three engines, two lobbies and two scorings on one PostgreSQL: deploys and deaths that no player notices."""

import asyncio
import secrets
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from croupier.cli.background import BackgroundServices, started_services
from croupier.cli.demo import Played, play_all
from croupier.cli.demo_plan import DemoPlan
from croupier.cli.reach import endpoints_of
from croupier.cli.replicas import Replicas
from croupier_api.v1.engine_pb2 import ACTED_BY_TIMEOUT, TableUpdate
from croupier_client.aio_table import AsyncTable
from tests.conftest import Databases

DEADLINE_SECONDS = 400.0
PACKAGES = ("croupier.lobby", "croupier.engine", "croupier.scoring")
REPLICAS = Replicas(lobby=2, engine=3, scoring=2)
ENGINES = REPLICAS.of("engine")
TABLES = 20
PACE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 15.0
"""A deploy takes a second or two where nothing else runs; this is for machines that do much besides."""


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory, databases: Databases) -> Iterator[BackgroundServices]:
    url = databases.server.url(databases.take(PACKAGES))
    with started_services(tmp_path_factory.mktemp("house"), database=url, replicas=REPLICAS) as started:
        yield started


@dataclass
class Watch:
    """What happens at all tables: how many entries there were, whose time ran out, and how long tables stood still."""

    seen: int = 0
    timeouts: int = 0
    longest_pause_seconds: float = 0.0
    tables: dict[str, Sequence[AsyncTable]] = field(default_factory=dict)
    _last: dict[str, float] = field(default_factory=dict)
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, tables: Sequence[AsyncTable], update: TableUpdate) -> None:
        table_id, now = tables[0].table_id, time.monotonic()
        self.seen += 1
        self.timeouts += update.acted_by == ACTED_BY_TIMEOUT
        pause = now - self._last.get(table_id, now)
        self.longest_pause_seconds = max(self.longest_pause_seconds, pause)
        self._last[table_id] = now
        self.tables[table_id] = tables
        self._moved.set()

    async def until_seen(self, entries: int) -> None:
        while self.seen < entries:
            self._moved.clear()
            await self._moved.wait()

    @property
    def resumes(self) -> list[int]:
        """How often each stream went on as another one."""
        return [table.resumes for tables in self.tables.values() for table in tables]


async def played_while(
    services: BackgroundServices, game: str, tables: int, happening: Callable[[Watch], Awaitable[None]]
) -> tuple[Played, Watch]:
    """Play tables at an even pace while something happens, and to their ends at once when that is over."""
    seed = secrets.token_hex(8)
    print(f"the seed of the players is {seed}; put it in place of secrets.token_hex to repeat their decisions")
    watch, is_over = Watch(), asyncio.Event()

    async def pace() -> None:
        if not is_over.is_set():
            await asyncio.sleep(PACE_SECONDS)

    async def happen() -> None:
        try:
            await happening(watch)
        finally:
            is_over.set()

    async with asyncio.timeout(DEADLINE_SECONDS), asyncio.TaskGroup() as group:
        group.create_task(happen())
        plan = DemoPlan(game, 4, tables, {}, seed)
        playing = group.create_task(play_all(plan, endpoints_of(services.addresses), watch, pace))
    played = playing.result()
    print(
        f"{tables} tables of {game}, {watch.seen} entries, longest pause between two entries of a table "
        f"{watch.longest_pause_seconds:.2f} s (players wait {PACE_SECONDS} s), {sum(watch.resumes)} resumes"
    )
    return played, watch


def check(played: Played, watch: Watch) -> None:
    assert played.violations == ()
    assert watch.timeouts == 0
    assert watch.longest_pause_seconds < LONGEST_PAUSE_SECONDS


def test_everything_agrees_where_any_replica_answers(services: BackgroundServices) -> None:
    async def nothing(_watch: Watch) -> None:
        """Happens."""

    played, watch = asyncio.run(played_while(services, "thulla", 3, nothing))
    check(played, watch)
    assert len(services.addresses) == len(services.pids) == 7


def test_a_rolling_restart_is_seen_as_resumes_only(services: BackgroundServices) -> None:
    before = services.pids

    async def deploy(watch: Watch) -> None:
        await watch.until_seen(5 * TABLES)
        for engine in ENGINES:
            began = time.monotonic()
            await asyncio.to_thread(services.restart, engine)
            print(f"{engine} was back after {time.monotonic() - began:.1f} s")

    played, watch = asyncio.run(played_while(services, "one_ten", TABLES, deploy))
    check(played, watch)
    assert all(services.pids[engine] != before[engine] for engine in ENGINES)
    assert all(services.pids[other] == before[other] for other in before if other not in ENGINES)
    # Every stream was with one of the engines, each of which stopped.
    assert min(watch.resumes) >= 1


def test_engines_that_die_and_hang_are_left(services: BackgroundServices) -> None:
    async def kill(watch: Watch) -> None:
        await watch.until_seen(5 * TABLES)
        services.kill("engine")
        seen = watch.seen
        await watch.until_seen(seen + 5 * TABLES)
        services.kill("engine-2", signal.SIGSTOP)
        seen = watch.seen
        try:
            # Those of the third one go on meanwhile; the others come to it when they have noticed.
            await watch.until_seen(seen + 20 * TABLES)
        finally:
            services.kill("engine-2", signal.SIGCONT)

    played, watch = asyncio.run(played_while(services, "solo", TABLES, kill))
    check(played, watch)
    assert sum(watch.resumes) >= 1


def test_a_lobby_and_a_scoring_that_die_are_left(services: BackgroundServices) -> None:
    async def kill(watch: Watch) -> None:
        await watch.until_seen(10)
        services.kill("lobby")
        services.kill("scoring-2")

    played, watch = asyncio.run(played_while(services, "jossing", 2, kill))
    check(played, watch)
