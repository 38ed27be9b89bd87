"""The engine's control service, for the lobby only."""

from typing import Any

import grpc

from croupier.engine.codec import (
    decode_clock,
    decode_options,
    decode_seat,
    encode_clock,
    encode_game,
    encode_options,
)
from croupier.engine.tables import Tables
from croupier.games.catalogue import GAMES
from croupier.runtime.errors import MalformedRequest, NotPermitted
from croupier.runtime.identity import caller
from croupier_api.v1 import engine_pb2, engine_pb2_grpc

SERVICE_NAME: str = engine_pb2.DESCRIPTOR.services_by_name["EngineControlService"].full_name
MOST_STATUSES = 500

Context = grpc.aio.ServicerContext[Any, Any]


class EngineControlServicer(engine_pb2_grpc.EngineControlServiceServicer):
    """EngineControlService."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register all methods."""
        engine_pb2_grpc.add_EngineControlServiceServicer_to_server(self, server)

    async def DescribeGames(
        self, request: engine_pb2.DescribeGamesRequest, context: Any
    ) -> engine_pb2.DescribeGamesResponse:
        """The games with their seats and options."""
        return engine_pb2.DescribeGamesResponse(games=[encode_game(game) for game in GAMES.values()])

    async def PrepareTable(
        self, request: engine_pb2.PrepareTableRequest, context: Any
    ) -> engine_pb2.PrepareTableResponse:
        """Check a table to come and commit to its seed."""
        _only_the_lobby()
        game = GAMES.get(request.game)
        known = game.options(request.seats) if game and request.seats in game.seats else ()
        config = await self._tables.prepare(
            request.table_id,
            request.game,
            request.seats,
            decode_options(request.options, known),
            decode_clock(request.clock),
        )
        return engine_pb2.PrepareTableResponse(
            options=encode_options(config.options),
            clock=encode_clock(config.clock),
            commitment=config.commitment,
            rules_version=config.rules_version,
        )

    async def OpenTable(self, request: engine_pb2.OpenTableRequest, context: Any) -> engine_pb2.OpenTableResponse:
        """Open a prepared table."""
        _only_the_lobby()
        seats = [decode_seat(seat) for seat in request.seats]
        await self._tables.open(request.table_id, seats, list(request.client_seeds))
        return engine_pb2.OpenTableResponse()

    async def GetTableStatuses(
        self, request: engine_pb2.GetTableStatusesRequest, context: Any
    ) -> engine_pb2.GetTableStatusesResponse:
        """How far tables are."""
        _only_the_lobby()
        if len(request.table_ids) > MOST_STATUSES:
            raise MalformedRequest(
                "TOO_MANY_IDS", f"at most {MOST_STATUSES} tables can be asked for", field="table_ids"
            )
        statuses = await self._tables.statuses(list(request.table_ids))
        return engine_pb2.GetTableStatusesResponse(
            statuses=[
                engine_pb2.TableStatus(table_id=table_id, finished=status == "finished")
                for table_id, status in statuses.items()
            ]
        )


def _only_the_lobby() -> None:
    if caller().id != "lobby":
        raise NotPermitted("LOBBY_ONLY", "only the lobby may call this")
