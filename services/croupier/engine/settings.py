"""The engine's settings."""

from dataclasses import dataclass
from pathlib import Path

from croupier.runtime.settings import ServiceSettings, setting


@dataclass(frozen=True)
class EngineSettings(ServiceSettings):
    """The engine plays the tables."""

    lobby_public_key: Path = setting("PEM file of the lobby's Ed25519 public key, which signs players' tokens.")
    signing_key: Path = setting("PEM file of the engine's own Ed25519 private key, for its calls to scoring.")
    scoring_control: str = setting("host:port of scoring's control service; several with commas between.")
    listen: str = setting("host:port for players.", default="127.0.0.1:7720")
    control_listen: str = setting("host:port for the lobby.", default="127.0.0.1:7721")
    metrics_listen: str = setting("host:port for Prometheus.", default="127.0.0.1:7729")
    most_open_tables: int = setting("Tables in memory beyond which no more are opened here.", default=20_000)
    most_streams: int = setting("Streams beyond which no more are opened.", default=50_000)
    most_player_streams: int = setting("Most of these streams for one player.", default=100)
    bot_processes: int = setting(
        "Processes in which computer players that think do so. 0: they act like the first one of their game.", default=1
    )
    idle_seconds: int = setting("Seconds after which a table that nobody uses leaves memory.", default=120)
    log_seconds: int = setting("Seconds after its end after which a table goes to the archive.", default=3_600)
    replay_days: int = setting("Days after its end after which a table is forgotten. 0: never.", default=0)
    clock_offset_milliseconds: str = setting(
        "For tests only: how far this engine's own clock is off. Refused beyond loopback.", default="0"
    )
    shuffle_seed: str = setting(
        "For demonstrations and tests only: fixes the secret seed of every table. Refused beyond loopback.", default=""
    )
