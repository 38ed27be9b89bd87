"""Correct tables, played by the engine's own functions."""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random

from croupier.engine.api.scoring_channel import encode_result, encode_round
from croupier.engine.api.stream_codec import StreamEncoder, encode_snapshot
from croupier.engine.core import decide
from croupier.engine.core.clock import Absence, abandoned_at
from croupier.engine.core.fold import ABANDONED, TableState, Transition, advance, new_table, refusal_of
from croupier.engine.core.log import (
    ActedBy,
    AwaySet,
    ClockCompensated,
    ClockConfig,
    LoggedEvent,
    Proposed,
    SeatConfig,
    TableConfig,
    TableEnded,
    Voted,
)
from croupier.engine.core.log_codec import encode_body, encode_config
from croupier.engine.core.reports import ResultReport, RoundReport, reports_of_transition
from croupier.engine.tables.subscription import encode_transition
from croupier.games.actions import Action
from croupier.games.bots import random_of
from croupier.games.interface import SeatActed, resolve_options
from croupier.games.registry import OWN_GAMES
from croupier.runtime.errors import ServiceError
from croupier.runtime.table_access import OPEN
from croupier.scoring import codec
from croupier.scoring.standings import places
from croupier_api.v1 import engine_pb2, scoring_pb2
from croupier_internal.v1 import scoring_control_pb2
from croupier_loadtest.record import (
    ABANDONED_MILLISECONDS,
    MAX_ENTRIES,
    Ledger,
    Outage,
    StoredEntry,
    StoredTable,
)
from tests.engine.folds import write_replay

TABLE = "table-1"
SEATS = 4
BOT = SeatConfig("", "Bot", "random")
LEAVES_AFTER = 20
PLAYED_FOR = 0.7
"""The probability that the engine acts for a player who has left."""
BEGAN = 1_763_700_000_000
CLOCK_OFFSET = 40
"""The milliseconds by which the players' clock is ahead of the services'."""


@dataclass(frozen=True)
class AcceptedAction:
    """An action of a player, which the engine has accepted as this entry."""

    at: int
    seat: int
    action: Action
    request_id: str
    sequence: int
    expected_sequence: int | None


@dataclass(frozen=True)
class AcceptedRequest:
    """A proposal, a vote, a leave or a return of a player, which was answered with this entry."""

    at: int
    seat: int
    request_id: str
    body: tuple[str | int, ...]
    sequence: int


@dataclass
class PlayedTable:
    """A played table: transitions[0] is the deal of entry 1."""

    config: TableConfig
    transitions: list[Transition] = field(default_factory=list)
    accepted: list[AcceptedAction] = field(default_factory=list)
    requested: list[AcceptedRequest] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    encoded: dict[tuple[int, int, bool], bytes] = field(default_factory=dict)
    """A cache of encoded entries by viewer, sequence, and whether it is the last of those that came together."""

    @property
    def last(self) -> Transition:
        return self.transitions[-1]

    @property
    def max_entries(self) -> int:
        """The limit of the operator: that which ended the table, or else the engines' default."""
        is_limited = self.last.entry.event == TableEnded("entries")
        return len(self.transitions) - 1 if is_limited else MAX_ENTRIES

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, player in enumerate(self.config.seats) if not player.bot]

    @property
    def replay(self) -> str:
        return write_replay(self.config, [made.entry for made in self.transitions])

    def snapshot(self, viewer: int, sequence: int) -> engine_pb2.Snapshot:
        """Return the answer of GetView at a sequence."""
        state = self._state(sequence)
        return encode_snapshot(self.config, state, viewer, state.at)

    def event(self, viewer: int, sequence: int, *, is_missed: bool = False) -> engine_pb2.TableEvent:
        """Return the event of an entry on a viewer's stream, live or among others that a resumed stream has missed."""
        made, following = self.transitions[sequence - 1], self.transitions[sequence : sequence + 1]
        is_last = not is_missed and all(one.entry.at > made.entry.at for one in following)
        key = viewer, sequence, is_last
        if key not in self.encoded:
            self.encoded[key] = encode_transition(
                StreamEncoder(), self.config, made, viewer, made.entry.at, is_last=is_last
            )
        return engine_pb2.PlayTableResponse.FromString(self.encoded[key]).table_event

    def turn_state(self, viewer: int, sequence: int) -> engine_pb2.TableEvent:
        """Return the event of a stream that has missed nothing since a sequence."""
        state = self._state(sequence)
        encoded = StreamEncoder().turn_state(state, viewer, state.at)
        return engine_pb2.PlayTableResponse.FromString(encoded).table_event

    def _state(self, sequence: int) -> TableState:
        return self.transitions[sequence - 1].after if sequence else new_table(self.config)

    @property
    def sheet(self) -> scoring_pb2.GetScoreSheetResponse:
        """The score sheet after the engine's reports."""
        reports = [report for made in self.transitions for report in reports_of_transition(self.config, made)]
        rounds = [encode_round(one).score for one in reports if isinstance(one, RoundReport)]
        sheet, recorded, _ = codec.decode_result(self.result_request)
        is_ranked = sheet.access.is_public and len(self.people) > 1 and bool(recorded.outcomes)
        result = codec.encode_result(sheet, replace(recorded, is_ranked=is_ranked))
        return scoring_pb2.GetScoreSheetResponse(table_id=TABLE, seats=result.seats, rounds=rounds, result=result)

    @property
    def result_request(self) -> scoring_control_pb2.RecordResultRequest:
        """The engine's report of the result."""
        (reported,) = (
            encode_result(one)
            for made in self.transitions
            for one in reports_of_transition(self.config, made)
            if isinstance(one, ResultReport)
        )
        return reported

    @property
    def stored(self) -> StoredTable:
        """The table's rows in the engines' database, each committed at its own time."""
        entries = tuple(
            StoredEntry(one.sequence, one.at, one.deadline, encode_body(one), one.at + CLOCK_OFFSET)
            for one in (made.entry for made in self.transitions)
        )
        status, config = "finished" if self.last.after.is_over else "open", self.config
        return StoredTable(status, config.game, config.rules_version, encode_config(config), config.seed, entries)

    @property
    def ledger(self) -> Ledger:
        """The table's rows in scoring's database."""
        result, rounds, standing = self.sheet.result, self.sheet.rounds, self.result_request.standing
        ranking = [list(group.seats) for group in result.ranking]
        counts: Counter[tuple[int, str]] = Counter()
        for count in (count for one in rounds for count in one.counts):
            counts[count.seat, count.name] += count.amount
        last = len(result.seats)
        left = [last if seat.finished_by_engine else 0 for seat in result.conduct]
        worse = standing.outcomes[-1]
        outcomes = [worse if place else outcome for place, outcome in zip(left, result.outcomes, strict=False)]
        placed = zip(result.seats, map(max, places(ranking), left), outcomes or [""] * last, strict=True)
        return Ledger(
            tuple((one.round, list(one.points), list(one.totals)) for one in rounds),
            ((ranking, list(result.totals)),),
            tuple((player.player_id, place, outcome) for player, place, outcome in placed if not player.bot),
            tuple((*key, amount) for key, amount in counts.items()),
            result.end_time.ToMilliseconds(),
            tuple((seat.timeouts, seat.finished_by_engine, seat.left) for seat in result.conduct),
        )


