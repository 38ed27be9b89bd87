"""Scoring's gRPC services: they decode, call the domain and encode."""

from collections.abc import Awaitable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast

import grpc
from prometheus_client import CollectorRegistry, Counter

from croupier.runtime.admission.costs import ROUNDS_PER_UNIT
from croupier.runtime.errors import AlreadyExists, MalformedRequest, decode_id, invalid_field
from croupier.runtime.identity.links import LinkVerifier
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.paging import (
    decode_page_token,
    encode_page_token,
    invalid_page_token,
    page_size,
    read_page,
)
from croupier.runtime.server.call import Call
from croupier.runtime.steps import in_steps
from croupier.runtime.table_access import LinkPurpose
from croupier.scoring import codec
from croupier.scoring.deleted_players import remove_name
from croupier.scoring.ledger import Ledger, Result, Sheet
from croupier.scoring.standings import Scope, Statistics
from croupier.scoring.standings_store import LeaderboardEntry, StandingsStore
from croupier_api.v1 import errors_pb2, scoring_pb2_grpc
from croupier_api.v1 import scoring_pb2 as pb
from croupier_internal.v1 import scoring_control_pb2 as control_pb
from croupier_internal.v1 import scoring_control_pb2_grpc

COUNTS = range(2**31)
MAX_TABLE_IDS = 500
RESULTS_STEP = 25
"""Results that are encoded in one step of the event loop."""
SERVICE_NAME = pb.DESCRIPTOR.services_by_name["ScoringService"].full_name
CONTROL_SERVICE_NAME = control_pb.DESCRIPTOR.services_by_name["ScoringControlService"].full_name


