"""Addresses of the services, and options of channels to them."""

import ipaddress
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import grpc

from croupier_client.proxy import is_loopback
from croupier_client.rpc import Service

CALL_SECONDS = 10.0
"""The time-out of a unary call."""
STREAM_SECONDS = 600.0
"""The time-out of a stream, which is then opened again: it may have broken where keepalive does not reach."""
KEEPALIVE_SECONDS = 4.0
"""The time between pings, and that for their answers."""
CONNECT_SECONDS = 5.0
"""The time-out of an attempt to connect, after which another address is tried."""
MAX_RECEIVED_BYTES = 32 * 1024 * 1024
"""The maximum size of a message of a service."""
_KEEPALIVE_MILLISECONDS = round(KEEPALIVE_SECONDS * 1000)
CHANNEL_OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.max_receive_message_length", MAX_RECEIVED_BYTES),
    ("grpc.max_send_message_length", 1024 * 1024),
    # Calls go to all addresses in turn, except to those that do not answer.
    ("grpc.service_config", '{"loadBalancingConfig": [{"round_robin": {}}]}'),
    # A hanging service or a black-holed path is left after 8 seconds at most, because players' clocks run.
    # That costs a ping of 17 bytes every 4 seconds while calls or streams are open, and nothing otherwise.
    ("grpc.keepalive_time_ms", _KEEPALIVE_MILLISECONDS),
    ("grpc.keepalive_timeout_ms", _KEEPALIVE_MILLISECONDS),
    # The tested versions of the library use this option instead of the one above; its default is a minute.
    ("grpc.http2.ping_timeout_ms", _KEEPALIVE_MILLISECONDS),
    # The library would stop its pings on a quiet stream, which sends no data.
    ("grpc.http2.max_pings_without_data", 0),
    # A restarted service is found again within seconds; the library's own backoff grows to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", round(CONNECT_SECONDS * 1000)),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # New replicas behind a name are found as soon: by default it is resolved again after half a minute only.
    ("grpc.dns_min_time_between_resolutions_ms", 2_000),
)


def channel_options(addresses: str, keepalive_seconds: float | None = None) -> tuple[tuple[str, int | str], ...]:
    """Return the options for a channel, with pings that find a black-holed path within twice another time."""
    options = dict(CHANNEL_OPTIONS)
    if is_loopback(addresses):
        # These are reached without a proxy.
        options["grpc.enable_http_proxy"] = 0
    if keepalive_seconds is not None:
        names = ("grpc.keepalive_time_ms", "grpc.keepalive_timeout_ms", "grpc.http2.ping_timeout_ms")
        options |= dict.fromkeys(names, round(keepalive_seconds * 1000))
    return tuple(options.items())


@dataclass(frozen=True)
class Tls:
    """TLS that trusts these certificate authorities, as PEM; None trusts those of the system."""

    authorities: bytes | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        """Return the gRPC channel credentials."""
        return grpc.ssl_channel_credentials(root_certificates=self.authorities)

    def context(self) -> ssl.SSLContext:
        """Return the context of a WebSocket."""
        return ssl.create_default_context(cadata=None if self.authorities is None else self.authorities.decode())


@dataclass(frozen=True)
class Endpoints:
    """The services' addresses: each "host:port", several IP addresses of one version with commas, or "dns:///name:port".

    An IPv6 address is in brackets, "[::1]:7700". Channels use TLS if `tls` is given. `websocket` is the engine's port
    for tables by WebSocket, which only clients with that transport need. Raises ValueError for several addresses that
    are not all IPv4 or all IPv6.
    """

    lobby: str
    engine: str
    scoring: str
    tls: Tls | None = None
    websocket: str = ""

    def __post_init__(self) -> None:
        for addresses in (*self.by_service().values(), self.websocket):
            channel_target(addresses)

    @classmethod
    def single(cls, address: str, tls: Tls | None = None) -> Self:
        """Return the endpoints of one gateway for all services."""
        return cls(lobby=address, engine=address, scoring=address, tls=tls, websocket=address)

    def by_service(self) -> Mapping[Service, str]:
        """Return the addresses of each service."""
        return {Service.LOBBY: self.lobby, Service.ENGINE: self.engine, Service.SCORING: self.scoring}


def channel_target(addresses: str) -> str:
    """Return the gRPC target of a channel; raises ValueError for several that are not all IPv4 or all IPv6."""
    if "," not in addresses:
        return addresses
    several = [address.strip() for address in addresses.split(",")]
    versions = {*map(_ip_version, several)}
    if len(versions) > 1 or None in versions:
        raise ValueError(
            f"invalid addresses {addresses!r}: expected IP addresses of replicas, 10.0.0.1:7720,10.0.0.2:7720 or "
            "[fd00::1]:7720,[fd00::2]:7720, or one name for all, dns:///name:7720"
        )
    return f"ipv{versions.pop()}:{','.join(several)}"


def _ip_version(address: str) -> int | None:
    """Return 4 or 6 for the port of an IP address, IPv6 in brackets; None for anything else."""
    host, _, port = address.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    try:
        version = ipaddress.ip_address(host.strip("[]")).version
    except ValueError:
        return None
    return version if port.isdecimal() and is_bracketed == (version == 6) else None