@dataclass(frozen=True)
class EventRates:
    """The probabilities of events other than actions, before each action."""

    timeouts: float = 0.0
    outages: float = 0.0
    proposals: float = 0.0
    bots: tuple[int, ...] = ()
    max_entries: int = 100_000
    limit: int | None = None
    """The number of entries with which the table ends."""
    leavers: tuple[int, ...] = ()
    """The seats that leave for good after LEAVES_AFTER entries."""
    plays_on: bool = False
    """Whether the engine plays on when all people are away."""
    away: float = 0.0
    """The probability that a player leaves or returns."""


PLAIN = EventRates()
EVENTFUL = EventRates(timeouts=0.05, outages=0.02, proposals=0.05, bots=(1,))
LEAVING = replace(EVENTFUL, away=0.2)
EVERYBODY_LEAVES = replace(EVENTFUL, leavers=(0, 2, 3))


def _config(game: str, random: Random, rates: EventRates) -> TableConfig:
    rules = OWN_GAMES[game]
    options = resolve_options(rules, SEATS, rules.sampling.brief)
    people = tuple(SeatConfig(f"player-{seat}", f"Player {seat}") for seat in range(SEATS))
    people = tuple(BOT if seat in rates.bots else player for seat, player in enumerate(people))
    added = tuple(b"" if player.bot else random.randbytes(seat) for seat, player in enumerate(people))
    clock = ClockConfig(30_000, 20_000, 300, 0 if rates.plays_on else ABANDONED_MILLISECONDS)
    seed = random.randbytes(32)
    return TableConfig(TABLE, game, rules.rules_version, SEATS, options, clock, seed, people, added, OPEN)


@lru_cache(maxsize=32)
def played(game: str = "thulla", seed: int = 1, rates: EventRates = PLAIN) -> PlayedTable:
    """Return a table whose players act at random, to the end or up to the maximum of the rates."""
    random = Random(f"{game} {seed} {SEATS}")
    return played_with(_config(game, random, rates), random, rates)


def played_with(config: TableConfig, random: Random, rates: EventRates) -> PlayedTable:
    """Return a table of this configuration, played in the same way."""
    table = PlayedTable(config)
    table.transitions += advance(table.config, new_table(table.config), BEGAN, None)
    while not table.last.after.is_over and len(table.transitions) < rates.max_entries:
        if random.random() < rates.outages:
            _compensate(table, random.randint(1, 900))
        if random.random() < rates.proposals:
            _propose(table, random)
        if rates.away and random.random() < rates.away:
            _leave_or_return(table, random)
        if not table.last.after.is_over:
            _act(table, random, rates)
        if rates.limit and len(table.transitions) >= rates.limit and not table.last.after.is_over:
            append(table, table.last.after.at, TableEnded("entries"))
    return table


