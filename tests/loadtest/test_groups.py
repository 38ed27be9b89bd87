"""Groups, who play some of their finished tables again."""

import asyncio
from itertools import count
from typing import Any, cast

import grpc

from croupier_api.v1 import engine_pb2, games_pb2, lobby_pb2, tables_pb2
from croupier_client import NotFound
from loadtest.judge.violations import Invariant
from loadtest.measures import Measures
from loadtest.mix import MixEntry
from loadtest.players.client import PlayerClient
from loadtest.players.groups import group
from loadtest.players.recorder import TableRecords
from loadtest.players.user_context import LoadSettings, UserContext
from loadtest.record import SeatRecord, TableRecord
from loadtest.scenarios import SCENARIOS
from tests.loadtest.test_seat_player import FakeTable

TABLES = 100
SEATS = 2
FINISHED = tables_pb2.TABLE_STATE_FINISHED


class FakeLobby:
    """A lobby at which every game is over at once; a defective one gives each player who plays again another table."""

    def __init__(self, *, is_defective: bool = False) -> None:
        self.tables: dict[str, tables_pb2.Table] = {}
        self.draining = asyncio.Event()
        self._is_defective = is_defective
        self._numbers = count()

    def add(self, seats: list[tables_pb2.Seat], previous_table_id: str = "") -> tables_pb2.Table:
        table = tables_pb2.Table(
            table_id=f"t{next(self._numbers)}", game="thulla", seats=seats, previous_table_id=previous_table_id
        )
        table.create_time.GetCurrentTime()
        self.tables[table.table_id] = table
        if len(self.tables) >= TABLES:
            self.draining.set()
        return table

    def take_seat(self, table: tables_pb2.Table, seat: tables_pb2.Seat) -> tables_pb2.Table:
        next(free for free in table.seats if not (free.player_id or free.bot)).CopyFrom(seat)
        return table

    def rematch(self, player_id: str, table_id: str) -> tables_pb2.Table:
        finished = self.tables[table_id]
        if not finished.next_table_id or self._is_defective:
            moved = [finished.seats[-1], *finished.seats[:-1]]
            reserved = [tables_pb2.Seat(bot=seat.bot, reserved_player_id=seat.player_id) for seat in moved]
            finished.next_table_id = self.add(reserved, table_id).table_id
        following = self.tables[finished.next_table_id]
        for seat in following.seats:
            if seat.reserved_player_id == player_id:
                seat.CopyFrom(tables_pb2.Seat(player_id=player_id))
        return following


class FakeClient:
    """A player of the lobby."""

    def __init__(self, lobby: FakeLobby, name: str) -> None:
        self.player = lobby_pb2.Player(player_id=name)
        self._lobby, self._seat = lobby, tables_pb2.Seat(player_id=name)

    async def list_games(self) -> lobby_pb2.ListGamesResponse:
        return lobby_pb2.ListGamesResponse(games=[games_pb2.GameDescription(game="thulla")])

    async def create_table(self, *, seat_count: int, **_: Any) -> lobby_pb2.CreateTableResponse:
        table = self._lobby.add([tables_pb2.Seat() for _ in range(seat_count)])
        return lobby_pb2.CreateTableResponse(table=self._lobby.take_seat(table, self._seat))

    async def join_table(self, *, table_id: str) -> None:
        self._lobby.take_seat(self._lobby.tables[table_id], self._seat)

    async def add_bot(self, *, table_id: str, bot: str) -> None:
        self._lobby.take_seat(self._lobby.tables[table_id], tables_pb2.Seat(bot=bot))

    async def set_ready(self, *, table_id: str, client_seed: bytes) -> None:
        self._lobby.tables[table_id].state = FINISHED

    async def get_table(self, *, table_id: str) -> lobby_pb2.GetTableResponse:
        return lobby_pb2.GetTableResponse(table=self._lobby.tables[table_id])

    async def rematch(self, *, table_id: str) -> lobby_pb2.RematchResponse:
        return lobby_pb2.RematchResponse(table=self._lobby.rematch(self.player.player_id, table_id))

    def recorded_table(self, table_id: str, viewer: SeatRecord) -> FakeTable:
        return FakeTable()

    async def get_view(self, *, table_id: str) -> engine_pb2.GetViewResponse:
        return engine_pb2.GetViewResponse()

    async def get_replay(self, *, table_id: str) -> engine_pb2.GetReplayResponse:
        raise NotFound(grpc.StatusCode.NOT_FOUND, "not of these tests")


class Run:
    """A group that plays until the lobby has had TABLES tables."""

    def __init__(self, lobby: FakeLobby) -> None:
        self.measures, self.submitted = Measures(), list[TableRecord]()
        settings = LoadSettings(SCENARIOS["ceiling"], (MixEntry("thulla", (SEATS,)),), seed=1)
        self.context = UserContext(
            settings,
            self.measures,
            TableRecords(self.measures, self._submit),
            lobby.draining,
            lambda name, *_: cast("PlayerClient", FakeClient(lobby, name)),
        )

    async def _submit(self, record: TableRecord) -> None:
        self.submitted.append(record)


async def test_a_share_of_the_finished_tables_is_played_again_and_judged() -> None:
    lobby = FakeLobby()
    run = Run(lobby)
    await group(run.context, "group")
    again = {table.table_id for table in lobby.tables.values() if table.previous_table_id}
    batch = run.measures.take()
    assert TABLES / 10 < batch["counts"]["checked rematches"] == len(again) < TABLES / 2
    assert again < {record.table_id for record in run.submitted}
    assert not batch["violations"]


async def test_a_table_whose_first_seat_has_a_bot_is_counted_once() -> None:
    lobby = FakeLobby()
    run = Run(lobby)
    await group(run.context, "group")
    assert any(table.seats[0].bot for table in lobby.tables.values())
    assert run.measures.take()["counts"]["tables opened"] == len(lobby.tables) == len(run.submitted)


async def test_players_who_get_different_tables_are_a_violation() -> None:
    run = Run(FakeLobby(is_defective=True))
    await group(run.context, "group")
    assert {one["invariant"] for one in run.measures.take()["violations"]} == {Invariant.REMATCH_WRONG}
