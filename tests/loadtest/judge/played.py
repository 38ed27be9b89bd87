"""Correct tables, played by the engine's own functions, and the records of their viewers."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from random import Random
from typing import TypeAlias

import grpc

from croupier.engine.api.action_codec import encode_action
from croupier.engine.api.scoring_channel import encode_result, encode_round
from croupier.engine.api.stream_codec import StreamEncoder, encode_snapshot
from croupier.engine.core.fold import Transition, advance, new_table
from croupier.engine.core.log import (
    ActedBy,
    ClockCompensated,
    ClockConfig,
    LoggedEvent,
    Proposed,
    SeatConfig,
    TableConfig,
    Voted,
)
from croupier.engine.core.log_codec import encode_body, encode_config
from croupier.engine.core.proposals import refusal_of
from croupier.engine.core.replay import write_replay
from croupier.engine.core.reports import ResultReport, RoundReport, reports_of_transition
from croupier.engine.core.voting import transitions_of_proposal, transitions_of_vote
from croupier.engine.tables.subscription import encode_transition
from croupier.games.actions import Action
from croupier.games.bots import random_of
from croupier.games.facts import SPECTATOR
from croupier.games.interface import SeatActed, resolve_options
from croupier.games.registry import GAMES
from croupier.runtime.errors import ServiceError
from croupier.scoring.standings import places
from croupier_api.v1 import actions_pb2, cards_pb2, engine_pb2, scoring_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from loadtest.judge.verdict import judge
from loadtest.judge.violations import Invariant
from loadtest.mix import DEFAULT_MIX
from loadtest.record import (
    Answered,
    Ledger,
    Opened,
    Outage,
    Received,
    SeatRecord,
    Sent,
    StoredEntry,
    StoredTable,
    TableRecord,
    Viewed,
)

Falsify: TypeAlias = Callable[[TableRecord, "PlayedTable"], object]
"""Falsifies the record of a table in one way."""
Cases: TypeAlias = Mapping[Invariant, Mapping[str, Falsify]]
"""By the invariant to be found, the falsifications by name."""
TABLE = "table-1"
SEATS = 4
BOT = SeatConfig("", "Bot", "random")
LEAVES_AFTER = 20
BEGAN = 1_763_700_000_000
PLAYERS_AHEAD = 40
"""The milliseconds by which the players' clock is ahead of the services'."""
ANSWER_AFTER = 3
RECEIVED_AFTER = 5


@dataclass(frozen=True)
class AcceptedAction:
    """An action of a player, which the engine has accepted as this entry."""

    at: int
    seat: int
    action: Action
    request_id: str
    sequence: int
    expected_sequence: int | None


@dataclass
class PlayedTable:
    """A played table: transitions[0] is the deal of entry 1."""

    config: TableConfig
    transitions: list[Transition] = field(default_factory=list)
    accepted: list[AcceptedAction] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    encoded: dict[tuple[int, int, bool], bytes] = field(default_factory=dict)
    """A cache of encoded entries by viewer, sequence, and whether it is the last of those that came together."""

    @property
    def last(self) -> Transition:
        return self.transitions[-1]

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, player in enumerate(self.config.seats) if not player.bot]

    @property
    def replay(self) -> str:
        return write_replay(self.config, [made.entry for made in self.transitions])

    def snapshot(self, viewer: int, sequence: int) -> engine_pb2.Snapshot:
        """The answer of GetView at a sequence."""
        return encode_snapshot(self.config, self.transitions[sequence - 1].after, viewer)

    def event(self, viewer: int, sequence: int, *, is_missed: bool = False) -> engine_pb2.TableEvent:
        """The event of an entry on a viewer's stream, live or among others that a resumed stream has missed."""
        made, following = self.transitions[sequence - 1], self.transitions[sequence : sequence + 1]
        is_last = not is_missed and all(one.entry.at > made.entry.at for one in following)
        key = viewer, sequence, is_last
        if key not in self.encoded:
            self.encoded[key] = encode_transition(StreamEncoder(), self.config, made, viewer, is_last=is_last)
        return engine_pb2.PlayTableResponse.FromString(self.encoded[key]).table_event

    def turn_state(self, viewer: int, sequence: int) -> engine_pb2.TableEvent:
        """The event of a stream that has missed nothing since a sequence."""
        encoded = StreamEncoder().turn_state(self.transitions[sequence - 1].after, viewer)
        return engine_pb2.PlayTableResponse.FromString(encoded).table_event

    @property
    def sheet(self) -> scoring_pb2.GetScoreSheetResponse:
        """The score sheet after the engine's reports."""
        reports = [report for made in self.transitions for report in reports_of_transition(self.config, made)]
        rounds = [encode_round(one).score for one in reports if isinstance(one, RoundReport)]
        (result,) = (encode_result(one).result for one in reports if isinstance(one, ResultReport))
        return scoring_pb2.GetScoreSheetResponse(table_id=TABLE, seats=result.seats, rounds=rounds, result=result)

    @property
    def stored(self) -> StoredTable:
        """The table's rows in the engines' database, each committed at its own time."""
        entries = tuple(
            StoredEntry(one.sequence, one.at, one.deadline, encode_body(one), one.at + PLAYERS_AHEAD)
            for one in (made.entry for made in self.transitions)
        )
        status, config = "finished" if self.last.after.is_over else "open", self.config
        return StoredTable(status, config.game, config.rules_version, encode_config(config), config.seed, entries)

    @property
    def ledger(self) -> Ledger:
        """The table's rows in scoring's database."""
        result, rounds = self.sheet.result, self.sheet.rounds
        ranking = [list(group.seats) for group in result.ranking]
        counts: Counter[tuple[int, str]] = Counter()
        for count in (count for one in rounds for count in one.counts):
            counts[count.seat, count.name] += count.amount
        placed = zip(result.seats, places(ranking), strict=True)
        return Ledger(
            tuple((one.round, list(one.points), list(one.totals)) for one in rounds),
            ((ranking, list(result.totals)),),
            tuple((player.player_id, place) for player, place in placed if not player.bot),
            tuple((*key, amount) for key, amount in counts.items()),
            result.end_time.ToMilliseconds(),
        )


