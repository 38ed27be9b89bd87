"""The lobby over real gRPC, with an engine behind real gRPC."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import grpc
import pytest
import structlog
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from croupier.lobby.api.engine_channel import EngineChannel
from croupier.lobby.api.servicer import OPEN_METHODS
from croupier.lobby.assembly import Lobby
from croupier.lobby.tables.engine_port import Turn
from croupier.runtime.identity.tokens import ENGINE_CONTROL_AUDIENCE, PLAYER_AUDIENCE, TokenIssuer, TokenVerifier
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.server.grpc_server import AddServices
from croupier.runtime.table_access import OPEN, TableAccess, Visibility, WatchPolicy
from croupier_api.v1 import lobby_pb2 as pb
from croupier_api.v1 import lobby_pb2_grpc, tables_pb2
from croupier_internal.v1.engine_control_pb2_grpc import add_EngineControlServiceServicer_to_server
from tests.lobby.fakes import (
    GAME_MESSAGES,
    REACTION_MESSAGES,
    START,
    FakeClock,
    FakeEngine,
    FakeEngineServicer,
    LobbyDeployment,
    commitment_of,
)
from tests.lobby.matches import running, until_streams
from tests.serving import Refusal, refusal, serving
from tests.waiting import TIMEOUT_SECONDS


@dataclass
class Guest:
    """A signed-in player."""

    stub: "lobby_pb2_grpc.LobbyServiceAsyncStub"
    player_id: str
    metadata: tuple[tuple[str, str], ...]

    def call(self, method: str, request: Any) -> Any:
        return getattr(self.stub, method)(request, metadata=self.metadata, timeout=TIMEOUT_SECONDS)


@dataclass
class LobbyHarness:
    """A lobby behind a gRPC server, and a stub for it."""

    stub: "lobby_pb2_grpc.LobbyServiceAsyncStub"
    lobby: Lobby

    async def sign_in(self, number: int) -> Guest:
        request = pb.SignInRequest(device_secret=f"the secret of device {number}", name=f"Player {number}")
        response = await self.stub.SignIn(request)
        token = response.tokens.access_token
        return Guest(self.stub, response.player.player_id, (("authorization", f"Bearer {token}"),))


@pytest.fixture
async def harness(deployment: LobbyDeployment, engine: FakeEngine, clock: FakeClock) -> AsyncIterator[LobbyHarness]:
    async with AsyncExitStack() as stack:

        async def served(add: AddServices, own: str, **options: Any) -> grpc.aio.Channel:
            verifier = TokenVerifier(deployment.key.public_key(), own, clock)
            address = await stack.enter_async_context(serving(add, verifier, **options))
            return await stack.enter_async_context(grpc.aio.insecure_channel(address))

        add_engine = partial(add_EngineControlServiceServicer_to_server, FakeEngineServicer(engine))
        channel = await served(add_engine, ENGINE_CONTROL_AUDIENCE)
        issuer = TokenIssuer(deployment.key, ENGINE_CONTROL_AUDIENCE, 60, clock)
        outages = OutageLog("the engine", structlog.get_logger(), lambda: 0)
        deployment.engine = EngineChannel(channel, issuer, 5, outages)
        lobby = await stack.enter_async_context(deployment.lobby())
        await stack.enter_async_context(running(lobby))
        own = await served(lobby.servicer.add_to, PLAYER_AUDIENCE, open_methods=OPEN_METHODS)
        yield LobbyHarness(lobby_pb2_grpc.LobbyServiceStub(own), lobby)


async def refused(call: Any) -> Refusal:
    """Return the refusal of a call or of a stream's first message."""
    return await refusal(call.read() if isinstance(call, grpc.aio.UnaryStreamCall) else call)


def options(**values: Any) -> Struct:
    struct = Struct()
    struct.update(values)
    return struct


ACCESS = tables_pb2.TableAccess(
    visibility=tables_pb2.VISIBILITY_LINK,
    watch_policy=tables_pb2.WATCH_POLICY_LINK,
    watch_delay=Duration(seconds=90),
)
TIME_CONTROL = tables_pb2.TimeControl(action_time=Duration(seconds=7), bot_delay=Duration(nanos=8_000_000))


