"""The settings of the gateway."""

import re
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, NonNegativeInt, PositiveInt, model_validator

from croupier.runtime.server.addresses import addresses_of, host_and_port
from croupier.runtime.server.program import SettingsError, check_together
from croupier.runtime.settings import (
    Addresses,
    ListenAddress,
    OptionalAddress,
    OptionalListenAddress,
    OptionalPath,
    Ratio,
    Settings,
)
from croupier.runtime.tls.tls import TlsFiles, tls_files


def _checked_origins(text: str) -> str:
    """Raise ValueError for an origin that no browser sends, which would silently allow no page."""
    for origin in _origins(text):
        if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\sA-Z]+", origin):
            raise ValueError(
                f"expected origins as browsers send them, such as https://play.example or http://localhost:5173, in "
                f"small letters and with nothing after it, and {origin!r} is none"
            )
    return text


def _origins(text: str) -> tuple[str, ...]:
    return tuple(origin.strip() for origin in text.split(",") if origin.strip())


def _hosts(addresses: str) -> list[str]:
    return [host_and_port(address)[0] for address in addresses_of(addresses)]


class GatewaySettings(Settings):
    """The gateway: Envoy, which routes players' calls to lobby, engine and scoring."""

    lobby_public_key: Path
    """PEM file of the lobby's Ed25519 public key, which verifies players' tokens."""
    lobby: Addresses = "127.0.0.1:7710"
    """host:port of the lobby; several with commas between."""
    engine: Addresses = "127.0.0.1:7720"
    """host:port of the engine; several with commas between."""
    engine_websocket: Addresses = "127.0.0.1:7722"
    """host:port of the engine for WebSockets; several in the order of `engine`."""
    scoring: Addresses = "127.0.0.1:7730"
    """host:port of scoring; several with commas between."""
    listen: ListenAddress = "127.0.0.1:7700"
    """host:port for players."""
    admin_socket: OptionalPath = None
    """Unix socket of Envoy's administration, in a folder of its operator only; none by default."""
    metrics_listen: OptionalListenAddress = ""
    """host:port for Prometheus and readiness; empty for none."""
    certificate: OptionalPath = None
    """PEM file of the certificate (chain) for clients; without it there is no TLS."""
    key: OptionalPath = None
    """PEM file of the certificate's private key."""
    upstream_certificate: OptionalPath = None
    """PEM file of the certificate for services; it enables mutual TLS."""
    upstream_key: OptionalPath = None
    """PEM file of the certificate's private key."""
    upstream_ca: OptionalPath = None
    """PEM file of the authorities whose certificates are accepted."""
    secrets_folder: OptionalPath = None
    """Folder of clients.yaml, gateway.yaml and services.yaml, by which Envoy reloads changed certificates."""
    allowed_origins: Annotated[str, AfterValidator(_checked_origins)] = ""
    """Web origins that may call from a browser, such as https://play.example, with commas between; * for any."""
    web_table: bool = True
    """Whether the web table, a page for browsers, is served at /."""
    trusted_proxies: NonNegativeInt = 0
    """Number of proxies in front of the gateway whose x-forwarded-for is trusted for the client's address."""
    address_requests_per_second: NonNegativeInt = 1000
    """Maximum requests a second of one client address, which players may share, in the long run; 0 for no limit."""
    address_burst: NonNegativeInt = 5000
    """Maximum requests of one address at once."""
    network_requests_per_second: NonNegativeInt = 1000
    """Maximum requests a second of one network, IPv4 /24 or IPv6 /56, in the long run; 0 for no limit."""
    network_request_burst: NonNegativeInt = 5000
    """Maximum requests of one network at once."""
    max_connections: NonNegativeInt = 20_000
    """Maximum open connections of clients."""
    memory_limit_mebibytes: NonNegativeInt = 0
    """Memory for calls and connections, near whose end new calls are refused; 0 for no limit."""
    max_streams_per_connection: NonNegativeInt = 100
    """Maximum running calls of one connection."""
    header_seconds: PositiveInt = 10
    """Maximum seconds for the headers of a request to arrive."""
    request_seconds: PositiveInt = 30
    """Maximum seconds of a call that ends by itself, from its first byte to the end of the answer."""
    connection_age_seconds: PositiveInt = 3600
    """Seconds after which clients are asked to reconnect."""
    connection_idle_seconds: PositiveInt = 900
    """Seconds after which a connection without calls is closed."""
    access_log: bool = False
    """Whether each call is logged, as a line of JSON without tokens."""
    # The services' setting has another name: Envoy's spans must not reach their collector unfiltered by an oversight.
    traces_collector: OptionalAddress = ""
    """host:port of an OpenTelemetry Collector with the configuration of `croupier gateway collector`."""
    traces_ratio: Ratio = 1.0
    """Traced share of the players' calls, from 0 to 1."""

    @property
    def origins(self) -> tuple[str, ...]:
        """Return the web origins that may call."""
        return _origins(self.allowed_origins)

    @property
    def upstream(self) -> TlsFiles | None:
        """Return the files for mutual TLS with services, or None; raises SettingsError if only some are named."""
        return tls_files("upstream", self.upstream_certificate, self.upstream_key, self.upstream_ca)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        check_together({"--certificate": self.certificate, "--key": self.key})
        if self.address_requests_per_second > self.address_burst:
            raise SettingsError("--address-burst must not be less than --address-requests-per-second")
        if self.network_requests_per_second > self.network_request_burst:
            raise SettingsError("--network-request-burst must not be less than --network-requests-per-second")
        if _hosts(self.engine) != _hosts(self.engine_websocket):
            raise SettingsError("--engine-websocket must name the hosts of --engine in the same order")
        return self


class RunSettings(GatewaySettings):
    """The gateway: runs Envoy, which routes players' calls to lobby, engine and scoring."""

    envoy: OptionalPath = None
    """The program Envoy; by default that of the extra, or the installed one."""
    workers: NonNegativeInt = 2
    """Number of threads that serve."""
    ready_file: OptionalPath = None
    """File that gets the addresses as JSON once the gateway is ready."""
    drain_seconds: NonNegativeInt = 10
    """Maximum seconds for running calls to end when the gateway stops."""