@dataclass(frozen=True)
class GameCourse:
    """The probabilities of events other than actions, before each action."""

    timeouts: float = 0.0
    outages: float = 0.0
    proposals: float = 0.0
    bots: tuple[int, ...] = ()
    max_entries: int = 100_000
    leaver: int | None = None
    """The seat that leaves for good after LEAVES_AFTER entries."""


PLAIN = GameCourse()
EVENTFUL = GameCourse(timeouts=0.05, outages=0.02, proposals=0.05, bots=(1,))


def _config(game: str, random: Random, course: GameCourse) -> TableConfig:
    rules = GAMES[game]
    options = resolve_options(rules, SEATS, DEFAULT_MIX[game].bounds)
    people = tuple(SeatConfig(f"player-{seat}", f"Player {seat}") for seat in range(SEATS))
    people = tuple(BOT if seat in course.bots else player for seat, player in enumerate(people))
    added = tuple(b"" if player.bot else random.randbytes(seat) for seat, player in enumerate(people))
    clock, seed = ClockConfig(30_000, 20_000, 300), random.randbytes(32)
    return TableConfig(TABLE, game, rules.rules_version, SEATS, options, clock, seed, people, added)


@lru_cache(maxsize=32)
def played(game: str = "thulla", seed: int = 1, course: GameCourse = PLAIN) -> PlayedTable:
    """A table whose players act at random, to the end or up to the maximum of the course."""
    random = Random(f"{game} {seed} {SEATS}")
    return played_with(_config(game, random, course), random, course)


def played_with(config: TableConfig, random: Random, course: GameCourse) -> PlayedTable:
    """A table of this configuration, played in the same way."""
    table = PlayedTable(config)
    table.transitions += advance(table.config, new_table(table.config), BEGAN, None)
    while not table.last.after.is_over and len(table.transitions) < course.max_entries:
        if random.random() < course.outages:
            _compensate(table, random.randint(1, 900))
        if random.random() < course.proposals:
            _propose(table, random)
        if not table.last.after.is_over:
            _act(table, random, course)
    return table


def _append(
    table: PlayedTable, at: int, event: LoggedEvent, by: ActedBy = ActedBy.PLAYER, request_id: str = ""
) -> None:
    table.transitions += advance(table.config, table.last.after, at, event, by, request_id)


def _compensate(table: PlayedTable, milliseconds: int) -> None:
    """Add an outage of the engine, and its compensation."""
    began = table.last.after.at
    table.outages.append(Outage(began, began + milliseconds))
    _append(table, began + milliseconds, ClockCompensated(milliseconds))


