"""The engine over gRPC, with the lobby's token and a deadline for each call."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

import grpc
import structlog
from grpc_status import rpc_status

from croupier.lobby.api import codec
from croupier.lobby.tables.engine_port import EndedTables, EnginePort, OfferedGames, Preparation, TableStatus
from croupier.lobby.tables.forming_table import OptionValue, Table, TimeControl
from croupier.runtime.errors import (
    AlreadyExists,
    IllegalNow,
    LimitReached,
    MalformedRequest,
    NotFound,
    ServiceError,
    Unavailable,
    from_status,
)
from croupier.runtime.identity.tokens import TokenIssuer
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.table_access_codec import encode_access
from croupier.runtime.translations import ENGLISH
from croupier_api.v1 import errors_pb2
from croupier_internal.v1 import engine_control_pb2 as pb
from croupier_internal.v1 import engine_control_pb2_grpc

SUBJECT = "lobby"
FORWARDED_ERRORS = (MalformedRequest, IllegalNow, NotFound, AlreadyExists, LimitReached, Unavailable)
"""Errors that concern the player; any other is a fault between lobby and engine."""
Response = TypeVar("Response")
Metadata: TypeAlias = list[tuple[str, str]]
SILENCE_SECONDS = 30.0
"""A stream without message for so long has failed: the engine sends one every 10 s."""
STREAM_SECONDS = 50.0
"""The time until a stream is resumed by a new call, which the key and the certificate of that time protect."""


class KeyRefused(Unavailable):
    """The engine does not know the key that this lobby signs with."""


class EngineChannel(EnginePort):
    """The engine over a channel that the caller owns."""

    def __init__(
        self, channel: grpc.aio.Channel, issuer: TokenIssuer, timeout_seconds: float, outages: OutageLog
    ) -> None:
        self._stub = engine_control_pb2_grpc.EngineControlServiceStub(channel)
        self._issuer = issuer
        self._timeout_seconds = timeout_seconds
        self._outages = outages

    async def describe_games(self, seat_count: int = 0, language: str = ENGLISH) -> OfferedGames:
        request = pb.DescribeGamesRequest(seat_count=seat_count, language=language)
        return codec.decode_games(await self._call(self._stub.DescribeGames, request))

    async def prepare_table(
        self,
        table_id: str,
        game: str,
        seats: int,
        options: Mapping[str, OptionValue],
        time_control: TimeControl,
        network: str = "",
        host_player_id: str = "",
        *,
        revision: int = 0,
        validate_only: bool = False,
    ) -> Preparation:
        request = pb.PrepareTableRequest(
            table_id=table_id,
            game=game,
            seat_count=seats,
            options=codec.encode_options(options),
            time_control=codec.encode_time_control(time_control),
            network=network,
            host_player_id=host_player_id,
            revision=revision,
            validate_only=validate_only,
        )
        return codec.decode_preparation(await self._call(self._stub.PrepareTable, request, table_id))

    async def open_table(self, table: Table) -> None:
        request = pb.OpenTableRequest(
            table_id=table.table_id,
            seats=map(codec.encode_played_seat, table.seats),
            client_seeds=[seat.client_seed for seat in table.seats],
            access=encode_access(table.access),
            removed_player_ids=table.access.removed_players,
            is_matched=table.access.is_matched,
            revision=table.revision,
            options=codec.encode_options(table.options),
            time_control=codec.encode_time_control(table.time_control),
            rules_version=table.rules_version,
        )
        await self._call(self._stub.OpenTable, request, table.table_id)

    async def discard_tables(self, table_ids: Sequence[str]) -> None:
        await self._call(self._stub.DiscardTables, pb.DiscardTablesRequest(table_ids=table_ids))

    async def forget_player(self, player_id: str, playing: Sequence[str], after: str) -> Sequence[str]:
        request = pb.ForgetPlayerRequest(player_id=player_id, playing_table_ids=playing, after_table_id=after)
        return list((await self._call(self._stub.ForgetPlayer, request)).table_ids)

    async def table_statuses(self, table_ids: Sequence[str]) -> Mapping[str, TableStatus]:
        request = pb.GetTableStatusesRequest(table_ids=table_ids)
        response = await self._call(self._stub.GetTableStatuses, request)
        return {one.table_id: codec.decode_status(one) for one in response.statuses}

    async def watch_ended_tables(self, resume_at: int) -> AsyncGenerator[EndedTables, None]:
        request = pb.WatchEndedTablesRequest(resume_unix_ms=resume_at)
        stream = self._stub.WatchEndedTables(request, metadata=self._metadata(), timeout=STREAM_SECONDS)
        responses = aiter(stream)
        try:
            while (response := await self._next(responses)) is not None:
                yield EndedTables(list(response.table_ids), response.resume_unix_ms)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
                raise self._failure(error) from None
        finally:
            stream.cancel()

    async def _call(self, method: Callable[..., Awaitable[Response]], request: Any, table_id: str = "") -> Response:
        try:
            response = await method(request, metadata=self._metadata(table_id), timeout=self._timeout_seconds)
        except grpc.aio.AioRpcError as error:
            raise self._failure(error) from None
        self._outages.succeeded()
        return response

    def _metadata(self, table_id: str = "") -> Metadata:
        token, _ = self._issuer.issue(SUBJECT)
        metadata = [("authorization", f"Bearer {token}")]
        if request_id := structlog.contextvars.get_contextvars().get("request_id"):
            metadata.append(("x-request-id", request_id))
        if table_id:
            metadata.append(("x-table-id", table_id))
        return metadata

    def _failure(self, error: grpc.aio.AioRpcError) -> ServiceError:
        failure = service_error(error)
        if isinstance(failure, Unavailable):
            self._outages.failed(f"{error.code().name}: {error.details()}")
        else:
            self._outages.succeeded()
        return failure

    async def _next(self, responses: AsyncIterator[Response]) -> Response | None:
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                response = await anext(responses, None)
        except TimeoutError:
            self._outages.failed("the stream of ended tables is silent")
            raise _unavailable() from None
        self._outages.succeeded()
        return response


def service_error(error: grpc.aio.AioRpcError) -> ServiceError:
    """Return the engine's own error if it concerns the player, Unavailable for any other failure."""
    with suppress(ValueError):
        status = rpc_status.from_call(error)
        decoded = from_status(status) if status else None
        if isinstance(decoded, FORWARDED_ERRORS):
            return decoded
    return _unavailable(KeyRefused if error.code() is grpc.StatusCode.UNAUTHENTICATED else Unavailable)


def _unavailable(kind: type[Unavailable] = Unavailable) -> Unavailable:
    return kind(
        errors_pb2.ERROR_REASON_SERVICE_UNAVAILABLE, "the engine does not answer: try again", retry_after_seconds=1
    )
