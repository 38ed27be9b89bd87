"""A fake clock, a fake engine, the same engine behind gRPC, players and tables."""

import asyncio
import hashlib
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict
from prometheus_client import CollectorRegistry

from croupier.lobby.accounts.players import Player
from croupier.lobby.accounts.provider_keys import ProviderKeys
from croupier.lobby.api import codec
from croupier.lobby.assembly import Lobby, assemble
from croupier.lobby.settings import LobbySettings
from croupier.lobby.tables.engine_port import (
    EndedTables,
    EnginePort,
    GameDescription,
    OfferedGames,
    Preparation,
    Preset,
    TableStatus,
    Turn,
)
from croupier.lobby.tables.forming_table import FREE_SEAT, OptionValue, Seat, Table, TableState, TimeControl
from croupier.lobby.tables.new_table import TableSpec
from croupier.runtime.admission.budget import MILLISECOND, Budget
from croupier.runtime.database.database import open_database
from croupier.runtime.errors import NotFound, ServiceError, Unavailable
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.table_access import OPEN, SEATED, TableAccess, Visibility
from croupier.runtime.table_access_codec import decode_access
from croupier.runtime.translations import ENGLISH
from croupier_api.v1 import errors_pb2, games_pb2
from croupier_internal.v1 import engine_control_pb2 as pb
from croupier_internal.v1 import engine_control_pb2_grpc
from tests.waiting import SettlingLoop

TIME_CONTROL = TimeControl(30, 60, 0)
USUAL = Preset({}, TIME_CONTROL)
PAIRS = TableSpec("pairs", 2, {}, TIME_CONTROL, OPEN)
NEAR, FAR = "192.0.2.0/24", "2001:db8:abcd:ef00::/56"
ALONE = replace(PAIRS, game="alone", seat_count=1)
HIDDEN_PAIRS = replace(PAIRS, access=SEATED)
START = 1_700_000_000_000
ENGINE_UNAVAILABLE = Unavailable(
    errors_pb2.ERROR_REASON_SERVICE_UNAVAILABLE, "the engine does not answer: try again", retry_after_seconds=1
)
ROUNDS = games_pb2.OptionDescription(
    name="rounds",
    meaning="How many rounds are played.",
    integer_range=games_pb2.RangeOption(min_value=1, max_value=10, default_value=3),
)
PAIRED = ((0, 2), (1, 3))
GAME_MESSAGES = (
    games_pb2.GameDescription(
        game="pairs",
        name="Pairs",
        summary="A game of the tests.",
        min_seats=2,
        max_seats=5,
        rules_version=1,
        options=[ROUNDS],
        bots=["clever", "random"],
        presets=[
            games_pb2.PresetDescription(
                name="blitz", options=codec.encode_options({"rounds": 1}), action_time=Duration(seconds=5)
            ),
            games_pb2.PresetDescription(name="slow", action_time=Duration(seconds=7200)),
        ],
        team_layouts=[games_pb2.TeamLayout(seat_count=4, teams=[games_pb2.Team(seats=team) for team in PAIRED])],
    ),
    games_pb2.GameDescription(game="alone", name="Alone", min_seats=1, max_seats=3, rules_version=4),
)
REACTION_MESSAGES = (games_pb2.ReactionDescription(reaction=games_pb2.REACTION_WOW, emoji="😮", text="surprise"),)
OFFERED = codec.decode_games(pb.DescribeGamesResponse(games=GAME_MESSAGES, reactions=REACTION_MESSAGES))
GAMES = OFFERED.games
DEFAULTS: Mapping[str, Mapping[str, OptionValue]] = {"pairs": {"rounds": 3}, "alone": {}}


class FakeClock:
    """A clock that only `advance` changes."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * 1000)

    def drive(self) -> None:
        """Let the timers of the running loop fire by this clock."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SettlingLoop)
        loop.follow(lambda: (self.now - START) / 1000)


def commitment_of(table_id: str, revision: int = 0) -> str:
    """Return the commitment of the fake engine to a revision of a table."""
    return hashlib.sha256(f"{table_id}/{revision}".encode()).hexdigest()


