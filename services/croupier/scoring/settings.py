"""The settings of the scoring service."""

from pathlib import Path

from pydantic import NonNegativeInt

from croupier.runtime.settings import ListenAddress, ServiceSettings


class ScoringSettings(ServiceSettings):
    """The scoring service keeps score sheets, results, statistics and leaderboards."""

    lobby_public_key: Path
    """PEM file of the lobby's Ed25519 public key, which verifies players' tokens."""
    engine_public_key: Path
    """PEM file of the engine's Ed25519 public key, which verifies the engine's tokens."""
    listen: ListenAddress = "127.0.0.1:7730"
    """host:port for players."""
    control_listen: ListenAddress = "127.0.0.1:7731"
    """host:port for the engine."""
    metrics_listen: ListenAddress = "127.0.0.1:7739"
    """host:port for Prometheus."""
    result_days: NonNegativeInt = 365
    """Days after which a result, or a score sheet without one, is deleted; standings keep results. 0: never."""