async def test_set_ready_makes_the_caller_ready_unless_it_says_otherwise(harness: LobbyHarness) -> None:
    ada = await harness.sign_in(1)
    table_id = (await ada.call("CreateTable", pb.CreateTableRequest(game="pairs", seat_count=3))).table.table_id
    for given, expected in ((None, True), (False, False), (True, True)):
        answer = await ada.call("SetReady", pb.SetReadyRequest(table_id=table_id, is_ready=given))
        assert answer.table.seats[0].is_ready is expected


@pytest.mark.parametrize(
    ("asked", "language", "summary"),
    [
        ("", "en", "A game of the tests."),
        ("en-GB", "en", "A game of the tests."),
        ("nb-NO", "nb", "nb: A game of the tests."),
        ("ru", "ru", "ru: A game of the tests."),
        ("xx", "en", "A game of the tests."),
    ],
)
async def test_games_are_listed_in_the_language_and_in_english_for_an_unknown_one(
    harness: LobbyHarness, asked: str, language: str, summary: str
) -> None:
    ada = await harness.sign_in(1)
    for seat_count in (0, 5):
        answer = await ada.call("ListGames", pb.ListGamesRequest(seat_count=seat_count, language=asked))
        assert (answer.language, answer.games[0].summary) == (language, summary)
        assert answer.reactions == [*REACTION_MESSAGES]


async def test_from_sign_in_to_the_first_deal(harness: LobbyHarness, engine: FakeEngine) -> None:
    ada, bob = await harness.sign_in(1), await harness.sign_in(2)
    assert (await ada.call("ListGames", pb.ListGamesRequest())).games == [*GAME_MESSAGES]
    assert (await ada.call("ListGames", pb.ListGamesRequest(seat_count=5))).games == [GAME_MESSAGES[0]]
    create = pb.CreateTableRequest(game="pairs", seat_count=3, access=ACCESS, time_control=TIME_CONTROL)
    table = (await ada.call("CreateTable", create)).table
    assert (table.state, table.access, table.rules_version) == (tables_pb2.TABLE_STATE_FORMING, ACCESS, 7)
    assert table.time_control == tables_pb2.TimeControl(
        action_time=Duration(seconds=7),
        reserve_time=Duration(seconds=60),
        bot_delay=Duration(nanos=8_000_000),
        away_time=Duration(seconds=3),
    )
    assert MessageToDict(table.options) == {"rounds": 3}
    assert table.host_player_id == ada.player_id
    assert table.create_time.ToMilliseconds() == START
    assert list(table.seats) == [tables_pb2.Seat(player_id=ada.player_id, name="Player 1"), *[tables_pb2.Seat()] * 2]
    watch = ada.call("WatchTables", pb.WatchTablesRequest(table_id=table.table_id))
    first, end = await watch.read(), await watch.read()
    assert (first.table, first.is_list_complete) == (table, False)
    assert end == pb.WatchTablesResponse(is_list_complete=True)
    joined = (await bob.call("JoinTable", pb.JoinTableRequest(invite_code=table.invite_code))).table
    assert await watch.read() == pb.WatchTablesResponse(table=joined, is_list_complete=True)
    with_bot = (await ada.call("AddBot", pb.AddBotRequest(table_id=table.table_id))).table
    assert with_bot.seats[2] == tables_pb2.Seat(name="Bot 3", bot="clever", is_ready=True)
    again = pb.AddBotRequest(table_id=table.table_id, bot="clever", seat=2)
    assert (await ada.call("AddBot", again)).table == with_bot
    assert (await watch.read()).table == with_bot
    await ada.call("SetReady", pb.SetReadyRequest(table_id=table.table_id, client_seed=b"a"))
    await watch.read()
    ready = await bob.call("SetReady", pb.SetReadyRequest(table_id=table.table_id, is_ready=True, client_seed=b"b"))
    assert ready.table.state == tables_pb2.TABLE_STATE_PLAYING
    assert engine.hosts == {table.table_id: ada.player_id}
    assert engine.accesses == {table.table_id: TableAccess(Visibility.LINK, WatchPolicy.LINK, 90)}
    seats = [(seat.player_id, seat.client_seed) for seat in engine.opened[table.table_id]]
    assert seats == [(ada.player_id, b"a"), (bob.player_id, b"b"), ("", b"")]
    while (reported := await watch.read()).table.state != tables_pb2.TABLE_STATE_PLAYING:
        assert reported.table.state == tables_pb2.TABLE_STATE_FORMING
    watch.cancel()