def _act(table: PlayedTable, random: Random, course: GameCourse) -> None:
    now = table.last.after
    assert now.due is not None
    gone = course.leaver if now.sequence >= LEAVES_AFTER else None
    people = [seat for seat in now.seats_to_act if seat in table.people and seat != gone]
    if not people or now.due.seat not in people or random.random() < course.timeouts:
        seat = now.due.seat
        action = random_of(now.legal_actions(seat), random.randrange)
        by = ActedBy.BOT if table.config.seats[seat].bot else ActedBy.TIMEOUT
        _append(table, now.due.at + random.randint(0, 1_900), SeatActed(seat, action), by)
        return
    seat = random.choice(people)
    action = random_of(now.legal_actions(seat), random.randrange)
    longest = max(0, min(900, now.due.at - now.at))
    if random.random() < course.timeouts:
        longest = max(longest, now.due.at - now.at)  # Slow enough to use the reserve.
    at, request_id = now.at + random.randint(min(10, longest), longest), f"request-{len(table.transitions)}"
    _append(table, at, SeatActed(seat, action), request_id=request_id)
    sequence = next(made.entry.sequence for made in table.transitions if made.entry.request_id == request_id)
    expected = now.sequence if len(now.seats_to_act) == 1 else None
    table.accepted.append(AcceptedAction(at, seat, action, request_id, sequence, expected))


def _propose(table: PlayedTable, random: Random) -> None:
    """Add a proposal, and the votes of the others, until one disagrees."""
    people = table.people
    rules, game = table.last.after.rules, table.last.after.game
    names = [name for name in rules.proposals if refusal_of(rules, game, name) is None]
    if not names:
        return
    random.shuffle(people)
    try:
        proposed = Proposed(people[0], random.choice(names), 0)
        entries = [made.entry for made in table.transitions]
        table.transitions += transitions_of_proposal(
            table.config, table.last.after, entries, table.last.after.at + 5, proposed, ""
        )
        name = next(
            made for made in reversed(table.transitions) if isinstance(made.entry.event, Proposed)
        ).entry.sequence
        for seat in people[1:]:
            vote = Voted(seat, name, agree=random.random() < 0.8)
            table.transitions += transitions_of_vote(table.config, table.last.after, table.last.after.at + 5, vote, "")
    except ServiceError:
        return  # There are too many proposals, or this one has ended.


# Records of a played table


def found(record: TableRecord) -> set[Invariant]:
    """The invariants that the judge finds violated in a record."""
    return {violation.invariant for violation in judge(record).violations}


def record_of(table: PlayedTable, viewers: tuple[int, ...] | None = None) -> TableRecord:
    """The record of all people at a table, or of these viewers, without lost streams."""
    config = table.config
    record = TableRecord(TABLE, config.game, config.seat_count, sha256(config.seed).hexdigest())
    record.viewers = [seat_record(table, viewer) for viewer in (table.people if viewers is None else viewers)]
    if table.last.after.is_over:
        record.is_finished = True
        record.replays = [table.replay]
        record.sheet = table.sheet.SerializeToString()
    return record


def stored_record(table: PlayedTable) -> TableRecord:
    """The same record with the rows of the databases."""
    record = record_of(table)
    record.stored, record.outages = table.stored, tuple(table.outages)
    record.ledger = table.ledger if table.last.after.is_over else None
    return record


def seat_record(
    table: PlayedTable, viewer: int, begins_at: int = 1, drops: dict[int, int | None] | None = None
) -> SeatRecord:
    """The record of one viewer from a sequence on; `drops` has the sequences after which the stream is lost.

    The next stream resumes after the given sequence, or for None begins with a snapshot.
    """
    is_seated = viewer != SPECTATOR
    one = SeatRecord(f"player-{viewer}" if is_seated else "spectator", viewer if is_seated else None)
    one.client_seed = table.config.client_seeds[viewer] if is_seated else b""
    _open(one, table, viewer, begins_at, None)
    for sequence in range(begins_at + 1, len(table.transitions) + 1):
        receive(one, table, sequence, table.event(viewer, sequence))
        if drops and sequence in drops:
            _open(one, table, viewer, sequence, drops[sequence])
    for asked in table.accepted:
        if asked.seat == viewer:
            at = asked.at + PLAYERS_AHEAD
            action = encode_action(asked.action).SerializeToString()
            one.sent.append(Sent(at - 1, asked.request_id, action, asked.expected_sequence))
            one.answered.append(Answered(at + ANSWER_AFTER, asked.request_id, asked.sequence))
    return one


