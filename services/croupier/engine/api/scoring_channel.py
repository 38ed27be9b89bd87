"""Reports to the scoring service over gRPC."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import grpc

from croupier.engine.api.fact_codec import encode_ranking, encode_score
from croupier.engine.api.outbox import ReportRejected, ScoringPort
from croupier.engine.api.stream_codec import encode_time
from croupier.engine.api.table_codec import encode_seat, encode_standing
from croupier.engine.core.reports import Report, ResultReport, RoundReport
from croupier.engine.settings import EngineSettings
from croupier.runtime.errors import Unavailable
from croupier.runtime.identity.tokens import TokenIssuer
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.server.program import SettingsError
from croupier.runtime.table_access import TableAccess
from croupier.runtime.table_access_codec import encode_access
from croupier_api.v1 import errors_pb2, scoring_pb2
from croupier_internal.v1 import scoring_control_pb2, scoring_control_pb2_grpc

Response = TypeVar("Response")
DEADLINE_SECONDS = 5.0
CHECK_SECONDS = 2.0
PAUSE_SECONDS = 1.0
FINAL_CODES = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.ALREADY_EXISTS)


class WrongKey(Unavailable):
    """Scoring does not accept the key of this engine."""


class ScoringChannel(ScoringPort):
    """The port to scoring: each call carries a token of the engine's own."""

    def __init__(self, channel: grpc.aio.Channel, issuer: TokenIssuer, outages: OutageLog) -> None:
        self._stub = scoring_control_pb2_grpc.ScoringControlServiceStub(channel)
        self._issuer = issuer
        self._outages = outages

    async def send(self, report: Report) -> None:
        try:
            if isinstance(report, RoundReport):
                await self._call(self._stub.RecordRound, encode_round(report), DEADLINE_SECONDS)
            else:
                await self._call(self._stub.RecordResult, encode_result(report), DEADLINE_SECONDS)
        except grpc.aio.AioRpcError as error:
            if error.code() in FINAL_CODES:
                raise ReportRejected(error.details()) from None
            raise self._failure(error) from None

    async def remove_player_name(self, player_id: str, playing: Sequence[str], after: str) -> Sequence[str]:
        request = scoring_control_pb2.RemovePlayerNameRequest(
            player_id=player_id, playing_table_ids=playing, after_table_id=after
        )
        try:
            answer = await self._call(self._stub.RemovePlayerName, request, DEADLINE_SECONDS)
        except grpc.aio.AioRpcError as error:
            raise self._failure(error) from None
        return list(answer.table_ids)

    async def check_access(self) -> None:
        """Check that scoring accepts this engine's key; raises WrongKey, or Unavailable without an answer."""
        try:
            await self._call(self._stub.CheckAccess, scoring_control_pb2.CheckAccessRequest(), CHECK_SECONDS)
        except grpc.aio.AioRpcError as error:
            raise self._failure(error) from None

    async def _call(self, method: Callable[..., Awaitable[Response]], request: object, seconds: float) -> Response:
        token, _ = self._issuer.issue("engine")
        response = await method(request, timeout=seconds, metadata=(("authorization", f"Bearer {token}"),))
        self._outages.succeeded()
        return response

    def _failure(self, error: grpc.aio.AioRpcError) -> Unavailable:
        self._outages.failed(f"{error.code().name}: {error.details()}")
        kind = WrongKey if error.code() is grpc.StatusCode.UNAUTHENTICATED else Unavailable
        return kind(errors_pb2.ERROR_REASON_SERVICE_UNAVAILABLE, "scoring does not answer: try again")


async def check_key(scoring: ScoringChannel, settings: EngineSettings) -> None:
    """Wait until scoring has accepted this engine's key; raises SettingsError if it does not."""
    while True:
        try:
            return await scoring.check_access()
        except WrongKey:
            raise SettingsError(
                f"scoring at {settings.scoring_control} does not take this engine's key: give it the public key "
                f"that belongs to {settings.signing_key} as --engine-public-key"
            ) from None
        except Unavailable:
            await asyncio.sleep(PAUSE_SECONDS)


def encode_round(report: RoundReport) -> scoring_control_pb2.RecordRoundRequest:
    """Return the request that records a round."""
    config, score = report
    return scoring_control_pb2.RecordRoundRequest(
        table_id=config.table_id,
        game=config.game,
        seats=[encode_seat(seat) for seat in config.seats],
        score=encode_score(score),
        **_access_fields(config.access),
    )


def encode_result(report: ResultReport) -> scoring_control_pb2.RecordResultRequest:
    """Return the request that records a result."""
    config = report.config
    result = scoring_pb2.GameResult(
        table_id=config.table_id,
        game=config.game,
        seats=[encode_seat(seat) for seat in config.seats],
        ranking=encode_ranking(report.ended.ranking),
        totals=report.totals,
        end_time=encode_time(report.finished_at),
        is_void=report.ended.is_void,
        conduct=[scoring_pb2.SeatConduct(**conduct._asdict()) for conduct in report.conduct],
        outcomes=report.outcomes,
    )
    return scoring_control_pb2.RecordResultRequest(
        result=result, standing=encode_standing(report.standing), **_access_fields(config.access)
    )


def _access_fields(access: TableAccess) -> dict[str, Any]:
    return {
        "access": encode_access(access),
        "is_matched": access.is_matched,
        "removed_player_ids": access.removed_players,
    }
