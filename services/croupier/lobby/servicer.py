"""The contract's LobbyService: translates and calls, decides nothing."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from croupier.lobby import codec
from croupier.lobby.forming import Forming
from croupier.lobby.games import GameCatalogue
from croupier.lobby.matching import Matching
from croupier.lobby.metrics import LobbyMetrics
from croupier.lobby.players import Player
from croupier.lobby.tables import TableClock
from croupier.lobby.tokens import Reception
from croupier.runtime.errors import MalformedRequest
from croupier.runtime.identity import caller
from croupier.runtime.paging import page_size, read_page_token, write_page_token
from croupier_api.v1 import lobby_pb2 as pb
from croupier_api.v1 import lobby_pb2_grpc

SERVICE_NAME = pb.DESCRIPTOR.services_by_name["LobbyService"].full_name
OPEN_METHODS = frozenset({f"/{SERVICE_NAME}/SignIn", f"/{SERVICE_NAME}/RefreshToken"})


class LobbyServicer(lobby_pb2_grpc.LobbyServiceServicer):
    """Players and tables to be."""

    def __init__(
        self,
        reception: Reception,
        forming: Forming,
        matching: Matching,
        games: GameCatalogue,
        usual_clock: TableClock,
        metrics: LobbyMetrics,
    ) -> None:
        self._reception = reception
        self._forming = forming
        self._matching = matching
        self._games = games
        self._usual_clock = usual_clock
        self._metrics = metrics

    async def SignIn(self, request: pb.SignInRequest, context: Any) -> pb.SignInResponse:
        player, tokens, new = await self._reception.sign_in(request.device_secret, request.name)
        self._metrics.sign_ins.labels("true" if new else "false").inc()
        return pb.SignInResponse(player=codec.write_player(player), tokens=codec.write_tokens(tokens))

    async def RefreshToken(self, request: pb.RefreshTokenRequest, context: Any) -> pb.RefreshTokenResponse:
        return pb.RefreshTokenResponse(tokens=codec.write_tokens(await self._reception.refresh(request.refresh_token)))

    async def ListGames(self, request: pb.ListGamesRequest, context: Any) -> pb.ListGamesResponse:
        return pb.ListGamesResponse(games=[codec.write_game(game) for game in await self._games.all()])

    async def CreateTable(self, request: pb.CreateTableRequest, context: Any) -> pb.CreateTableResponse:
        host = _player()
        table = await self._forming.create(host, codec.read_table_wish(request, self._usual_clock))
        return pb.CreateTableResponse(table=codec.write_table(table, host.player_id))

    async def GetTable(self, request: pb.GetTableRequest, context: Any) -> pb.GetTableResponse:
        viewer = caller().id
        table = await self._forming.get(viewer, codec.read_id("table_id", request.table_id))
        return pb.GetTableResponse(table=codec.write_table(table, viewer))

    async def ListTables(self, request: pb.ListTablesRequest, context: Any) -> pb.ListTablesResponse:
        game, states = codec.read_optional_id("game", request.game), codec.read_states(request.state)
        size = page_size(request.page_size)
        query = ("tables", game, request.state)
        cursor = read_page_token(query, request.page_token, (int, str))
        before = (cursor[0], cursor[1]) if cursor else None
        # One more than the page tells whether there is another page.
        tables = await self._forming.public(game, states, before, size + 1)
        last = tables[size - 1] if len(tables) > size else None
        token = write_page_token(query, [last.created_milliseconds, last.table_id]) if last else ""
        viewer = caller().id
        return pb.ListTablesResponse(
            tables=[codec.write_table(table, viewer) for table in tables[:size]], next_page_token=token
        )

    async def WatchTables(self, request: pb.WatchTablesRequest, context: Any) -> AsyncIterator[pb.WatchTablesResponse]:
        viewer = caller().id
        if request.table_id and request.game:
            raise MalformedRequest("WATCH", "table_id and game exclude each other: set one of them", field="game")
        if request.table_id:
            tables = self._forming.watch_one(viewer, codec.read_id("table_id", request.table_id))
        else:
            tables = self._forming.watch_public(viewer, codec.read_optional_id("game", request.game))
        async with aclosing(tables):
            async for table in tables:
                yield pb.WatchTablesResponse(table=codec.write_table(table, viewer))

    async def JoinTable(self, request: pb.JoinTableRequest, context: Any) -> pb.JoinTableResponse:
        player = _player()
        match request.WhichOneof("target"):
            case "table_id":
                table = await self._forming.join(player, codec.read_id("table_id", request.table_id))
            case "invite_code":
                table = await self._forming.join_invited(player, codec.read_id("invite_code", request.invite_code))
            case _:
                raise MalformedRequest("TARGET", "target is missing: set table_id or invite_code", field="target")
        return pb.JoinTableResponse(table=codec.write_table(table, player.player_id))

    async def LeaveTable(self, request: pb.LeaveTableRequest, context: Any) -> pb.LeaveTableResponse:
        await self._forming.leave(caller().id, codec.read_id("table_id", request.table_id))
        return pb.LeaveTableResponse()

    async def SetReady(self, request: pb.SetReadyRequest, context: Any) -> pb.SetReadyResponse:
        viewer, seed = caller().id, codec.read_client_seed(request.client_seed)
        table_id = codec.read_id("table_id", request.table_id)
        table = await self._forming.set_ready(viewer, table_id, request.ready, seed)
        return pb.SetReadyResponse(table=codec.write_table(table, viewer))

    async def AddBot(self, request: pb.AddBotRequest, context: Any) -> pb.AddBotResponse:
        viewer, bot = caller().id, codec.read_optional_id("bot", request.bot)
        seat = request.seat if request.HasField("seat") else None
        table = await self._forming.add_bot(viewer, codec.read_id("table_id", request.table_id), bot, seat)
        return pb.AddBotResponse(table=codec.write_table(table, viewer))

    async def RemoveSeat(self, request: pb.RemoveSeatRequest, context: Any) -> pb.RemoveSeatResponse:
        viewer = caller().id
        table = await self._forming.remove_seat(viewer, codec.read_id("table_id", request.table_id), request.seat)
        return pb.RemoveSeatResponse(table=codec.write_table(table, viewer))

    async def QuickMatch(self, request: pb.QuickMatchRequest, context: Any) -> AsyncIterator[pb.QuickMatchResponse]:
        player, seed = _player(), codec.read_client_seed(request.client_seed)
        request_id = codec.read_optional_id("request_id", request.request_id)
        async with aclosing(self._matching.quick_match(player, codec.read_wish(request), seed, request_id)) as stream:
            async for news in stream:
                yield codec.write_news(news, player.player_id)


def _player() -> Player:
    known = caller()
    return Player(known.id, known.name)
