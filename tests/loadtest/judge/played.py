"""True tables, played by the engine's own functions, as the records of their viewers would tell them."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from random import Random
from typing import TypeAlias

import grpc

from croupier.engine.codec import encode_action
from croupier.engine.fact_codec import StreamEncoder, encode_snapshot
from croupier.engine.log import (
    ActedBy,
    ClockConfig,
    LoggedEvent,
    Proposed,
    SeatConfig,
    TableConfig,
    TimeCredited,
    Voted,
    body_to_json,
    config_to_json,
)
from croupier.engine.proposals import refusal_of
from croupier.engine.replay import write_replay
from croupier.engine.reports import ResultReport, RoundReport, reports_of_step
from croupier.engine.scoring_channel import encode_result, encode_round
from croupier.engine.streams import message_of
from croupier.engine.table import Step, advance, new_table
from croupier.engine.voting import steps_of_proposal, steps_of_vote
from croupier.games.actions import Action
from croupier.games.bots import random_of
from croupier.games.catalogue import GAMES
from croupier.games.facts import SPECTATOR
from croupier.games.interface import SeatActed, resolve_options
from croupier.runtime.errors import ServiceError
from croupier.scoring.standings import places
from croupier_api.v1 import cards_pb2, engine_pb2, scoring_pb2, table_pb2
from loadtest.judge.verdict import judge
from loadtest.judge.violations import Invariant
from loadtest.mix import KINDS
from loadtest.record import (
    Answered,
    Heard,
    Ledger,
    Opened,
    Outage,
    SeatRecord,
    Sent,
    StoredEntry,
    StoredTable,
    TableRecord,
    Viewed,
)

Falsify: TypeAlias = Callable[[TableRecord, "Played"], object]
"""Makes the record of a table untrue in one way."""
Cases: TypeAlias = Mapping[Invariant, Mapping[str, Falsify]]
"""By what is to be found, the ways by name."""
TABLE = "table-1"
SEATS = 4
BOT = SeatConfig("", "Bot", "random")
LEAVES_AFTER = 20
BEGAN = 1_763_700_000_000
PLAYERS_AHEAD = 40
"""The players' clock is ahead of the services' by so many milliseconds."""
ANSWER_AFTER = 3
HEARD_AFTER = 5


@dataclass(frozen=True)
class Asked:
    """A player asked for an action, which the engine took as this entry."""

    at: int
    seat: int
    action: Action
    request_id: str
    sequence: int
    expected_sequence: int | None


@dataclass
class Played:
    """A table that was played: steps[0] is the deal, which entry 1 tells."""

    config: TableConfig
    steps: list[Step] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    told: dict[tuple[int, int], bytes] = field(default_factory=dict)
    """By viewer and sequence what was encoded already."""

    @property
    def last(self) -> Step:
        return self.steps[-1]

    @property
    def people(self) -> list[int]:
        """The seats that are no computer players'."""
        return [seat for seat, who in enumerate(self.config.seats) if not who.bot]

    @property
    def replay(self) -> str:
        return write_replay(self.config, [made.entry for made in self.steps])

    def snapshot(self, viewer: int, sequence: int) -> engine_pb2.Snapshot:
        """What GetView would have answered at a sequence."""
        return encode_snapshot(self.config, self.steps[sequence - 1].after, viewer)

    def message(self, viewer: int, sequence: int) -> engine_pb2.PlayResponse:
        """What a viewer's stream tells of an entry."""
        if (viewer, sequence) not in self.told:
            made = self.steps[sequence - 1]
            self.told[viewer, sequence] = message_of(StreamEncoder(), self.config, made, viewer)
        return engine_pb2.PlayResponse.FromString(self.told[viewer, sequence])

    @property
    def sheet(self) -> scoring_pb2.GetScoreSheetResponse:
        """What scoring should answer after the engine's reports."""
        reports = [report for made in self.steps for report in reports_of_step(self.config, made)]
        rounds = [encode_round(one).round for one in reports if isinstance(one, RoundReport)]
        (result,) = (encode_result(one).result for one in reports if isinstance(one, ResultReport))
        return scoring_pb2.GetScoreSheetResponse(table_id=TABLE, seats=result.seats, rounds=rounds, result=result)

    @property
    def stored(self) -> StoredTable:
        """The table's rows in the engines' database, each committed at the millisecond that it names."""
        entries = tuple(
            StoredEntry(one.sequence, one.at, one.deadline, body_to_json(one), one.at + PLAYERS_AHEAD)
            for one in (made.entry for made in self.steps)
        )
        status, config = "finished" if self.last.after.is_over else "open", self.config
        return StoredTable(status, config.game, config.rules_version, config_to_json(config), config.seed, entries)

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
            tuple((who.player_id, place) for who, place in placed if not who.bot),
            tuple((*key, amount) for key, amount in counts.items()),
            result.finished_milliseconds,
        )


