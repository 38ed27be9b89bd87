"""The contract's LobbyService: decodes, calls the domain, encodes."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

import grpc
from google.protobuf.duration_pb2 import Duration

from croupier.lobby.accounts.auth import DEVICE_CODE_SECONDS, AuthService, Tokens
from croupier.lobby.accounts.players import Player
from croupier.lobby.api import codec
from croupier.lobby.feed.heartbeats import with_heartbeats
from croupier.lobby.matchmaking.matchmaker import Matchmaker
from croupier.lobby.matchmaking.tickets import MatchCriteria
from croupier.lobby.metrics import LobbyMetrics
from croupier.lobby.player_deletions import PlayerDeletions
from croupier.lobby.tables.forming_table import ENDED, Table, TableState, TimeControl
from croupier.lobby.tables.games import GameRegistry
from croupier.lobby.tables.seated_players import SeatedPlayers
from croupier.lobby.tables.table_service import PAGE_SIZE, TableService, WatchedTable
from croupier.runtime.admission.budget import Budget
from croupier.runtime.admission.costs import (
    CREATE_TABLE_COST,
    REMATCH_COST,
    RENAMED_SEAT_COST,
    TABLES_PAGE_COST,
    TURNS_PER_UNIT,
)
from croupier.runtime.errors import ServiceError, invalid_field
from croupier.runtime.identity.tokens import Caller, Clock, unauthenticated
from croupier.runtime.paging import read_page
from croupier.runtime.server.call import Call
from croupier.runtime.steps import in_steps
from croupier.runtime.translations import language_of
from croupier_api.v1 import errors_pb2, lobby_pb2_grpc, tables_pb2
from croupier_api.v1 import lobby_pb2 as pb

Item = TypeVar("Item")
SERVICE_NAME = pb.DESCRIPTOR.services_by_name["LobbyService"].full_name
ENCODING_STEP = 25
WRONG_CODE_COST = 10
"""Of sign-ins: of 2^40 codes a hundred guesses at once, and six a minute, find hardly one."""
LIST_COMPLETE = pb.WatchTablesResponse(is_list_complete=True).SerializeToString()
"""The last field of messages, or all of one: encoded fields that follow each other are one message."""
OPEN_METHODS = frozenset(f"/{SERVICE_NAME}/{name}" for name in ("SignIn", "RefreshToken", "SignOut"))


@dataclass(frozen=True, slots=True)
class LobbyServicer:
    """LobbyService over the parts of a lobby. WatchTables writes bytes that are encoded once for all viewers."""

    auth: AuthService
    seated: SeatedPlayers
    deletions: PlayerDeletions
    tables: TableService
    matchmaker: Matchmaker
    games: GameRegistry
    time_control: TimeControl
    sign_ins: Budget
    metrics: LobbyMetrics
    clock: Clock
    encoded: codec.EncodedTables

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register all methods. Those that send tables by their hundreds write encoded messages, without serializer."""
        lobby_pb2_grpc.add_LobbyServiceServicer_to_server(cast("Any", self), server)
        handlers: dict[str, Any] = {
            "ListTables": grpc.unary_unary_rpc_method_handler(self.ListTables, pb.ListTablesRequest.FromString, None),
            "WatchTables": grpc.unary_stream_rpc_method_handler(
                self.WatchTables, pb.WatchTablesRequest.FromString, None
            ),
        }
        server.add_registered_method_handlers(SERVICE_NAME, handlers)

    async def SignIn(self, request: pb.SignInRequest, call: Call) -> pb.SignInResponse:
        if call.caller.network:
            self.sign_ins.pay(call.caller.network)
        player, tokens, is_new = await self._sign_in(request, call)
        if request.name and not is_new:
            await self.seated.rename(player)
        self.metrics.sign_ins.labels("true" if is_new else "false").inc()
        return pb.SignInResponse(player=codec.encode_player(player), tokens=codec.encode_tokens(tokens))

    async def _sign_in(self, request: pb.SignInRequest, call: Call) -> tuple[Player, Tokens, bool]:
        code = request.device_code
        if request.id_token and code:
            raise invalid_field("device_code", "invalid device_code: expected id_token or device_code, not both")
        if request.id_token:
            return await self.auth.sign_in_by_id_token(request.id_token, request.device_secret, request.name)
        wrong = errors_pb2.ERROR_REASON_INVALID_DEVICE_CODE
        with self._guessing(call.caller.network, wrong) if code else nullcontext():
            return await self.auth.sign_in(request.device_secret, request.name, code)

    async def RefreshToken(self, request: pb.RefreshTokenRequest, call: Call) -> pb.RefreshTokenResponse:
        player, tokens = await self.auth.refresh(request.refresh_token)
        return pb.RefreshTokenResponse(player=codec.encode_player(player), tokens=codec.encode_tokens(tokens))

    async def SignOut(self, request: pb.SignOutRequest, call: Call) -> pb.SignOutResponse:
        await self.auth.sign_out(request.refresh_token, all_devices=request.all_devices)
        return pb.SignOutResponse()

    async def GetPlayer(self, request: pb.GetPlayerRequest, call: Call) -> pb.GetPlayerResponse:
        player_id = call.caller.resolve_me(request.player_id or "me")
        if player_id == call.caller.id:
            return pb.GetPlayerResponse(player=await self._own(await self.auth.player(player_id)))
        return pb.GetPlayerResponse(player=codec.encode_player(await self.auth.find(player_id)))

    async def UpdatePlayer(self, request: pb.UpdatePlayerRequest, call: Call) -> pb.UpdatePlayerResponse:
        player = await self.auth.rename(call.caller.id, request.name)
        call.admission.owe(await self.seated.rename(player) * RENAMED_SEAT_COST)
        return pb.UpdatePlayerResponse(player=await self._own(player))

    async def DeletePlayer(self, request: pb.DeletePlayerRequest, call: Call) -> pb.DeletePlayerResponse:
        await self.deletions.delete(call.caller.id)
        return pb.DeletePlayerResponse()

    async def CreateDeviceCode(self, request: pb.CreateDeviceCodeRequest, call: Call) -> pb.CreateDeviceCodeResponse:
        code = await self.auth.create_device_code(call.caller.id)
        return pb.CreateDeviceCodeResponse(device_code=code, lifetime=Duration(seconds=DEVICE_CODE_SECONDS))

    async def _own(self, player: Player) -> pb.Player:
        """Return the message of a player for themselves."""
        return codec.encode_player(player, await self.auth.devices.count(player.player_id))

    async def ListGames(self, request: pb.ListGamesRequest, call: Call) -> pb.ListGamesResponse:
        language = language_of(request.language)
        return codec.encode_games(await self.games.list_games(request.seat_count, language), language)

    async def CreateTable(self, request: pb.CreateTableRequest, call: Call) -> pb.CreateTableResponse:
        spec, created_by = codec.decode_table_spec(request, self.time_control), codec.decode_create_request(request)
        host = await self.auth.player(call.caller.id)
        if request.validate_only:
            table = await self.tables.check(host, spec, call.caller.network)
        else:
            table = await self.tables.create(host, spec, call.caller.network, created_by)
        return pb.CreateTableResponse(table=self._encode(table, host.player_id))

    async def GetTable(self, request: pb.GetTableRequest, call: Call) -> pb.GetTableResponse:
        viewer = call.caller.id
        if request.invite_code:
            with self._guessing(call.caller.network or viewer, errors_pb2.ERROR_REASON_UNKNOWN_TABLE):
                table = await self.tables.get_by_invite_code(viewer, request.invite_code)
        else:
            table = await self.tables.get(viewer, request.table_id)
        return pb.GetTableResponse(table=self._encode(table, viewer))

    async def ListTables(self, request: pb.ListTablesRequest, call: Call) -> bytes:
        viewer, game, states = call.caller.id, request.game, codec.states_of(request.state)
        shown, token = await read_page(
            ("tables", game, request.state),
            request,
            partial(self.tables.list_public, game, states),
            lambda table: table.is_shown_to(viewer),
            lambda table: (table.created_milliseconds, table.table_id),
            call.admission.owe,
        )
        # WatchTablesResponse has its table under the number of the tables here: together its messages are a list.
        messages = [self.encoded.message(table, viewer) async for table in in_steps(shown, ENCODING_STEP)]
        return b"".join((*messages, pb.ListTablesResponse(next_page_token=token).SerializeToString()))

    async def ListMyTables(self, request: pb.ListMyTablesRequest, call: Call) -> pb.ListMyTablesResponse:
        player, states = call.caller.id, codec.own_states_of(request.state)
        tables, token = await read_page(
            ("my tables", player, request.state),
            request,
            partial(self.tables.list_own, player, ENDED.issuperset(states)),
            lambda table: table.state in states and table.seat_of(player) is not None,
            lambda table: (table.created_milliseconds, table.table_id),
            call.admission.owe,
        )
        played = sum(table.state is TableState.PLAYING for table in tables)
        call.admission.owe(-(-played // TURNS_PER_UNIT))
        mine = [
            codec.encode_my_table(self._encode(table, player), seat)
            async for table, seat in self.tables.with_seats(player, tables)
        ]
        return pb.ListMyTablesResponse(tables=mine, next_page_token=token)

    async def WatchTables(self, request: pb.WatchTablesRequest, call: Call) -> AsyncIterator[bytes]:
        viewer, network = call.caller.id, call.caller.network
        if bool(request.table_id) + bool(request.game) + request.mine > 1:
            field = "mine" if request.mine else "game"
            raise invalid_field(field, f"invalid {field}: expected at most one of table_id, game and mine")
        if request.mine:
            tables = self.tables.watch_own(viewer, network)
        elif request.table_id:
            tables = self.tables.watch_table(viewer, request.table_id, network)
        else:
            tables = self.tables.watch_public(viewer, request.game, network)
        alive = WatchedTable(None, False)
        heard = with_heartbeats(tables, alive, lambda last: last._replace(table=None, my_seat=None), _sender(call))
        listed = 0
        async with aclosing(self._until_expiry(heard, call.caller)) as until_expiry:
            async for table, is_list_complete, my_seat in until_expiry:
                message = self.encoded.message(table, viewer) if table else b""
                if my_seat is not None:
                    message += codec.encode_watched_seat(my_seat)
                yield message + LIST_COMPLETE if is_list_complete else message
                listed += not is_list_complete and table is not None
                if not is_list_complete and listed and listed % PAGE_SIZE == 0:
                    call.admission.owe(TABLES_PAGE_COST)

    async def JoinTable(self, request: pb.JoinTableRequest, call: Call) -> pb.JoinTableResponse:
        player, network = await self.auth.player(call.caller.id), call.caller.network
        seat = request.seat if request.HasField("seat") else None
        if request.invite_code:
            with self._guessing(network or player.player_id, errors_pb2.ERROR_REASON_UNKNOWN_TABLE):
                table = await self.tables.join_by_invite_code(player, request.invite_code, network, seat)
        else:
            table = await self.tables.join(player, request.table_id, network, seat)
        return pb.JoinTableResponse(table=self._encode(table, player.player_id))

    @contextmanager
    def _guessing(self, key: str, wrong: errors_pb2.ErrorReason.ValueType) -> Iterator[None]:
        """Let a call with a code, which may be guessed, take units if it is wrong; a right code needs them too.

        `wrong` is the reason of the refusal then. Devices of unknown networks have one bucket together.
        """
        self.sign_ins.pay(key, WRONG_CODE_COST)
        is_wrong = False
        try:
            yield
        except ServiceError as error:
            is_wrong = error.reason == wrong
            raise
        finally:
            if not is_wrong:
                self.sign_ins.give_back(key, WRONG_CODE_COST)

    async def UpdateTable(self, request: pb.UpdateTableRequest, call: Call) -> pb.UpdateTableResponse:
        viewer, spec = call.caller.id, codec.decode_table_spec(request, self.time_control)
        table = await self.tables.update(viewer, request.table_id, spec, validate_only=request.validate_only)
        return pb.UpdateTableResponse(table=self._encode(table, viewer))

    async def LeaveTable(self, request: pb.LeaveTableRequest, call: Call) -> pb.LeaveTableResponse:
        await self.tables.leave(call.caller.id, request.table_id)
        return pb.LeaveTableResponse()

    async def SetReady(self, request: pb.SetReadyRequest, call: Call) -> pb.SetReadyResponse:
        viewer = call.caller.id
        is_ready = request.is_ready if request.HasField("is_ready") else True
        table = await self.tables.set_ready(viewer, request.table_id, is_ready, request.client_seed)
        return pb.SetReadyResponse(table=self._encode(table, viewer))

    async def AddBot(self, request: pb.AddBotRequest, call: Call) -> pb.AddBotResponse:
        viewer = call.caller.id
        seat = request.seat if request.HasField("seat") else None
        table = await self.tables.add_bot(viewer, request.table_id, request.bot, seat)
        return pb.AddBotResponse(table=self._encode(table, viewer))

    async def ClearSeat(self, request: pb.ClearSeatRequest, call: Call) -> pb.ClearSeatResponse:
        viewer = call.caller.id
        table = await self.tables.clear_seat(viewer, request.table_id, request.seat, block=request.block)
        return pb.ClearSeatResponse(table=self._encode(table, viewer))

    async def Rematch(self, request: pb.RematchRequest, call: Call) -> pb.RematchResponse:
        player = await self.auth.player(call.caller.id)
        table, is_new = await self.tables.rematch(player, request.table_id, call.caller.network)
        if is_new:
            call.admission.owe(CREATE_TABLE_COST - REMATCH_COST)
        return pb.RematchResponse(table=self._encode(table, player.player_id))

    async def FindMatch(self, request: pb.FindMatchRequest, call: Call) -> AsyncIterator[pb.FindMatchResponse]:
        criteria = MatchCriteria(request.game, request.seat_count, request.preset)
        bots_after = codec.decode_bots_after(request)
        player = await self.auth.player(call.caller.id)
        stream = self.matchmaker.find_match(
            player, criteria, request.client_seed, request.request_id, call.caller.network, bots_after
        )
        heard = with_heartbeats(stream, None, lambda progress: progress, _sender(call))
        async with aclosing(self._until_expiry(heard, call.caller)) as until_expiry:
            async for ticket_id, waiting_count, table in until_expiry:
                if table is not None and table.host_player_id == player.player_id:
                    call.admission.owe(CREATE_TABLE_COST)
                shown = self._encode(table, player.player_id) if table else None
                yield pb.FindMatchResponse(ticket_id=ticket_id, waiting_count=waiting_count, table=shown)

    def _encode(self, table: Table, viewer_id: str) -> tables_pb2.Table:
        return codec.encode_table(table, viewer_id, self.encoded.lifetime)

    async def _until_expiry(self, stream: AsyncGenerator[Item, None], caller: Caller) -> AsyncGenerator[Item, None]:
        """Yield the items of a stream until the token of its caller expires; then raises Unauthenticated."""
        expires_at = caller.expires_at
        async with aclosing(stream):
            while True:
                seconds = None if expires_at is None else (expires_at - self.clock()) / 1000
                try:
                    async with asyncio.timeout(seconds):
                        item = await anext(stream)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    raise unauthenticated("the token has expired: call again with a new one") from None
                yield item


def _sender(call: Call) -> Callable[[], Awaitable[None]]:
    """Return what sends the headers of a call's response."""
    return lambda: call.context.send_initial_metadata(())
