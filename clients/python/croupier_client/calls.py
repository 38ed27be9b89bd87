"""Every unary call and every plain stream of the services, once: both clients take their methods from here."""

from collections.abc import Mapping

from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2, table_pb2
from croupier_client.callers import Call, Service, Stream, Unary
from croupier_client.table import new_request_id


def game_options(options: Mapping[str, bool | int | str] | None) -> table_pb2.GameOptions:
    """The options as the contract writes them: True as "true", 3 as "3", a word as it is."""
    texts = {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in (options or {}).items()
    }
    return table_pb2.GameOptions(values=texts)


def _brings_table(answer: lobby_pb2.QuickMatchResponse) -> bool:
    """Whoever called again after that would wait for another table."""
    return answer.HasField("table")


class Calls:
    """The calls of the three services; each gives the response message of the contract and raises CroupierError."""

    @Unary
    def list_games(self) -> Call[lobby_pb2.ListGamesResponse]:
        """The games with their seats and options."""
        return Call(Service.LOBBY, lobby_pb2.ListGamesRequest(), lobby_pb2.ListGamesResponse)

    @Unary
    def create_table(
        self,
        *,
        game: str,
        seats: int,
        options: Mapping[str, bool | int | str] | None = None,
        clock: table_pb2.Clock | None = None,
        private: bool = False,
    ) -> Call[lobby_pb2.CreateTableResponse]:
        """Form a table and take its first seat as host; options that are left out have their defaults."""
        request = lobby_pb2.CreateTableRequest(
            game=game, seats=seats, options=game_options(options), clock=clock, private=private
        )
        return Call(Service.LOBBY, request, lobby_pb2.CreateTableResponse)

    @Unary
    def get_table(self, *, table_id: str) -> Call[lobby_pb2.GetTableResponse]:
        """One table."""
        return Call(Service.LOBBY, lobby_pb2.GetTableRequest(table_id=table_id), lobby_pb2.GetTableResponse)

    @Unary
    def list_tables(
        self,
        *,
        game: str = "",
        state: lobby_pb2.TableState.ValueType = lobby_pb2.TABLE_STATE_UNSPECIFIED,
        page_size: int = 0,
        page_token: str = "",
    ) -> Call[lobby_pb2.ListTablesResponse]:
        """A page of the public tables, newest first."""
        request = lobby_pb2.ListTablesRequest(game=game, state=state, page_size=page_size, page_token=page_token)
        return Call(Service.LOBBY, request, lobby_pb2.ListTablesResponse)

    @Stream
    def watch_tables(self, *, table_id: str = "", game: str = "") -> Call[lobby_pb2.WatchTablesResponse]:
        """Follow one table, or the public tables of a game; after a lost connection it begins from the start."""
        request = lobby_pb2.WatchTablesRequest(table_id=table_id, game=game)
        return Call(Service.LOBBY, request, lobby_pb2.WatchTablesResponse)

    @Unary
    def join_table(
        self, *, table_id: str | None = None, invite_code: str | None = None
    ) -> Call[lobby_pb2.JoinTableResponse]:
        """Take the first free seat of a table, found by exactly one of id and invite code."""
        if (table_id is None) == (invite_code is None):
            raise ValueError("join_table needs exactly one of table_id and invite_code")
        by_id = lobby_pb2.JoinTableRequest(table_id=table_id or "")
        request = by_id if table_id is not None else lobby_pb2.JoinTableRequest(invite_code=invite_code or "")
        return Call(Service.LOBBY, request, lobby_pb2.JoinTableResponse)

    @Unary
    def leave_table(self, *, table_id: str) -> Call[lobby_pb2.LeaveTableResponse]:
        """Give up one's seat at a forming table."""
        request = lobby_pb2.LeaveTableRequest(table_id=table_id)
        return Call(Service.LOBBY, request, lobby_pb2.LeaveTableResponse)

    @Unary
    def set_ready(
        self, *, table_id: str, ready: bool = True, client_seed: bytes = b""
    ) -> Call[lobby_pb2.SetReadyResponse]:
        """Say that one is ready; `client_seed`, 64 bytes at most, is added to the shuffles."""
        request = lobby_pb2.SetReadyRequest(table_id=table_id, ready=ready, client_seed=client_seed)
        return Call(Service.LOBBY, request, lobby_pb2.SetReadyResponse)

    @Unary
    def add_bot(self, *, table_id: str, bot: str = "", seat: int | None = None) -> Call[lobby_pb2.AddBotResponse]:
        """Fill a free seat with a computer player, the best one unless a kind is named; the host only.

        A call that names the seat may be made again when its answer got lost.
        """
        request = lobby_pb2.AddBotRequest(table_id=table_id, bot=bot, seat=seat)
        return Call(Service.LOBBY, request, lobby_pb2.AddBotResponse)

    @Unary
    def remove_seat(self, *, table_id: str, seat: int) -> Call[lobby_pb2.RemoveSeatResponse]:
        """Free a seat of a forming table; the host only."""
        request = lobby_pb2.RemoveSeatRequest(table_id=table_id, seat=seat)
        return Call(Service.LOBBY, request, lobby_pb2.RemoveSeatResponse)

    @Stream
    def quick_match(
        self, *, game: str, seats: int, client_seed: bytes = b"", request_id: str = ""
    ) -> Call[lobby_pb2.QuickMatchResponse]:
        """Be matched with others; the last answer brings the table. The same wish keeps its ticket.

        `request_id` names the wish: a repeat gets the same table, also when the answer was lost. Empty: a new name.
        """
        request = lobby_pb2.QuickMatchRequest(
            game=game, seats=seats, client_seed=client_seed, request_id=request_id or new_request_id()
        )
        return Call(Service.LOBBY, request, lobby_pb2.QuickMatchResponse, _brings_table)

    @Unary
    def submit_action(
        self, *, table_id: str, request_id: str, action: table_pb2.Action, expected_sequence: int | None = None
    ) -> Call[engine_pb2.SubmitActionResponse]:
        """Act without a stream; `request_id` names the action, and a repeat gets the first answer."""
        request = engine_pb2.SubmitActionRequest(
            table_id=table_id, request_id=request_id, action=action, expected_sequence=expected_sequence
        )
        return Call(Service.ENGINE, request, engine_pb2.SubmitActionResponse)

    @Unary
    def get_view(self, *, table_id: str) -> Call[engine_pb2.GetViewResponse]:
        """All that the caller may know of a table now."""
        return Call(Service.ENGINE, engine_pb2.GetViewRequest(table_id=table_id), engine_pb2.GetViewResponse)

    @Unary
    def react(self, *, table_id: str, reaction: str) -> Call[engine_pb2.ReactResponse]:
        """Send one of the contract's reactions to everybody at the table."""
        request = engine_pb2.ReactRequest(table_id=table_id, reaction=reaction)
        return Call(Service.ENGINE, request, engine_pb2.ReactResponse)

    @Unary
    def propose(self, *, table_id: str, request_id: str, proposal: str) -> Call[engine_pb2.ProposeResponse]:
        """Propose what the game's description names; `request_id` names the call: a repeat gets the first answer."""
        request = engine_pb2.ProposeRequest(table_id=table_id, request_id=request_id, proposal=proposal)
        return Call(Service.ENGINE, request, engine_pb2.ProposeResponse)

    @Unary
    def vote(
        self, *, table_id: str, request_id: str, proposal_sequence: int, agree: bool
    ) -> Call[engine_pb2.VoteResponse]:
        """Agree with a proposal or refuse it; `request_id` names the call: a repeat gets the first answer."""
        request = engine_pb2.VoteRequest(
            table_id=table_id, request_id=request_id, proposal_sequence=proposal_sequence, agree=agree
        )
        return Call(Service.ENGINE, request, engine_pb2.VoteResponse)

    @Unary
    def get_replay(self, *, table_id: str) -> Call[engine_pb2.GetReplayResponse]:
        """The replay of a finished table."""
        return Call(Service.ENGINE, engine_pb2.GetReplayRequest(table_id=table_id), engine_pb2.GetReplayResponse)

    @Unary
    def get_score_sheet(self, *, table_id: str) -> Call[scoring_pb2.GetScoreSheetResponse]:
        """The score sheet of a table: a line for each round."""
        request = scoring_pb2.GetScoreSheetRequest(table_id=table_id)
        return Call(Service.SCORING, request, scoring_pb2.GetScoreSheetResponse)

    @Unary
    def get_player_statistics(self, *, player_id: str = "") -> Call[scoring_pb2.GetPlayerStatisticsResponse]:
        """What a player, or the caller, has done game by game."""
        request = scoring_pb2.GetPlayerStatisticsRequest(player_id=player_id)
        return Call(Service.SCORING, request, scoring_pb2.GetPlayerStatisticsResponse)

    @Unary
    def get_leaderboard(
        self, *, game: str, page_size: int = 0, page_token: str = ""
    ) -> Call[scoring_pb2.GetLeaderboardResponse]:
        """A page of the best players of a game."""
        request = scoring_pb2.GetLeaderboardRequest(game=game, page_size=page_size, page_token=page_token)
        return Call(Service.SCORING, request, scoring_pb2.GetLeaderboardResponse)

    @Unary
    def list_results(
        self, *, game: str = "", player_id: str = "", page_size: int = 0, page_token: str = ""
    ) -> Call[scoring_pb2.ListResultsResponse]:
        """A page of finished tables, newest first."""
        request = scoring_pb2.ListResultsRequest(
            game=game, player_id=player_id, page_size=page_size, page_token=page_token
        )
        return Call(Service.SCORING, request, scoring_pb2.ListResultsResponse)
