"""Channels from one service to another, of which there may be several replicas."""

import ipaddress
import json

import grpc

_SERVICE_CONFIG = {
    "loadBalancingConfig": [{"round_robin": {}}],
    # What services ask of each other may be asked twice. So the next replica is asked when one stops.
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
    # A replica that restarts is to be found again within seconds; the library's own backoff grows to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    # Without this the library waits a minute for the answer, whatever the line above says.
    ("grpc.http2.ping_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)


def addresses_of(text: str) -> tuple[str, ...]:
    """The addresses of host:port, or of several with commas between; raises ValueError for what is no address."""
    addresses = tuple(part.strip() for part in text.split(","))
    for address in addresses:
        host, _, port = address.rpartition(":")
        if not (host and port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
            raise ValueError(f"{address!r} is not an address: host:port is expected, several with commas between")
    return addresses


def target_of(text: str) -> str:
    """The target of gRPC for host:port, or for several IP addresses with commas between; raises ValueError."""
    addresses = addresses_of(text)
    if len(addresses) == 1:
        return addresses[0]
    versions = {_version(address) for address in addresses}
    if len(versions) > 1:
        raise ValueError(f"{text} mixes IPv4 and IPv6: of several addresses all must be of one kind")
    return f"ipv{versions.pop()}:{','.join(addresses)}"


def _version(address: str) -> int:
    try:
        return ipaddress.ip_address(address.rpartition(":")[0].strip("[]")).version
    except ValueError:
        raise ValueError(
            f"{address} is a name: of several addresses each must be an IP address, and one name, dns:///host:port, "
            "may stand for all of them"
        ) from None


def open_channel(addresses: str) -> grpc.aio.Channel:
    """A channel to all replicas of a service, by turns, leaving out those that do not answer.

    Raises ValueError for addresses that cannot be used.
    """
    return grpc.aio.insecure_channel(target_of(addresses), options=_OPTIONS)
