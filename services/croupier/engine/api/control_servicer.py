"""The engine's control service, for the lobby only."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import grpc

from croupier.engine.api.outbox import ScoringPort
from croupier.engine.api.reactions import encode_reactions
from croupier.engine.api.table_codec import (
    decode_options,
    decode_seat,
    decode_time_control,
    encode_game,
    encode_options,
    encode_teams,
    encode_time_control,
)
from croupier.engine.core.living_games import EngineGames, installed_versions
from croupier.engine.storage.port import TableStatus, TableStore
from croupier.engine.tables.ended_tables import ended_tables
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table_checks import Revision
from croupier.games.interface import Game
from croupier.games.registry import installed_games, rules_of
from croupier.runtime.errors import NotPermitted, invalid_field
from croupier.runtime.server.call import Call
from croupier.runtime.table_access import MAX_REMOVED_PLAYERS, Visibility
from croupier.runtime.table_access_codec import decode_access
from croupier.runtime.translations import LANGUAGES, language_of
from croupier_api.v1 import errors_pb2, games_pb2
from croupier_internal.v1 import engine_control_pb2 as pb
from croupier_internal.v1 import engine_control_pb2_grpc

SERVICE_NAME: str = pb.DESCRIPTOR.services_by_name["EngineControlService"].full_name
MAX_TABLE_IDS = 500


def engine_games(offered: Sequence[str] = ()) -> EngineGames:
    """Return the games of this engine, which offers those of these ids for new tables, by default all."""
    return EngineGames(games_digest(), installed_versions(), list(offered or installed_games()))


def games_digest() -> str:
    """Return a digest of what this engine describes: its games by number of seats and language, and reactions.

    It reads all catalogues, so that no call waits for that.
    """
    games = list(installed_games().values())
    seat_counts = sorted({seats for game in games for seats in game.seats})
    digest = hashlib.sha256()
    for seats, language in product(seat_counts, LANGUAGES):
        encoded = _encode_games(games, seats, language)
        described = pb.DescribeGamesResponse(games=encoded, reactions=encode_reactions(language))
        digest.update(described.SerializeToString(deterministic=True))
    return digest.hexdigest()


def _encode_games(games: Sequence[Game], seats: int, language: str) -> list[games_pb2.GameDescription]:
    return [encode_game(game, seats, language) for game in games if not seats or seats in game.seats]


@dataclass(frozen=True, slots=True)
class EngineControlServicer:
    """EngineControlService."""

    tables: Tables
    store: TableStore
    scoring: ScoringPort

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register all methods."""
        engine_control_pb2_grpc.add_EngineControlServiceServicer_to_server(cast("Any", self), server)

    async def DescribeGames(self, request: pb.DescribeGamesRequest, call: Call) -> pb.DescribeGamesResponse:
        """Return the games that all engines offer, as new tables get them; with a number of seats those with it."""
        language, living = language_of(request.language), await self.tables.living_games()
        games = [rules_of(game, version) for game, version in living.offered().items()]
        return pb.DescribeGamesResponse(
            games=_encode_games(games, request.seat_count, language),
            is_rolling_out=living.is_rolling_out,
            reactions=encode_reactions(language),
        )

    async def PrepareTable(self, request: pb.PrepareTableRequest, call: Call) -> pb.PrepareTableResponse:
        """Check a table and commit to its seed."""
        _only_the_lobby(call)
        asked = (
            request.table_id,
            request.game,
            request.seat_count,
            decode_options(request.options),
            decode_time_control(request.time_control),
        )
        if request.validate_only:
            config = await self.tables.check(*asked)
        else:
            config = await self.tables.prepare(*asked, request.network, request.host_player_id, request.revision)
        return pb.PrepareTableResponse(
            options=encode_options(config.options),
            time_control=encode_time_control(config.clock),
            seed_commitment="" if request.validate_only else config.commitment,
            rules_version=config.rules_version,
            teams=encode_teams(rules_of(config.game, config.rules_version).teams(config.seat_count)),
        )

    async def OpenTable(self, request: pb.OpenTableRequest, call: Call) -> pb.OpenTableResponse:
        """Open a prepared table and deal."""
        _only_the_lobby(call)
        seats = [decode_seat(seat) for seat in request.seats]
        if len(request.removed_player_ids) > MAX_REMOVED_PLAYERS:
            raise invalid_field(
                "removed_player_ids", f"invalid number of removed_player_ids: expected at most {MAX_REMOVED_PLAYERS}"
            )
        access = decode_access(
            request.access, Visibility.SEATED, removed_players=request.removed_player_ids, is_matched=request.is_matched
        )
        await self.tables.open(request.table_id, seats, list(request.client_seeds), access, _decode_revision(request))
        return pb.OpenTableResponse()

    async def DiscardTables(self, request: pb.DiscardTablesRequest, call: Call) -> pb.DiscardTablesResponse:
        """Delete tables that are prepared and not open."""
        _only_the_lobby(call)
        await self.store.discard_prepared(_decode_table_ids(request))
        return pb.DiscardTablesResponse()

    async def WatchEndedTables(
        self, request: pb.WatchEndedTablesRequest, call: Call
    ) -> AsyncIterator[pb.WatchEndedTablesResponse]:
        """Follow the ends of games."""
        _only_the_lobby(call)
        async for ended in ended_tables(self.store, request.resume_unix_ms, lambda: self.tables.is_draining):
            yield pb.WatchEndedTablesResponse(table_ids=ended.table_ids, resume_unix_ms=ended.resume_at)

    async def ForgetPlayer(self, request: pb.ForgetPlayerRequest, call: Call) -> pb.ForgetPlayerResponse:
        """Let scoring remove the name of a deleted player."""
        _only_the_lobby(call)
        playing = list(request.playing_table_ids)
        table_ids = await self.scoring.remove_player_name(request.player_id, playing, request.after_table_id)
        return pb.ForgetPlayerResponse(table_ids=table_ids)

    async def GetTableStatuses(self, request: pb.GetTableStatusesRequest, call: Call) -> pb.GetTableStatusesResponse:
        """Return whether tables are finished, the players who have acted there, and whose turn it is."""
        _only_the_lobby(call)
        statuses = await self.store.statuses(_decode_table_ids(request))
        finished = [table_id for table_id, status in statuses.items() if status.status == "finished"]
        acted = await self.store.acted_players(finished)
        return pb.GetTableStatusesResponse(
            statuses=[
                pb.TableStatus(
                    table_id=table_id,
                    is_finished=table_id in acted,
                    acted_player_ids=acted.get(table_id),
                    turn=_encode_turn(status),
                )
                for table_id, status in statuses.items()
            ]
        )


def _decode_table_ids(request: pb.DiscardTablesRequest | pb.GetTableStatusesRequest) -> list[str]:
    if len(request.table_ids) > MAX_TABLE_IDS:
        raise invalid_field("table_ids", f"invalid number of table_ids: expected at most {MAX_TABLE_IDS}")
    return list(request.table_ids)


def _encode_turn(status: TableStatus) -> pb.Turn | None:
    if status.turn is None:
        return None
    to_act, away = status.turn
    return pb.Turn(to_act=to_act, away=away, deadline_unix_ms=status.deadline)


def _decode_revision(request: pb.OpenTableRequest) -> Revision | None:
    """Return the revision to open, None for the first one, which is stored."""
    if not request.revision:
        return None
    options, clock = decode_options(request.options), decode_time_control(request.time_control)
    return Revision(request.revision, request.rules_version, options, clock)


def _only_the_lobby(call: Call) -> None:
    if call.caller.id != "lobby":
        raise NotPermitted(errors_pb2.ERROR_REASON_CALLER_NOT_ALLOWED, "only the lobby may call this")
