"""The settings of the gateway."""

import re
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, NonNegativeInt, PositiveInt, model_validator

from croupier.runtime.program import SettingsError, check_together
from croupier.runtime.settings import (
    Addresses,
    ListenAddress,
    OptionalAddress,
    OptionalListenAddress,
    OptionalPath,
    Ratio,
    Settings,
)
from croupier.runtime.tls import TlsFiles, tls_files


def _checked_origins(text: str) -> str:
    """Refuse an origin that no browser would send: it lets nobody in, and nobody would know why."""
    for origin in _origins(text):
        if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\sA-Z]+", origin):
            raise ValueError(
                f"expected origins as browsers send them, such as https://play.example or http://localhost:5173, in "
                f"small letters and with nothing after it, and {origin!r} is none"
            )
    return text


def _origins(text: str) -> tuple[str, ...]:
    return tuple(origin.strip() for origin in text.split(",") if origin.strip())


class GatewaySettings(Settings):
    """The gateway: Envoy, which lets players in to lobby, engine and scoring."""

    lobby_public_key: Path
    """The lobby's Ed25519 public key as a PEM file; it checks players' tokens."""
    lobby: Addresses = "127.0.0.1:7710"
    """Where the lobby listens, host:port."""
    engine: Addresses = "127.0.0.1:7720"
    """Where the engine listens, host:port."""
    scoring: Addresses = "127.0.0.1:7730"
    """Where scoring listens, host:port."""
    listen: ListenAddress = "127.0.0.1:7700"
    """Where to serve players, host:port."""
    admin_listen: ListenAddress = "127.0.0.1:7709"
    """Where Envoy's own administration listens, host:port of this machine; for nobody else's eyes."""
    metrics_listen: OptionalListenAddress = ""
    """Where to serve Prometheus metrics and readiness, host:port; empty for nowhere."""
    certificate: OptionalPath = None
    """The certificate (chain) that clients see, as a PEM file; without it there is no TLS."""
    key: OptionalPath = None
    """The private key of that certificate, as a PEM file."""
    upstream_certificate: OptionalPath = None
    """PEM file of the certificate that services see; with it TLS is spoken, and they need one too."""
    upstream_key: OptionalPath = None
    """PEM file of the certificate's private key."""
    upstream_ca: OptionalPath = None
    """PEM file of the authorities whose certificates are accepted."""
    secrets_folder: OptionalPath = None
    """Where Envoy finds clients.yaml, gateway.yaml and services.yaml, by which it reads changed certificates again."""
    allowed_origins: Annotated[str, AfterValidator(_checked_origins)] = ""
    """Web origins that may call from a browser, such as https://play.example, with commas between; * for any."""
    trusted_proxies: NonNegativeInt = 0
    """How many proxies stand in front of the gateway, whose x-forwarded-for tells the client's address."""
    address_requests_per_second: NonNegativeInt = 200
    """Most requests a second of one client address, which many players may share, in the long run; 0 for no limit."""
    address_burst: NonNegativeInt = 1000
    """How many requests of one address may come at once."""
    connections_limit: NonNegativeInt = 20_000
    """Most connections of clients at a time."""
    memory_limit_mebibytes: NonNegativeInt = 0
    """The memory for calls and connections, near the end of which new calls are refused; 0 for no limit."""
    streams_per_connection_limit: NonNegativeInt = 100
    """Most calls under way on one connection."""
    header_seconds: PositiveInt = 10
    """How long the headers of a request may take to arrive."""
    request_seconds: PositiveInt = 30
    """How long a unary call may take, with all that its client needs to send it and the service to answer."""
    connection_age_seconds: PositiveInt = 3600
    """After this time clients are asked to connect anew."""
    connection_idle_seconds: PositiveInt = 900
    """A connection without calls is closed after this time."""
    access_log: bool = False
    """Whether each call is logged, as a line of JSON without tokens."""
    # The services' setting has another name: Envoy's spans must not reach their collector unfiltered by an oversight.
    traces_collector: OptionalAddress = ""
    """host:port of an OpenTelemetry Collector with the configuration that `croupier gateway collector` prints."""
    traces_ratio: Ratio = 1.0
    """Share of the players' calls that are traced, from 0 to 1."""

    @property
    def origins(self) -> tuple[str, ...]:
        """The web origins that may call."""
        return _origins(self.allowed_origins)

    @property
    def upstream(self) -> TlsFiles | None:
        """The files for mutual TLS with the services, None for none; raises SettingsError if only some are named."""
        return tls_files("upstream", self.upstream_certificate, self.upstream_key, self.upstream_ca)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        check_together({"--certificate": self.certificate, "--key": self.key})
        if self.address_requests_per_second > self.address_burst:
            raise SettingsError("--address-burst must not be less than --address-requests-per-second")
        return self


class RunSettings(GatewaySettings):
    """The gateway: runs Envoy, which lets players in to lobby, engine and scoring."""

    envoy: OptionalPath = None
    """The program Envoy; else the one of the extra, or of this machine."""
    workers: NonNegativeInt = 2
    """How many threads serve."""
    ready_file: OptionalPath = None
    """A file to write the addresses into, as JSON, once ready."""
    drain_seconds: NonNegativeInt = 10
    """How long calls under way may take to end when the gateway closes."""
