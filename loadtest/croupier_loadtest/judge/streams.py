"""Reads all streams of one viewer: the order of entries, the fold of facts, and the state at each sequence."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from croupier_api.v1 import actions_pb2, engine_pb2, facts_pb2, tables_pb2
from croupier_client.errors import FoldError
from croupier_client.view import fold
from croupier_loadtest.judge.knowledge import NOTHING_KNOWN, known_after, shown_by
from croupier_loadtest.judge.notation import Deck
from croupier_loadtest.judge.violations import Found, Invariant
from croupier_loadtest.record import Answered, Received, SeatRecord, Sent, SentRequest

NOTIFICATION_MILLISECONDS = 5_000
"""The maximum time until the other engines have an entry that one has sent: see docs/guarantees.md."""

MAX_RESUMED_ENTRIES = 256
"""The entries that a resumed stream may have missed; after more it begins with a snapshot, and only then."""


class ViewerState(NamedTuple):
    """The state of a viewer at one sequence: view, legal actions, clock, and the cards that they may know.

    `legal_actions` is None if only an update was received that leaves them to a later one.
    """

    received_milliseconds: int
    view: facts_pb2.TableView
    legal_actions: actions_pb2.LegalActions | None
    clock: engine_pb2.TurnClock
    revealed_seed: str
    proposal: engine_pb2.Proposal
    known: frozenset[int]


class Message(NamedTuple):
    """A message of a stream with its event, its sequence, and the cards that the viewer may know with it.

    `known` is None where that cannot be determined, such as after a gap.
    """

    received: Received
    event: engine_pb2.TableEvent
    known: frozenset[int] | None
    sequence: int


@dataclass(slots=True)
class ViewerHistory:
    """The history of a viewer at a table, as their streams show it."""

    record: SeatRecord
    seat: int | None
    deck: Deck
    info: tables_pb2.PlayedTable = field(default_factory=tables_pb2.PlayedTable)
    states: dict[int, ViewerState] = field(default_factory=dict)
    updates: dict[int, engine_pb2.TableUpdate] = field(default_factory=dict)
    """Entries by sequence, as they were received first."""
    received: dict[int, Received] = field(default_factory=dict)
    """The messages in which they were received first."""
    messages: list[Message] = field(default_factory=list)
    last_received: tuple[int, int] = (0, 0)
    """The time of the last message, and its sequence."""
    found: list[Found] = field(default_factory=list)
    views: list[tuple[int, engine_pb2.Snapshot]] = field(init=False)
    """The answers of GetView with their times."""
    sent: dict[str, list[Sent]] = field(init=False)
    """By request id, deliberate repeats after the first."""
    requested: dict[str, list[SentRequest]] = field(init=False)
    """The same for other requests."""
    answered: dict[str, list[Answered]] = field(init=False)

    def __post_init__(self) -> None:
        self.views = [(it.at_milliseconds, engine_pb2.Snapshot.FromString(it.snapshot)) for it in self.record.viewed]
        for _, snapshot in self.views:
            snapshot.clock.ClearField("server_unix_ms")
        self.sent, self.requested, self.answered = defaultdict(list), defaultdict(list), defaultdict(list)
        for sent in self.record.sent:
            self.sent[sent.request_id].append(sent)
        for request in self.record.sent_requests:
            self.requested[request.request_id].append(request)
        for answer in self.record.answered:
            self.answered[answer.request_id].append(answer)

    @property
    def name(self) -> str:
        """The viewer's name in a violation."""
        return "a spectator" if self.seat is None else f"seat {self.seat}"

    @property
    def seen(self) -> list[tuple[int, int]]:
        """The times and sequences of all entries and snapshots on streams, and then of answers of GetView."""
        kinds = ("update", "snapshot")
        messages = [it for it in self.messages if it.event.WhichOneof("event_kind") in kinds]
        views = [(at, snapshot.sequence) for at, snapshot in self.views]
        return [*((it.received.at_milliseconds, it.sequence) for it in messages), *views]

    @property
    def delay_milliseconds(self) -> int:
        """The time by which the viewer sees the table later: the watch delay for a spectator."""
        return self.info.access.watch_delay.seconds * 1000 if self.seat is None else 0


def history_of(record: SeatRecord, seats: int, deck: Deck) -> ViewerHistory:
    """Return the history of one viewer of a table with a number of seats, whose game has this deck."""
    builder = _HistoryBuilder(ViewerHistory(record, record.seat, deck), seats)
    for received in record.received:
        builder.add(received)
    return builder.history


@dataclass(slots=True)
class _StreamPosition:
    """The position of a stream: None before its first message, and without a state after a gap."""

    sequence: int | None
    state: ViewerState | None
    known: frozenset[int] | None
    has_begun: bool = False
    """Whether the stream has brought an event."""