class FakeEngine:
    """An engine that records requests, and raises `failure` if it is set."""

    def __init__(self) -> None:
        self.prepared: dict[str, tuple[str, int]] = {}
        self.networks: dict[str, str] = {}
        self.hosts: dict[str, str] = {}
        self.opened: dict[str, tuple[Seat, ...]] = {}
        self.accesses: dict[str, TableAccess] = {}
        self.opened_as: dict[str, Table] = {}
        self.finished: set[str] = set()
        self.turns: dict[str, Turn] = {}
        self.answers = asyncio.Event()
        """Set while the engine answers for statuses."""
        self.answers.set()
        self.idle: set[str] = set()
        """The players who have not acted."""
        self.results: set[str] = set()
        """The tables in the ledger, of all players."""
        self.forgotten: list[tuple[str, tuple[str, ...], str]] = []
        self.failure: ServiceError | None = None
        self.offered = OFFERED
        self.calls: list[str] = []
        self.ended: asyncio.Queue[EndedTables | None] = asyncio.Queue()
        """What the stream of ended tables yields; None ends it."""
        self.resumed_at: list[int] = []

    async def describe_games(self, seat_count: int = 0, language: str = ENGLISH) -> OfferedGames:
        self._begin("describe_games")
        games = (game for game in self.offered.games if not seat_count or game.has_seats(seat_count))
        return self.offered._replace(games=tuple([_translated(game, language) for game in games]))

    async def prepare_table(
        self,
        table_id: str,
        game: str,
        seats: int,
        options: Mapping[str, OptionValue],
        time_control: TimeControl,
        network: str = "",
        host_player_id: str = "",
        *,
        revision: int = 0,
        validate_only: bool = False,
    ) -> Preparation:
        self._begin("prepare_table")
        teams = PAIRED if seats == 4 else ()
        if validate_only:
            return Preparation({**DEFAULTS[game], **options}, time_control, "", 7, teams)
        self.prepared[table_id] = (game, seats)
        self.networks[table_id] = network
        self.hosts.setdefault(table_id, host_player_id)
        commitment = commitment_of(table_id, revision)
        return Preparation({**DEFAULTS[game], **options}, time_control, commitment, 7, teams)

    async def open_table(self, table: Table) -> None:
        self._begin("open_table")
        table_id = table.table_id
        if table_id not in self.prepared:
            raise NotFound(errors_pb2.ERROR_REASON_UNKNOWN_TABLE, "this table was never prepared")
        self.opened.setdefault(table_id, table.seats)
        self.accesses.setdefault(table_id, table.access)
        self.opened_as.setdefault(table_id, table)

    async def discard_tables(self, table_ids: Sequence[str]) -> None:
        self._begin("discard_tables")
        for table_id in table_ids:
            if table_id not in self.opened:
                self.prepared.pop(table_id, None)

    async def forget_player(self, player_id: str, playing: Sequence[str], after: str) -> Sequence[str]:
        self._begin("forget_player")
        self.forgotten.append((player_id, tuple(playing), after))
        # Pages of one table.
        return [table_id for table_id in sorted(self.results) if table_id > after][:1]

    async def table_statuses(self, table_ids: Sequence[str]) -> Mapping[str, TableStatus]:
        self._begin("table_statuses")
        await self.answers.wait()
        return {
            table_id: TableStatus(True, [seat.player_id for seat in self.opened[table_id] if self._has_acted(seat)])
            if table_id in self.finished
            else TableStatus(False, turn=self.turns.get(table_id))
            for table_id in table_ids
            if table_id in self.opened
        }

    def _has_acted(self, seat: Seat) -> bool:
        return bool(seat.player_id) and seat.player_id not in self.idle

    async def watch_ended_tables(self, resume_at: int) -> AsyncGenerator[EndedTables, None]:
        self._begin("watch_ended_tables")
        self.resumed_at.append(resume_at)
        while (ended := await self.ended.get()) is not None:
            yield ended

    def _begin(self, call: str) -> None:
        self.calls.append(call)
        if self.failure:
            raise self.failure


def _translated(game: GameDescription, language: str) -> GameDescription:
    """Return a game whose summary begins with the language, unless that is English."""
    message = games_pb2.GameDescription.FromString(game.description)
    if language != ENGLISH:
        message.summary = f"{language}: {message.summary}"
    return replace(game, description=message.SerializeToString())


