"""The spectators of a table with a watch delay: they see the table as it was that long ago."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeAlias

from croupier.engine.core.fold import Transition, new_table, transition_of
from croupier.engine.core.folded_table import MAX_RESUMED_ENTRIES
from croupier.engine.core.guarded_rules import RulesWatch
from croupier.engine.core.log import Entry, TableConfig
from croupier.engine.tables.subscription import Encoder, Presence, Subscription, fan_out, show_presence
from croupier.engine.tables.turn_scheduler import TurnTimer
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.steps import in_steps

ENTRIES_PER_STEP = 32
"""Folded at once, in about half a millisecond."""

_Pending: TypeAlias = tuple[int, Transition | Presence | bytes]
"""The time at which spectators get a transition, a presence, or the message of a reaction."""


class DelayedFanOut:
    """The streams of spectators, and the table as they know it.

    It folds the log itself, because the table in memory has its last state only. It keeps the entries of the last
    minutes, and is bounded by the delay and by the entries, reactions and presences that a table may have in that time.
    """

    def __init__(self, config: TableConfig, encoder: Encoder, clock: Clock, watch: RulesWatch | None = None) -> None:
        self.streams: dict[Subscription, None] = {}
        self.state = new_table(config, watch)
        """The table as spectators know it."""
        self.presence: Presence | None = None
        """The presence as spectators know it; None if that was not recorded."""
        self._config = config
        self._encoder = encoder
        self._clock = clock
        self._delay_milliseconds = config.access.watch_delay_seconds * 1000
        self._last = self.state
        self._recent: deque[Transition] = deque(maxlen=MAX_RESUMED_ENTRIES)
        self._pending: deque[_Pending] = deque()
        self._timer = TurnTimer(clock)

    @property
    def sequence(self) -> int:
        """The last entry that was added; spectators may not know it yet."""
        return self._last.sequence

    async def add_entries(self, entries: Iterable[Entry]) -> None:
        """Add the next entries of the log in bounded steps."""
        async for entry in in_steps(entries, ENTRIES_PER_STEP):
            self.publish(transition_of(self._config, self._last, entry))

    def publish(self, transition: Transition) -> None:
        """Add the next transition, which spectators get once its entry is old enough."""
        self._last = transition.after
        self._pending.append((transition.entry.at + self._delay_milliseconds, transition))
        self.release()

    def publish_reaction(self, message: bytes) -> None:
        """Add the message of a reaction, which spectators get after the delay."""
        if self.streams:
            self._pending.append((self._clock() + self._delay_milliseconds, message))

    def publish_presence(self, presence: Presence) -> None:
        """Add a presence, which spectators get after the delay: it may reveal the end of the game, or who gives up."""
        self._pending.append((self._clock() + self._delay_milliseconds, presence))
        self.release()

    def admit(self, stream: Subscription) -> None:
        """Add a stream, which has received the state."""
        self.streams[stream] = None
        if self.presence is not None:
            show_presence(self._encoder, self.presence, [stream])
        self._set_timer()

    def release(self) -> None:
        """Publish all that is old enough."""
        now = self._clock()
        while self._pending and self._pending[0][0] <= now:
            _, released = self._pending.popleft()
            if isinstance(released, Transition):
                self.state = released.after
                self._recent.append(released)
                fan_out(self._encoder, self._config, released, self.streams, now - self._delay_milliseconds)
                if released.after.is_over:
                    self.close()
            elif isinstance(released, Presence):
                self.presence = released
                show_presence(self._encoder, released, self.streams)
            else:
                for stream in self.streams:
                    stream.push(released)
        self._set_timer()

    def _set_timer(self) -> None:
        # Without streams nothing waits for a release, and the table can be evicted.
        if self.streams and self._pending:
            self._timer.set(self._pending[0][0], self.release)

    def released_after(self, sequence: int) -> Iterator[Transition] | None:
        """Return the transitions after a sequence that spectators know, None if these are too many."""
        missed = self.state.sequence - sequence
        if missed > len(self._recent):
            return None
        # Read while others are released.
        return iter([*islice(self._recent, len(self._recent) - missed, None)])

    def milliseconds_until(self, sequence: int) -> int | None:
        """Return the time until spectators know an entry, None for one that is not in the log."""
        for due, pending in self._pending:
            if isinstance(pending, Transition) and pending.entry.sequence == sequence:
                return due - self._clock()
        return None

    def close(self) -> None:
        """End all streams."""
        self._timer.cancel()
        for stream in self.streams:
            stream.close()
        self.streams.clear()
