"""The assembly of a lobby from its parts, for the program and for tests."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import CollectorRegistry

from croupier.lobby.accounts.auth import AuthService
from croupier.lobby.accounts.id_tokens import IdTokenVerifier
from croupier.lobby.accounts.names import load_prototypes
from croupier.lobby.accounts.provider_keys import REFRESH_SECONDS, ProviderKeys
from croupier.lobby.api.codec import EncodedTables
from croupier.lobby.api.servicer import LobbyServicer
from croupier.lobby.feed.change_feed import CatchUp
from croupier.lobby.feed.subscriptions import TableFeed
from croupier.lobby.housekeeping import Housekeeper
from croupier.lobby.matchmaking.matchmaker import Matchmaker
from croupier.lobby.metrics import LobbyMetrics
from croupier.lobby.player_deletions import PlayerDeletions
from croupier.lobby.settings import LobbySettings
from croupier.lobby.storage.deletion_store import DeletionStore
from croupier.lobby.storage.device_store import DeviceStore
from croupier.lobby.storage.identity_store import IdentityStore
from croupier.lobby.storage.player_store import PlayerStore
from croupier.lobby.storage.presence_store import PresenceStore
from croupier.lobby.storage.seat_store import TableLimits
from croupier.lobby.storage.store import Store
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.storage.ticket_store import TicketStore
from croupier.lobby.tables.engine_port import EnginePort
from croupier.lobby.tables.forming_table import TimeControl
from croupier.lobby.tables.games import GameRegistry
from croupier.lobby.tables.presence import Presence
from croupier.lobby.tables.seated_players import SeatedPlayers
from croupier.lobby.tables.table_changes import FormingLifetime
from croupier.lobby.tables.table_opener import TableOpener
from croupier.lobby.tables.table_service import TableService
from croupier.lobby.tables.table_updater import TableUpdater
from croupier.lobby.tables.turns import Turns
from croupier.runtime.admission.budget import Budget
from croupier.runtime.database.database import Database
from croupier.runtime.identity.tokens import PLAYER_AUDIENCE, TokenIssuer
from croupier.runtime.observation.logs import Logger
from croupier.runtime.server.tasks import TaskFactory, repeat

PRESENCE_SECONDS = 5.0
TURNS_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Lobby:
    """The wired parts of a lobby; none of them runs yet. Its background tasks run until cancelled."""

    auth: AuthService
    tables: TableService
    matchmaker: Matchmaker
    housekeeper: Housekeeper
    feed: TableFeed
    presence: Presence
    turns: Turns
    catch_up_worker: CatchUp
    opener: TableOpener
    servicer: LobbyServicer
    background_tasks: Mapping[str, TaskFactory]

    def pending(self) -> Mapping[str, int]:
        """Return the number of pending items of each kind: all 0 while no player waits."""
        return {"tickets and matches": self.matchmaker.pending, "subscriptions": int(self.feed.has_subscribers)}

    def end_streams(self) -> None:
        """End every stream because the server is about to stop."""
        self.feed.close()
        self.matchmaker.close()


def assemble(
    settings: LobbySettings,
    database: Database,
    engine: EnginePort,
    key: Ed25519PrivateKey,
    source: random.Random,
    clock: Callable[[], int],
    sign_ins: Budget,
    registry: CollectorRegistry,
    logger: Logger,
    provider_keys: ProviderKeys | None = None,
) -> Lobby:
    """Wire a lobby on a database whose schema is up to date; without `provider_keys` there is no identity provider."""
    # So that no call waits for it.
    load_prototypes()
    store, feed, metrics = Store(database, logger), TableFeed(), LobbyMetrics(registry)
    table_limits = TableLimits(settings.max_player_tables, settings.max_network_tables)
    players, tables, tickets = PlayerStore(store), TableStore(store, table_limits), TicketStore(store, table_limits)
    updater, games = TableUpdater(tables, feed, engine, clock), GameRegistry(engine, clock)
    opener = TableOpener(updater, players, engine, logger)
    time_control = TimeControl(settings.action_seconds, settings.reserve_seconds, 0)
    lifetime = FormingLifetime(settings.forming_idle_seconds * 1000, settings.max_forming_seconds * 1000)
    issuer = TokenIssuer(key, PLAYER_AUDIENCE, settings.access_token_seconds, clock)
    auth = AuthService(
        players,
        DeviceStore(store),
        IdentityStore(store),
        IdTokenVerifier(settings.oidc_issuer, settings.oidc_audiences, provider_keys, clock) if provider_keys else None,
        settings.guests,
        issuer,
        settings.refresh_token_seconds,
        source,
        clock,
    )
    presence = Presence(PresenceStore(store), tables, updater, feed, clock)
    turns = Turns(engine, tables, feed)
    service = TableService(tables, updater, feed, engine, opener, games, presence, turns, source, clock)
    matchmaker = Matchmaker(tickets, opener, games, time_control, source, clock, metrics, logger)
    catch_up = CatchUp(tables, feed, store.notifications, clock, logger)
    seated = SeatedPlayers(tables, updater)
    deletions = PlayerDeletions(
        DeletionStore(store), tables, seated, engine, settings.access_token_seconds, clock, logger
    )
    housekeeper = Housekeeper(
        tables, tickets, players, updater, opener, games, presence, metrics, settings, lifetime, clock, logger
    )
    encoded = EncodedTables(lifetime)
    servicer = LobbyServicer(
        auth, seated, deletions, service, matchmaker, games, time_control, sign_ins, metrics, clock, encoded
    )
    pause_seconds = settings.housekeeping_seconds
    tasks: dict[str, TaskFactory] = {
        "matchmaking": matchmaker.run,
        "housekeeping": partial(repeat, housekeeper.run_steps, pause_seconds, logger, "housekeeping failed"),
        # Not a step of housekeeping, which would wait for scoring.
        "deletions": partial(repeat, deletions.finish_due, pause_seconds, logger, "deletions are finished later"),
        "ended tables": opener.follow_ends,
        "presence": partial(repeat, presence.tick, PRESENCE_SECONDS, logger, "presence is recorded later"),
        "turns": partial(repeat, turns.tick, TURNS_SECONDS, logger, "turns are sent later"),
        "catch-up": catch_up.run,
    }
    if provider_keys is not None:
        tasks["provider keys"] = partial(
            repeat, provider_keys.refresh, REFRESH_SECONDS, logger, "keys of the identity provider are read later"
        )
    return Lobby(auth, service, matchmaker, housekeeper, feed, presence, turns, catch_up, opener, servicer, tasks)
