"""Where the services are, and how channels to them are set up."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import grpc

from croupier_client.callers import Service

CALL_SECONDS = 10.0
"""A unary call that takes longer has failed."""
STREAM_SECONDS = 600.0
"""A stream is opened anew after this time, so that a path which died in silence is noticed."""

_MEGABYTE = 1024 * 1024
CHANNEL_OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.max_receive_message_length", 32 * _MEGABYTE),
    ("grpc.max_send_message_length", _MEGABYTE),
    # Calls go to all addresses in turn, and to none that does not answer.
    ("grpc.service_config", '{"loadBalancingConfig": [{"round_robin": {}}]}'),
    # A service that hangs, or a path that swallows everything, is left after 8 seconds at most: players' clocks run.
    # That costs a ping of 17 bytes every 4 seconds while calls or streams are under way, and nothing otherwise.
    ("grpc.keepalive_time_ms", 4_000),
    ("grpc.keepalive_timeout_ms", 4_000),
    # What the library goes by instead in the versions that were tried, where it is a minute unless set.
    ("grpc.http2.ping_timeout_ms", 4_000),
    # A quiet stream sends no data, after which the library would stop asking.
    ("grpc.http2.max_pings_without_data", 0),
    # A service that restarts is to be found again within seconds; the library's own backoff grows to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # The same for replicas behind a name, whose addresses change with each of them.
    ("grpc.dns_min_time_between_resolutions_ms", 2_000),
)


@dataclass(frozen=True)
class Tls:
    """Encryption, and by whom a server must be vouched for: by these PEM certificates, or None for the usual ones."""

    authorities: bytes | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        """The same as gRPC takes it."""
        return grpc.ssl_channel_credentials(root_certificates=self.authorities)


@dataclass(frozen=True)
class Endpoints:
    """The services' addresses: each "host:port", several IPv4 addresses with commas between, or "dns:///name:port".

    They are spoken to with TLS where `tls` says so. Raises ValueError for several addresses that are not all IPv4.
    """

    lobby: str
    engine: str
    scoring: str
    tls: Tls | None = None

    def __post_init__(self) -> None:
        for addresses in self.by_service().values():
            channel_target(addresses)

    @classmethod
    def single(cls, address: str, tls: Tls | None = None) -> Self:
        """One front door for all."""
        return cls(lobby=address, engine=address, scoring=address, tls=tls)

    def by_service(self) -> Mapping[Service, str]:
        """The address of each service."""
        return {Service.LOBBY: self.lobby, Service.ENGINE: self.engine, Service.SCORING: self.scoring}


def channel_target(addresses: str) -> str:
    """What a channel connects to, as gRPC names it; raises ValueError for several addresses that are not all IPv4."""
    if "," not in addresses:
        return addresses
    several = [address.strip() for address in addresses.split(",")]
    if not all(map(_is_ipv4, several)):
        raise ValueError(
            f"{addresses} cannot be used: give several replicas as IPv4 addresses, 10.0.0.1:7720,10.0.0.2:7720, "
            "or one name that stands for all, dns:///name:7720"
        )
    return f"ipv4:{','.join(several)}"


def _is_ipv4(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return port.isdecimal()
