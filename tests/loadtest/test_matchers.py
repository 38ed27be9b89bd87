"""A matched player plays each table once."""

import asyncio
from typing import Any, Self, cast

import grpc

from croupier_api.v1 import engine_pb2, lobby_pb2, tables_pb2
from croupier_client import TimedOut, Unavailable
from loadtest.measures import Measures
from loadtest.mix import MixEntry
from loadtest.players.client import PlayerClient
from loadtest.players.groups import matcher
from loadtest.players.recorder import TableRecords
from loadtest.players.user_context import LoadSettings, UserContext
from loadtest.record import SeatRecord, TableRecord
from loadtest.scenarios import SCENARIOS

TABLE = tables_pb2.Table(table_id="t", game="thulla", seats=[tables_pb2.Seat(player_id="p")] * 2)


class FinishedTable:
    """A table whose game is over."""

    sequence = 7

    async def __aenter__(self) -> Self:
        return self

    async def close(self) -> None:
        pass

    async def wait_for_turn(self, *, timeout_seconds: float) -> bool:
        return False

    async def wait_for_change(self, **_: Any) -> None:
        pass


class Matched:
    """A client that is matched to the same table again and again, until the run drains."""

    def __init__(self, matches: int, draining: asyncio.Event) -> None:
        self.player = lobby_pb2.Player(player_id="p")
        self._matches, self._draining = matches, draining

    async def be_matched(self, **_: Any) -> tables_pb2.Table:
        if not self._matches:
            self._draining.set()
            raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, "the run drains")
        self._matches -= 1
        return TABLE

    def recorded_table(self, table_id: str, viewer: SeatRecord) -> FinishedTable:
        return FinishedTable()

    async def get_view(self, *, table_id: str) -> engine_pb2.GetViewResponse:
        return engine_pb2.GetViewResponse(snapshot=engine_pb2.Snapshot(sequence=FinishedTable.sequence))

    async def get_replay(self, **_: Any) -> engine_pb2.GetReplayResponse:
        raise Unavailable(grpc.StatusCode.UNAVAILABLE, "not of this test")


async def test_a_table_that_the_lobby_sends_again_is_played_once() -> None:
    """A lobby does so if the stream of the match broke before its end."""
    draining, submitted = asyncio.Event(), list[TableRecord]()

    async def submit(record: TableRecord) -> None:
        submitted.append(record)

    measures = Measures()
    client = cast("PlayerClient", Matched(3, draining))
    games = (MixEntry("thulla", (2,)),)
    context = UserContext(
        LoadSettings(SCENARIOS["ceiling"], games, 1),
        measures,
        TableRecords(measures, submit),
        draining,
        lambda *_: client,
    )
    await matcher(context, "matcher")
    assert [record.table_id for record in submitted] == ["t"]
    assert measures.take()["counts"]["matches repeated"] == 2
