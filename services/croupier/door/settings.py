"""What can be set about the front door."""

import re
from dataclasses import dataclass
from pathlib import Path

from croupier.runtime.addresses import addresses_of
from croupier.runtime.settings import TlsSettings, TracesSettings, check_together, setting
from croupier.runtime.tls import tls_files
from croupier.runtime.traces import check_traces


@dataclass(frozen=True, slots=True)
class DoorSettings:
    """The front door: Envoy, which lets players in to lobby, engine and scoring."""

    lobby_public_key: Path = setting("The lobby's Ed25519 public key as a PEM file; it checks players' tokens.")
    lobby: str = setting("Where the lobby listens, host:port.", default="127.0.0.1:7710")
    engine: str = setting("Where the engine listens, host:port.", default="127.0.0.1:7720")
    scoring: str = setting("Where scoring listens, host:port.", default="127.0.0.1:7730")
    listen: str = setting("Where to serve players, host:port.", default="127.0.0.1:7700")
    admin_listen: str = setting(
        "Where Envoy's own administration listens, host:port of this machine; for nobody else's eyes.",
        default="127.0.0.1:7709",
    )
    metrics_listen: str = setting(
        "Where to serve Prometheus metrics and readiness, host:port; empty for nowhere.", default=""
    )
    certificate: Path | None = setting(
        "The certificate (chain) that clients see, as a PEM file; without it there is no TLS.", default=None
    )
    key: Path | None = setting("The private key of that certificate, as a PEM file.", default=None)
    upstream: TlsSettings = TlsSettings()
    secrets_folder: Path | None = setting(
        "Where Envoy finds clients.yaml, door.yaml and services.yaml, by which it reads certificates again on changes.",
        default=None,
    )
    allowed_origins: str = setting(
        "Web origins that may call from a browser, such as https://play.example, with commas between; * for any.",
        default="",
    )
    trusted_proxies: int = setting(
        "How many proxies stand in front of the door, whose x-forwarded-for tells the client's address.", default=0
    )
    address_requests_per_second: int = setting(
        "Most requests a second of one client address in the long run, 0 for no limit; a phone network has many "
        "players behind one address.",
        default=200,
    )
    address_burst: int = setting("How many requests of one address may come at once.", default=1000)
    connections_limit: int = setting("Most connections of clients at a time.", default=20_000)
    memory_limit_mebibytes: int = setting(
        "The memory for calls and connections, near the end of which new calls are refused; 0 for no limit.", default=0
    )
    streams_per_connection_limit: int = setting("Most calls under way on one connection.", default=100)
    header_seconds: int = setting("How long the headers of a request may take to arrive.", default=10)
    request_seconds: int = setting(
        "How long a unary call may take, with all that its client needs to send it and the service to answer.",
        default=30,
    )
    connection_age_seconds: int = setting("After this time clients are asked to connect anew.", default=3600)
    connection_idle_seconds: int = setting("A connection without calls is closed after this time.", default=900)
    access_log: bool = setting("Whether each call is logged, as a line of JSON without tokens.", default=False)
    traces: TracesSettings = TracesSettings()

    def __post_init__(self) -> None:
        """Raises ValueError naming what does not fit together."""
        for name in ("lobby", "engine", "scoring"):
            addresses_of(getattr(self, name))
        check_together({"--certificate": self.certificate, "--key": self.key})
        tls_files(self.upstream, "upstream")
        if self.address_requests_per_second > max(self.address_burst, 0):
            raise ValueError("--address-burst must not be less than --address-requests-per-second")
        for name in ("header_seconds", "request_seconds", "connection_age_seconds", "connection_idle_seconds"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be at least 1: 0 would be no limit at all")
        for origin in self.origins:
            _check_origin(origin)
        if self.traces.endpoint:
            check_traces(self.traces)

    @property
    def origins(self) -> tuple[str, ...]:
        """The web origins that may call."""
        return tuple(origin.strip() for origin in self.allowed_origins.split(",") if origin.strip())


def _check_origin(origin: str) -> None:
    """One that no browser would send lets nobody in, and nobody would know why."""
    if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\sA-Z]+", origin):
        raise ValueError(
            f"--allowed-origins cannot have {origin!r}: an origin is what browsers send, such as https://play.example "
            "or http://localhost:5173, in small letters and with nothing after it"
        )


@dataclass(frozen=True, slots=True)
class RunSettings(DoorSettings):
    """The front door: runs Envoy, which lets players in to lobby, engine and scoring."""

    envoy: Path | None = setting("The program Envoy; else the one of the extra, or of this machine.", default=None)
    workers: int = setting("How many threads serve.", default=2)
    ready_file: Path | None = setting("A file to write the addresses into, as JSON, once ready.", default=None)
    drain_seconds: int = setting("How long calls under way may take to end when the door closes.", default=10)