class _HistoryBuilder:
    """Builds a history from messages; an old stream may still bring some after the next one has begun."""

    def __init__(self, history: ViewerHistory, seats: int) -> None:
        self.history = history
        self._seats = seats
        self._bodies: dict[int, bytes] = {}
        """By sequence the message of the state that is kept."""
        self._positions: dict[int, _StreamPosition] = {}
        self._newest = (0, 0)
        """The highest sequence, and the time at which it was received first."""

    def add(self, received: Received) -> None:
        position = self._positions.get(received.stream) or self._open(received.stream)
        event = engine_pb2.PlayTableResponse.FromString(received.body).table_event
        kind = event.WhichOneof("event_kind")
        if kind in ("snapshot", "update", "turn_state"):
            # Messages of the same entry are compared, whenever the server made them.
            getattr(event, kind).clock.ClearField("server_unix_ms")
        if kind in ("heartbeat", "reaction", "presence") and not position.has_begun:
            self._broken(Invariant.SEQUENCE_GAP, 0, "a stream begins with no snapshot, entry or state of the turn")
        match kind:
            case "snapshot":
                self._add_snapshot(position, received, event.snapshot)
            case "update":
                self._add_update(position, received, event.update)
            case "turn_state":
                self._add_turn_state(position, event.turn_state)
            case "heartbeat":
                self._check_sequence(position, event.heartbeat.sequence, "a heartbeat")
        position.has_begun = position.has_begun or kind is not None
        self.history.messages.append(Message(received, event, position.known, position.sequence or 0))
        if position.sequence is not None:
            self.history.last_received = received.at_milliseconds, position.sequence
            if position.sequence > self._newest[0]:
                self._newest = position.sequence, received.at_milliseconds

    def _open(self, stream: int) -> _StreamPosition:
        opened = self.history.record.opened
        after = opened[stream].after_sequence if 0 <= stream < len(opened) else None
        state = self.history.states.get(after) if after is not None else None
        if after == 0:
            # A stream of the whole log.
            seats = [facts_pb2.SeatView() for _ in range(self._seats)]
            view = facts_pb2.TableView(phase="deal", seats=seats, contract=facts_pb2.Contract())
            state = state_of(0, view, engine_pb2.Snapshot(), NOTHING_KNOWN)
        self._positions[stream] = _StreamPosition(after, state, state.known if state is not None else None)
        return self._positions[stream]

    def _add_snapshot(self, position: _StreamPosition, received: Received, snapshot: engine_pb2.Snapshot) -> None:
        newest, since = self._newest
        if position.sequence is not None:
            newest = position.sequence
            self._check_replacement(position, snapshot)
        elif received.at_milliseconds <= since + NOTIFICATION_MILLISECONDS:
            newest = 0
        if snapshot.sequence < newest:
            self._broken(Invariant.SEQUENCE_REPEAT, snapshot.sequence, f"a snapshot is older than {newest}")
        if (snapshot.table.state == tables_pb2.TABLE_STATE_FINISHED) != bool(snapshot.view.ranking):
            self._broken(Invariant.VIEW_DIFFERS, snapshot.sequence, "the state of the table contradicts the view")
        self.history.info = snapshot.table
        self.history.seat = snapshot.viewer_seat if snapshot.HasField("viewer_seat") else None
        position.sequence = snapshot.sequence
        # Beside what it shows, the viewer knows what they knew before in the same round.
        before = self.history.states.get(min(self._newest[0], snapshot.sequence))
        is_same_round = before is not None and before.view.round == snapshot.view.round
        known = shown_by(snapshot, self.history.deck) | (
            before.known if before is not None and is_same_round else NOTHING_KNOWN
        )
        self._keep(position, state_of(received.at_milliseconds, snapshot.view, snapshot, known), "a snapshot")

    def _check_replacement(self, position: _StreamPosition, snapshot: engine_pb2.Snapshot) -> None:
        """Check that a snapshot of a stream that has a position replaces too many missed entries for a resumption."""
        missed = snapshot.sequence - (position.sequence or 0)
        if position.has_begun:
            self._broken(Invariant.SEQUENCE_REPEAT, snapshot.sequence, "a snapshot comes in the middle of a stream")
        elif missed <= MAX_RESUMED_ENTRIES:
            detail = f"a snapshot replaces {missed} missed entries: expected more than {MAX_RESUMED_ENTRIES}"
            self._broken(Invariant.SEQUENCE_GAP, snapshot.sequence, detail)

    def _add_update(self, position: _StreamPosition, received: Received, update: engine_pb2.TableUpdate) -> None:
        sequence, at, before = update.sequence, position.sequence, position.state
        # After a gap nothing can be folded.
        position.sequence, position.state = max(at or 0, sequence), None
        self._remember(received, update)
        if at is None:
            self._broken(Invariant.SEQUENCE_GAP, sequence, "a stream does not begin with a snapshot")
        elif sequence != at + 1:
            name = Invariant.SEQUENCE_GAP if sequence > at else Invariant.SEQUENCE_REPEAT
            self._broken(name, sequence, f"the stream must continue with {at + 1}")
            position.state, position.known = (before, position.known) if sequence <= at else (None, None)
        elif (
            before is not None and received.body == self._bodies.get(sequence) and before is self.history.states.get(at)
        ):
            # The same message for the same state has the same result.
            position.state = self.history.states[sequence]
            position.known = position.state.known
        elif before is not None:
            self._fold(position, received, before, update)

    def _remember(self, received: Received, update: engine_pb2.TableUpdate) -> None:
        history = self.history
        first = history.updates.setdefault(update.sequence, update)
        history.received.setdefault(update.sequence, received)
        if first is not update and first != update and _as_logged(first) != _as_logged(update):
            self._broken(Invariant.VIEW_DIFFERS, update.sequence, "an entry was received again with another content")

    def _fold(
        self, position: _StreamPosition, received: Received, before: ViewerState, update: engine_pb2.TableUpdate
    ) -> None:
        seat = self.history.seat
        if any(fact.WhichOneof("fact") is None for fact in update.facts):
            self._broken(Invariant.VIEW_DIFFERS, update.sequence, "a fact is of no known kind")
        position.known = known_after(before.known, update, seat, self.history.deck)
        try:
            view = fold(before.view, update.facts, seat)
        except FoldError as error:
            self._broken(Invariant.VIEW_DIFFERS, update.sequence, f"the facts do not fit: {error.message}")
            return
        state = state_of(received.at_milliseconds, view, update, position.known)
        if seat in view.seats_to_act and not update.HasField("legal_actions"):
            state = state._replace(legal_actions=None)
        self._keep(position, state, "a repeated entry")
        if self.history.states[update.sequence] is state:
            self._bodies[update.sequence] = received.body

    def _keep(self, position: _StreamPosition, state: ViewerState, source: str) -> None:
        sequence = position.sequence or 0
        position.state, position.known = state, state.known
        first = self.history.states.setdefault(sequence, state)
        if first is state:
            return
        found = differences(first, state)
        for part in found:
            self._broken(Invariant.VIEW_DIFFERS, sequence, f"{part} of {source} differs from what was shown before")
        if first.legal_actions is None and state.legal_actions is not None:
            first = self.history.states[sequence] = first._replace(legal_actions=state.legal_actions)
        if not found and first.known == state.known:
            position.state = first

    def _add_turn_state(self, position: _StreamPosition, turn: engine_pb2.TurnState) -> None:
        if position.has_begun:
            detail = "a state of the turn comes in the middle of a stream"
            self._broken(Invariant.SEQUENCE_REPEAT, turn.sequence, detail)
        self._check_sequence(position, turn.sequence, "a state of the turn")
        before = position.state
        if before is not None and turn.sequence == position.sequence:
            state = before._replace(legal_actions=turn.legal_actions, clock=turn.clock, proposal=turn.proposal)
            self._keep(position, state, "a state of the turn")

    def _check_sequence(self, position: _StreamPosition, sequence: int, source: str) -> None:
        at = position.sequence
        if sequence != at:
            name = Invariant.SEQUENCE_REPEAT if at is not None and sequence < at else Invariant.SEQUENCE_GAP
            self._broken(name, sequence, f"{source} names it, and the stream is at {at}")

    def _broken(self, invariant: Invariant, sequence: int, detail: str) -> None:
        self.history.found.append((invariant, sequence, f"{self.history.name}: {detail}"))


def _as_logged(update: engine_pb2.TableUpdate) -> engine_pb2.TableUpdate:
    """Return an update without the legal actions, which it has only where no other follows at once."""
    logged = engine_pb2.TableUpdate()
    logged.CopyFrom(update)
    logged.ClearField("legal_actions")
    return logged


def state_of(
    at: int, view: facts_pb2.TableView, message: engine_pb2.Snapshot | engine_pb2.TableUpdate, known: frozenset[int]
) -> ViewerState:
    """Return the state of a viewer with this view, of which a message has the rest."""
    seed, proposal = message.revealed_seed, message.proposal
    return ViewerState(at, view, message.legal_actions, message.clock, seed, proposal, known)


def differences(one: ViewerState, other: ViewerState) -> list[str]:
    """Return the visible differences between two states."""
    pairs = {
        "the view": (one.view, other.view),
        "the legal actions": (one.legal_actions, other.legal_actions),
        "the clock": (one.clock, other.clock),
        "the proposal": (one.proposal, other.proposal),
        "the seed": (one.revealed_seed, other.revealed_seed),
    }
    return [name for name, (first, second) in pairs.items() if None not in (first, second) and first != second]