@dataclass(frozen=True)
class Course:
    """What happens at a table beside its play: how likely each of it is before each action."""

    timeouts: float = 0.0
    credits: float = 0.0
    proposals: float = 0.0
    bots: tuple[int, ...] = ()
    most_entries: int = 100_000
    leaver: int | None = None
    """Goes for good after LEAVES_AFTER entries."""


PLAIN = Course()
EVENTFUL = Course(timeouts=0.05, credits=0.02, proposals=0.05, bots=(1,))


def _config(game: str, random: Random, course: Course) -> TableConfig:
    rules = GAMES[game]
    options = resolve_options(rules, SEATS, KINDS[game].bounds)
    people = tuple(SeatConfig(f"player-{seat}", f"Player {seat}") for seat in range(SEATS))
    people = tuple(BOT if seat in course.bots else who for seat, who in enumerate(people))
    added = tuple(b"" if who.bot else random.randbytes(seat) for seat, who in enumerate(people))
    clock, seed = ClockConfig(30_000, 20_000, 300), random.randbytes(32)
    return TableConfig(TABLE, game, rules.rules_version, SEATS, options, clock, seed, people, added)


@lru_cache(maxsize=32)
def played(game: str = "thulla", seed: int = 1, course: Course = PLAIN) -> Played:
    """A table whose players act by chance, to the end or as far as the course goes."""
    random = Random(f"{game} {seed} {SEATS}")
    table = Played(_config(game, random, course))
    table.steps += advance(table.config, new_table(table.config), BEGAN, None)
    while not table.last.after.is_over and len(table.steps) < course.most_entries:
        if random.random() < course.credits:
            _give_back(table, random.randint(1, 900))
        if random.random() < course.proposals:
            _propose(table, random)
        if not table.last.after.is_over:
            _act(table, random, course)
    return table


def _append(table: Played, at: int, event: LoggedEvent, by: ActedBy = ActedBy.PLAYER, request_id: str = "") -> None:
    table.steps += advance(table.config, table.last.after, at, event, by, request_id)


def _give_back(table: Played, milliseconds: int) -> None:
    """An engine is missing for a while, which is given back."""
    began = table.last.after.at
    table.outages.append(Outage(began, began + milliseconds))
    _append(table, began + milliseconds, TimeCredited(milliseconds))


def _act(table: Played, random: Random, course: Course) -> None:
    now = table.last.after
    assert now.due is not None
    gone = course.leaver if now.sequence >= LEAVES_AFTER else None
    people = [seat for seat in now.seats_to_act if seat in table.people and seat != gone]
    if not people or now.due.seat not in people or random.random() < course.timeouts:
        seat = now.due.seat
        action = random_of(now.game.legal_actions(seat), random.randrange)
        by = ActedBy.BOT if table.config.seats[seat].bot else ActedBy.TIMEOUT
        _append(table, now.due.at + random.randint(0, 1_900), SeatActed(seat, action), by)
        return
    seat = random.choice(people)
    action = random_of(now.game.legal_actions(seat), random.randrange)
    longest = max(0, min(900, now.due.at - now.at))
    if random.random() < course.timeouts:
        longest = max(longest, now.due.at - now.at)  # Slow enough to draw on the reserve.
    at, request_id = now.at + random.randint(min(10, longest), longest), f"request-{len(table.steps)}"
    _append(table, at, SeatActed(seat, action), request_id=request_id)
    sequence = next(made.entry.sequence for made in table.steps if made.entry.request_id == request_id)
    expected = now.sequence if len(now.seats_to_act) == 1 else None
    table.asked.append(Asked(at, seat, action, request_id, sequence, expected))


def _propose(table: Played, random: Random) -> None:
    """Somebody proposes something, and all others agree, or one of them does not."""
    people = table.people
    names = [name for name in GAMES[table.config.game].proposals if refusal_of(table.last.after.game, name) is None]
    if not names:
        return
    random.shuffle(people)
    try:
        proposed = Proposed(people[0], random.choice(names), 0)
        entries = [made.entry for made in table.steps]
        table.steps += steps_of_proposal(table.config, table.last.after, entries, table.last.after.at + 5, proposed, "")
        name = next(made for made in reversed(table.steps) if isinstance(made.entry.event, Proposed)).entry.sequence
        for seat in people[1:]:
            vote = Voted(seat, name, agree=random.random() < 0.8)
            table.steps += steps_of_vote(table.config, table.last.after, table.last.after.at + 5, vote, "")
    except ServiceError:
        return  # Too many proposals, or this one has gone.


# What the viewers of such a table recorded


def found(record: TableRecord) -> set[Invariant]:
    """What the judge finds in a record."""
    return {violation.invariant for violation in judge(record).violations}


def record_of(table: Played, viewers: tuple[int, ...] | None = None) -> TableRecord:
    """What all people at a table, or these viewers, recorded, none of whom ever lost his stream."""
    config = table.config
    record = TableRecord(TABLE, config.game, config.seat_count, sha256(config.seed).hexdigest())
    record.viewers = [seat_record(table, viewer) for viewer in (table.people if viewers is None else viewers)]
    if table.last.after.is_over:
        record.is_finished = True
        record.replays = [table.replay]
        record.sheet = table.sheet.SerializeToString()
    return record


