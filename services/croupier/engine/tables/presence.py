"""The presence at a table: who follows it, by the streams of this engine and by what other engines announce."""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, TypeAlias

from croupier.engine.tables.subscription import Presence, Subscription
from croupier.engine.tables.turn_scheduler import TurnTimer
from croupier.games.facts import SPECTATOR
from croupier.runtime.identity.tokens import Clock

SETTLING_MILLISECONDS = 1_000
"""The time from a change until viewers get it: who opens their stream again within it was never gone."""
NOBODY = Presence((), 0)


class Announcement(NamedTuple):
    """The presence at one engine, sent to the others; with `asks` those that serve the table answer with theirs."""

    presence: Presence
    asks: bool


Announce: TypeAlias = Callable[[str, Announcement], None]
"""Sends an announcement for a table to the other engines."""


def presence_by(streams: Iterable[Subscription]) -> Presence:
    """Return the presence by the streams of one engine: several streams of a player count once."""
    seats, spectators = set(), set()
    for stream in streams:
        if stream.viewer == SPECTATOR:
            spectators.add(stream.player_id)
        else:
            seats.add(stream.viewer)
    return Presence(tuple(sorted(seats)), len(spectators))


class TablePresence:
    """The presence at one table. Without a change it has no timer and sends nothing."""

    def __init__(
        self,
        table_id: str,
        streams: Callable[[], Iterable[Subscription]],
        show: Callable[[Presence], None],
        announce: Announce,
        clock: Clock,
    ) -> None:
        """`streams` returns the streams of this engine, `show` sends the presence to them unless they have it."""
        self._table_id = table_id
        self._streams = streams
        self._show = show
        self._announce = announce
        self._clock = clock
        self._timer = TurnTimer(clock)
        self._settles_at: int | None = None
        """The time at which the last changes are shown, None if there were none."""
        self._announced = NOBODY
        self._others: dict[str, Presence] = {}
        """The presence at other engines by their ids."""

    @property
    def here(self) -> Presence:
        """The presence at this engine."""
        return presence_by(self._streams())

    @property
    def now(self) -> Presence:
        """The presence at all engines, as far as they have announced it. A spectator counts once for each engine."""
        here = self.here
        seats = {*here.seats, *(seat for other in self._others.values() for seat in other.seats)}
        return Presence(tuple(sorted(seats)), here.spectators + sum(it.spectators for it in self._others.values()))

    def joined(self) -> None:
        """Note that a stream was opened; the first one asks the other engines for the presence there."""
        if self._announced == NOBODY:
            self.announce(asks=True)
        self.changed()

    def changed(self) -> None:
        """Note that streams have changed."""
        if self._settles_at is None:
            self._settles_at = self._clock() + SETTLING_MILLISECONDS
            self._timer.set(self._settles_at, self._settle)

    def end(self) -> None:
        """Show nothing more: the game is over."""
        self._settles_at = None
        self._timer.cancel()

    def announce(self, *, asks: bool) -> None:
        """Announce the presence here to the other engines, unless nobody is and was here."""
        here = self.here
        if here == self._announced == NOBODY:
            return
        self._announced = here
        self._announce(self._table_id, Announcement(here, asks))

    def announced(self, engine_id: str, announcement: Announcement) -> None:
        """Take over the presence at another engine."""
        self._others.pop(engine_id, None)
        if announcement.presence != NOBODY:
            self._others[engine_id] = announcement.presence
        if announcement.asks:
            self.announce(asks=False)
        self.changed()

    def forget(self, engine_ids: Collection[str]) -> None:
        """Remove the presence at engines that are gone."""
        if gone := [engine_id for engine_id in self._others if engine_id in engine_ids]:
            for engine_id in gone:
                del self._others[engine_id]
            self.changed()

    def _settle(self) -> None:
        if self._settles_at is None:
            return
        if self._clock() < self._settles_at:
            self._timer.set(self._settles_at, self._settle)
            return
        self._settles_at = None
        if self.here != self._announced:
            self.announce(asks=False)
        self._show(self.now)
