"""The settings of the scoring service."""

from dataclasses import dataclass
from pathlib import Path

from croupier.runtime.settings import setting


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
    tls_certificate: Path | None = setting(
        "PEM file of this service's certificate; with it TLS is spoken, and callers need one too.", default=None
    )
    tls_key: Path | None = setting("PEM file of the certificate's private key.", default=None)
    tls_ca: Path | None = setting("PEM file of the authorities whose certificates are accepted.", default=None)
    traces_endpoint: str = setting("host:port of the collector that gets traces, by OTLP over gRPC.", default="")
    traces_ratio: float = setting("Share of the traces that begin here which are recorded, from 0 to 1.", default=1.0)
    log_level: str = setting("Least level that is logged: debug, info, warning or error.", default="info")
    ready_file: Path | None = setting("File that gets the addresses as JSON once the service is ready.", default=None)
    drain_seconds: int = setting(
        "Seconds after which scoring has stopped at most; calls under way end first.", default=10
    )
    player_calls_per_second: int = setting(
        "Most calls a second of one player in the long run, 0 for no limit.", default=100
    )
    player_burst: int = setting("How many calls of one player may come at once.", default=1000)