async def test_a_table_against_bots_is_one_call_and_its_changes_one_each(
    harness: LobbyHarness, engine: FakeEngine
) -> None:
    ada, bob = await harness.sign_in(1), await harness.sign_in(2)
    asked = CREATE(seat_count=3, bots=["random", ""], is_ready=True, request_id="1")
    table = (await ada.call("CreateTable", asked)).table
    assert (table.state, table.HasField("close_time")) == (tables_pb2.TABLE_STATE_PLAYING, False)
    assert [seat.client_seed for seat in engine.opened[table.table_id]] == [b"", b"", b""]
    assert (await ada.call("CreateTable", asked)).table == table
    reused = await refused(ada.call("CreateTable", CREATE(request_id="1")))
    assert reused == ("ALREADY_EXISTS", "REQUEST_ID_REUSED", "")
    forming = (await ada.call("CreateTable", CREATE(seat_count=3, bots=[""]))).table
    assert forming.close_time.ToMilliseconds() == START + 3_600_000
    look = (await bob.call("GetTable", pb.GetTableRequest(invite_code=forming.invite_code))).table
    assert (look.table_id, look.invite_code) == (forming.table_id, "")
    joined = (await bob.call("JoinTable", pb.JoinTableRequest(table_id=forming.table_id, seat=2))).table
    assert (joined.seats[2].player_id, joined.invite_code) == (bob.player_id, forming.invite_code)
    change = UPDATE(table_id=forming.table_id, seat_count=4, options=options(rounds=9), access=ACCESS)
    checked = UPDATE(validate_only=True)
    checked.MergeFrom(change)
    shown = (await ada.call("UpdateTable", checked)).table
    changed = (await ada.call("UpdateTable", change)).table
    assert (shown.seed_commitment, changed.seed_commitment) == ("", commitment_of(forming.table_id, 1))
    assert (len(changed.seats), MessageToDict(changed.options), changed.access) == (4, {"rounds": 9}, ACCESS)
    assert changed.close_time.ToMilliseconds() == START + 86_400_000
    moved = (await bob.call("JoinTable", pb.JoinTableRequest(table_id=forming.table_id, seat=3))).table
    assert [seat.player_id for seat in moved.seats[2:]] == ["", bob.player_id]
    await ada.call("ClearSeat", pb.ClearSeatRequest(table_id=forming.table_id, seat=3))
    await bob.call("JoinTable", pb.JoinTableRequest(invite_code=forming.invite_code))
    blocking = pb.ClearSeatRequest(table_id=forming.table_id, seat=2, block=True)
    assert (await ada.call("ClearSeat", blocking)).table.invite_code != forming.invite_code


async def test_the_engine_opens_the_revision_that_the_lobby_shows(harness: LobbyHarness, engine: FakeEngine) -> None:
    ada = await harness.sign_in(1)
    table_id = (await ada.call("CreateTable", CREATE(seat_count=3, bots=[""]))).table.table_id
    change = UPDATE(table_id=table_id, options=options(rounds=9))
    await ada.call("UpdateTable", change)
    await ada.call("SetReady", pb.SetReadyRequest(table_id=table_id, is_ready=True))
    opened = engine.opened_as[table_id]
    assert (opened.revision, dict(opened.options), opened.rules_version, len(opened.seats)) == (1, {"rounds": 9}, 7, 2)


async def test_options_keep_their_types_and_a_table_has_the_teams_of_its_game(harness: LobbyHarness) -> None:
    of_each_type = {"rounds": 5, "open": True, "scoring": "short"}
    create = pb.CreateTableRequest(game="pairs", seat_count=4, options=options(**of_each_type))
    table = (await (await harness.sign_in(1)).call("CreateTable", create)).table
    assert MessageToDict(table.options) == of_each_type
    assert [list(team.seats) for team in table.teams] == [[0, 2], [1, 3]]


async def test_a_zero_of_the_time_control_is_no_default(harness: LobbyHarness) -> None:
    ada, zero = await harness.sign_in(1), Duration()
    create = pb.CreateTableRequest(game="pairs", seat_count=2, time_control=tables_pb2.TimeControl(reserve_time=zero))
    control = (await ada.call("CreateTable", create)).table.time_control
    assert (control.action_time.seconds, control.HasField("reserve_time"), control.reserve_time) == (30, True, zero)


