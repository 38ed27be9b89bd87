"""The channels that the players of one process share, whoever drives them."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Generic, TypeVar

from croupier_client import Endpoints, Tls
from croupier_client.callers import Service
from croupier_client.endpoints import CHANNEL_OPTIONS

C = TypeVar("C")
CONNECTIONS_OF_A_SERVICE = 4
"""So many connections to each service are shared by all players of a process."""
OPTIONS = (*CHANNEL_OPTIONS, ("grpc.use_local_subchannel_pool", 1))
"""Channels that are set up alike share one connection unless they are told not to."""


class Channels(Generic[C]):
    """A few channels to each service, made by `connect` from an address, which players share in turn."""

    def __init__(self, endpoints: Endpoints, connect: Callable[[str, Tls | None], C], per_service: int) -> None:
        self.endpoints = endpoints
        self._shares: list[Mapping[Service, C]] = [
            {service: connect(address, endpoints.tls) for service, address in endpoints.by_service().items()}
            for _ in range(per_service)
        ]
        self._numbers = count()

    def share(self) -> Mapping[Service, C]:
        """A channel to each service for one more player."""
        return self._shares[next(self._numbers) % len(self._shares)]

    @property
    def channels(self) -> list[C]:
        """All of them."""
        return [channel for share in self._shares for channel in share.values()]
