"""A clock, an engine in memory and the same engine behind gRPC, players and tables."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from croupier.lobby import codec
from croupier.lobby.engine_port import GameDescription, OptionDescription, Preparation
from croupier.lobby.forming import TableWish
from croupier.lobby.players import Player
from croupier.lobby.tables import FREE_SEAT, Seat, Table, TableClock, TableState
from croupier.runtime.errors import MalformedRequest, NotFound, ServiceError, Unavailable
from croupier_api.v1 import engine_pb2 as pb
from croupier_api.v1 import engine_pb2_grpc, table_pb2

PAIRS = TableWish("pairs", 2, {}, TableClock(30, 60), private=False)
START = 1_700_000_000_000
SILENT = Unavailable("ENGINE_UNAVAILABLE", "the engine cannot answer now: try again", retry_after_seconds=1)
ROUNDS = OptionDescription("rounds", "integer", "3", ("1..10",), "How many rounds are played.")
GAMES = (
    GameDescription("pairs", "Pairs", "A game of the tests.", 2, 5, 1, (ROUNDS,), ("clever", "random")),
    GameDescription("alone", "Alone", "Another game of the tests.", 1, 3, 4, (), ()),
)


class FakeClock:
    """Time that moves only when told to."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * 1000)


class FakeEngine:
    """An engine that checks what the real one checks, remembers what it was told, and fails when told to."""

    def __init__(self) -> None:
        self.prepared: dict[str, tuple[str, int]] = {}
        self.opened: dict[str, tuple[Seat, ...]] = {}
        self.finished: set[str] = set()
        self.failure: ServiceError | None = None
        self.calls: list[str] = []

    async def describe_games(self) -> tuple[GameDescription, ...]:
        self._begin("describe_games")
        return GAMES

    async def prepare_table(
        self, table_id: str, game: str, seats: int, options: Mapping[str, str], clock: TableClock
    ) -> Preparation:
        self._begin("prepare_table")
        known = {description.game: description for description in GAMES}
        if game not in known:
            raise MalformedRequest("UNKNOWN_GAME", f"no game {game!r}", field="game")
        if not known[game].min_seats <= seats <= known[game].max_seats:
            raise MalformedRequest("SEATS", f"{game} is not for {seats}", field="seats")
        allowed = {option.name: option.default_value for option in known[game].options}
        for name in options:
            if name not in allowed:
                raise MalformedRequest("OPTION", f"{game} has no option {name}", field=f"options.{name}")
        self.prepared[table_id] = (game, seats)
        commitment = hashlib.sha256(table_id.encode()).hexdigest()
        return Preparation(allowed | dict(options), clock, commitment)

    async def open_table(self, table_id: str, seats: Sequence[Seat]) -> None:
        self._begin("open_table")
        if table_id not in self.prepared:
            raise NotFound("UNKNOWN_TABLE", "this table was never prepared")
        self.opened.setdefault(table_id, tuple(seats))

    async def table_statuses(self, table_ids: Sequence[str]) -> Mapping[str, bool]:
        self._begin("table_statuses")
        return {table_id: table_id in self.finished for table_id in table_ids if table_id in self.opened}

    def _begin(self, call: str) -> None:
        self.calls.append(call)
        if self.failure:
            raise self.failure


class FakeEngineServicer(engine_pb2_grpc.EngineControlServiceServicer):
    """The engine's control service in front of a fake engine."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self.opened: list[pb.OpenTableRequest] = []

    async def DescribeGames(self, request: pb.DescribeGamesRequest, context: Any) -> pb.DescribeGamesResponse:
        games = await self._engine.describe_games()
        return pb.DescribeGamesResponse(games=[codec.write_game(game) for game in games])

    async def PrepareTable(self, request: pb.PrepareTableRequest, context: Any) -> pb.PrepareTableResponse:
        made = await self._engine.prepare_table(
            request.table_id, request.game, request.seats, request.options.values, codec.read_clock(request.clock)
        )
        options = table_pb2.GameOptions(values=dict(made.options))
        return pb.PrepareTableResponse(options=options, clock=request.clock, commitment=made.commitment)

    async def OpenTable(self, request: pb.OpenTableRequest, context: Any) -> pb.OpenTableResponse:
        self.opened.append(request)
        seeds = zip(request.seats, request.client_seeds, strict=True)
        seats = [Seat(seat.player_id, seat.name, seat.bot, True, seed) for seat, seed in seeds]
        await self._engine.open_table(request.table_id, seats)
        return pb.OpenTableResponse()

    async def GetTableStatuses(self, request: pb.GetTableStatusesRequest, context: Any) -> pb.GetTableStatusesResponse:
        told = await self._engine.table_statuses(request.table_ids)
        statuses = [pb.TableStatus(table_id=table_id, finished=over) for table_id, over in told.items()]
        return pb.GetTableStatusesResponse(statuses=statuses)


def player(number: int) -> Player:
    return Player(f"{number:032x}", f"Player {number}")


def forming_table(seats: int = 2, number: int = 1, **changes: Any) -> Table:
    """A table of which player 1 is host."""
    host = player(1)
    table = Table(
        table_id=f"{number:032x}",
        state=TableState.FORMING,
        game="pairs",
        options={"rounds": "3"},
        clock=TableClock(30, 60),
        seats=(Seat(host.player_id, host.name), *[FREE_SEAT] * (seats - 1)),
        host_player_id=host.player_id,
        private=False,
        invite_code="",
        commitment="c0ffee",
        created_milliseconds=START,
        touched_milliseconds=START,
    )
    return replace(table, **changes)