def stored_record(table: Played) -> TableRecord:
    """The same with what the databases have."""
    record = record_of(table)
    record.stored, record.outages = table.stored, tuple(table.outages)
    record.ledger = table.ledger if table.last.after.is_over else None
    return record


def seat_record(
    table: Played, viewer: int, begins_at: int = 1, drops: dict[int, int | None] | None = None
) -> SeatRecord:
    """What one viewer recorded who came at a sequence; `drops` says after which his stream ended, and how he went on.

    A stream goes on after a sequence, or with None from a snapshot of what is there then.
    """
    is_seated = viewer != SPECTATOR
    one = SeatRecord(f"player-{viewer}" if is_seated else "onlooker", viewer if is_seated else None)
    one.client_seed = table.config.client_seeds[viewer] if is_seated else b""
    _open(one, table, viewer, begins_at, None)
    for sequence in range(begins_at + 1, len(table.steps) + 1):
        hears(one, table, sequence, table.message(viewer, sequence))
        if drops and sequence in drops:
            _open(one, table, viewer, sequence, drops[sequence])
    for asked in table.asked:
        if asked.seat == viewer:
            at = asked.at + PLAYERS_AHEAD
            action = encode_action(asked.action).SerializeToString()
            one.sent.append(Sent(at - 1, asked.request_id, action, asked.expected_sequence))
            one.answered.append(Answered(at + ANSWER_AFTER, asked.request_id, asked.sequence))
    return one


def _open(one: SeatRecord, table: Played, viewer: int, sequence: int, after: int | None) -> None:
    """A stream begins when the table is at a sequence, with a snapshot or with the entries that were missed."""
    one.opened.append(Opened(heard_at(table, sequence), after))
    if after is None:
        hears(one, table, sequence, engine_pb2.PlayResponse(snapshot=table.snapshot(viewer, sequence)))
    for again in range(sequence if after is None else after, sequence):
        hears(one, table, sequence, table.message(viewer, again + 1))


def hears(one: SeatRecord, table: Played, sequence: int, message: engine_pb2.PlayResponse) -> None:
    """A message comes when an entry was stored."""
    one.heard.append(Heard(heard_at(table, sequence), len(one.opened) - 1, message.SerializeToString()))


def heard_at(table: Played, sequence: int) -> int:
    return table.steps[sequence - 1].entry.at + PLAYERS_AHEAD + HEARD_AFTER


def views(one: SeatRecord, table: Played, step: int) -> None:
    """A viewer asks for his view now and then."""
    for sequence in range(1, len(table.steps) + 1, step):
        snapshot = table.snapshot(SPECTATOR if one.seat is None else one.seat, sequence).SerializeToString()
        one.viewed.append(Viewed(heard_at(table, sequence), snapshot))


def refused(request_id: str, at: int, code: grpc.StatusCode, reason: str, rule: str = "") -> Answered:
    """A refusal with a sentence that names no card."""
    number: int = code.value[0]
    return Answered(at, request_id, None, number, reason, rule, "this cannot be done")


def restless_record(table: Played, seed: int) -> TableRecord:
    """What some of the viewers recorded, and two who look on, all of whom come late, lose streams and go on anyhow."""
    random, last, seats = Random(f"restless {seed}"), len(table.steps), table.people
    record = record_of(table, ())
    for viewer in (*random.sample(seats, random.randint(1, len(seats))), SPECTATOR, SPECTATOR):
        begins_at = random.randint(1, last) if viewer == SPECTATOR else 1
        drops: dict[int, int | None] = {}
        for sequence in range(begins_at, last):
            if random.random() < 0.1:
                drops[sequence] = random.choice((None, sequence, random.randint(begins_at, sequence)))
        record.viewers.append(seat_record(table, viewer, begins_at, drops))
        views(record.viewers[-1], table, 5)
    return record


def left(record: TableRecord, viewer: int, sequence: int) -> None:
    """A viewer, who sent nothing more afterwards, has left when the table was at a sequence."""
    one = record.viewers[viewer]
    messages = [engine_pb2.PlayResponse.FromString(heard.body) for heard in one.heard]
    sequences = [message.update.sequence or message.snapshot.sequence for message in messages]
    del one.heard[1 + max(index for index, came in enumerate(sequences) if came <= sequence) :]
    one.left_milliseconds = one.heard[-1].at_milliseconds


# Changing what was recorded


def hears_instead(one: SeatRecord, index: int, change: Callable[[engine_pb2.PlayResponse], object]) -> None:
    """A message that was heard is another one."""
    message = engine_pb2.PlayResponse.FromString(one.heard[index].body)
    change(message)
    one.heard[index] = one.heard[index]._replace(body=message.SerializeToString())


def play(card: int) -> table_pb2.Action:
    """Playing a card."""
    return table_pb2.Action(play=table_pb2.PlayAction(card=cards_pb2.Card.ValueType(card)))
