"""What can be set about the lobby."""

from dataclasses import dataclass
from pathlib import Path

from croupier.runtime.settings import ServiceSettings, setting


@dataclass(frozen=True, slots=True)
class LobbySettings(ServiceSettings):
    """The lobby: it knows the players and forms the tables."""

    signing_key: Path = setting("The lobby's Ed25519 private key as a PEM file; it signs players' and own tokens.")
    engine_control: str = setting("The engine's control address, host:port; of several replicas with commas between.")
    listen: str = setting("Where to serve gRPC, host:port.", default="127.0.0.1:7710")
    metrics_listen: str = setting("Where to serve Prometheus metrics, host:port.", default="127.0.0.1:7719")
    access_token_seconds: int = setting("How long an access token holds, in seconds.", default=900)
    refresh_token_seconds: int = setting("How long a refresh token holds, in seconds.", default=30 * 86_400)
    engine_timeout_seconds: int = setting("How long the engine may take to answer, in seconds.", default=5)
    action_seconds: int = setting("The usual time for an action, in seconds.", default=30)
    reserve_seconds: int = setting("The usual reserve of a seat for a whole game, in seconds.", default=60)
    reconcile_seconds: int = setting("How often unfinished business is looked after, in seconds.", default=3)
    forming_idle_seconds: int = setting("A forming table that nobody touches closes after these seconds.", default=3600)
    ended_table_seconds: int = setting("How long a table is kept after its end, in seconds.", default=30 * 86_400)
    ticket_grace_seconds: int = setting("How long a ticket is kept for a dropped player, in seconds.", default=30)
    hosted_tables_limit: int = setting("Most tables that a player may host at a time.", default=20)
    streams_limit: int = setting("Most WatchTables and QuickMatch streams at a time.", default=1000)
    player_streams_limit: int = setting("Most of these streams for one player.", default=10)
