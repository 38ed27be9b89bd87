"""Putting the lobby together from its parts; __main__ and the tests use the same."""

import random
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import CollectorRegistry
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.lobby.changes import TableChanges
from croupier.lobby.engine_port import EnginePort
from croupier.lobby.following import Follower
from croupier.lobby.forming import Forming
from croupier.lobby.games import GameCatalogue
from croupier.lobby.matching import Matching
from croupier.lobby.metrics import LobbyMetrics
from croupier.lobby.opening import Opener
from croupier.lobby.player_store import PlayerStore
from croupier.lobby.reconciling import Patience, Reconciler
from croupier.lobby.servicer import LobbyServicer
from croupier.lobby.settings import LobbySettings
from croupier.lobby.store import Store
from croupier.lobby.table_store import TableStore
from croupier.lobby.tables import TableClock
from croupier.lobby.ticket_store import TicketStore
from croupier.lobby.tokens import Reception
from croupier.lobby.watching import TableFeed
from croupier.runtime.identity import PLAYER_AUDIENCE, TokenIssuer
from croupier.runtime.logs import Logger
from croupier.runtime.stream_places import StreamPlaces
from croupier_api.v1 import lobby_pb2_grpc


@dataclass(frozen=True, slots=True)
class Lobby:
    """A lobby whose parts know each other; nothing runs yet."""

    settings: LobbySettings
    reception: Reception
    forming: Forming
    matching: Matching
    reconciler: Reconciler
    feed: TableFeed
    follower: Follower
    servicer: LobbyServicer
    database: AsyncEngine

    def add_to(self, server: grpc.aio.Server) -> None:
        """Let a server serve it."""
        lobby_pb2_grpc.add_LobbyServiceServicer_to_server(self.servicer, server)

    def background(self) -> tuple[Coroutine[Any, Any, None], ...]:
        """What has to run beside the server, until cancelled."""
        return (
            self.matching.run(),
            self.reconciler.run(self.settings.reconcile_seconds),
            self.follower.run(self.database),
        )

    def pending(self) -> Mapping[str, int]:
        """How much of each kind is under way: nothing, when no player waits for anything."""
        return {"wishes and matches": self.matching.pending, "followed tables": int(self.feed.followed)}

    def end_streams(self) -> None:
        """Tell every stream that the server is about to stop."""
        self.feed.close()
        self.matching.close()


def assemble(
    settings: LobbySettings,
    database: AsyncEngine,
    engine: EnginePort,
    key: Ed25519PrivateKey,
    source: random.Random,
    clock: Callable[[], int],
    registry: CollectorRegistry,
    logger: Logger,
) -> Lobby:
    """A lobby on a database whose schema is up to date."""
    store, feed, metrics = Store(database), TableFeed(), LobbyMetrics(registry)
    players, tables, tickets = PlayerStore(store), TableStore(store), TicketStore(store)
    changes = TableChanges(tables, feed, clock)
    opener, games = Opener(changes, engine, logger), GameCatalogue(engine, clock)
    places = StreamPlaces(settings.streams_limit, settings.player_streams_limit)
    usual = TableClock(settings.action_seconds, settings.reserve_seconds)
    issuer = TokenIssuer(key, PLAYER_AUDIENCE, settings.access_token_seconds, clock)
    reception = Reception(players, issuer, settings.refresh_token_seconds, source, clock)
    forming = Forming(tables, changes, feed, engine, opener, games, places, settings.hosted_tables_limit, source, clock)
    matching = Matching(tickets, opener, games, places, usual, source, clock, metrics, logger)
    follower = Follower(tables, feed, clock, logger)
    reconciler = Reconciler(
        tables, tickets, players, changes, opener, engine, follower, metrics, _patience(settings), clock, logger
    )
    servicer = LobbyServicer(reception, forming, matching, games, usual, metrics)
    return Lobby(settings, reception, forming, matching, reconciler, feed, follower, servicer, database)


def _patience(settings: LobbySettings) -> Patience:
    return Patience(
        forming_idle=settings.forming_idle_seconds * 1000,
        ended_table=settings.ended_table_seconds * 1000,
        ticket_grace=settings.ticket_grace_seconds * 1000,
    )
