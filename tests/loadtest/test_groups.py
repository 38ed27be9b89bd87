"""Groups, who form their tables by all calls around a table, and play some of them again."""

import asyncio
from collections.abc import AsyncGenerator
from itertools import count
from typing import Any, cast

import grpc
import pytest

from croupier_api.v1 import engine_pb2, games_pb2, lobby_pb2, tables_pb2
from croupier_client import NotFound
from croupier_client.rpc import Rpc
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.measures import Measures
from croupier_loadtest.mix import MixEntry
from croupier_loadtest.players.client import PlayerClient
from croupier_loadtest.players.groups import group
from croupier_loadtest.players.own_tables import OwnTables
from croupier_loadtest.players.recorder import TableRecords
from croupier_loadtest.players.user_context import LoadSettings, UserContext
from croupier_loadtest.record import SeatRecord, TableRecord
from croupier_loadtest.scenarios import SCENARIOS
from tests.loadtest.test_seat_player import FakeTable

TABLES = 300
SEATS = 3
FORMING, FINISHED = tables_pb2.TABLE_STATE_FORMING, tables_pb2.TABLE_STATE_FINISHED


class FakeLobby:
    """A lobby at which every game is over at once; `defects` names what is wrong with it."""

    def __init__(self, *defects: str) -> None:
        self.tables: dict[str, tables_pb2.Table] = {}
        self.names: dict[str, str] = {}
        self.requests: dict[str, tables_pb2.Table] = {}
        self.draining = asyncio.Event()
        self.defects = defects
        self._numbers = count()

    def add(self, seats: list[tables_pb2.Seat], host: str, **fields: Any) -> tables_pb2.Table:
        number = next(self._numbers)
        table = tables_pb2.Table(
            table_id=f"t{number}",
            game="thulla",
            seats=seats,
            host_player_id=host,
            state=FORMING,
            invite_code=f"CODE{number}",
            seed_commitment=f"{number:064x}",
            **fields,
        )
        table.create_time.GetCurrentTime()
        self.tables[table.table_id] = table
        if len(self.tables) >= TABLES:
            self.draining.set()
        return table

    def create(self, player_id: str, request: lobby_pb2.CreateTableRequest) -> tables_pb2.Table:
        if request.request_id in self.requests and "repeat" not in self.defects:
            return self.requests[request.request_id]
        seats = [tables_pb2.Seat(player_id=player_id, is_ready=request.is_ready and "creation" not in self.defects)]
        seats += [tables_pb2.Seat(bot=bot, is_ready=True) for bot in request.bots]
        seats += [tables_pb2.Seat()] * (request.seat_count - len(seats))
        table = self.add(seats, player_id, access=request.access, time_control=request.time_control)
        if not table.access.visibility:
            table.access.visibility = tables_pb2.VISIBILITY_EVERYONE
        self.requests[request.request_id] = table
        return self._begun(table)

    def update(self, request: lobby_pb2.UpdateTableRequest) -> tables_pb2.Table:
        table = self.tables[request.table_id]
        table.time_control.CopyFrom(request.time_control)
        if "update" not in self.defects:
            table.seed_commitment = table.seed_commitment[::-1]
            for seat in table.seats:
                seat.is_ready = bool(seat.bot)
        return table

    def join(self, player_id: str, table: tables_pb2.Table, seat: int | None) -> tables_pb2.Table:
        free = [number for number, one in enumerate(table.seats) if not (one.player_id or one.bot)]
        for one in table.seats:
            if one.player_id == player_id:
                one.Clear()
        number = free[0] if seat is None or "seat" in self.defects else seat
        table.seats[number].CopyFrom(tables_pb2.Seat(player_id=player_id, name=self.names.get(player_id, "")))
        return table

    def add_bot(self, table_id: str, bot: str) -> None:
        table = self.tables[table_id]
        free = next(seat for seat in table.seats if not (seat.player_id or seat.bot))
        free.CopyFrom(tables_pb2.Seat(bot=bot, is_ready=True))
        self._begun(table)

    def get_ready(self, player_id: str, table_id: str) -> None:
        table = self.tables[table_id]
        for seat in table.seats:
            # Players who play again at different tables wait for nobody.
            seat.is_ready |= seat.player_id == player_id or "rematch" in self.defects
        self._begun(table)

    def _begun(self, table: tables_pb2.Table) -> tables_pb2.Table:
        if all(seat.is_ready for seat in table.seats):
            table.state = FINISHED
        return table

    def look(self, code: str) -> tables_pb2.Table:
        table = next(one for one in self.tables.values() if one.invite_code == code)
        shown = tables_pb2.Table()
        shown.CopyFrom(table)
        if "look" not in self.defects:
            shown.invite_code = ""
        return shown

    def rename(self, player_id: str, name: str) -> lobby_pb2.Player:
        self.names[player_id] = name
        for seat in (seat for table in self.tables.values() for seat in table.seats if seat.player_id == player_id):
            seat.name = "" if "name" in self.defects else name
        return lobby_pb2.Player(player_id=player_id, name=name)

    def own(self, player_id: str) -> list[lobby_pb2.MyTable]:
        """Return the newest table of a player, as if it were still being played."""
        begun = [table for table in self.tables.values() if table.state != FORMING]
        table = next(table for table in reversed(begun) if any(seat.player_id == player_id for seat in table.seats))
        seat = next(number for number, one in enumerate(table.seats) if one.player_id == player_id)
        mine = lobby_pb2.MyTable(table=table, my_seat=lobby_pb2.MySeat(seat=seat))
        mine.table.state = tables_pb2.TABLE_STATE_PLAYING
        return [] if "list" in self.defects else [mine]

    def rematch(self, player_id: str, table_id: str) -> tables_pb2.Table:
        finished = self.tables[table_id]
        if not finished.next_table_id or "rematch" in self.defects:
            moved = [finished.seats[-1], *finished.seats[:-1]]
            reserved = [
                tables_pb2.Seat(bot=seat.bot, is_ready=bool(seat.bot), reserved_player_id=seat.player_id)
                for seat in moved
            ]
            fields = {"access": finished.access, "time_control": finished.time_control}
            finished.next_table_id = self.add(reserved, player_id, previous_table_id=table_id, **fields).table_id
        following = self.tables[finished.next_table_id]
        for seat in following.seats:
            if seat.reserved_player_id == player_id:
                seat.CopyFrom(tables_pb2.Seat(player_id=player_id))
        return following


