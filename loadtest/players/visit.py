"""The world of one user, as far as it does not depend on who drives him."""

import time
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from random import Random
from typing import Protocol

from loadtest.measures import Measures
from loadtest.players.tables import Tables
from loadtest.players.world import Manners, PlayerClient


class Host(Protocol):
    """Who plays all people of one process."""

    manners: Manners
    measures: Measures
    tables: Tables

    @property
    def is_time_up(self) -> bool:
        """Whether no new games are begun, and nobody thinks any more."""

    def guest(self, name: str) -> PlayerClient:
        """A new player of this name, for this run."""


class Visit(ABC):
    """A World of one user, whose time may be up before that of everybody; drivers say how time passes."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.manners = host.manners
        self.measures = host.measures
        self.tables = host.tables
        self._is_leaving = False

    @property
    def is_time_up(self) -> bool:
        """Whether no new games are begun."""
        return self._is_leaving or self._host.is_time_up

    def let_leave(self) -> None:
        """No further game for these people."""
        self._is_leaving = True

    def now(self) -> float:
        """Seconds of a clock that only goes forward."""
        return time.monotonic()

    def guest(self, name: str) -> PlayerClient:
        """A new player of this name, for this run."""
        return self._host.guest(name)

    def random(self, name: str) -> Random:
        """Chance of its own for a name, the same whenever the run is repeated."""
        return Random(f"{self.manners.seed} {name}")

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Let time pass; not longer than until time is up."""

    @abstractmethod
    async def pause(self, seconds: float) -> None:
        """Let time pass, also when time is up."""

    @abstractmethod
    async def together(self, behaviours: Sequence[Coroutine[None, None, None]]) -> None:
        """Let several people do something at the same time."""


def tell_fault(measures: Measures, error: BaseException) -> None:
    """Count a fault of the load test itself; a run with one is red."""
    measures.failed(f"load test: {type(error).__name__}", _chain(error))


def _chain(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_chain(one) for one in error.exceptions)
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    place = f" at {where.tb_frame.f_code.co_filename}:{where.tb_lineno}" if where is not None else ""
    return f"{type(error).__name__}: {error}{place}"


def seconds_to_storm(period_seconds: float) -> float:
    """How long until all connections break again: at the same moments in every process."""
    return period_seconds - time.time() % period_seconds