@dataclass(frozen=True, slots=True)
class ScoringServicer:
    """ScoringService, for players."""

    ledger: Ledger
    standings: StandingsStore
    links: LinkVerifier
    clock: Clock
    games: Collection[str]
    """The ids of the games of this version. Newer engines may report others."""

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register all methods. GetScoreSheet gets a handler without serializer, since it returns encoded messages."""
        scoring_pb2_grpc.add_ScoringServiceServicer_to_server(cast("Any", self), server)
        sheet: Any = grpc.unary_unary_rpc_method_handler(self.GetScoreSheet, pb.GetScoreSheetRequest.FromString, None)
        server.add_registered_method_handlers(SERVICE_NAME, {"GetScoreSheet": sheet})

    async def GetScoreSheet(self, request: pb.GetScoreSheetRequest, call: Call) -> bytes:
        link = self.links.purpose_of(request.link, request.table_id)
        is_shown = partial(_is_sheet_shown, player_id=call.caller.id, link=link, now=self.clock())
        score_sheet = await self.ledger.find_sheet(request.table_id, is_shown)
        # Before the rounds are decoded, so that calls that come meanwhile are refused.
        call.admission.owe(len(score_sheet.rows) // ROUNDS_PER_UNIT)
        return await codec.encode_score_sheet(score_sheet)

    async def GetPlayerStatistics(
        self, request: pb.GetPlayerStatisticsRequest, call: Call
    ) -> pb.GetPlayerStatisticsResponse:
        """Return the statistics of a player, by default the caller; those of others count public tables only."""
        player_id = call.caller.resolve_me(request.player_id or "me")
        scope = Scope.ALL if player_id == call.caller.id else Scope.PUBLIC
        games = await self.standings.statistics(player_id, scope)
        return pb.GetPlayerStatisticsResponse(player_id=player_id, games=map(codec.encode_statistics, games))

    async def GetLeaderboard(self, request: pb.GetLeaderboardRequest, call: Call) -> pb.GetLeaderboardResponse:
        """Return a page of the best players of a game."""
        game, size = request.game, page_size(request)
        query = ("leaderboard", game)
        cursor = decode_page_token(query, request.page_token, (int, int, str, int, int, int))
        count, position, after = _decode_leaderboard_cursor(game, cursor)
        # One entry more than the page, to know whether there is another page.
        entries = await self.standings.leaderboard(game, after, size + 1)
        if not entries and game not in self.games:
            raise MalformedRequest(
                errors_pb2.ERROR_REASON_UNKNOWN_GAME,
                f"invalid game {game!r}: expected {' or '.join(self.games)}",
                field="game",
            )
        response = pb.GetLeaderboardResponse()
        for entry in entries[:size]:
            count += 1
            if after is None or entry.statistics.rank != after.statistics.rank:
                position = count
            response.entries.append(codec.encode_entry(position, entry))
            after = entry
        if after and len(entries) > size:
            last = [count, position, after.player_id, *after.statistics.rank]
            response.next_page_token = encode_page_token(query, last)
        return response

    async def ListResults(self, request: pb.ListResultsRequest, call: Call) -> pb.ListResultsResponse:
        """Return a page of the results of public tables, or of all tables of the caller, newest first."""
        game, caller_id, now = request.game, call.caller.id, self.clock()
        player_id = call.caller.resolve_me(request.player_id)
        shown, token = await read_page(
            ("results", game, player_id),
            request,
            partial(self.standings.results, game, player_id, caller_id=caller_id),
            lambda one: _is_result_shown(*one, caller_id, now),
            lambda one: (one[1].end_milliseconds, one[0].table_id),
            call.admission.owe,
        )
        results = [codec.encode_result(*one) async for one in in_steps(shown, RESULTS_STEP)]
        return pb.ListResultsResponse(results=results, next_page_token=token)


def _is_sheet_shown(sheet: Sheet, result: Result | None, player_id: str, link: LinkPurpose | None, now: int) -> bool:
    """Return whether a player may read a score sheet, with the purpose of their link.

    Without a seat they read it once they may know the end of the game. Before, they read it as spectators, unless these
    see the game later: the ledger does not know when the rounds ended.
    """
    if sheet.has_player(player_id):
        return True
    access = sheet.access
    if access.is_over_for_spectators(result.end_milliseconds if result else None, now):
        return access.lets_read(player_id, link)
    return access.watch_delay_seconds == 0 and access.lets_watch(player_id, link)


def _is_result_shown(sheet: Sheet, result: Result, player_id: str, now: int) -> bool:
    is_over = sheet.access.is_over_for_spectators(result.end_milliseconds, now)
    return sheet.has_player(player_id) or (is_over and sheet.access.lets_read(player_id, None))


def _decode_leaderboard_cursor(game: str, cursor: list[Any] | None) -> tuple[int, int, LeaderboardEntry | None]:
    """Return the number of entries before the page, the position of the last one, and that entry."""
    if cursor is None:
        return 0, 0, None
    count, position, player_id, *rank = cursor
    if any(number not in COUNTS for number in (count, position, *rank)):
        raise invalid_page_token()
    return count, position, LeaderboardEntry(player_id, "", Statistics(game, *rank))


def entries_counter(registry: CollectorRegistry) -> Counter:
    """Return the counter of entries that engines report."""
    what = "Entries by kind (round, result) and outcome (new, repeated, conflict)."
    return Counter("croupier_scoring_entries", what, ["kind", "outcome"], registry=registry)


@dataclass(frozen=True, slots=True)
class ScoringControlServicer:
    """ScoringControlService, for the engine."""

    ledger: Ledger
    entries: Counter

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register all methods."""
        scoring_control_pb2_grpc.add_ScoringControlServiceServicer_to_server(cast("Any", self), server)

    async def RecordRound(self, request: control_pb.RecordRoundRequest, call: Call) -> control_pb.RecordRoundResponse:
        await self._count("round", self.ledger.record_round(*codec.decode_round(request)))
        return control_pb.RecordRoundResponse()

    async def RecordResult(
        self, request: control_pb.RecordResultRequest, call: Call
    ) -> control_pb.RecordResultResponse:
        await self._count("result", self.ledger.record_result(*codec.decode_result(request)))
        return control_pb.RecordResultResponse()

    async def RemovePlayerName(
        self, request: control_pb.RemovePlayerNameRequest, call: Call
    ) -> control_pb.RemovePlayerNameResponse:
        """Remove the name of a deleted player from the next tables."""
        playing = request.playing_table_ids
        if len(playing) > MAX_TABLE_IDS:
            raise invalid_field("playing_table_ids", f"too many playing_table_ids: expected at most {MAX_TABLE_IDS}")
        player_id = decode_id("player_id", request.player_id)
        table_ids = await remove_name(self.ledger.database, player_id, playing, request.after_table_id)
        return control_pb.RemovePlayerNameResponse(table_ids=table_ids)

    async def CheckAccess(self, request: control_pb.CheckAccessRequest, call: Call) -> control_pb.CheckAccessResponse:
        """Succeed: the interceptor has verified the caller's token."""
        return control_pb.CheckAccessResponse()

    async def _count(self, kind: Literal["round", "result"], entry: Awaitable[bool]) -> None:
        try:
            is_new = await entry
        except AlreadyExists:
            self.entries.labels(kind, "conflict").inc()
            raise
        self.entries.labels(kind, "new" if is_new else "repeated").inc()
