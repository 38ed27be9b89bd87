"""What engines tell each other at once: the port. The log is the truth; news only say where to look."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from croupier.games.facts import Seat


class NotificationListener(Protocol):
    """Who hears it."""

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Logs of tables have entries up to these sequences."""

    def notifications_missed(self) -> None:
        """Any log may have grown."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        """A seat reacted at another engine."""


class Notifier(Protocol):
    """The port. Appends are told by the store that makes them."""

    async def run(self, listener: NotificationListener) -> None:
        """Listen; runs until cancelled."""

    async def notify_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Tell the other engines of a reaction; it may get lost."""


class NullNotifier:
    """For an engine that is alone."""

    async def run(self, listener: NotificationListener) -> None:  # noqa: ARG002
        """There is nothing to hear; runs until cancelled."""
        await asyncio.Event().wait()

    async def notify_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """There is nobody to tell."""