class FakeClient:
    """A player of the lobby."""

    def __init__(self, lobby: FakeLobby, name: str) -> None:
        self.player = lobby_pb2.Player(player_id=name)
        self._lobby, self._id = lobby, name

    async def list_games(self) -> lobby_pb2.ListGamesResponse:
        return lobby_pb2.ListGamesResponse(games=[games_pb2.GameDescription(game="thulla")])

    async def invoke(self, rpc: Rpc[Any]) -> Any:
        request = rpc.request
        if isinstance(request, lobby_pb2.CreateTableRequest):
            table = self._lobby.create(self._id, request)
        else:
            assert isinstance(request, lobby_pb2.UpdateTableRequest)
            table = self._lobby.update(request)
        return rpc.response(table=table)

    async def open(self, rpc: Rpc[Any]) -> AsyncGenerator[lobby_pb2.WatchTablesResponse, None]:
        return self._watch()

    async def _watch(self) -> AsyncGenerator[lobby_pb2.WatchTablesResponse, None]:
        yield lobby_pb2.WatchTablesResponse(is_list_complete=True)
        if "stream" in self._lobby.defects:
            yield lobby_pb2.WatchTablesResponse(table=tables_pb2.Table(table_id="foreign", state=FORMING))
        await asyncio.Event().wait()

    async def join_table(
        self, *, table_id: str = "", invite_code: str = "", seat: int | None = None
    ) -> lobby_pb2.JoinTableResponse:
        table = next(
            one for one in self._lobby.tables.values() if table_id == one.table_id or invite_code == one.invite_code
        )
        return lobby_pb2.JoinTableResponse(table=self._lobby.join(self._id, table, seat))

    async def add_bot(self, *, table_id: str, bot: str) -> None:
        self._lobby.add_bot(table_id, bot)

    async def set_ready(self, *, table_id: str, client_seed: bytes) -> None:
        self._lobby.get_ready(self._id, table_id)

    async def get_table(self, *, table_id: str = "", invite_code: str = "") -> lobby_pb2.GetTableResponse:
        if invite_code:
            return lobby_pb2.GetTableResponse(table=self._lobby.look(invite_code))
        return lobby_pb2.GetTableResponse(table=self._lobby.tables[table_id])

    async def update_player(self, *, name: str) -> lobby_pb2.UpdatePlayerResponse:
        return lobby_pb2.UpdatePlayerResponse(player=self._lobby.rename(self._id, name))

    async def get_player(self) -> lobby_pb2.GetPlayerResponse:
        return lobby_pb2.GetPlayerResponse(
            player=lobby_pb2.Player(player_id=self._id, name=self._lobby.names[self._id])
        )

    async def list_my_tables(self) -> lobby_pb2.ListMyTablesResponse:
        return lobby_pb2.ListMyTablesResponse(tables=self._lobby.own(self._id))

    async def rematch(self, *, table_id: str) -> lobby_pb2.RematchResponse:
        return lobby_pb2.RematchResponse(table=self._lobby.rematch(self._id, table_id))

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
        settings = LoadSettings(SCENARIOS["ceiling"], (MixEntry("thulla", (SEATS,), bot="random"),), seed=1)
        self.context = UserContext(
            settings,
            self.measures,
            TableRecords(self.measures, self._submit),
            lobby.draining,
            lambda name, *_: cast("PlayerClient", FakeClient(lobby, name)),
        )

    async def _submit(self, record: TableRecord) -> None:
        self.submitted.append(record)


