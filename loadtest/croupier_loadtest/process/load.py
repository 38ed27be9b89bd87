"""Runs the tasks of users, as they start and stop, until the run drains and the last games are over."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from croupier_loadtest.judge.rules.registry import table_of
from croupier_loadtest.measures import RULES_NOT_JUDGED, Measures
from croupier_loadtest.network import break_connections
from croupier_loadtest.players.attackers.attack_process import attacker
from croupier_loadtest.players.client import NewClient
from croupier_loadtest.players.groups import group, matcher
from croupier_loadtest.players.pages import pages
from croupier_loadtest.players.recorder import Submit, TableRecords
from croupier_loadtest.players.spectators import browser, opener, spectator
from croupier_loadtest.players.user_context import LoadSettings, UserContext
from croupier_loadtest.record import DescribedGame
from croupier_loadtest.scenarios import Scenario, UserKind

if TYPE_CHECKING:
    from playwright.async_api import Browser

USER_TASKS: Mapping[UserKind, Callable[[UserContext, str], Coroutine[None, None, None]]] = MappingProxyType(
    {
        UserKind.GROUP: group,
        UserKind.MATCHER: matcher,
        UserKind.SPECTATOR: spectator,
        UserKind.BROWSER: browser,
        UserKind.OPENER: opener,
        UserKind.ATTACKER: attacker,
        UserKind.PAGES: pages,
    }
)
"""The task of each kind of user, from its start to its stop."""
STOPPING_SECONDS = 30.0
"""The time limit of users who are stopped in the middle of a game."""
JUDGING_SECONDS = 900.0
"""The time limit of the judge for the rest of the records when all games are over."""


def drain_seconds(scenario: Scenario) -> float:
    """Return the time limit of a load process to drain: to end its games, and to judge them."""
    return scenario.grace_seconds + STOPPING_SECONDS + JUDGING_SECONDS


class Load:
    """The users of one process; `submit` receives the record of each table once all its viewers have left."""

    def __init__(
        self,
        settings: LoadSettings,
        new_client: NewClient,
        submit: Submit,
        measures: Measures,
        browser: "Browser | None" = None,
    ) -> None:
        self.settings = settings
        self.measures = measures
        self.draining = asyncio.Event()
        self.tables = TableRecords(self.measures, submit)
        self._new_client = new_client
        self._browser = browser
        self._users: dict[str, tuple[UserContext, asyncio.Task[None]]] = {}

    @property
    def users(self) -> int:
        """The number of running users."""
        return len(self._users)

    def begin(self, described: Mapping[str, DescribedGame]) -> None:
        """Play the games that the services describe; those whose rules no judge knows are counted."""
        self.tables.described = described
        for entry in self.settings.games:
            if table_of(entry.game, described[entry.game].rules_version) is None:
                self.measures.count(f"{RULES_NOT_JUDGED}{entry.game}")

    def new_context(self) -> UserContext:
        """Return the context of a new user."""
        return UserContext(self.settings, self.measures, self.tables, self.draining, self._new_client, self._browser)

    def start(self, name: str, kind: UserKind) -> None:
        """Start the task of a user."""
        context = self.new_context()
        task = asyncio.create_task(USER_TASKS[kind](context, name))
        self._users[name] = (context, task)
        task.add_done_callback(lambda done: self._ended(name, done))

    def stop(self, name: str) -> None:
        """Stop a user after its current game."""
        if name in self._users:
            self._users[name][0].stop_after_game()

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        self._users.pop(name, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.measures.record_failure(f"load test: {type(error).__name__}", _describe(error))

    async def drain(self, grace_seconds: float, judging_seconds: float = JUDGING_SECONDS) -> float:
        """Begin no new games and do not think; after the grace period stop all users, and submit their records.

        Returns how much of the time for the judge is left then.
        """
        self.draining.set()
        self.tables.end_timing()
        tasks = {task for _, task in self._users.values()}
        if tasks:
            await asyncio.wait(tasks, timeout=grace_seconds)
        left = {task for task in tasks if not task.done()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=STOPPING_SECONDS)
        remaining, began = self.tables.remaining(), time.monotonic()
        try:
            async with asyncio.timeout(judging_seconds):
                for record in remaining:
                    await self.tables.submit(record)
        except TimeoutError:
            self.measures.record_failure("judging", f"the queue had no room for {len(remaining)} tables at the end")
        return max(0.0, judging_seconds - (time.monotonic() - began))

    async def break_connections_periodically(self) -> None:
        """Break all connections again and again, at the same moments in every process, if the scenario has storms."""
        if not (period_seconds := self.settings.scenario.storm_seconds):
            return
        while not self.draining.is_set():
            await asyncio.sleep(period_seconds - time.time() % period_seconds)
            if not self.draining.is_set():
                self.measures.broken_at = time.perf_counter()
                self.measures.count("connections broken", break_connections(self.settings.ports))


def _describe(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_describe(one) for one in error.exceptions)
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    place = f" at {where.tb_frame.f_code.co_filename}:{where.tb_lineno}" if where is not None else ""
    return f"{type(error).__name__}: {error}{place}"
