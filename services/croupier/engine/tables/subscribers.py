"""The subscribers of one table: the streams of players at their seats and of spectators."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from croupier.engine.core.fold import TableState, Transition
from croupier.engine.core.log import TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.engine.tables.delayed_fan_out import DelayedFanOut
from croupier.engine.tables.reactions import ReactionLimit, check_reaction
from croupier.engine.tables.subscription import Encoder, Subscription, encode_transition, fan_out
from croupier.games.facts import SPECTATOR, Seat, Viewer
from croupier.runtime.errors import LimitReached, StaleSequence
from croupier.runtime.fair_queue import SendingLoop
from croupier.runtime.identity import Clock
from croupier_api.v1 import errors_pb2

MAX_SPECTATOR_STREAMS = 200
MAX_NETWORK_SPECTATOR_STREAMS = 100
SPECTATOR_MESSAGES_PER_TICK = 16
"""Of all spectators of an engine, every 5 ms: actions go through in between."""
MAX_SEAT_STREAMS = 8
"""Beyond this a new stream of a seat replaces its oldest one, whose connection may be dead."""
RETRY_SECONDS = 5


class Subscribers:
    """The open streams of a table."""

    def __init__(
        self,
        config: TableConfig,
        encoder: Encoder,
        metrics: EngineMetrics,
        sending: SendingLoop,
        clock: Clock,
        max_queue_messages: int,
    ) -> None:
        self._clock = clock
        self._config = config
        self._encoder = encoder
        self._metrics = metrics
        self._sending = sending
        self._max_queue_messages = max_queue_messages
        # A dict keeps the order in which they joined, so that runs of the simulation are reproducible.
        self._streams: dict[Subscription, None] = {}
        self.delayed: DelayedFanOut | None = None
        """The streams of spectators at a table with a watch delay, once there was one."""
        self._reaction_limits: dict[Seat, ReactionLimit] = {}

    def time_for(self, viewer: Viewer) -> int:
        """Return the time of the server at which a viewer sees the table: for a spectator that before the watch delay.

        A delayed deadline has as much time left for them as it had for the players then.
        """
        delay_seconds = self._config.access.watch_delay_seconds if viewer == SPECTATOR else 0
        return self._clock() - delay_seconds * 1000

    def join(self, viewer: Viewer, table: TableState, network_id: str = "") -> Subscription:
        """Return a stream that begins with a snapshot; raises LimitReached with too many spectators."""
        stream = self._new_stream(viewer, network_id)
        stream.push(self._encoder.snapshot(self._config, table, viewer, self.time_for(viewer)))
        return self._admit(stream, table)

    def resume(
        self, viewer: Viewer, table: TableState, missed: Iterator[Transition] | None, network_id: str = ""
    ) -> Subscription:
        """Return a stream that begins with the missed transitions, or with the state of the turn if none were missed.

        It begins with a snapshot if they are None, since they are too many. Raises LimitReached with too many
        spectators.
        """
        if missed is None:
            stream = self.join(viewer, table, network_id)
        else:
            stream = self._new_stream(viewer, network_id)
            stream.preload(self._messages_of_missed(viewer, table, missed))
            self._admit(stream, table)
        self._metrics.resumes.inc()
        return stream

    def _messages_of_missed(self, viewer: Viewer, table: TableState, missed: Iterator[Transition]) -> Iterator[bytes]:
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

    def _new_stream(self, viewer: Viewer, network_id: str) -> Subscription:
        # Each seat has its own limit, so that spectators cannot keep players from their table.
        streams = [stream for stream in self._all() if stream.viewer == viewer]
        if viewer != SPECTATOR and len(streams) >= MAX_SEAT_STREAMS:
            self._supersede(streams[0])
        elif viewer == SPECTATOR:
            _check_spectators(streams, network_id)
        sending = self._sending if viewer == SPECTATOR else None
        return Subscription(viewer, self._metrics.slow_readers.inc, network_id, sending, self._max_queue_messages)

    def _supersede(self, stream: Subscription) -> None:
        self.leave(stream)
        stream.abort(
            StaleSequence(errors_pb2.ERROR_REASON_SUPERSEDED, "newer streams of the same player replace this one")
        )

    def _admit(self, stream: Subscription, table: TableState) -> Subscription:
        if table.is_over:
            stream.close()
        elif stream.viewer == SPECTATOR and self.delayed is not None:
            self.delayed.admit(stream)
        else:
            self._streams[stream] = None
        return stream

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

    def publish(self, transition: Transition, *, is_last: bool) -> None:
        """Push to all streams what their viewers may know of a transition; `is_last` unless others follow at once.

        The end of the game ends the streams.
        """
        fan_out(self._encoder, self._config, transition, self._streams, self._clock(), is_last=is_last)
        if transition.after.is_over:
            self.close()
        if self.delayed is not None:
            self.delayed.publish(transition)

    def react(self, seat: Seat, reaction: str, now: int) -> None:
        """Publish a reaction of a seat; raises MalformedRequest for an unknown one, LimitReached for too many."""
        check_reaction(reaction)
        self._reaction_limits.setdefault(seat, ReactionLimit()).acquire(now)
        self._metrics.reactions.inc()
        self.publish_reaction(seat, reaction)

    def publish_reaction(self, seat: Seat, reaction: str) -> None:
        """Publish a reaction that this engine or another has accepted."""
        message = self._encoder.reaction(seat, reaction)
        for stream in self._streams:
            stream.push(message)
        if self.delayed is not None:
            self.delayed.publish_reaction(message)

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
        stream.push(self._encoder.resume_notice())
        stream.abort()

    def hand_over(self) -> None:
        """End all streams with a resume notice: they continue at another engine."""
        notice = self._encoder.resume_notice()
        for stream in self._all():
            stream.push(notice)
        self.close()
        if self.delayed is not None:
            self.delayed.close()


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
