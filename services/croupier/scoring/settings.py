"""The settings of the scoring service."""

from pathlib import Path

from croupier.runtime.settings import ListenAddress, ServiceSettings


class ScoringSettings(ServiceSettings):
    """The scoring service keeps score sheets, results, statistics and leaderboards."""

    lobby_public_key: Path
    """The lobby's public key as a PEM file; it verifies the tokens of players."""
    engine_public_key: Path
    """The engine's public key as a PEM file; it verifies the tokens of the engine."""
    listen: ListenAddress = "127.0.0.1:7730"
    """The address for players, host:port; port 0 chooses one."""
    control_listen: ListenAddress = "127.0.0.1:7731"
    """The address for the engine, host:port; port 0 chooses one."""
    metrics_listen: ListenAddress = "127.0.0.1:7739"
    """The address to serve Prometheus metrics, host:port; port 0 chooses one."""