async def test_a_list_hides_tables_of_hosts_who_removed_the_caller_and_its_tokens_are_of_one_filter(
    harness: LobbyHarness, clock: FakeClock
) -> None:
    ada, bob = await harness.sign_in(1), await harness.sign_in(2)
    made = []
    for _ in range(3):
        clock.advance(1)
        made.append((await ada.call("CreateTable", CREATE())).table.table_id)
    await bob.call("JoinTable", pb.JoinTableRequest(table_id=made[1]))
    await ada.call("ClearSeat", pb.ClearSeatRequest(table_id=made[1], seat=1, block=True))
    first = await bob.call("ListTables", pb.ListTablesRequest(page_size=1))
    token = first.next_page_token
    second = await bob.call("ListTables", pb.ListTablesRequest(page_token=token))
    assert [[table.table_id for table in page.tables] for page in (first, second)] == [[made[2]], [made[0]]]
    for other in (pb.ListTablesRequest(game="pairs"), pb.ListTablesRequest(state=tables_pb2.TABLE_STATE_CLOSED)):
        other.page_token = token
        answer = await refused(bob.call("ListTables", other))
        assert answer == ("INVALID_ARGUMENT", "INVALID_PAGE_TOKEN", "page_token")


async def test_streams_end_with_their_token_and_a_ticket_is_kept(harness: LobbyHarness, clock: FakeClock) -> None:
    ada, wanted = await harness.sign_in(1), pb.FindMatchRequest(game="pairs", seat_count=2)
    table = (await ada.call("CreateTable", pb.CreateTableRequest(game="pairs", seat_count=2))).table
    clock.drive()
    clock.advance(899.999)
    watching = ada.call("WatchTables", pb.WatchTablesRequest(table_id=table.table_id))
    matching = ada.call("FindMatch", wanted)
    assert (await watching.read()).table == table
    assert not (await watching.read()).HasField("table")
    ticket_id = (await matching.read()).ticket_id
    clock.advance(0.001)
    for stream in (watching, matching):
        assert await refused(stream) == ("UNAUTHENTICATED", "INVALID_ACCESS_TOKEN", "")
    ada = await harness.sign_in(1)
    assert (await ada.call("FindMatch", wanted).read()).ticket_id == ticket_id


async def test_players_are_matched_and_a_repeated_request_gets_the_same_table(
    harness: LobbyHarness, engine: FakeEngine
) -> None:
    ada, bob = await harness.sign_in(1), await harness.sign_in(2)
    wanted = pb.FindMatchRequest(game="pairs", seat_count=2, request_id="r1")

    async def table_of(stream: Any) -> Any:
        (table,) = [progress.table async for progress in stream if progress.HasField("table")]
        return table

    first = aiter(ada.call("FindMatch", wanted))
    assert (await anext(first)).waiting_count == 1
    table = await table_of(bob.call("FindMatch", FIND(client_seed=b"bob")))
    assert [await table_of(stream) for stream in (first, ada.call("FindMatch", wanted))] == [table] * 2
    assert engine.accesses == {table.table_id: replace(OPEN, is_matched=True)}
    assert sorted(seat.client_seed for seat in engine.opened[table.table_id]) == [b"", b"bob"]


async def test_players_of_a_finished_table_play_again(harness: LobbyHarness, engine: FakeEngine) -> None:
    ada, bob = await harness.sign_in(1), await harness.sign_in(2)
    first = (await ada.call("CreateTable", CREATE(time_control=TIME_CONTROL))).table
    await bob.call("JoinTable", pb.JoinTableRequest(table_id=first.table_id))
    again = pb.RematchRequest(table_id=first.table_id)
    assert await refused(ada.call("Rematch", again)) == ("FAILED_PRECONDITION", "TABLE_NOT_FINISHED", "")
    for one in (ada, bob):
        await one.call("SetReady", pb.SetReadyRequest(table_id=first.table_id, is_ready=True))
    engine.finished.add(first.table_id)
    created = (await ada.call("Rematch", again)).table
    assert (created.previous_table_id, created.next_table_id) == (first.table_id, "")
    assert created.time_control == first.time_control
    assert list(created.seats) == [
        tables_pb2.Seat(reserved_player_id=bob.player_id),
        tables_pb2.Seat(player_id=ada.player_id, name="Player 1"),
    ]
    shown = (await bob.call("GetTable", pb.GetTableRequest(table_id=first.table_id))).table
    assert (shown.state, shown.next_table_id) == (tables_pb2.TABLE_STATE_FINISHED, created.table_id)
    joined = (await bob.call("Rematch", again)).table
    assert [seat.player_id for seat in joined.seats] == [bob.player_id, ada.player_id]
    assert not any(seat.reserved_player_id for seat in joined.seats)


