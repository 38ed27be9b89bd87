"""Channels from one service to another, of which there may be several replicas."""

import json

import grpc

_OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
    # A replica that restarts is to be found again within seconds; the library's own backoff grows to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)


def target_of(addresses: str) -> str:
    """The target of gRPC for host:port, or for several IPv4 addresses with commas between."""
    return f"ipv4:{addresses}" if "," in addresses else addresses


def open_channel(addresses: str) -> grpc.aio.Channel:
    """A channel to all replicas of a service, by turns, leaving out those that do not answer."""
    return grpc.aio.insecure_channel(target_of(addresses), options=_OPTIONS)
