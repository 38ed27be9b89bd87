"""Notifications between engines: the port. They only name the logs to read; the log is the truth."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from croupier.games.facts import Seat


class NotificationListener(Protocol):
    """Receives notifications."""

    @property
    def engines(self) -> int:
        """The number of living engines."""

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Logs of tables have entries up to these sequences."""

    def notifications_missed(self) -> None:
        """Any log may have grown."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        """A seat reacted at another engine."""


class Notifier(Protocol):
    """The port. Its notifications may come late or get lost, but for that it reports regularly that some may be."""

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Notify the other engines soon that this one has stored entries up to these sequences."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Notify the other engines of a reaction."""

    async def run(self, listener: NotificationListener) -> None:
        """Send notifications, and pass those of other engines to the listener; runs until cancelled."""


class NullNotifier:
    """The notifier of the only engine of a database."""

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Do nothing."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Do nothing."""

    async def run(self, listener: NotificationListener) -> None:  # noqa: ARG002
        """Receive nothing; runs until cancelled."""
        await asyncio.Event().wait()