class FakeEngineServicer(engine_control_pb2_grpc.EngineControlServiceServicer):
    """The engine's control service over a fake engine."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    async def DescribeGames(self, request: pb.DescribeGamesRequest, context: Any) -> pb.DescribeGamesResponse:
        offered = await self._engine.describe_games(request.seat_count, request.language)
        return pb.DescribeGamesResponse(
            games=[games_pb2.GameDescription.FromString(game.description) for game in offered.games],
            is_rolling_out=offered.is_rolling_out,
            reactions=map(games_pb2.ReactionDescription.FromString, offered.reactions),
        )

    async def PrepareTable(self, request: pb.PrepareTableRequest, context: Any) -> pb.PrepareTableResponse:
        control = request.time_control
        preparation = await self._engine.prepare_table(
            request.table_id,
            request.game,
            request.seat_count,
            MessageToDict(request.options),
            TimeControl(control.action_time.seconds, control.reserve_time.seconds, 0),
            request.network,
            request.host_player_id,
            revision=request.revision,
            validate_only=request.validate_only,
        )
        return pb.PrepareTableResponse(
            options=codec.encode_options(preparation.options),
            time_control=control,
            seed_commitment=preparation.seed_commitment,
            rules_version=preparation.rules_version,
            teams=[games_pb2.Team(seats=team) for team in preparation.teams],
        )

    async def OpenTable(self, request: pb.OpenTableRequest, context: Any) -> pb.OpenTableResponse:
        seeds = zip(request.seats, request.client_seeds, strict=True)
        seats = tuple([Seat(seat.player_id, seat.name, seat.bot, True, seed) for seat, seed in seeds])
        access = decode_access(
            request.access,
            Visibility.SEATED,
            removed_players=request.removed_player_ids,
            is_matched=request.is_matched,
        )
        opened = replace(
            forming_table(),
            table_id=request.table_id,
            seats=seats,
            access=access,
            revision=request.revision,
            options=MessageToDict(request.options),
            rules_version=request.rules_version,
        )
        await self._engine.open_table(opened)
        return pb.OpenTableResponse()

    async def DiscardTables(self, request: pb.DiscardTablesRequest, context: Any) -> pb.DiscardTablesResponse:
        await self._engine.discard_tables(request.table_ids)
        return pb.DiscardTablesResponse()

    async def ForgetPlayer(self, request: pb.ForgetPlayerRequest, context: Any) -> pb.ForgetPlayerResponse:
        playing = list(request.playing_table_ids)
        table_ids = await self._engine.forget_player(request.player_id, playing, request.after_table_id)
        return pb.ForgetPlayerResponse(table_ids=table_ids)

    async def GetTableStatuses(self, request: pb.GetTableStatusesRequest, context: Any) -> pb.GetTableStatusesResponse:
        statuses = await self._engine.table_statuses(request.table_ids)
        return pb.GetTableStatusesResponse(
            statuses=[
                pb.TableStatus(
                    table_id=table_id,
                    is_finished=it.is_finished,
                    acted_player_ids=it.acted_players,
                    turn=pb.Turn(to_act=it.turn.to_act, away=it.turn.away, deadline_unix_ms=it.turn.deadline)
                    if it.turn
                    else None,
                )
                for table_id, it in statuses.items()
            ]
        )

    async def WatchEndedTables(
        self, request: pb.WatchEndedTablesRequest, context: Any
    ) -> AsyncIterator[pb.WatchEndedTablesResponse]:
        async for ended in self._engine.watch_ended_tables(request.resume_unix_ms):
            yield pb.WatchEndedTablesResponse(table_ids=ended.table_ids, resume_unix_ms=ended.resume_at)


def player(number: int) -> Player:
    return Player(f"{number:032x}", f"Player {number}")


async def add_players(lobby: Lobby, *players: Player) -> None:
    """Store players, without whom a lobby refuses their calls."""
    for one in players:
        await lobby.auth.store.add(one, f"device of {one.player_id}", START)


def forming_table(seats: int = 2, number: int = 1, **changes: Any) -> Table:
    """Return a forming table with player 1 as host."""
    host = player(1)
    table = Table(
        table_id=f"{number:032x}",
        state=TableState.FORMING,
        game="pairs",
        options={"rounds": 3},
        time_control=TIME_CONTROL,
        seats=(Seat(host.player_id, host.name), *[FREE_SEAT] * (seats - 1)),
        host_player_id=host.player_id,
        access=OPEN,
        seed_commitment="c0ffee",
        created_milliseconds=START,
        updated_milliseconds=START,
    )
    return replace(table, **changes)


@dataclass(slots=True)
class LobbyDeployment:
    """The database, engine, clock and key that several lobbies share."""

    url: str
    engine: EnginePort
    clock: FakeClock
    source: random.Random
    key: Ed25519PrivateKey
    provider_keys: ProviderKeys | None = None

    @asynccontextmanager
    async def lobby(self, clock: Clock | None = None, **changes: Any) -> AsyncIterator[Lobby]:
        """Run a lobby, by default with the shared clock; leaving the block ends it without a drain."""
        settings = LobbySettings(database="", signing_key=Path("unused"), engine_control="127.0.0.1:1", **changes)
        own_clock, registry, logger = clock or self.clock, CollectorRegistry(), structlog.get_logger()
        budget = Budget(
            "sign_ins", settings.sign_ins_per_second, settings.sign_in_burst, lambda: own_clock() * MILLISECOND
        )
        database = open_database(self.url)
        try:
            yield assemble(
                *(settings, database, self.engine, self.key, self.source, own_clock, budget, registry, logger),
                self.provider_keys,
            )
        finally:
            await database.close()
