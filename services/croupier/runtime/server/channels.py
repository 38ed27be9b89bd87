"""Channels from one service to the replicas of another."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeAlias, cast

import grpc

from croupier.runtime.server.addresses import addresses_of, ip_of
from croupier.runtime.tls.tls import Tls

NO_PROXY = ("grpc.enable_http_proxy", 0)
"""The option of a channel that uses no proxy of the environment."""
_SERVICE_CONFIG = {
    "loadBalancingConfig": [{"round_robin": {}}],
    # Calls between services are idempotent, so a call that a stopping replica refuses is retried at the next one.
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ],
}
_OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
    # Find a restarted replica within seconds; by default the backoff grows to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # All replicas may have been replaced: by default the name is resolved again after half a minute only.
    ("grpc.dns_min_time_between_resolutions_ms", 2_000),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    # Without this the library waits a minute for the answer, despite the line above.
    ("grpc.http2.ping_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    # The http_proxy of a machine is for its way out: services are inside.
    NO_PROXY,
)
Interceptors: TypeAlias = Sequence[grpc.aio.ClientInterceptor]
MAX_CALL_SECONDS = 60.0
"""More than any call of one service to another takes, streams included."""


def target_of(text: str) -> str:
    """Return gRPC's target for host:port, or for several IP addresses with commas between; raises ValueError."""
    addresses = addresses_of(text)
    if len(addresses) == 1:
        return addresses[0]
    versions = set()
    for address in addresses:
        if (ip := ip_of(address)) is None:
            raise ValueError(
                f"expected several IP addresses, and {address} is a name: "
                "use dns:///host:port for all addresses of one name"
            )
        versions.add(ip.version)
    if len(versions) > 1:
        raise ValueError("expected several addresses all of IPv4 or all of IPv6")
    return f"ipv{versions.pop()}:{','.join(addresses)}"


def open_channel(
    addresses: str, tls: Tls | None = None, service: str = "", interceptors: Interceptors = ()
) -> grpc.aio.Channel:
    """Open a channel to all replicas of a service, which calls them in turn and skips those that do not answer.

    With TLS it is for calls with one request, and the certificate of each replica has to name the `service`. Raises
    ValueError for invalid addresses.
    """
    target = target_of(addresses)
    if tls is None:
        return grpc.aio.insecure_channel(target, options=_OPTIONS, interceptors=interceptors)
    return cast("grpc.aio.Channel", RenewedChannel(target, tls, service, interceptors))


class RenewedChannel:
    """A channel for calls with one request, reopened after a change of the certificate.

    Running calls end on the old one, within MAX_CALL_SECONDS.
    """

    def __init__(self, target: str, tls: Tls, service: str, interceptors: Interceptors = ()) -> None:
        self._target, self._tls, self._service, self._interceptors = target, tls, service, interceptors
        self._closing: set[asyncio.Task[None]] = set()
        self._identity, self._channel = tls.identity, self._opened()

    def _opened(self) -> grpc.aio.Channel:
        options = (*_OPTIONS, ("grpc.ssl_target_name_override", self._service))
        return grpc.aio.secure_channel(
            self._target, self._tls.channel_credentials(), options=options, interceptors=self._interceptors
        )

    def unary_unary(self, *method: Any, **options: Any) -> Callable[..., Any]:
        """Return a method for a stub, which uses the current channel for each call."""
        return self._renewed(lambda channel: channel.unary_unary(*method, **options))

    def unary_stream(self, *method: Any, **options: Any) -> Callable[..., Any]:
        """Return a method for a stub, which uses the current channel for each stream."""
        return self._renewed(lambda channel: channel.unary_stream(*method, **options))

    def _renewed(self, method_of: Callable[[grpc.aio.Channel], Any]) -> Callable[..., Any]:
        def call(*request: Any, **arguments: Any) -> Any:
            return method_of(self._current())(*request, **arguments)

        return call

    def _current(self) -> grpc.aio.Channel:
        if self._identity is not self._tls.identity:
            closing = asyncio.create_task(self._channel.close(MAX_CALL_SECONDS))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            self._identity, self._channel = self._tls.identity, self._opened()
        return self._channel

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for closing in self._closing:
            closing.cancel()
        await asyncio.gather(self._channel.close(), *self._closing, return_exceptions=True)
