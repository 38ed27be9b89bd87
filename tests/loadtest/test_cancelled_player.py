"""A player who ends without being stopped is a defect of the load test: the others at the table would wait for them."""

import asyncio
from contextlib import suppress
from random import Random
from types import TracebackType
from typing import Any, Self, cast

import pytest

from loadtest.measures import Measures
from loadtest.players.client import PlayerClient
from loadtest.players.recorder import TableRecords
from loadtest.players.seat_player import CANCELLED, SeatPlayer
from loadtest.players.user_context import LoadSettings, UserContext
from loadtest.record import SeatRecord, TableRecord
from loadtest.scenarios import SCENARIOS, Behaviour


class FakeTable:
    """A table whose turns never come: the wait for them ends with this exception, or never."""

    def __init__(self, error: BaseException | None) -> None:
        self._error = error
        self.waiting = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass

    async def close(self) -> None:
        pass

    async def wait_for_turn(self, *, timeout_seconds: float) -> bool:
        self.waiting.set()
        if self._error is not None:
            raise self._error
        await asyncio.Event().wait()
        return False


class FakeClient:
    """A client with one table."""

    def __init__(self, table: FakeTable) -> None:
        self._table = table

    def recorded_table(self, table_id: str, record: SeatRecord) -> FakeTable:
        return self._table


class Run:
    """A player at a table."""

    def __init__(self, error: BaseException | None) -> None:
        self.measures, self.table = Measures(), FakeTable(error)
        tables = TableRecords(self.measures, self._submit)
        settings = LoadSettings(next(iter(SCENARIOS.values())), (), 1)
        unused = cast("Any", None)
        context = UserContext(settings, self.measures, tables, asyncio.Event(), unused)
        self.viewer = tables.add_viewer(TableRecord("t", "solo", 4), "p", Behaviour.STEADY)
        client = cast("PlayerClient", FakeClient(self.table))
        self.player = SeatPlayer(context, client, "t", self.viewer, Random(1), 30.0)

    async def _submit(self, record: TableRecord) -> None:
        pass


async def test_a_player_whose_call_is_cancelled_by_nobody_is_a_defect() -> None:
    run = Run(asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        await run.player.play()
    assert run.viewer.left_milliseconds is not None
    assert run.measures.take()["failures"][CANCELLED] == [1, "t"]


async def test_a_player_who_is_stopped_is_none() -> None:
    run = Run(None)
    playing = asyncio.create_task(run.player.play())
    await run.table.waiting.wait()
    playing.cancel()
    with suppress(asyncio.CancelledError):
        await playing
    assert playing.cancelled()
    assert CANCELLED not in run.measures.take()["failures"]
