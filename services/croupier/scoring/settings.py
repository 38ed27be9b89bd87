"""The settings of the scoring service."""

from dataclasses import dataclass
from pathlib import Path

from croupier.runtime.settings import PlayerSettings, TlsSettings, TracesSettings, setting


@dataclass(frozen=True, slots=True)
class ScoringSettings:
    """The scoring service keeps score sheets, results, statistics and leaderboards."""

    database: str = setting("URL of the ledger: sqlite:////data/scoring.db or postgresql://user:password@host/name.")
    lobby_public_key: Path = setting("PEM file with the lobby's public key, which verifies players' tokens.")
    engine_public_key: Path = setting("PEM file with the engine's public key, which verifies the engine's tokens.")
    listen: str = setting("host:port for players; port 0 chooses one.", default="127.0.0.1:7730")
    control_listen: str = setting("host:port for the engine; port 0 chooses one.", default="127.0.0.1:7731")
    metrics_listen: str = setting("host:port for Prometheus; port 0 chooses one.", default="127.0.0.1:7739")
    health_listen: str = setting("host:port that tells health probes and nothing else, without TLS.", default="")
    tls: TlsSettings = TlsSettings()
    traces: TracesSettings = TracesSettings()
    log_level: str = setting("Least level that is logged: debug, info, warning or error.", default="info")
    ready_file: Path | None = setting("File that gets the addresses as JSON once the service is ready.", default=None)
    drain_seconds: int = setting(
        "Seconds after which scoring has stopped at most; calls under way end first.", default=10
    )
    player: PlayerSettings = PlayerSettings()
