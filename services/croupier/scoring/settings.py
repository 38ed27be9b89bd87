"""The settings of the scoring service."""

from dataclasses import dataclass
from pathlib import Path

from croupier.runtime.settings import ServiceSettings, setting


@dataclass(frozen=True, slots=True)
class ScoringSettings(ServiceSettings):
    """The scoring service keeps score sheets, results, statistics and leaderboards."""

    lobby_public_key: Path = setting("PEM file with the lobby's public key, which verifies players' tokens.")
    engine_public_key: Path = setting("PEM file with the engine's public key, which verifies the engine's tokens.")
    listen: str = setting("host:port for players; port 0 chooses one.", default="127.0.0.1:7730")
    control_listen: str = setting("host:port for the engine; port 0 chooses one.", default="127.0.0.1:7731")
    metrics_listen: str = setting("host:port for Prometheus; port 0 chooses one.", default="127.0.0.1:7739")
