"""All unary RPCs and server streams of the services, from which both clients take their methods."""

from collections.abc import Mapping, Sequence

from google.protobuf.duration_pb2 import Duration
from google.protobuf.struct_pb2 import Struct

from croupier_api.v1 import actions_pb2, engine_pb2, games_pb2, lobby_pb2, scoring_pb2, tables_pb2
from croupier_client.rpc import Rpc, Service, Stream, Unary
from croupier_client.table import new_request_id
from croupier_client.view import Viewer


def encode_options(options: Mapping[str, bool | int | str] | None) -> Struct:
    """Return the options of a game as the contract has them."""
    struct = Struct()
    struct.update(options or {})
    return struct


def _duration(seconds: int | None) -> Duration | None:
    return None if seconds is None else Duration(seconds=seconds)


def _target(table_id: str | None, invite_code: str | None) -> dict[str, str]:
    """Return the field that names a table; raises ValueError unless exactly one is given."""
    fields = {"table_id": table_id, "invite_code": invite_code}
    given = {name: value for name, value in fields.items() if value is not None}
    if len(given) != 1:
        raise ValueError("invalid table: expected exactly one of table_id and invite_code")
    return given


def _has_table(answer: lobby_pb2.FindMatchResponse) -> bool:
    """Return whether an answer has the table, after which a repeated call would wait for another one."""
    return answer.HasField("table")


def _whole_replay(parts: Sequence[engine_pb2.GetReplayResponse]) -> engine_pb2.GetReplayResponse:
    return engine_pb2.GetReplayResponse(replay="".join(part.replay for part in parts))


def _all_events(parts: Sequence[engine_pb2.WatchReplayResponse]) -> engine_pb2.WatchReplayResponse:
    return engine_pb2.WatchReplayResponse(table_events=[event for part in parts for event in part.table_events])


