"""Players give up a table whose services are out, and report a missed deadline only of services that answer."""

import asyncio
from random import Random
from typing import Any, Self, cast

import grpc
import pytest

from croupier_api.v1 import engine_pb2
from croupier_client import TimedOut, Unavailable
from loadtest.judge.violations import Invariant
from loadtest.measures import Measures
from loadtest.players.client import PlayerClient
from loadtest.players.recorder import TableRecords
from loadtest.players.seat_player import SeatPlayer
from loadtest.players.user_context import LoadSettings, UserContext
from loadtest.record import SeatRecord, TableRecord
from loadtest.scenarios import SCENARIOS, Behaviour


class SilentTable:
    """A table whose stream has no message; `is_over_after` so many silences the game is over."""

    def __init__(self, deadline_unix_ms: int, is_over_after: int, compensated_after: int) -> None:
        self.silences = 0
        self.sequence = 7
        self.clock = engine_pb2.TurnClock(deadline_unix_ms=deadline_unix_ms)
        self._is_over_after, self._compensated_after = is_over_after, compensated_after

    async def __aenter__(self) -> Self:
        return self

    async def close(self) -> None:
        pass

    async def wait_for_turn(self, *, timeout_seconds: float) -> bool:
        self.silences += 1
        if self.silences > self._is_over_after:
            return False
        # The entry that compensates an outage.
        self.sequence += self.silences == self._compensated_after
        raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, "silence")

    async def wait_for_change(self, **_: Any) -> None:
        pass


class Answering:
    """A client of one table, whose services answer or are out."""

    def __init__(self, table: SilentTable, *, are_out: bool) -> None:
        self._table, self._are_out = table, are_out

    def recorded_table(self, table_id: str, viewer: SeatRecord) -> SilentTable:
        return self._table

    async def get_view(self, *, table_id: str) -> engine_pb2.GetViewResponse:
        if self._are_out:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the services are out")
        answer = engine_pb2.GetViewResponse()
        answer.snapshot.sequence = self._table.sequence
        return answer

    async def get_replay(self, *, table_id: str) -> engine_pb2.GetReplayResponse:
        raise Unavailable(grpc.StatusCode.UNAVAILABLE, "not of these tests")


async def played(table: SilentTable, *, are_out: bool) -> SeatRecord:
    """Play at a table; returns the record."""
    submitted: list[TableRecord] = []

    async def submit(record: TableRecord) -> None:
        submitted.append(record)

    measures = Measures()
    tables = TableRecords(measures, submit)
    viewer = tables.add_viewer(TableRecord("t", "solo", 4, "c"), "p1", Behaviour.STEADY)
    context = UserContext(
        LoadSettings(SCENARIOS["ceiling"], (), 1), measures, tables, asyncio.Event(), lambda *_: pytest.fail("a guest")
    )
    client = cast("PlayerClient", Answering(table, are_out=are_out))
    await SeatPlayer(context, client, "t", viewer, Random(1), 30).play()
    assert [record.table_id for record in submitted] == ["t"]
    return viewer


NEVER = 1000


async def test_a_table_is_given_up_while_its_services_are_out() -> None:
    table = SilentTable(deadline_unix_ms=1, is_over_after=NEVER, compensated_after=NEVER)
    viewer = await played(table, are_out=True)
    assert table.silences < NEVER
    assert viewer.left_milliseconds is not None
    assert not viewer.reported


@pytest.mark.parametrize(
    ("compensated_after", "reported"), [(2, []), (NEVER, [Invariant.DEADLINE_MISSED])], ids=["an outage", "a defect"]
)
async def test_a_deadline_is_missed_if_no_entry_follows_an_answer(
    compensated_after: int, reported: list[Invariant]
) -> None:
    table = SilentTable(deadline_unix_ms=1, is_over_after=2, compensated_after=compensated_after)
    viewer = await played(table, are_out=False)
    assert [one.invariant for one in viewer.reported] == reported
