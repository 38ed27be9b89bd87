"""Where the services are, and how channels to them are set up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from croupier_client.callers import Service

CALL_SECONDS = 10.0
"""A unary call that takes longer has failed."""
STREAM_SECONDS = 600.0
"""A stream is opened anew after this time, so that a path which died in silence is noticed."""

_MEGABYTE = 1024 * 1024
CHANNEL_OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.max_receive_message_length", 32 * _MEGABYTE),
    ("grpc.max_send_message_length", _MEGABYTE),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # A service that restarts is to be found again within seconds; the library's own backoff grows to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)


@dataclass(frozen=True)
class Endpoints:
    """The services' addresses, each "host:port"."""

    lobby: str
    engine: str
    scoring: str

    @classmethod
    def single(cls, address: str) -> Self:
        """One front door for all."""
        return cls(lobby=address, engine=address, scoring=address)

    def by_service(self) -> Mapping[Service, str]:
        """The address of each service."""
        return {Service.LOBBY: self.lobby, Service.ENGINE: self.engine, Service.SCORING: self.scoring}
