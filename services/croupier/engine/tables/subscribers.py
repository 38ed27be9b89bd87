"""The subscribers of one table: the streams of players at their seats and of spectators."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from croupier.engine.core.fold import TableState, Transition
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.metrics import EngineMetrics
from croupier.engine.tables.delayed_fan_out import DelayedFanOut
from croupier.engine.tables.presence import Announce, TablePresence
from croupier.engine.tables.subscription import (
    MAX_QUEUE_MESSAGES,
    Encoder,
    Presence,
    Subscription,
    encode_transition,
    fan_out,
    show_presence,
)
from croupier.games.facts import SPECTATOR, Seat, Viewer
from croupier.runtime.errors import LimitReached, MalformedRequest, ServiceError, StaleSequence, Unavailable
from croupier.runtime.fair_queue import SendingLoop
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.single_flight import SingleFlight
from croupier_api.v1 import errors_pb2

MAX_SPECTATOR_STREAMS = 200
MAX_NETWORK_SPECTATOR_STREAMS = 100
SPECTATOR_MESSAGES_PER_TICK = 16
"""Of all spectators of an engine, every 5 ms: actions go through in between."""
MAX_SEAT_STREAMS = 8
"""Beyond this a new stream of a seat replaces its oldest one, whose connection may be dead."""
RETRY_SECONDS = 5
MAX_CLOCK_DIFFERENCE_MILLISECONDS = 2_000
"""Between the clocks of two engines, which follow that of the database."""
MAX_REACTIONS = 5
"""A seat sends at most so many reactions in the time of REACTION_MILLISECONDS."""
REACTION_MILLISECONDS = 10_000


class Subscribers:
    """The open streams of a table; those of spectators write in turns with those of other tables."""

    def __init__(
        self,
        folded: FoldedTable,
        encoder: Encoder,
        metrics: EngineMetrics,
        sending: SendingLoop,
        announce: Announce,
        clock: Clock,
        max_queue_messages: int = MAX_QUEUE_MESSAGES,
    ) -> None:
        """Make the subscribers of a table without streams; `announce` sends its presence to the other engines."""
        self._folded = folded
        self._config = folded.config
        self._clock = clock
        self._encoder = encoder
        self._metrics = metrics
        self._sending = sending
        self._max_queue_messages = max_queue_messages
        # A dict keeps the order in which they joined, so that runs of the simulation are reproducible.
        self._streams: dict[Subscription, None] = {}
        self.delayed: DelayedFanOut | None = None
        """The streams of spectators at a table with a watch delay, once there was one."""
        self._opening_delayed: SingleFlight[DelayedFanOut] = SingleFlight()
        self._reacted_at: dict[Seat, deque[int]] = {}
        """The times of the last MAX_REACTIONS reactions, by seat."""
        self.presence = TablePresence(folded.config.table_id, self._all, self._show_presence, announce, clock)

    @property
    def is_delayed(self) -> bool:
        """Whether spectators know an earlier state of the table, by its watch delay."""
        access = self._config.access
        has_delay = access.watch_delay_seconds > 0
        return has_delay and not access.is_over_for_spectators(self._folded.finished_at, self._clock())

    async def state_for(self, viewer: Viewer) -> TableState:
        """Return the table as a viewer may know it; to be awaited before a spectator subscribes."""
        if viewer != SPECTATOR or not self.is_delayed:
            return self._folded.state
        if (delayed := self.delayed) is None:
            delayed, _ = await self._opening_delayed.run(self._config.table_id, self._open_delayed)
        delayed.release()
        return delayed.state

    def entries_to_fold(self, viewer: Viewer) -> int:
        """Return how many entries have to be folded again for a viewer: all for the first of a delayed table."""
        is_first = viewer == SPECTATOR and self.is_delayed and self.delayed is None
        return self._folded.state.sequence if is_first else 0

    async def _open_delayed(self) -> DelayedFanOut:
        delayed = DelayedFanOut(self._config, self._encoder, self._clock, self._folded.state.rules.watch)
        while delayed.sequence < self._folded.state.sequence:
            await delayed.add_entries(self._folded.entries.after(delayed.sequence))
        self.delayed = delayed
        if not self._folded.state.is_over:
            delayed.publish_presence(self.presence.now)
        return delayed

    def time_for(self, viewer: Viewer) -> int:
        """Return the time of the server at which a viewer sees the table: for a spectator that before the watch delay.

        A delayed deadline has as much time left for them as it had for the players then.
        """
        delay_seconds = self._config.access.watch_delay_seconds if viewer == SPECTATOR else 0
        return self._clock() - delay_seconds * 1000

    def subscribe(
        self, viewer: Viewer, after_sequence: int | None, network_id: str = "", player_id: str = ""
    ) -> Subscription:
        """Open a stream: a snapshot, or all updates after a sequence unless they are too many, and then live updates.

        Raises LimitReached with too many spectators, MalformedRequest for a sequence that the table has not reached,
        Unavailable if the client has to open the stream again.
        """
        if viewer == SPECTATOR and self.is_delayed:
            if self.delayed is None:
                raise table_moved()
            known, transitions_after = self.delayed.state, self.delayed.released_after
        else:
            known, transitions_after = self._folded.state, self._folded.transitions_after
        if after_sequence is not None and after_sequence > known.sequence:
            raise self._ahead(after_sequence, known.sequence)
        missed = None if after_sequence is None else transitions_after(after_sequence)
        stream = self._new_stream(viewer, network_id, player_id)
        is_delayed = viewer == SPECTATOR and self.delayed is not None
        if not (known.is_over or is_delayed):
            self._streams[stream] = None
        if missed is None:
            stream.presence = self.presence_for(viewer)
            now = self.time_for(viewer)
            stream.push(self._encoder.snapshot(self._config, known, viewer, now, stream.presence))
        else:
            stream.preload(self._messages_of_missed(viewer, known, missed))
        if after_sequence is not None:
            self._metrics.resumes.inc()
        if known.is_over:
            stream.close()
        elif is_delayed and self.delayed is not None:
            self.delayed.admit(stream)
        if not self._folded.state.is_over:
            self.presence.joined()
        return stream

    def _ahead(self, after_sequence: int, known: int) -> ServiceError:
        wait = self.delayed.milliseconds_until(after_sequence) if self.delayed is not None else None
        if wait is not None and wait <= MAX_CLOCK_DIFFERENCE_MILLISECONDS:
            # By the clock of the engine that had the stream before, its viewer has this entry already.
            return table_moved(wait / 1000)
        return MalformedRequest(
            errors_pb2.ERROR_REASON_SEQUENCE_AHEAD,
            f"invalid after_sequence {after_sequence}: expected at most {known}",
            field="after_sequence",
        )

    def _messages_of_missed(self, viewer: Viewer, table: TableState, missed: Iterator[Transition]) -> Iterator[bytes]:
        """Yield the missed transitions, or the state of the turn if none were missed."""
        sequence = None
        for transition in missed:
            sequence = transition.entry.sequence
            yield encode_transition(
                self._encoder,
                self._config,
                transition,
                viewer,
                self.time_for(viewer),
                is_last=sequence == table.sequence,
            )
        if sequence is None:
            yield self._encoder.turn_state(table, viewer, self.time_for(viewer))

    def _new_stream(self, viewer: Viewer, network_id: str, player_id: str) -> Subscription:
        # Each seat has its own limit, so that spectators cannot keep players from their table.
        streams = [stream for stream in self._all() if stream.viewer == viewer]
        if viewer != SPECTATOR and len(streams) >= MAX_SEAT_STREAMS:
            self.leave(streams[0])
            message = "newer streams of the same player replace this one"
            streams[0].abort(StaleSequence(errors_pb2.ERROR_REASON_SUPERSEDED, message))
        elif viewer == SPECTATOR:
            _check_spectators(streams, network_id)
        sending = self._sending if viewer == SPECTATOR else None
        overflowed, room = self._metrics.slow_readers.inc, self._max_queue_messages
        return Subscription(viewer, overflowed, network_id, sending, room, player_id)

    def _all(self) -> Iterator[Subscription]:
        return chain(self._streams, self.delayed.streams if self.delayed is not None else ())

    def __bool__(self) -> bool:
        """Return whether the table has subscribers."""
        return any(True for _ in self._all())

    def leave(self, stream: Subscription) -> None:
        """Remove a stream."""
        self._streams.pop(stream, None)
        if self.delayed is not None:
            self.delayed.streams.pop(stream, None)
        if not self._folded.state.is_over:
            self.presence.changed()

    def publish(self, transition: Transition, *, is_last: bool) -> None:
        """Push to all streams what their viewers may know of a transition; `is_last` unless others follow at once.

        The end of the game ends the streams.
        """
        fan_out(self._encoder, self._config, transition, self._streams, self._clock(), is_last=is_last)
        if transition.after.is_over:
            self.close()
            self.presence.end()
        if self.delayed is not None:
            self.delayed.publish(transition)

    def react(self, seat: Seat, reaction: int) -> None:
        """Publish a reaction of a seat; raises LimitReached for too many."""
        now = self._clock()
        reacted_at = self._reacted_at.setdefault(seat, deque(maxlen=MAX_REACTIONS))
        if len(reacted_at) == MAX_REACTIONS and (wait := reacted_at[0] + REACTION_MILLISECONDS - now) > 0:
            raise LimitReached(
                errors_pb2.ERROR_REASON_TOO_MANY_REACTIONS,
                f"too many reactions: expected at most {MAX_REACTIONS} in {REACTION_MILLISECONDS // 1000} seconds",
                retry_after_seconds=wait / 1000,
                metadata={"limit": "seat_requests"},
            )
        reacted_at.append(now)
        self._metrics.reactions.inc()
        self.publish_reaction(seat, reaction)

    def publish_reaction(self, seat: Seat, reaction: int) -> None:
        """Publish a reaction that this engine or another has accepted."""
        message = self._encoder.reaction(seat, reaction)
        for stream in self._streams:
            stream.push(message)
        if self.delayed is not None:
            self.delayed.publish_reaction(message)

    def presence_for(self, viewer: Viewer) -> Presence | None:
        """Return the presence as a viewer may know it; None without a stream here, and at the end of the game."""
        if viewer == SPECTATOR and self.delayed is not None:
            return None if self.delayed.state.is_over else self.delayed.presence
        return self.presence.now if self and not self._folded.state.is_over else None

    def _show_presence(self, presence: Presence) -> None:
        show_presence(self._encoder, presence, self._streams)
        if self.delayed is not None:
            self.delayed.publish_presence(presence)

    def send_heartbeats(self, sequence: int) -> None:
        """Send a heartbeat on each stream without message since the last call."""
        self._send_heartbeats(self._streams, sequence)
        if self.delayed is not None:
            self._send_heartbeats(self.delayed.streams, self.delayed.state.sequence)

    def _send_heartbeats(self, streams: Iterable[Subscription], sequence: int) -> None:
        message = self._encoder.heartbeat(sequence)
        for stream in streams:
            if stream.is_quiet:
                stream.push(message)
            stream.is_quiet = True

    def close(self) -> None:
        """End all streams, but for those of spectators who see the end later."""
        for stream in self._streams:
            stream.close()
        self._streams.clear()

    def expire(self, stream: Subscription) -> None:
        """End a stream whose token expires, with a resume notice: it continues with another token."""
        self.leave(stream)
        stream.hand_over(self._encoder.resume_notice())
        stream.abort()

    def hand_over(self) -> None:
        """End all streams with a resume notice: they continue at another engine."""
        notice = self._encoder.resume_notice()
        for stream in self._all():
            stream.hand_over(notice)
        self._close_all()

    def refuse(self, refusal: ServiceError) -> None:
        """End all streams with a refusal: the table cannot be followed for now."""
        for stream in self._all():
            stream.close(refusal)
        self._close_all()

    def _close_all(self) -> None:
        self.close()
        if self.delayed is not None:
            self.delayed.close()
        self.presence.changed()


def table_moved(retry_after_seconds: float = 0.1) -> Unavailable:
    """Return the error for a client that has to open its stream again."""
    message = "this engine no longer serves the table: open the stream again"
    return Unavailable(errors_pb2.ERROR_REASON_TABLE_MOVED, message, retry_after_seconds=retry_after_seconds)


def _check_spectators(streams: Sequence[Subscription], network_id: str) -> None:
    """Raise LimitReached if the spectators of a table, or those of one network, have the maximum of streams."""
    of_network = sum(bool(network_id) and stream.network == network_id for stream in streams)
    for count, limit, scope in (
        (len(streams), MAX_SPECTATOR_STREAMS, ""),
        (of_network, MAX_NETWORK_SPECTATOR_STREAMS, " for one network"),
    ):
        if count >= limit:
            raise LimitReached(
                errors_pb2.ERROR_REASON_TOO_MANY_STREAMS,
                f"too many streams: expected at most {limit} of spectators at one table{scope}",
                retry_after_seconds=RETRY_SECONDS,
                metadata={"limit": "streams"},
            )
