"""The lobby over real gRPC, with an engine behind real gRPC."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc
import pytest
import structlog

from croupier.lobby.assembly import Lobby
from croupier.lobby.engine_channel import EngineChannel
from croupier.lobby.servicer import OPEN_METHODS
from croupier.runtime.identity import ENGINE_CONTROL_AUDIENCE, PLAYER_AUDIENCE, TokenIssuer, TokenVerifier
from croupier.runtime.server import AddServices
from croupier_api.v1 import engine_pb2, engine_pb2_grpc, lobby_pb2_grpc, table_pb2
from croupier_api.v1 import lobby_pb2 as pb
from croupier_client import Client, Endpoints
from loadtest.faults.proxy import Lane
from tests.lobby.fakes import SILENT, FakeClock, FakeEngine, FakeEngineServicer
from tests.lobby.house import House
from tests.lobby.matches import running, until_streams
from tests.serving import Refusal, refusal, serving
from tests.waiting import PATIENCE_SECONDS


@dataclass
class Guest:
    """A signed-in player."""

    stub: "lobby_pb2_grpc.LobbyServiceAsyncStub"
    player_id: str
    metadata: tuple[tuple[str, str], ...]

    def call(self, method: str, request: Any) -> Any:
        return getattr(self.stub, method)(request, metadata=self.metadata, timeout=PATIENCE_SECONDS)


@dataclass
class Front:
    """A lobby that serves."""

    stub: "lobby_pb2_grpc.LobbyServiceAsyncStub"
    engine: FakeEngine
    engine_service: FakeEngineServicer
    lobby: Lobby
    address: str

    async def sign_in(self, number: int) -> Guest:
        request = pb.SignInRequest(device_secret=f"the secret of device {number}", name=f"Player {number}")
        response = await self.stub.SignIn(request)
        token = response.tokens.access_token
        return Guest(self.stub, response.player.player_id, (("authorization", f"Bearer {token}"),))


@pytest.fixture
def audience() -> str:
    """For whom the lobby signs what it says to the engine."""
    return ENGINE_CONTROL_AUDIENCE


@pytest.fixture
async def front(house: House, engine: FakeEngine, clock: FakeClock, audience: str) -> AsyncIterator[Front]:
    async with AsyncExitStack() as stack:

        async def served(add: AddServices, own: str, **options: Any) -> tuple[str, grpc.aio.Channel]:
            verifier = TokenVerifier(house.key.public_key(), own, clock)
            address = await stack.enter_async_context(serving(add, verifier, **options))
            return address, await stack.enter_async_context(grpc.aio.insecure_channel(address))

        service = FakeEngineServicer(engine)
        add_engine = partial(engine_pb2_grpc.add_EngineControlServiceServicer_to_server, service)
        _, channel = await served(add_engine, ENGINE_CONTROL_AUDIENCE)
        issuer = TokenIssuer(house.key, audience, 60, clock)
        house.engine = EngineChannel(channel, issuer, 5, structlog.get_logger())
        lobby = await stack.enter_async_context(house.lobby())
        await stack.enter_async_context(running(lobby))
        address, own = await served(lobby.add_to, PLAYER_AUDIENCE, open_methods=OPEN_METHODS)
        yield Front(lobby_pb2_grpc.LobbyServiceStub(own), engine, service, lobby, address)


@asynccontextmanager
async def carried(address: str) -> AsyncIterator[tuple[Lane, str]]:
    """A way to an address, on which everything can be lost, and where it begins."""
    host, port = address.split(":")
    lane = Lane(host, int(port))
    server = await asyncio.start_server(lane.serve, "127.0.0.1", 0)
    try:
        yield lane, f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        lane.reset()


def ada_at(address: str, clock: FakeClock) -> Client:
    return Client(Endpoints.single(address), "the secret of device 1", "Ada", clock=clock)


async def refused(call: Any) -> Refusal:
    """How a call is refused, which may be a stream."""
    return await refusal(call.read() if isinstance(call, grpc.aio.UnaryStreamCall) else call)


CLOCK = table_pb2.Clock(action_seconds=7, bot_delay_milliseconds=8)


async def test_from_sign_in_to_the_first_deal(front: Front) -> None:
    ada, bob = await front.sign_in(1), await front.sign_in(2)
    created = await ada.call("CreateTable", pb.CreateTableRequest(game="pairs", seats=3, private=True, clock=CLOCK))
    table = created.table
    assert table.state == pb.TABLE_STATE_FORMING
    assert table.clock == table_pb2.Clock(action_seconds=7, reserve_seconds=60, bot_delay_milliseconds=8)
    assert dict(table.options.values) == {"rounds": "3"}
    assert table.host_player_id == ada.player_id
    watch = ada.call("WatchTables", pb.WatchTablesRequest(table_id=table.table_id))
    assert (await watch.read()).table == table
    joined = (await bob.call("JoinTable", pb.JoinTableRequest(invite_code=table.invite_code))).table
    assert (await watch.read()).table == joined
    with_bot = (await ada.call("AddBot", pb.AddBotRequest(table_id=table.table_id))).table
    assert with_bot.seats[2].occupant == table_pb2.SeatInfo(name="Bot 3", bot="clever")
    again = pb.AddBotRequest(table_id=table.table_id, bot="clever", seat=2)
    assert (await ada.call("AddBot", again)).table == with_bot
    assert (await watch.read()).table == with_bot
    await ada.call("SetReady", pb.SetReadyRequest(table_id=table.table_id, ready=True, client_seed=b"a"))
    await watch.read()
    ready = await bob.call("SetReady", pb.SetReadyRequest(table_id=table.table_id, ready=True, client_seed=b"b"))
    assert ready.table.state == pb.TABLE_STATE_PLAYING
    (opened,) = front.engine_service.opened
    assert list(opened.client_seeds) == [b"a", b"b", b""]
    assert [seat.player_id for seat in opened.seats] == [ada.player_id, bob.player_id, ""]
    while (told := await watch.read()).table.state != pb.TABLE_STATE_PLAYING:
        assert told.table.state == pb.TABLE_STATE_FORMING
    watch.cancel()


async def test_games_are_listed_as_the_engine_describes_them(front: Front) -> None:
    games = (await (await front.sign_in(1)).call("ListGames", pb.ListGamesRequest())).games
    rounds = engine_pb2.OptionDescription(
        name="rounds",
        type="integer",
        default_value="3",
        allowed_values=["1..10"],
        meaning="How many rounds are played.",
    )
    pairs = engine_pb2.GameDescription(
        game="pairs",
        name="Pairs",
        summary="A game of the tests.",
        min_seats=2,
        max_seats=5,
        rules_version=1,
        options=[rounds],
        bots=["clever", "random"],
    )
    assert (games[0], games[1].game) == (pairs, "alone")


async def test_tables_are_listed_in_pages_by_tokens_of_one_filter(front: Front, clock: FakeClock) -> None:
    ada = await front.sign_in(1)
    made = []
    for _ in range(5):
        clock.advance(1)
        made.append((await ada.call("CreateTable", pb.CreateTableRequest(game="pairs", seats=2))).table.table_id)
    pages, request = list[list[str]](), pb.ListTablesRequest(state=pb.TABLE_STATE_FORMING, page_size=2)
    while not pages or request.page_token:
        other = pb.ListTablesRequest(page_token=request.page_token)
        page = await ada.call("ListTables", request)
        pages.append([table.table_id for table in page.tables])
        request.page_token = page.next_page_token
    assert pages == [made[4:2:-1], made[2:0:-1], made[:1]]
    assert await refused(ada.call("ListTables", other)) == ("INVALID_ARGUMENT", "PAGE_TOKEN", "page_token")


async def test_an_answer_that_is_lost_on_its_way_is_had_again(front: Front, clock: FakeClock) -> None:
    """The connection takes the table, and breaks before the player has it; his client asks for the same again."""
    async with carried(front.address) as (lane, address), ada_at(address, clock) as ada:
        answers = aiter(ada.quick_match(game="pairs", seats=2))
        await anext(answers)
        lane.swallow()
        bob = await front.sign_in(2)
        wish = pb.QuickMatchRequest(game="pairs", seats=2, client_seed=b"bob")
        (table,) = [news.table async for news in bob.call("QuickMatch", wish) if news.HasField("table")]
        await until_streams(front.lobby, 0)
        async with asyncio.timeout(PATIENCE_SECONDS):
            lane.reset()
            assert [answer.table.table_id async for answer in answers if answer.HasField("table")] == [table.table_id]
        assert table.state == pb.TABLE_STATE_PLAYING
        (opened,) = front.engine_service.opened
        assert (opened.table_id, sorted(opened.client_seeds)) == (table.table_id, [b"", b"bob"])
        # The next wish is another one.
        assert not (await anext(aiter(ada.quick_match(game="pairs", seats=2)))).HasField("table")


async def test_a_cancelled_stream_gives_its_place_back(front: Front) -> None:
    ada = await front.sign_in(1)
    call = ada.call("QuickMatch", pb.QuickMatchRequest(game="pairs", seats=2))
    await call.read()
    await until_streams(front.lobby, 1)
    call.cancel()
    await until_streams(front.lobby, 0)


async def test_refresh_gives_a_token_that_works(front: Front) -> None:
    first = await front.stub.SignIn(pb.SignInRequest(device_secret="a secret of one device", name="Ada"))
    renewed = await front.stub.RefreshToken(pb.RefreshTokenRequest(refresh_token=first.tokens.refresh_token))
    metadata = (("authorization", f"Bearer {renewed.tokens.access_token}"),)
    await front.stub.ListGames(pb.ListGamesRequest(), metadata=metadata)
    used = pb.RefreshTokenRequest(refresh_token=first.tokens.refresh_token)
    assert await refused(front.stub.RefreshToken(used)) == ("UNAUTHENTICATED", "REFRESH_TOKEN", "")


ID = "0" * 32
BAD = [
    ("SignIn", pb.SignInRequest(device_secret="short"), "DEVICE_SECRET", "device_secret"),
    ("SignIn", pb.SignInRequest(device_secret="x" * 20, name="y" * 33), "NAME", "name"),
    ("CreateTable", pb.CreateTableRequest(seats=2), "ID", "game"),
    ("CreateTable", pb.CreateTableRequest(game="pairs"), "SEATS", "seats"),
    ("CreateTable", pb.CreateTableRequest(game="whist", seats=2), "UNKNOWN_GAME", "game"),
    ("CreateTable", pb.CreateTableRequest(game="pairs", seats=2**32 - 1), "SEATS", "seats"),
    (
        "CreateTable",
        pb.CreateTableRequest(game="pairs", seats=2, options=table_pb2.GameOptions(values={"colour": "red"})),
        "OPTION",
        "options.colour",
    ),
    (
        "CreateTable",
        pb.CreateTableRequest(
            game="pairs", seats=2, options=table_pb2.GameOptions(values={str(n): "1" for n in range(65)})
        ),
        "OPTIONS",
        "options",
    ),
    ("GetTable", pb.GetTableRequest(), "ID", "table_id"),
    ("GetTable", pb.GetTableRequest(table_id="x" * 65), "ID", "table_id"),
    ("GetTable", pb.GetTableRequest(table_id="\0"), "ID", "table_id"),
    ("ListTables", pb.ListTablesRequest(page_size=101), "PAGE_SIZE", "page_size"),
    ("ListTables", pb.ListTablesRequest(page_token="nonsense"), "PAGE_TOKEN", "page_token"),
    ("ListTables", pb.ListTablesRequest(state=17), "STATE", "state"),  # type: ignore[arg-type]
    ("ListTables", pb.ListTablesRequest(game="é"), "ID", "game"),
    ("WatchTables", pb.WatchTablesRequest(table_id="x" * 65), "ID", "table_id"),
    ("WatchTables", pb.WatchTablesRequest(game="x" * 65), "ID", "game"),
    ("WatchTables", pb.WatchTablesRequest(table_id=ID, game="pairs"), "WATCH", "game"),
    ("JoinTable", pb.JoinTableRequest(), "TARGET", "target"),
    ("JoinTable", pb.JoinTableRequest(table_id=""), "ID", "table_id"),
    ("JoinTable", pb.JoinTableRequest(invite_code="x" * 65), "ID", "invite_code"),
    ("LeaveTable", pb.LeaveTableRequest(), "ID", "table_id"),
    ("SetReady", pb.SetReadyRequest(ready=True), "ID", "table_id"),
    ("SetReady", pb.SetReadyRequest(table_id=ID, client_seed=b"x" * 65), "CLIENT_SEED", "client_seed"),
    ("AddBot", pb.AddBotRequest(), "ID", "table_id"),
    ("AddBot", pb.AddBotRequest(table_id=ID, bot="x" * 65), "ID", "bot"),
    ("RemoveSeat", pb.RemoveSeatRequest(), "ID", "table_id"),
    ("QuickMatch", pb.QuickMatchRequest(seats=2), "ID", "game"),
    *(("QuickMatch", pb.QuickMatchRequest(game="pairs", seats=seats), "SEATS", "seats") for seats in (0, 1, 6)),
    ("QuickMatch", pb.QuickMatchRequest(game="whist", seats=2), "UNKNOWN_GAME", "game"),
    ("QuickMatch", pb.QuickMatchRequest(game="pairs", seats=2, client_seed=b"x" * 65), "CLIENT_SEED", "client_seed"),
    ("QuickMatch", pb.QuickMatchRequest(game="pairs", seats=2, request_id="x" * 65), "ID", "request_id"),
    ("QuickMatch", pb.QuickMatchRequest(game="pairs", seats=2, request_id="\n"), "ID", "request_id"),
]


async def test_every_bad_request_names_its_field_and_makes_no_table(front: Front) -> None:
    ada = await front.sign_in(1)
    for method, request, reason, field in BAD:
        answer = await refused(ada.call(method, request))
        assert answer == ("INVALID_ARGUMENT", reason, field), (method, request)
    assert not (await ada.call("ListTables", pb.ListTablesRequest())).tables


@pytest.mark.parametrize("method", sorted(pb.DESCRIPTOR.services_by_name["LobbyService"].methods_by_name))
async def test_every_method_that_names_a_table_refuses_an_unknown_one_and_all_but_two_need_a_token(
    front: Front, method: str
) -> None:
    kind = pb.DESCRIPTOR.services_by_name["LobbyService"].methods_by_name[method].input_type
    request = getattr(pb, kind.name)()
    if method not in ("SignIn", "RefreshToken"):
        assert (await refused(getattr(front.stub, method)(request)))[:2] == ("UNAUTHENTICATED", "UNAUTHENTICATED")
    if "table_id" in kind.fields_by_name:
        request.table_id = ID
        answer = await refused((await front.sign_in(1)).call(method, request))
        assert answer == ("NOT_FOUND", "UNKNOWN_TABLE", "")


async def test_a_silent_engine_is_unavailable_and_its_faults_are_not_the_players(front: Front) -> None:
    ada = await front.sign_in(1)
    create = pb.CreateTableRequest(game="pairs", seats=2)
    front.engine.failure = SILENT
    assert (await refused(ada.call("CreateTable", create)))[:2] == ("UNAVAILABLE", "ENGINE_UNAVAILABLE")
    front.engine.failure = RuntimeError("a secret inside")  # type: ignore[assignment]
    assert (await refused(ada.call("CreateTable", create)))[:2] == ("UNAVAILABLE", "ENGINE_UNAVAILABLE")
    front.engine.failure = None
    await ada.call("CreateTable", create)


@pytest.mark.parametrize("audience", [PLAYER_AUDIENCE])
async def test_an_engine_that_does_not_know_the_lobby_is_unavailable(front: Front) -> None:
    ada = await front.sign_in(1)
    answer = await refused(ada.call("CreateTable", pb.CreateTableRequest(game="pairs", seats=2)))
    assert answer[:2] == ("UNAVAILABLE", "ENGINE_UNAVAILABLE")


async def test_sign_ins_and_matches_are_counted(front: Front) -> None:
    for number in (1, 1, 2):
        await front.sign_in(number)
    value = front.lobby.reconciler.metrics.registry.get_sample_value
    assert [value("croupier_lobby_sign_ins_total", {"new": new}) for new in ("true", "false")] == [2, 1]
