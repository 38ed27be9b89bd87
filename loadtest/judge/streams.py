"""Follows one viewer through all his streams: order, the fold of what he was told, and what he had before him."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client.errors import FoldError
from croupier_client.view import fold
from loadtest.judge.knowledge import NOTHING_KNOWN, known_after, shown_by
from loadtest.judge.violations import Found, Invariant
from loadtest.record import Answered, Heard, SeatRecord, Sent

_Named = TypeVar("_Named", Sent, Answered)

NEWS_MILLISECONDS = 5_000
"""So long another engine may not know yet what a stream of the first one told: see docs/guarantees.md."""


class Moment(NamedTuple):
    """What a viewer had before him at one sequence, and which cards he was entitled to know."""

    heard_milliseconds: int
    view: table_pb2.TableView
    legal_actions: table_pb2.LegalActions
    clock: engine_pb2.TurnClock
    revealed_seed: str
    known: frozenset[int]


class Message(NamedTuple):
    """A message of a stream, the sequence that it belongs to, and what the viewer was entitled to know with it.

    Where that cannot be told, after a gap perhaps, it is None.
    """

    body: bytes
    parsed: engine_pb2.PlayResponse
    known: frozenset[int] | None
    sequence: int


@dataclass(slots=True)
class Followed:
    """A viewer at a table, as his streams told it."""

    record: SeatRecord
    seat: int | None
    info: table_pb2.TableInfo = field(default_factory=table_pb2.TableInfo)
    moments: dict[int, Moment] = field(default_factory=dict)
    updates: dict[int, engine_pb2.TableUpdate] = field(default_factory=dict)
    """Entries by sequence, as they were told first."""
    heard: dict[int, Heard] = field(default_factory=dict)
    """The messages that told them first."""
    messages: list[Message] = field(default_factory=list)
    last_heard: tuple[int, int] = (0, 0)
    """When the last message came, and which sequence the table had by it."""
    found: list[Found] = field(default_factory=list)
    views: list[tuple[int, engine_pb2.Snapshot]] = field(init=False)
    """What GetView gave, and when."""
    sent: dict[str, list[Sent]] = field(init=False)
    """By request, those on purpose once more behind the first."""
    answered: dict[str, list[Answered]] = field(init=False)

    def __post_init__(self) -> None:
        record = self.record
        self.views = [(it.at_milliseconds, engine_pb2.Snapshot.FromString(it.snapshot)) for it in record.viewed]
        self.sent, self.answered = _by_request(record.sent), _by_request(record.answered)

    @property
    def name(self) -> str:
        """Who this is, in a violation."""
        return "a spectator" if self.seat is None else f"seat {self.seat}"


def _by_request(all_of: Sequence[_Named]) -> dict[str, list[_Named]]:
    named: dict[str, list[_Named]] = defaultdict(list)
    for one in all_of:
        named[one.request_id].append(one)
    return dict(named)


def follow(record: SeatRecord, seats: int) -> Followed:
    """Go through everything that one viewer of a table with so many seats received."""
    walk = _Walk(Followed(record, record.seat), seats)
    for heard in record.heard:
        walk.hear(heard)
    return walk.followed


@dataclass(slots=True)
class _Place:
    """Where a stream is: None until it has begun, and no moment where it cannot be told what the viewer saw."""

    sequence: int | None
    moment: Moment | None
    known: frozenset[int] | None


class _Walk:
    """Where a viewer is on each of his streams; an old one may still bring something when the next has begun."""

    def __init__(self, followed: Followed, seats: int) -> None:
        self.followed = followed
        self._seats = seats
        self._bodies: dict[int, bytes] = {}
        """By sequence the message whose facts gave the moment that is kept."""
        self._places: dict[int, _Place] = {}
        self._newest = (0, 0)
        """The highest sequence heard of, and when it was first."""

    def hear(self, heard: Heard) -> None:
        place = self._places.get(heard.stream) or self._open(heard.stream)
        message = engine_pb2.PlayResponse.FromString(heard.body)
        match message.WhichOneof("event"):
            case "snapshot":
                self._begin(place, heard, message.snapshot)
            case "update":
                self._go_on(place, heard, message)
            case "heartbeat":
                self._beat(place, message.heartbeat.sequence)
            case "reaction" if place.sequence is None:
                self._broken(Invariant.SEQUENCE_GAP, 0, "a stream does not begin with a snapshot")
        self.followed.messages.append(Message(heard.body, message, place.known, place.sequence or 0))
        if place.sequence is not None:
            self.followed.last_heard = heard.at_milliseconds, place.sequence
            if place.sequence > self._newest[0]:
                self._newest = place.sequence, heard.at_milliseconds

    def _open(self, stream: int) -> _Place:
        opened = self.followed.record.opened
        after = opened[stream].after_sequence if 0 <= stream < len(opened) else None
        moment = self.followed.moments.get(after) if after is not None else None
        if after == 0:
            moment = _before_the_first_entry(self._seats)
        known = moment.known if moment is not None else None
        place = self._places[stream] = _Place(after, moment, known)
        return place

    def _begin(self, place: _Place, heard: Heard, snapshot: engine_pb2.Snapshot) -> None:
        newest, since = self._newest
        if place.sequence is not None:
            newest = place.sequence
            self._broken(Invariant.SEQUENCE_REPEAT, snapshot.sequence, "a snapshot comes in the middle of a stream")
        elif heard.at_milliseconds <= since + NEWS_MILLISECONDS:
            newest = 0
        if snapshot.sequence < newest:
            self._broken(Invariant.SEQUENCE_REPEAT, snapshot.sequence, f"a snapshot is older than {newest}")
        self.followed.info = snapshot.table
        self.followed.seat = snapshot.viewer_seat if snapshot.HasField("viewer_seat") else None
        place.sequence = snapshot.sequence
        self._keep(place, moment_of(heard.at_milliseconds, snapshot, self._known_at(snapshot)), "a snapshot")

    def _known_at(self, snapshot: engine_pb2.Snapshot) -> frozenset[int]:
        """What the snapshot shows, and what the viewer has seen before in the same round."""
        before = self.followed.moments.get(min(self._newest[0], snapshot.sequence))
        is_same_round = before is not None and before.view.round == snapshot.view.round
        return shown_by(snapshot) | (before.known if before is not None and is_same_round else NOTHING_KNOWN)

    def _go_on(self, place: _Place, heard: Heard, message: engine_pb2.PlayResponse) -> None:
        came, at, before = message.update.sequence, place.sequence, place.moment
        # After a gap nothing can be folded: from where to go on was never told.
        place.sequence, place.moment = max(at or 0, came), None
        self._note(heard, message.update)
        if at is None:
            self._broken(Invariant.SEQUENCE_GAP, came, "a stream does not begin with a snapshot")
        elif came != at + 1:
            name = Invariant.SEQUENCE_GAP if came > at else Invariant.SEQUENCE_REPEAT
            self._broken(name, came, f"the stream should go on with {at + 1}")
            place.moment, place.known = (before, place.known) if came <= at else (None, None)
        elif before is not None and heard.body == self._bodies.get(came) and before is self.followed.moments.get(at):
            # The same words about the same table: nothing else can come of them.
            place.moment = self.followed.moments[came]
            place.known = place.moment.known
        elif before is not None:
            self._fold(place, heard, before, message)

    def _note(self, heard: Heard, update: engine_pb2.TableUpdate) -> None:
        followed = self.followed
        told = followed.updates.setdefault(update.sequence, update)
        followed.heard.setdefault(update.sequence, heard)
        if told is not update and told != update:
            self._broken(Invariant.VIEW_DIFFERS, update.sequence, "an entry was told again in other words")

    def _fold(self, place: _Place, heard: Heard, before: Moment, message: engine_pb2.PlayResponse) -> None:
        update, seat = message.update, self.followed.seat
        place.known = known_after(before.known, update, seat)
        try:
            view = fold(before.view, update.facts, seat)
        except FoldError as error:
            self._broken(Invariant.VIEW_DIFFERS, update.sequence, f"the facts do not fit: {error.message}")
            return
        at = heard.at_milliseconds
        moment = Moment(at, view, message.legal_actions, update.clock, update.revealed_seed, place.known)
        self._keep(place, moment, "an entry told again")
        if self.followed.moments[update.sequence] is moment:
            self._bodies[update.sequence] = heard.body

    def _keep(self, place: _Place, moment: Moment, what: str) -> None:
        sequence = place.sequence or 0
        place.moment, place.known = moment, moment.known
        first = self.followed.moments.setdefault(sequence, moment)
        if first is not moment:
            for difference in differences(first, moment):
                detail = f"{difference} of {what} is not what the streams told before"
                self._broken(Invariant.VIEW_DIFFERS, sequence, detail)

    def _beat(self, place: _Place, sequence: int) -> None:
        if place.sequence is None:
            self._broken(Invariant.SEQUENCE_GAP, sequence, "a stream does not begin with a snapshot")
        elif sequence != place.sequence:
            name = Invariant.SEQUENCE_GAP if sequence > place.sequence else Invariant.SEQUENCE_REPEAT
            self._broken(name, sequence, f"a heartbeat names it, and the stream is at {place.sequence}")

    def _broken(self, invariant: Invariant, sequence: int, detail: str) -> None:
        self.followed.found.append((invariant, sequence, f"{self.followed.name}: {detail}"))


def _before_the_first_entry(seats: int) -> Moment:
    """The table of a stream that brings the whole log."""
    view = table_pb2.TableView(phase="deal", seats=[table_pb2.SeatView() for _ in range(seats)])
    return Moment(0, view, table_pb2.LegalActions(), engine_pb2.TurnClock(), "", NOTHING_KNOWN)


def moment_of(at: int, snapshot: engine_pb2.Snapshot, known: frozenset[int]) -> Moment:
    """What a viewer has before him who is shown a snapshot."""
    return Moment(at, snapshot.view, snapshot.legal_actions, snapshot.clock, snapshot.revealed_seed, known)


def differences(one: Moment, other: Moment) -> Iterable[str]:
    """In what two moments are not the same to look at."""
    pairs = {
        "the view": (one.view, other.view),
        "what may be done": (one.legal_actions, other.legal_actions),
        "the clock": (one.clock, other.clock),
        "the seed": (one.revealed_seed, other.revealed_seed),
    }
    return [name for name, (first, second) in pairs.items() if first != second]
