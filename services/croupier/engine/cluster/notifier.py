"""Notifications between engines: the port. They only name the logs to read; the log is the truth."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from croupier.games.facts import Seat


class NotificationListener(Protocol):
    """Receives notifications."""

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Logs of tables have entries up to these sequences."""

    def notifications_missed(self) -> None:
        """Any log may have grown."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        """A seat reacted at another engine."""


class Notifier(Protocol):
    """The port. The store itself sends the notifications of its appends."""

    async def run(self, listener: NotificationListener) -> None:
        """Pass notifications to the listener; runs until cancelled."""

    async def notify_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Notify the other engines of a reaction; the notification may get lost."""


class NullNotifier:
    """The notifier of the only engine of a database."""

    async def run(self, listener: NotificationListener) -> None:  # noqa: ARG002
        """Receive nothing; runs until cancelled."""
        await asyncio.Event().wait()

    async def notify_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Do nothing."""