async def test_a_cancelled_stream_releases_its_slot(harness: LobbyHarness) -> None:
    ada = await harness.sign_in(1)
    call = ada.call("FindMatch", pb.FindMatchRequest(game="pairs", seat_count=2))
    await call.read()
    await until_streams(harness.lobby, 1)
    call.cancel()
    await until_streams(harness.lobby, 0)


async def test_refresh_returns_a_token_that_works(harness: LobbyHarness) -> None:
    first = await harness.stub.SignIn(pb.SignInRequest(device_secret="a secret of one device", name="Ada"))
    renewed = await harness.stub.RefreshToken(pb.RefreshTokenRequest(refresh_token=first.tokens.refresh_token))
    assert renewed.player == first.player
    metadata = (("authorization", f"Bearer {renewed.tokens.access_token}"),)
    await harness.stub.ListGames(pb.ListGamesRequest(), metadata=metadata)


async def test_a_player_sees_all_of_themselves_and_the_name_of_others(harness: LobbyHarness) -> None:
    ada, bob = await harness.sign_in(1), await harness.sign_in(2)
    code = await ada.call("CreateDeviceCode", pb.CreateDeviceCodeRequest())
    assert code.lifetime == Duration(seconds=600)
    tablet = pb.SignInRequest(device_secret="a secret of the tablet", device_code=code.device_code.lower())
    assert (await harness.stub.SignIn(tablet)).player == pb.Player(player_id=ada.player_id, name="Player 1")
    for player_id in (ada.player_id, "me", ""):
        own = (await ada.call("GetPlayer", pb.GetPlayerRequest(player_id=player_id))).player
        assert own == pb.Player(player_id=ada.player_id, name="Player 1", device_count=2)
    shown = (await bob.call("GetPlayer", pb.GetPlayerRequest(player_id=ada.player_id))).player
    assert shown == pb.Player(player_id=ada.player_id, name="Player 1")
    assert await refused(bob.call("GetPlayer", pb.GetPlayerRequest(player_id=ID))) == (
        "NOT_FOUND",
        "UNKNOWN_PLAYER",
        "",
    )


async def test_a_sign_out_leaves_the_access_token_valid_until_it_expires(harness: LobbyHarness) -> None:
    signed_in = await harness.stub.SignIn(pb.SignInRequest(device_secret="a secret of one device"))
    metadata = (("authorization", f"Bearer {signed_in.tokens.access_token}"),)
    refresh_token = signed_in.tokens.refresh_token
    for _ in range(2):
        await harness.stub.SignOut(pb.SignOutRequest(refresh_token=refresh_token))
    await harness.stub.GetPlayer(pb.GetPlayerRequest(player_id="me"), metadata=metadata)
    for call in (
        harness.stub.RefreshToken(pb.RefreshTokenRequest(refresh_token=refresh_token)),
        harness.stub.SignOut(pb.SignOutRequest(refresh_token=refresh_token, all_devices=True)),
    ):
        assert await refused(call) == ("UNAUTHENTICATED", "INVALID_REFRESH_TOKEN", "")