def append(table: PlayedTable, at: int, event: LoggedEvent, by: ActedBy = ActedBy.PLAYER, request_id: str = "") -> None:
    table.transitions += advance(table.config, table.last.after, at, event, by, request_id)


def _compensate(table: PlayedTable, milliseconds: int) -> None:
    """Add an outage of the engine, and its compensation."""
    began = table.last.after.at
    table.outages.append(Outage(began, began + milliseconds))
    append(table, began + milliseconds, ClockCompensated(milliseconds))


def _act(table: PlayedTable, random: Random, rates: EventRates) -> None:
    now = table.last.after
    assert now.due is not None
    gone = rates.leavers if now.sequence >= LEAVES_AFTER else ()
    people = [seat for seat in now.seats_to_act if seat in table.people and seat not in gone]
    seat = now.due.seat
    is_last_chance = now.due.at == abandoned_at(now.clock, table.config.clock, table.config.seats)
    if is_last_chance and not people:
        append(table, now.due.at + random.randint(0, 1_900), TableEnded(ABANDONED))
        return
    # Some players act though they have left, and the engine for the others.
    has_left = now.clock.absences[seat] >= Absence.LEFT and random.random() < PLAYED_FOR
    if not people or (not is_last_chance and (seat not in people or has_left or random.random() < rates.timeouts)):
        action = random_of(now.legal_actions(seat), random.randrange)
        by = ActedBy.BOT if table.config.seats[seat].bot else ActedBy.TIMEOUT
        append(table, max(now.at, now.due.at + random.randint(0, 1_900)), SeatActed(seat, action), by)
        return
    seat = random.choice(people)
    action = random_of(now.legal_actions(seat), random.randrange)
    longest = max(0, min(900, now.due.at - now.at))
    if random.random() < rates.timeouts:
        longest = max(longest, now.due.at - now.at)  # Slow enough to use the reserve.
    at, request_id = now.at + random.randint(min(10, longest), longest), f"request-{len(table.transitions)}"
    append(table, at, SeatActed(seat, action), request_id=request_id)
    sequence = next(made.entry.sequence for made in table.transitions if made.entry.request_id == request_id)
    expected = now.sequence if len(now.seats_to_act) == 1 else None
    table.accepted.append(AcceptedAction(at, seat, action, request_id, sequence, expected))


def _request(
    table: PlayedTable, request: Proposed | Voted | AwaySet, body: tuple[str | int, ...], milliseconds: int = 5
) -> None:
    """Add a request of a player, so long after the last entry; raises ServiceError."""
    state, request_id = table.last.after, f"request-{len(table.transitions)}-{len(table.requested)}"
    at = state.at + milliseconds
    match request:
        case Proposed():
            made = decide.proposal(table.config, state, at, request, request_id, [])
        case Voted():
            made = decide.vote(table.config, state, at, request, request_id)
        case AwaySet():
            made = decide.away(table.config, state, at, request, request_id, [])
    table.transitions += made
    sequence = made[0].entry.sequence if made else state.sequence
    table.requested.append(AcceptedRequest(at, request.seat, request_id, body, sequence))


def _propose(table: PlayedTable, random: Random) -> None:
    """Add a proposal, and the votes of the others, until one disagrees."""
    people = table.people
    rules, game = table.last.after.rules, table.last.after.game
    names = [name for name in rules.proposals if refusal_of(rules, game, name) is None]
    if not names:
        return
    random.shuffle(people)
    try:
        name = random.choice(names)
        _request(table, Proposed(people[0], name, 0), ("propose", name))
        proposed = table.last.entry.sequence
        for seat in people[1:]:
            agree = random.random() < 0.8
            _request(table, Voted(seat, proposed, agree), ("vote", proposed, agree))
    except ServiceError:
        return  # A proposal is open, or this one has ended.


def _leave_or_return(table: PlayedTable, random: Random) -> None:
    """Let a player leave their seat or return to it, also if it is so already."""
    seat, is_away = random.choice(table.people), random.random() < 0.6
    now, milliseconds = table.last.after, 5
    if is_away and now.due is not None and not now.clock.absences[seat] and random.random() < 0.5:
        # The engine would have acted for the seat before, if its player had left at once.
        milliseconds = max(5, min(5_000, now.due.at - now.at - 1))
    leave_or_return(table, seat, is_away=is_away, milliseconds=milliseconds)


def leave_or_return(table: PlayedTable, seat: int, *, is_away: bool, milliseconds: int = 5) -> None:
    """Add the request of a player to leave their seat or to return to it, so long after the last entry."""
    _request(table, AwaySet(seat, is_away), ("away", is_away), milliseconds)
