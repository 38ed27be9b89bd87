"""Reports to the scoring service over gRPC."""

import grpc

from croupier.engine.codec import encode_seat
from croupier.engine.fact_codec import encode_counts, encode_ranking
from croupier.engine.reports import Report, ReportRejected, ResultReport, RoundReport
from croupier.runtime.identity import TokenIssuer
from croupier_api.v1 import scoring_pb2, scoring_pb2_grpc

DEADLINE_SECONDS = 5.0
CHECK_SECONDS = 2.0
FINAL_CODES = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.ALREADY_EXISTS)


class WrongKey(Exception):
    """Scoring knows another key than the one that this engine signs with."""


class ScoringChannel:
    """The port to scoring: each call carries a token of the engine's own."""

    def __init__(self, channel: grpc.aio.Channel, issuer: TokenIssuer) -> None:
        self._stub: scoring_pb2_grpc.ScoringControlServiceAsyncStub = scoring_pb2_grpc.ScoringControlServiceStub(
            channel
        )
        self._issuer = issuer

    async def send(self, report: Report) -> None:
        """Hand a report over; raises ReportRejected if scoring will never take it, AioRpcError to try again."""
        metadata = (("authorization", f"Bearer {self._issuer.issue('engine')[0]}"),)
        try:
            if isinstance(report, RoundReport):
                await self._stub.RecordRound(encode_round(report), timeout=DEADLINE_SECONDS, metadata=metadata)
            else:
                await self._stub.RecordResult(encode_result(report), timeout=DEADLINE_SECONDS, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            if error.code() in FINAL_CODES:
                raise ReportRejected(error.details()) from None
            raise

    async def check_access(self) -> None:
        """Ask whether scoring takes this engine's key; raises WrongKey if not, AioRpcError while it cannot be asked."""
        metadata = (("authorization", f"Bearer {self._issuer.issue('engine')[0]}"),)
        try:
            await self._stub.CheckAccess(scoring_pb2.CheckAccessRequest(), timeout=CHECK_SECONDS, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNAUTHENTICATED:
                raise WrongKey from None
            raise


def encode_round(report: RoundReport) -> scoring_pb2.RecordRoundRequest:
    """The request that enters a round."""
    config, ended = report
    return scoring_pb2.RecordRoundRequest(
        table_id=config.table_id,
        game=config.game,
        seats=[encode_seat(seat) for seat in config.seats],
        round=scoring_pb2.SheetRound(
            round=ended.round_number,
            points=ended.points,
            totals=ended.totals,
            notes=ended.notes,
            headline=ended.headline,
            details=dict(ended.details),
            counts=encode_counts(ended.counts),
        ),
    )


def encode_result(report: ResultReport) -> scoring_pb2.RecordResultRequest:
    """The request that enters a result."""
    config = report.config
    return scoring_pb2.RecordResultRequest(
        result=scoring_pb2.TableResult(
            table_id=config.table_id,
            game=config.game,
            seats=[encode_seat(seat) for seat in config.seats],
            ranking=encode_ranking(report.ended.ranking),
            totals=report.totals,
            finished_milliseconds=report.finished_at,
        )
    )
