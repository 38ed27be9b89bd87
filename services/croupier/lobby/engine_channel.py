"""The engine over gRPC, with the lobby's own token and a deadline on each call."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import grpc
import structlog
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from croupier.lobby import codec
from croupier.lobby.engine_port import GameDescription, Preparation
from croupier.lobby.tables import Seat, TableClock
from croupier.runtime.errors import (
    AlreadyExists,
    IllegalNow,
    LimitReached,
    MalformedRequest,
    NotFound,
    ServiceError,
    Unavailable,
)
from croupier.runtime.identity import TokenIssuer
from croupier.runtime.logs import Logger
from croupier_api.v1 import engine_pb2, engine_pb2_grpc, table_pb2

SUBJECT = "lobby"
REFUSALS: Mapping[grpc.StatusCode, type[ServiceError]] = {
    kind.code: kind for kind in (MalformedRequest, IllegalNow, NotFound, AlreadyExists, LimitReached)
}
Response = TypeVar("Response")


class KeyRefused(Unavailable):
    """The engine does not know the key that this lobby signs with."""


class EngineChannel:
    """An EnginePort over a channel that the caller owns."""

    def __init__(self, channel: grpc.aio.Channel, issuer: TokenIssuer, timeout_seconds: float, logger: Logger) -> None:
        self._stub = engine_pb2_grpc.EngineControlServiceStub(channel)
        self._issuer = issuer
        self._timeout_seconds = timeout_seconds
        self._logger = logger

    async def describe_games(self) -> tuple[GameDescription, ...]:
        """The games in the order to show them."""
        response = await self._call(self._stub.DescribeGames, engine_pb2.DescribeGamesRequest())
        return tuple(codec.read_game(game) for game in response.games)

    async def prepare_table(
        self, table_id: str, game: str, seats: int, options: Mapping[str, str], clock: TableClock
    ) -> Preparation:
        """Check what is wanted and commit to the secret seed; idempotent by table."""
        request = engine_pb2.PrepareTableRequest(
            table_id=table_id,
            game=game,
            seats=seats,
            options=table_pb2.GameOptions(values=dict(options)),
            clock=codec.write_clock(clock),
        )
        response = await self._call(self._stub.PrepareTable, request, table_id)
        return Preparation(dict(response.options.values), codec.read_clock(response.clock), response.commitment)

    async def open_table(self, table_id: str, seats: Sequence[Seat]) -> None:
        """Open a prepared table and deal; idempotent by table."""
        request = engine_pb2.OpenTableRequest(
            table_id=table_id,
            seats=[codec.write_occupant(seat) for seat in seats],
            client_seeds=[seat.client_seed for seat in seats],
        )
        await self._call(self._stub.OpenTable, request, table_id)

    async def table_statuses(self, table_ids: Sequence[str]) -> Mapping[str, bool]:
        """Whether the game is over, for each of at most 500 tables that the engine knows."""
        request = engine_pb2.GetTableStatusesRequest(table_ids=table_ids)
        response = await self._call(self._stub.GetTableStatuses, request)
        return {status.table_id: status.finished for status in response.statuses}

    async def _call(self, method: Callable[..., Awaitable[Response]], request: Any, table_id: str = "") -> Response:
        token, _ = self._issuer.issue(SUBJECT)
        metadata = [("authorization", f"Bearer {token}")]
        if request_id := structlog.contextvars.get_contextvars().get("request_id"):
            metadata.append(("x-request-id", request_id))
        if table_id:
            metadata.append(("x-table-id", table_id))
        try:
            return await method(request, metadata=metadata, timeout=self._timeout_seconds)
        except grpc.aio.AioRpcError as error:
            refusal = refusal_of(error)
            if isinstance(refusal, Unavailable):
                self._logger.warning("the engine failed", code=error.code().name, details=error.details())
            raise refusal from None


def refusal_of(error: grpc.aio.AioRpcError) -> ServiceError:
    """What the engine refuses, as it said it; Unavailable for anything that is no concern of the player."""
    kind = REFUSALS.get(error.code())
    if kind is None:
        absent = KeyRefused if error.code() is grpc.StatusCode.UNAUTHENTICATED else Unavailable
        return absent("ENGINE_UNAVAILABLE", "the engine cannot answer now: try again", retry_after_seconds=1)
    info, field = _details(error)
    message = error.details() or "the engine refuses this"
    return kind(info.reason or error.code().name, message, field=field, metadata=dict(info.metadata))


def _details(error: grpc.aio.AioRpcError) -> tuple[error_details_pb2.ErrorInfo, str]:
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    try:
        status: status_pb2.Status | None = rpc_status.from_call(error)
    except ValueError:
        status = None
    for detail in status.details if status else ():
        if detail.Is(info.DESCRIPTOR):
            detail.Unpack(info)
        elif detail.Is(bad.DESCRIPTOR):
            detail.Unpack(bad)
    return info, bad.field_violations[0].field if bad.field_violations else ""