ID = "0" * 32
CREATE = partial(pb.CreateTableRequest, game="pairs", seat_count=2)
FIND = partial(pb.FindMatchRequest, game="pairs", seat_count=2)
UPDATE = partial(pb.UpdateTableRequest, table_id=ID, seat_count=2)
ENDLESS = Duration(seconds=2**63 - 1, nanos=1_000_000_000)
BAD_TIMES = [
    *(("action_time", time) for time in (ENDLESS, Duration(nanos=500_000_000))),
    *(("reserve_time", time) for time in (ENDLESS, Duration(nanos=500_000_000))),
    *(("bot_delay", time) for time in (ENDLESS, Duration(nanos=500_000))),
]
BAD_BOT_TIMES = (ENDLESS, Duration(seconds=601), Duration(seconds=-1), Duration(nanos=500_000_000), Duration(nanos=-1))
BAD_FIELDS = [
    ("SignIn", pb.SignInRequest(device_secret="short"), "device_secret"),
    ("SignIn", pb.SignInRequest(device_secret="the secret of a device", name="y" * 33), "name"),
    ("SignIn", pb.SignInRequest(device_secret="the secret of a device", device_code="x" * 65), "device_code"),
    ("GetPlayer", pb.GetPlayerRequest(player_id="x" * 65), "player_id"),
    ("UpdatePlayer", pb.UpdatePlayerRequest(), "name"),
    ("UpdatePlayer", pb.UpdatePlayerRequest(name="two\nlines"), "name"),
    ("CreateTable", CREATE(game=""), "game"),
    *(
        ("CreateTable", CREATE(time_control=tables_pb2.TimeControl(**{name: time})), f"time_control.{name}")
        for name, time in BAD_TIMES
    ),
    ("GetTable", pb.GetTableRequest(), "target"),
    ("GetTable", pb.GetTableRequest(table_id=""), "table_id"),
    ("GetTable", pb.GetTableRequest(invite_code="x" * 65), "invite_code"),
    ("GetTable", pb.GetTableRequest(table_id="x" * 65), "table_id"),
    ("GetTable", pb.GetTableRequest(table_id="\0"), "table_id"),
    ("ListTables", pb.ListTablesRequest(page_size=101), "page_size"),
    ("ListTables", pb.ListTablesRequest(state=17), "state"),  # type: ignore[arg-type]
    ("ListTables", pb.ListTablesRequest(game="é"), "game"),
    ("WatchTables", pb.WatchTablesRequest(table_id="x" * 65), "table_id"),
    ("WatchTables", pb.WatchTablesRequest(game="x" * 65), "game"),
    ("WatchTables", pb.WatchTablesRequest(table_id=ID, game="pairs"), "game"),
    ("WatchTables", pb.WatchTablesRequest(table_id=ID, mine=True), "mine"),
    ("WatchTables", pb.WatchTablesRequest(game="pairs", mine=True), "mine"),
    ("ListMyTables", pb.ListMyTablesRequest(page_size=101), "page_size"),
    ("ListMyTables", pb.ListMyTablesRequest(state=17), "state"),  # type: ignore[arg-type]
    ("JoinTable", pb.JoinTableRequest(), "target"),
    ("JoinTable", pb.JoinTableRequest(table_id=""), "table_id"),
    ("JoinTable", pb.JoinTableRequest(invite_code="x" * 65), "invite_code"),
    ("CreateTable", CREATE(request_id="x" * 65), "request_id"),
    ("CreateTable", CREATE(bots=["x" * 65]), "bots"),
    ("CreateTable", CREATE(bots=["", ""]), "bots"),
    ("UpdateTable", pb.UpdateTableRequest(), "table_id"),
    *(
        ("UpdateTable", UPDATE(time_control=tables_pb2.TimeControl(**{name: time})), f"time_control.{name}")
        for name, time in BAD_TIMES
    ),
    ("UpdateTable", UPDATE(access=tables_pb2.TableAccess(watch_delay=ENDLESS)), "access.watch_delay"),
    ("LeaveTable", pb.LeaveTableRequest(), "table_id"),
    ("SetReady", pb.SetReadyRequest(is_ready=True), "table_id"),
    ("SetReady", pb.SetReadyRequest(table_id=ID, client_seed=b"x" * 65), "client_seed"),
    ("AddBot", pb.AddBotRequest(), "table_id"),
    ("AddBot", pb.AddBotRequest(table_id=ID, bot="x" * 65), "bot"),
    ("ClearSeat", pb.ClearSeatRequest(), "table_id"),
    ("FindMatch", FIND(game=""), "game"),
    *(("FindMatch", FIND(seat_count=count), "seat_count") for count in (0, 1, 6)),
    ("FindMatch", FIND(client_seed=b"x" * 65), "client_seed"),
    ("FindMatch", FIND(request_id="x" * 65), "request_id"),
    *(("FindMatch", FIND(preset=name), "preset") for name in ("bullet", "x" * 65, "é")),
    *(
        (method, request(fill_with_bots_after=time), "fill_with_bots_after")
        for method, request in (("FindMatch", FIND), ("CreateTable", CREATE))
        for time in BAD_BOT_TIMES
    ),
]
BAD = [
    *((method, request, "INVALID_FIELD", field) for method, request, field in BAD_FIELDS),
    ("CreateTable", CREATE(options=options(**{str(n): 1 for n in range(65)})), "INVALID_OPTION", "options"),
    ("CreateTable", CREATE(options=options(**{"x" * 2000: None})), "INVALID_OPTION", "options." + "x" * 64),
    *(
        ("CreateTable", CREATE(options=options(rounds=value)), "INVALID_OPTION", "options.rounds")
        for value in (None, 1.5, float("nan"), float("inf"), [3], {"a": 3})
    ),
    *(
        ("UpdateTable", UPDATE(options=options(rounds=value)), "INVALID_OPTION", "options.rounds")
        for value in (None, 1.5, [3])
    ),
    ("ListTables", pb.ListTablesRequest(page_token="nonsense"), "INVALID_PAGE_TOKEN", "page_token"),
    ("ListMyTables", pb.ListMyTablesRequest(page_token="nonsense"), "INVALID_PAGE_TOKEN", "page_token"),
    *(
        (method, request(game="whist"), "UNKNOWN_GAME", "game")
        for method, request in (
            ("FindMatch", FIND),
            ("ListTables", pb.ListTablesRequest),
            ("WatchTables", pb.WatchTablesRequest),
        )
    ),
]


