"""The settings of the lobby."""

from pathlib import Path

from pydantic import NonNegativeInt

from croupier.runtime.settings import ListenAddress, Replicas, ServiceSettings


class LobbySettings(ServiceSettings):
    """The lobby signs players in, forms tables and matches players."""

    signing_key: Path
    """PEM file of the lobby's Ed25519 private key, which signs players' tokens and those of its own calls."""
    engine_control: Replicas
    """host:port of the engine's control service; several with commas between."""
    listen: ListenAddress = "127.0.0.1:7710"
    """host:port for players."""
    metrics_listen: ListenAddress = "127.0.0.1:7719"
    """host:port for Prometheus."""
    access_token_seconds: NonNegativeInt = 900
    """The lifetime of an access token, in seconds."""
    refresh_token_seconds: NonNegativeInt = 30 * 86_400
    """The lifetime of a refresh token, in seconds."""
    engine_timeout_seconds: NonNegativeInt = 5
    """The timeout of a call to the engine, in seconds."""
    action_seconds: NonNegativeInt = 30
    """The default time for an action, in seconds."""
    reserve_seconds: NonNegativeInt = 60
    """The default time reserve of a seat for a whole game, in seconds."""
    housekeeping_seconds: NonNegativeInt = 3
    """The pause between two runs of housekeeping, in seconds."""
    forming_idle_seconds: NonNegativeInt = 3600
    """The time after which a forming table without changes is closed, in seconds."""
    ended_table_seconds: NonNegativeInt = 30 * 86_400
    """The time for which an ended table is kept, in seconds."""
    ticket_grace_seconds: NonNegativeInt = 30
    """The time for which the ticket of a disconnected player is kept, in seconds."""
    max_hosted_tables: NonNegativeInt = 20
    """The maximum number of tables of one host that are forming or being played."""
    max_lobby_streams: NonNegativeInt = 1000
    """The maximum number of open WatchTables and FindMatch streams."""
    max_player_lobby_streams: NonNegativeInt = 10
    """The maximum number of open WatchTables and FindMatch streams of one player."""