class ServiceMethods:
    """The RPCs of the three services, by their names; each returns its response message and raises CroupierError."""

    @Unary
    def get_player(self, *, player_id: str = "me") -> Rpc[lobby_pb2.GetPlayerResponse]:
        """Return a player, by default the caller."""
        return Rpc(Service.LOBBY, lobby_pb2.GetPlayerRequest(player_id=player_id), lobby_pb2.GetPlayerResponse)

    @Unary
    def update_player(self, *, name: str) -> Rpc[lobby_pb2.UpdatePlayerResponse]:
        """Rename the caller, on all devices and at forming tables."""
        return Rpc(Service.LOBBY, lobby_pb2.UpdatePlayerRequest(name=name), lobby_pb2.UpdatePlayerResponse)

    @Unary
    def delete_player(self) -> Rpc[lobby_pb2.DeletePlayerResponse]:
        """Delete the caller for good; the next call signs in as a new player."""
        return Rpc(Service.LOBBY, lobby_pb2.DeletePlayerRequest(), lobby_pb2.DeletePlayerResponse)

    @Unary
    def create_device_code(self) -> Rpc[lobby_pb2.CreateDeviceCodeResponse]:
        """Return a code by which another device signs in as the caller, within 10 minutes."""
        return Rpc(Service.LOBBY, lobby_pb2.CreateDeviceCodeRequest(), lobby_pb2.CreateDeviceCodeResponse)

    @Unary
    def list_games(self, *, seat_count: int = 0, language: str = "") -> Rpc[lobby_pb2.ListGamesResponse]:
        """Return the games with their seats, options and words in a language, by default English.

        With `seat_count` those that can be played by so many, with the options exactly as they are then.
        """
        request = lobby_pb2.ListGamesRequest(seat_count=seat_count, language=language)
        return Rpc(Service.LOBBY, request, lobby_pb2.ListGamesResponse)

    @Unary
    def get_rules(self, *, game: str, rules_version: int = 0, language: str = "") -> Rpc[engine_pb2.GetRulesResponse]:
        """Return the rules page of a game as Markdown, by default of the newest version and in English."""
        request = engine_pb2.GetRulesRequest(game=game, rules_version=rules_version, language=language)
        return Rpc(Service.ENGINE, request, engine_pb2.GetRulesResponse)

    @Unary
    def create_table(
        self,
        *,
        game: str,
        seat_count: int,
        options: Mapping[str, bool | int | str] | None = None,
        time_control: tables_pb2.TimeControl | None = None,
        access: tables_pb2.TableAccess | None = None,
        bots_after_seconds: int | None = None,
        bots: Sequence[str] = (),
        is_ready: bool = False,
        request_id: str = "",
        validate_only: bool = False,
    ) -> Rpc[lobby_pb2.CreateTableResponse]:
        """Create a table and take its first seat as host; omitted options, times and access have their defaults.

        `bots` are the kinds on the next seats, empty for the first of the game. If they take all others and `is_ready`,
        the game begins at once, without a client seed of the host; while the engine does not answer, the table is still
        forming, and `watch_tables` tells when its game begins. A repeat with the same `request_id` gets the same table;
        by default it is a new one.
        After `bots_after_seconds`, 0 to 600, bots take the free seats once all players are ready; by default never.
        `validate_only` creates nothing, and returns the table as it would be.
        """
        request = lobby_pb2.CreateTableRequest(
            game=game,
            seat_count=seat_count,
            options=encode_options(options),
            time_control=time_control,
            access=access,
            fill_with_bots_after=_duration(bots_after_seconds),
            bots=bots,
            is_ready=is_ready,
            request_id=request_id or new_request_id(),
            validate_only=validate_only,
        )
        return Rpc(Service.LOBBY, request, lobby_pb2.CreateTableResponse)

    @Unary
    def get_table(
        self, *, table_id: str | None = None, invite_code: str | None = None
    ) -> Rpc[lobby_pb2.GetTableResponse]:
        """Return one table; by invite code before joining it.

        Raises ValueError unless exactly one of id and invite code is given.
        """
        request = lobby_pb2.GetTableRequest(**_target(table_id, invite_code))
        return Rpc(Service.LOBBY, request, lobby_pb2.GetTableResponse)

    @Unary
    def list_tables(
        self,
        *,
        game: str = "",
        state: tables_pb2.TableState.ValueType = tables_pb2.TABLE_STATE_UNSPECIFIED,
        page_size: int = 0,
        page_token: str = "",
    ) -> Rpc[lobby_pb2.ListTablesResponse]:
        """Return a page of the public tables, newest first."""
        request = lobby_pb2.ListTablesRequest(game=game, state=state, page_size=page_size, page_token=page_token)
        return Rpc(Service.LOBBY, request, lobby_pb2.ListTablesResponse)

    @Stream
    def watch_tables(self, *, table_id: str = "", game: str = "") -> Rpc[lobby_pb2.WatchTablesResponse]:
        """Follow one table, or the public tables of a game; the stream starts again after a lost connection.

        An answer may have no table: once `is_list_complete` is true, the answers before it had all tables.
        """
        request = lobby_pb2.WatchTablesRequest(table_id=table_id, game=game)
        return Rpc(Service.LOBBY, request, lobby_pb2.WatchTablesResponse)

    @Unary
    def list_my_tables(
        self,
        *,
        state: tables_pb2.TableState.ValueType = tables_pb2.TABLE_STATE_UNSPECIFIED,
        page_size: int = 0,
        page_token: str = "",
    ) -> Rpc[lobby_pb2.ListMyTablesResponse]:
        """Return a page of the player's own tables, by default those that are forming or being played, newest first."""
        request = lobby_pb2.ListMyTablesRequest(state=state, page_size=page_size, page_token=page_token)
        return Rpc(Service.LOBBY, request, lobby_pb2.ListMyTablesResponse)

    @Stream
    def watch_my_tables(self) -> Rpc[lobby_pb2.WatchTablesResponse]:
        """Follow the player's own tables; the stream starts again, with all of them, after a lost connection.

        Once `is_list_complete` is true, the answers before it had all tables: others that the app shows are gone.
        """
        return Rpc(Service.LOBBY, lobby_pb2.WatchTablesRequest(mine=True), lobby_pb2.WatchTablesResponse)

    @Unary
    def join_table(
        self, *, table_id: str | None = None, invite_code: str | None = None, seat: int | None = None
    ) -> Rpc[lobby_pb2.JoinTableResponse]:
        """Take a seat of a table, by default the first free one, or move to it from another one.

        Raises ValueError unless exactly one of id and invite code is given.
        """
        request = lobby_pb2.JoinTableRequest(**_target(table_id, invite_code), seat=seat)
        return Rpc(Service.LOBBY, request, lobby_pb2.JoinTableResponse)

    @Unary
    def update_table(
        self,
        *,
        table_id: str,
        seat_count: int,
        options: Mapping[str, bool | int | str] | None = None,
        time_control: tables_pb2.TimeControl | None = None,
        access: tables_pb2.TableAccess | None = None,
        validate_only: bool = False,
    ) -> Rpc[lobby_pb2.UpdateTableResponse]:
        """Change a forming table; only the host may. Omitted options, times and access get their defaults.

        All others get ready again. `validate_only` changes nothing, and returns the table as it would be.
        """
        request = lobby_pb2.UpdateTableRequest(
            table_id=table_id,
            seat_count=seat_count,
            options=encode_options(options),
            time_control=time_control,
            access=access,
            validate_only=validate_only,
        )
        return Rpc(Service.LOBBY, request, lobby_pb2.UpdateTableResponse)

    @Unary
    def leave_table(self, *, table_id: str) -> Rpc[lobby_pb2.LeaveTableResponse]:
        """Leave a forming table."""
        request = lobby_pb2.LeaveTableRequest(table_id=table_id)
        return Rpc(Service.LOBBY, request, lobby_pb2.LeaveTableResponse)

    @Unary
    def set_ready(
        self, *, table_id: str, is_ready: bool = True, client_seed: bytes = b""
    ) -> Rpc[lobby_pb2.SetReadyResponse]:
        """Set the player's readiness; `client_seed`, at most 64 bytes, is mixed into the shuffles."""
        request = lobby_pb2.SetReadyRequest(table_id=table_id, is_ready=is_ready, client_seed=client_seed)
        return Rpc(Service.LOBBY, request, lobby_pb2.SetReadyResponse)

    @Unary
    def add_bot(self, *, table_id: str, bot: str = "", seat: int | None = None) -> Rpc[lobby_pb2.AddBotResponse]:
        """Put a bot, by default the first of GameDescription.bots, on a free seat; only the host may.

        A call with `seat` may be repeated after a lost answer.
        """
        request = lobby_pb2.AddBotRequest(table_id=table_id, bot=bot, seat=seat)
        return Rpc(Service.LOBBY, request, lobby_pb2.AddBotResponse)

    @Unary
    def clear_seat(self, *, table_id: str, seat: int, block: bool = False) -> Rpc[lobby_pb2.ClearSeatResponse]:
        """Free a seat of a forming table; only the host may. With `block` its player loses access to the table."""
        request = lobby_pb2.ClearSeatRequest(table_id=table_id, seat=seat, block=block)
        return Rpc(Service.LOBBY, request, lobby_pb2.ClearSeatResponse)

    @Unary
    def rematch(self, *, table_id: str) -> Rpc[lobby_pb2.RematchResponse]:
        """Take a seat of the table that follows a finished one, to play again; the first caller creates it."""
        return Rpc(Service.LOBBY, lobby_pb2.RematchRequest(table_id=table_id), lobby_pb2.RematchResponse)

    @Stream
    def find_match(
        self,
        *,
        game: str,
        seat_count: int,
        client_seed: bytes = b"",
        request_id: str = "",
        preset: str = "",
        bots_after_seconds: int | None = None,
    ) -> Rpc[lobby_pb2.FindMatchResponse]:
        """Wait to be matched with others; the last answer has the table. The same criteria keep their ticket.

        A stream that ends without a table is opened again, until the iteration ends. A repeat with the same
        `request_id` gets the same table, also after a lost answer; by default it is a new one. Options and times are
        those of a preset of the game, by default the usual ones. After `bots_after_seconds`, 0 to 600, bots take the
        seats that lack players; by default never.
        """
        request = lobby_pb2.FindMatchRequest(
            game=game,
            seat_count=seat_count,
            client_seed=client_seed,
            request_id=request_id or new_request_id(),
            preset=preset,
            fill_with_bots_after=_duration(bots_after_seconds),
        )
        return Rpc(Service.LOBBY, request, lobby_pb2.FindMatchResponse, _has_table)

    @Unary
    def submit_action(
        self, *, table_id: str, request_id: str, action: actions_pb2.Action, expected_sequence: int | None = None
    ) -> Rpc[engine_pb2.SubmitActionResponse]:
        """Act without a stream; a repeat with the same `request_id` gets the first answer."""
        request = engine_pb2.SubmitActionRequest(
            table_id=table_id, request_id=request_id, action=action, expected_sequence=expected_sequence
        )
        return Rpc(Service.ENGINE, request, engine_pb2.SubmitActionResponse)

    @Unary
    def get_view(self, *, table_id: str, link: str = "") -> Rpc[engine_pb2.GetViewResponse]:
        """Return the caller's view of a table."""
        request = engine_pb2.GetViewRequest(table_id=table_id, link=link)
        return Rpc(Service.ENGINE, request, engine_pb2.GetViewResponse)

    @Unary
    def send_reaction(
        self, *, table_id: str, reaction: games_pb2.Reaction.ValueType, link: str = ""
    ) -> Rpc[engine_pb2.SendReactionResponse]:
        """Send a reaction to all viewers of the table."""
        request = engine_pb2.SendReactionRequest(table_id=table_id, reaction=reaction, link=link)
        return Rpc(Service.ENGINE, request, engine_pb2.SendReactionResponse)

    @Unary
    def create_proposal(
        self, *, table_id: str, request_id: str, proposal: str
    ) -> Rpc[engine_pb2.CreateProposalResponse]:
        """Make a proposal of the game's description; a repeat with the same `request_id` gets the first answer."""
        request = engine_pb2.CreateProposalRequest(table_id=table_id, request_id=request_id, proposal=proposal)
        return Rpc(Service.ENGINE, request, engine_pb2.CreateProposalResponse)

    @Unary
    def cast_vote(
        self, *, table_id: str, request_id: str, proposal_sequence: int, vote: engine_pb2.Vote.ValueType
    ) -> Rpc[engine_pb2.CastVoteResponse]:
        """Vote on the pending proposal; a repeat with the same `request_id` gets the first answer."""
        request = engine_pb2.CastVoteRequest(
            table_id=table_id, request_id=request_id, proposal_sequence=proposal_sequence, vote=vote
        )
        return Rpc(Service.ENGINE, request, engine_pb2.CastVoteResponse)

    @Unary
    def set_away(self, *, table_id: str, request_id: str, is_away: bool) -> Rpc[engine_pb2.SetAwayResponse]:
        """Leave the caller's seat to the engine, or return to it; a repeat changes nothing."""
        request = engine_pb2.SetAwayRequest(table_id=table_id, request_id=request_id, is_away=is_away)
        return Rpc(Service.ENGINE, request, engine_pb2.SetAwayResponse)

    @Unary
    def create_link(
        self, *, table_id: str, purpose: engine_pb2.LinkPurpose.ValueType
    ) -> Rpc[engine_pb2.CreateLinkResponse]:
        """Return a link by which players without a seat watch the table, or read its replay."""
        request = engine_pb2.CreateLinkRequest(table_id=table_id, purpose=purpose)
        return Rpc(Service.ENGINE, request, engine_pb2.CreateLinkResponse)

    @Unary
    def get_replay(self, *, table_id: str, link: str = "") -> Rpc[engine_pb2.GetReplayResponse]:
        """Return the whole replay of a finished table in one message."""
        request = engine_pb2.GetReplayRequest(table_id=table_id, link=link)
        return Rpc(Service.ENGINE, request, engine_pb2.GetReplayResponse, join=_whole_replay)

    @Unary
    def watch_replay(
        self, *, table_id: str, link: str = "", eyes: Viewer = None
    ) -> Rpc[engine_pb2.WatchReplayResponse]:
        """Return all events of a finished table in one message, with the eyes of a viewer, by default of a spectator.

        The first has the snapshot before the first entry, each further one an update, which `fold` takes with the same
        viewer.
        """
        request = engine_pb2.WatchReplayRequest(table_id=table_id, link=link)
        if eyes == "all":
            request.all_seats = True
        elif eyes is not None:
            request.seat = eyes
        return Rpc(Service.ENGINE, request, engine_pb2.WatchReplayResponse, join=_all_events)

    @Unary
    def get_score_sheet(self, *, table_id: str, link: str = "") -> Rpc[scoring_pb2.GetScoreSheetResponse]:
        """Return the score sheet of a table, with a line for each round."""
        request = scoring_pb2.GetScoreSheetRequest(table_id=table_id, link=link)
        return Rpc(Service.SCORING, request, scoring_pb2.GetScoreSheetResponse)

    @Unary
    def get_player_statistics(self, *, player_id: str = "") -> Rpc[scoring_pb2.GetPlayerStatisticsResponse]:
        """Return the statistics of a player, by default or as "me" the caller, by game."""
        request = scoring_pb2.GetPlayerStatisticsRequest(player_id=player_id)
        return Rpc(Service.SCORING, request, scoring_pb2.GetPlayerStatisticsResponse)

    @Unary
    def get_leaderboard(
        self, *, game: str, page_size: int = 0, page_token: str = ""
    ) -> Rpc[scoring_pb2.GetLeaderboardResponse]:
        """Return a page of a game's leaderboard."""
        request = scoring_pb2.GetLeaderboardRequest(game=game, page_size=page_size, page_token=page_token)
        return Rpc(Service.SCORING, request, scoring_pb2.GetLeaderboardResponse)

    @Unary
    def list_results(
        self, *, game: str = "", player_id: str = "", page_size: int = 0, page_token: str = ""
    ) -> Rpc[scoring_pb2.ListResultsResponse]:
        """Return a page of the results of finished tables, newest first."""
        request = scoring_pb2.ListResultsRequest(
            game=game, player_id=player_id, page_size=page_size, page_token=page_token
        )
        return Rpc(Service.SCORING, request, scoring_pb2.ListResultsResponse)