async def test_a_player_asks_for_a_preset_and_bots(harness: LobbyHarness, engine: FakeEngine) -> None:
    ada = await harness.sign_in(1)
    request = FIND(seat_count=3, preset="blitz", fill_with_bots_after=Duration())
    async for answer in ada.call("FindMatch", request):
        table = answer.table
    assert [(seat.player_id, seat.bot) for seat in table.seats] == [(ada.player_id, ""), *[("", "clever")] * 2]
    assert MessageToDict(table.options) == {"rounds": 1}
    assert table.time_control.action_time == Duration(seconds=5)
    assert [*engine.opened] == [table.table_id]


async def test_a_table_shows_when_bots_take_its_free_seats_until_they_have(
    harness: LobbyHarness, clock: FakeClock
) -> None:
    ada = await harness.sign_in(1)
    table = (await ada.call("CreateTable", CREATE(fill_with_bots_after=Duration(seconds=60)))).table
    assert table.fill_with_bots_time.ToMilliseconds() == START + 60_000
    await ada.call("SetReady", pb.SetReadyRequest(table_id=table.table_id, is_ready=True))
    for _ in range(4):
        clock.advance(15)
        await ada.call("GetTable", pb.GetTableRequest(table_id=table.table_id))
        await harness.lobby.presence.tick()
    await harness.lobby.housekeeper.fill_seats()
    filled = (await ada.call("GetTable", pb.GetTableRequest(table_id=table.table_id))).table
    assert filled.state == tables_pb2.TABLE_STATE_PLAYING
    assert filled.seats[1].bot == "clever"
    assert not filled.HasField("fill_with_bots_time")
    assert not (await ada.call("CreateTable", CREATE())).table.HasField("fill_with_bots_time")


