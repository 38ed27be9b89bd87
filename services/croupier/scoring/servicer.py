"""Scoring's gRPC services: they translate, ask the ledger and translate back."""

from collections.abc import Awaitable
from typing import Any, Literal

import grpc

from croupier.runtime.errors import AlreadyExists
from croupier.runtime.identity import caller
from croupier.runtime.paging import foreign_token, page_size, read_page_token, write_page_token
from croupier.scoring import codec
from croupier.scoring.ledger import Ledger
from croupier.scoring.metrics import LedgerMetrics
from croupier.scoring.records import LeaderboardLine, Records
from croupier.scoring.standings import Statistics
from croupier_api.v1 import scoring_pb2 as pb
from croupier_api.v1 import scoring_pb2_grpc

COUNTS = range(2**31)
Context = grpc.aio.ServicerContext[Any, Any]


class ScoringServicer(scoring_pb2_grpc.ScoringServiceServicer):
    """Results for everybody who is signed in."""

    def __init__(self, ledger: Ledger, records: Records) -> None:
        self._ledger = ledger
        self._records = records

    async def GetScoreSheet(self, request: pb.GetScoreSheetRequest, context: Context) -> pb.GetScoreSheetResponse:
        """The score sheet of a table."""
        return codec.write_score_sheet(await self._ledger.score_sheet(codec.identifier(request.table_id, "table_id")))

    async def GetPlayerStatistics(
        self, request: pb.GetPlayerStatisticsRequest, context: Context
    ) -> pb.GetPlayerStatisticsResponse:
        """What a player has done; the caller, if none is named."""
        player_id = codec.identifier(request.player_id, "player_id") if request.player_id else caller().id
        games = await self._records.statistics(player_id)
        return pb.GetPlayerStatisticsResponse(player_id=player_id, games=map(codec.write_statistics, games))

    async def GetLeaderboard(self, request: pb.GetLeaderboardRequest, context: Context) -> pb.GetLeaderboardResponse:
        """The best players of a game, a page at a time."""
        game = codec.identifier(request.game, "game", codec.LONGEST_GAME_ID)
        size = page_size(request.page_size)
        query = ("leaderboard", game)
        cursor = read_page_token(query, request.page_token, (int, str, int, int, int))
        above, after = _read_leaderboard_cursor(game, cursor)
        # One line more than asked for tells whether there is a page after this.
        lines = await self._records.leaderboard(game, after, size + 1)
        shown = lines[:size]
        response = pb.GetLeaderboardResponse(
            lines=[codec.write_line(above + number, line) for number, line in enumerate(shown, 1)]
        )
        if len(lines) > size:
            response.next_page_token = write_page_token(query, _leaderboard_cursor(above + size, shown[-1]))
        return response

    async def ListResults(self, request: pb.ListResultsRequest, context: Context) -> pb.ListResultsResponse:
        """Finished tables, newest first, a page at a time."""
        game = codec.text(request.game, "game", codec.LONGEST_GAME_ID)
        player_id = codec.text(request.player_id, "player_id", codec.LONGEST_ID)
        size = page_size(request.page_size)
        query = ("results", game, player_id)
        cursor = read_page_token(query, request.page_token, (int, str))
        after = (cursor[0], cursor[1]) if cursor else None
        found = await self._records.results(game, player_id, after, size + 1)
        shown = found[:size]
        response = pb.ListResultsResponse(results=[codec.write_result(sheet, result) for sheet, result in shown])
        if len(found) > size:
            sheet, result = shown[-1]
            response.next_page_token = write_page_token(query, [result.finished, sheet.table_id])
        return response


def _leaderboard_cursor(position: int, line: LeaderboardLine) -> list[int | str]:
    done = line.statistics
    return [position, line.player_id, done.games_finished, done.games_won, done.place_sum]


def _read_leaderboard_cursor(game: str, cursor: list[Any] | None) -> tuple[int, LeaderboardLine | None]:
    if cursor is None:
        return 0, None
    position, player_id, *done = cursor
    if any(number not in COUNTS for number in (position, *done)):
        raise foreign_token()
    return position, LeaderboardLine(player_id, "", Statistics(game, *done))


class ScoringControlServicer(scoring_pb2_grpc.ScoringControlServiceServicer):
    """The ledger, for the engine."""

    def __init__(self, ledger: Ledger, metrics: LedgerMetrics) -> None:
        self._ledger = ledger
        self._metrics = metrics

    async def RecordRound(self, request: pb.RecordRoundRequest, context: Context) -> pb.RecordRoundResponse:
        """Enter a round."""
        await self._enter("round", self._ledger.enter_round(*codec.read_round_entry(request)))
        return pb.RecordRoundResponse()

    async def RecordResult(self, request: pb.RecordResultRequest, context: Context) -> pb.RecordResultResponse:
        """Enter the result of a table."""
        await self._enter("result", self._ledger.enter_result(*codec.read_result_entry(request)))
        return pb.RecordResultResponse()

    async def CheckAccess(self, request: pb.CheckAccessRequest, context: Context) -> pb.CheckAccessResponse:
        """Answer: who has come so far has access."""
        return pb.CheckAccessResponse()

    async def _enter(self, kind: Literal["round", "result"], entry: Awaitable[bool]) -> None:
        try:
            is_new = await entry
        except AlreadyExists:
            self._metrics.count(kind, "conflict")
            raise
        self._metrics.count(kind, "new" if is_new else "repeated")