CHECKS = ("rematches", "creations", "repeated creations", "looks", "chosen seats", "new names", "updates")
OF_OWN_TABLES = ("lists of own tables", "streams of own tables")


async def test_shares_of_all_calls_around_a_table_are_made_and_judged() -> None:
    lobby = FakeLobby()
    run = Run(lobby)
    await group(run.context, "group")
    again = {table.table_id for table in lobby.tables.values() if table.previous_table_id}
    batch = run.measures.take()
    counts = batch["counts"]
    assert not batch["violations"]
    assert TABLES / 10 < counts["checked rematches"] == len(again) < TABLES / 2
    assert again < {record.table_id for record in run.submitted}
    assert all(counts[f"checked {name}"] for name in (*CHECKS, *OF_OWN_TABLES)), counts
    assert counts["checked updates"] < TABLES / 4


async def test_a_table_whose_first_seat_has_a_bot_is_counted_once() -> None:
    lobby = FakeLobby()
    run = Run(lobby)
    await group(run.context, "group")
    assert any(table.seats[0].bot for table in lobby.tables.values())
    assert run.measures.take()["counts"]["tables opened"] == len(lobby.tables) == len(run.submitted)


DEFECTS = {
    "rematch": Invariant.REMATCH_WRONG,
    "creation": Invariant.FORMING_WRONG,
    "repeat": Invariant.REPEAT_DIFFERS,
    "look": Invariant.FORMING_WRONG,
    "seat": Invariant.FORMING_WRONG,
    "name": Invariant.FORMING_WRONG,
    "update": Invariant.FORMING_WRONG,
    "list": Invariant.OWN_TABLES_WRONG,
    "stream": Invariant.OWN_TABLES_WRONG,
}


@pytest.mark.parametrize("defect", DEFECTS)
async def test_a_defect_of_the_lobby_is_a_violation(defect: str) -> None:
    run = Run(FakeLobby(defect))
    await group(run.context, "group")
    assert {one["invariant"] for one in run.measures.take()["violations"]} == {DEFECTS[defect]}


class MovingClient:
    """A client whose stream begins while the player has seat 1 of a table that is forming."""

    def __init__(self) -> None:
        self.player = lobby_pb2.Player(player_id="anna")
        self.has_begun = asyncio.Event()

    async def open(self, rpc: Rpc[Any]) -> AsyncGenerator[lobby_pb2.WatchTablesResponse, None]:
        return self._watch()

    async def _watch(self) -> AsyncGenerator[lobby_pb2.WatchTablesResponse, None]:
        table = table_of_anna(1, FORMING)
        yield lobby_pb2.WatchTablesResponse(table=table, my_seat=lobby_pb2.MySeat(seat=1, is_away=False))
        yield lobby_pb2.WatchTablesResponse(is_list_complete=True)
        self.has_begun.set()
        await asyncio.Event().wait()


def table_of_anna(seat: int, state: tables_pb2.TableState.ValueType) -> tables_pb2.Table:
    table = tables_pb2.Table(table_id="t", state=state, seats=[tables_pb2.Seat(bot="random")] * SEATS)
    table.seats[seat].CopyFrom(tables_pb2.Seat(player_id="anna"))
    return table


async def test_a_player_may_move_to_another_seat_after_their_stream_of_tables_has_begun() -> None:
    run, client = Run(FakeLobby()), MovingClient()
    own = OwnTables(run.context, cast("PlayerClient", client))
    following = asyncio.create_task(own.follow())
    await client.has_begun.wait()
    own.sat_down(table_of_anna(0, tables_pb2.TABLE_STATE_PLAYING))
    following.cancel()
    await asyncio.wait([following])
    batch = run.measures.take()
    assert batch["counts"]["checked streams of own tables"] == 1
    assert not batch["violations"]