async def test_own_tables_are_listed_and_followed_with_the_seat_of_the_caller(
    harness: LobbyHarness, engine: FakeEngine, clock: FakeClock
) -> None:
    ada, bob = await harness.sign_in(1), await harness.sign_in(2)
    tables = []
    for _ in range(2):
        tables.append((await ada.call("CreateTable", CREATE(access=ACCESS))).table)
        clock.advance(1)
    old, new = tables
    watch = ada.call("WatchTables", pb.WatchTablesRequest(mine=True))
    begin = [await watch.read() for _ in range(3)]
    waiting = pb.MySeat(seat=0, is_away=False)
    assert begin == [
        pb.WatchTablesResponse(table=new, my_seat=waiting),
        pb.WatchTablesResponse(table=old, my_seat=waiting),
        pb.WatchTablesResponse(is_list_complete=True),
    ]
    assert new.invite_code
    await bob.call("JoinTable", pb.JoinTableRequest(invite_code=new.invite_code))
    watch_bob = bob.call("WatchTables", pb.WatchTablesRequest(mine=True))
    assert [(await watch_bob.read()).my_seat.seat, (await watch_bob.read()).is_list_complete] == [1, True]
    await ada.call("ClearSeat", pb.ClearSeatRequest(table_id=new.table_id, seat=1))
    gone = tables_pb2.Table(table_id=new.table_id)
    assert await watch_bob.read() == pb.WatchTablesResponse(table=gone, is_list_complete=True)
    assert await bob.call("ListMyTables", pb.ListMyTablesRequest()) == pb.ListMyTablesResponse()
    await bob.call("JoinTable", pb.JoinTableRequest(invite_code=old.invite_code))
    for guest in (ada, bob):
        request = pb.SetReadyRequest(table_id=old.table_id, is_ready=True)
        played = (await guest.call("SetReady", request)).table
    deadline = Timestamp(seconds=START // 1000 + 7, nanos=8_000_000)
    engine.turns[old.table_id] = Turn(0b10, 0b01, deadline.ToMilliseconds())
    seats = {0: pb.MySeat(is_to_act=False, is_away=True), 1: pb.MySeat(is_to_act=True, is_away=False)}
    seats[1].deadline_time.CopyFrom(deadline)
    for number, guest in enumerate((ada, bob)):
        seats[number].seat = number
        page = pb.ListMyTablesRequest(state=tables_pb2.TABLE_STATE_PLAYING)
        (mine,) = (await guest.call("ListMyTables", page)).tables
        assert mine == pb.MyTable(table=played, my_seat=seats[number])
    first = await ada.call("ListMyTables", pb.ListMyTablesRequest(page_size=1))
    token = first.next_page_token
    second = await ada.call("ListMyTables", pb.ListMyTablesRequest(page_size=1, page_token=token))
    assert [page.tables[0].table.table_id for page in (first, second)] == [new.table_id, old.table_id]
    assert second.next_page_token == ""
    for state, count in ((tables_pb2.TABLE_STATE_FORMING, 1), (tables_pb2.TABLE_STATE_FINISHED, 0)):
        found = await ada.call("ListMyTables", pb.ListMyTablesRequest(state=state))
        assert [mine.table.state for mine in found.tables] == [state] * count
    engine.finished.add(old.table_id)
    await harness.lobby.opener.finish([old.table_id])
    (mine,) = (await bob.call("ListMyTables", pb.ListMyTablesRequest(state=tables_pb2.TABLE_STATE_FINISHED))).tables
    assert (mine.table.table_id, mine.my_seat) == (old.table_id, pb.MySeat(seat=1))
    assert not (await bob.call("ListMyTables", pb.ListMyTablesRequest())).tables
    # A token of one player's list is none of another's.
    stolen = await refused(bob.call("ListMyTables", pb.ListMyTablesRequest(page_token=token)))
    assert stolen == ("INVALID_ARGUMENT", "INVALID_PAGE_TOKEN", "page_token")
    watch.cancel()
    watch_bob.cancel()


async def test_every_bad_request_names_its_field_and_makes_no_table(harness: LobbyHarness) -> None:
    ada = await harness.sign_in(1)
    for method, request, reason, field in BAD:
        answer = await refused(ada.call(method, request))
        assert answer == ("INVALID_ARGUMENT", reason, field), (method, request)
    assert not (await ada.call("ListTables", pb.ListTablesRequest())).tables


@pytest.mark.parametrize("method", sorted(pb.DESCRIPTOR.services_by_name["LobbyService"].methods_by_name))
async def test_every_method_that_names_a_table_refuses_an_unknown_one_and_all_but_three_need_a_token(
    harness: LobbyHarness, method: str
) -> None:
    kind = pb.DESCRIPTOR.services_by_name["LobbyService"].methods_by_name[method].input_type
    request = getattr(pb, kind.name)()
    if method not in ("SignIn", "RefreshToken", "SignOut"):
        answer = await refused(getattr(harness.stub, method)(request))
        assert answer == ("UNAUTHENTICATED", "INVALID_ACCESS_TOKEN", "")
    if "table_id" in kind.fields_by_name:
        request.table_id = ID
        answer = await refused((await harness.sign_in(1)).call(method, request))
        assert answer == ("NOT_FOUND", "UNKNOWN_TABLE", "")