def _open(one: SeatRecord, table: PlayedTable, viewer: int, sequence: int, after: int | None) -> None:
    """Open a stream at a sequence, with a snapshot or with the missed entries."""
    one.opened.append(Opened(received_at(table, sequence), after))
    if after is None:
        receive(one, table, sequence, engine_pb2.TableEvent(snapshot=table.snapshot(viewer, sequence)))
    if after == sequence:
        receive(one, table, sequence, table.turn_state(viewer, sequence))
    for again in range(sequence if after is None else after + 1, sequence):
        receive(one, table, sequence, table.event(viewer, again, is_missed=True))
    if after is not None and after < sequence:
        receive(one, table, sequence, table.event(viewer, sequence))


def receive(one: SeatRecord, table: PlayedTable, sequence: int, event: engine_pb2.TableEvent) -> None:
    """Receive an event when an entry is stored."""
    body = engine_pb2.PlayTableResponse(table_event=event).SerializeToString()
    one.received.append(Received(received_at(table, sequence), len(one.opened) - 1, body))


def received_at(table: PlayedTable, sequence: int) -> int:
    return table.transitions[sequence - 1].entry.at + PLAYERS_AHEAD + RECEIVED_AFTER


def ask_for_views(one: SeatRecord, table: PlayedTable, step: int) -> None:
    """Add answers of GetView at every `step` entries."""
    for sequence in range(1, len(table.transitions) + 1, step):
        snapshot = table.snapshot(SPECTATOR if one.seat is None else one.seat, sequence).SerializeToString()
        one.viewed.append(Viewed(received_at(table, sequence), snapshot))


def refused(request_id: str, at: int, code: grpc.StatusCode, reason: str, rule: str = "") -> Answered:
    """A refusal with a message that names no card."""
    number: int = code.value[0]
    return Answered(at, request_id, None, number, reason_of(reason), rule, "this cannot be done")


def reason_of(name: str) -> ErrorReason.ValueType:
    """The reason of a name without prefix."""
    return ErrorReason.Value(f"ERROR_REASON_{name}")


def unreliable_record(table: PlayedTable, seed: int) -> TableRecord:
    """The record of some players and two spectators, who join late, lose streams and resume them."""
    random, last, seats = Random(f"restless {seed}"), len(table.transitions), table.people
    record = record_of(table, ())
    for viewer in (*random.sample(seats, random.randint(1, len(seats))), SPECTATOR, SPECTATOR):
        begins_at = random.randint(1, last) if viewer == SPECTATOR else 1
        drops: dict[int, int | None] = {}
        for sequence in range(begins_at, last):
            if random.random() < 0.1:
                drops[sequence] = random.choice((None, sequence, random.randint(begins_at, sequence)))
        record.viewers.append(seat_record(table, viewer, begins_at, drops))
        ask_for_views(record.viewers[-1], table, 5)
    return record


def left(record: TableRecord, viewer: int, sequence: int) -> None:
    """Let a viewer leave at a sequence, after which it must not have sent anything."""
    one = record.viewers[viewer]
    messages = [engine_pb2.PlayTableResponse.FromString(received.body) for received in one.received]
    events = [message.table_event for message in messages]
    sequences = [event.update.sequence or event.snapshot.sequence for event in events]
    del one.received[1 + max(index for index, one_sequence in enumerate(sequences) if one_sequence <= sequence) :]
    one.left_milliseconds = one.received[-1].at_milliseconds


# Changes of records


def change_message(one: SeatRecord, index: int, change: Callable[[engine_pb2.TableEvent], object]) -> None:
    """Change the event of a received message."""
    message = engine_pb2.PlayTableResponse.FromString(one.received[index].body)
    change(message.table_event)
    one.received[index] = one.received[index]._replace(body=message.SerializeToString())


def play(card: int) -> actions_pb2.Action:
    """The action of playing a card."""
    return actions_pb2.Action(play=actions_pb2.PlayAction(card=cards_pb2.Card.ValueType(card)))
