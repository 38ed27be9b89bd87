"""A table as a pure fold over its log: the state of the game, the clock and the open proposal."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from croupier.engine.core.clock import (
    ClockState,
    Due,
    clock_after,
    clock_after_away,
    clock_after_compensation,
    new_clock,
    next_due,
)
from croupier.engine.core.guarded_rules import GuardedRules, RulesWatch, guarded_rules
from croupier.engine.core.log import (
    ActedBy,
    AwaySet,
    ClockCompensated,
    Entry,
    LoggedEvent,
    NonGameEvent,
    Proposed,
    TableConfig,
    TableEnded,
    Voted,
)
from croupier.engine.core.shuffles import shuffle, stream_key
from croupier.games.facts import (
    EVERYONE,
    MAX_SEATS,
    SPECTATOR,
    Fact,
    GameEnded,
    RoundEnded,
    Seat,
    TurnChanged,
    View,
    Viewer,
)
from croupier.games.interface import (
    NOTHING_LEGAL,
    Awaiting,
    CardsShuffled,
    Event,
    Game,
    GameOver,
    IllegalAction,
    Legal,
    ProposalAgreed,
    SeatsToAct,
    ShuffleNeeded,
    State,
)

ABANDONED = "abandoned"
"""The limit of the time for which all people of a table are away, and the reason for an end at it."""
LIMITS = ("entries", "rounds", ABANDONED)
"""The limits that the operator sets to tables."""
LIMIT_REASON = "limit"
"""The reason for the end of a game at another limit, in every game."""


class OpenProposal(NamedTuple):
    """A proposal, its proposer, and the seats that have agreed so far; computer players always agree."""

    sequence: int
    name: str
    proposer: Seat
    agreed: frozenset[Seat]
    expires_at: int


class Turn(NamedTuple):
    """The seats that are to act, and those that are away: a bit of each, 1 for seat 0."""

    to_act: int = 0
    away: int = 0


_TURN_OF_ONE = tuple(Turn(1 << seat) for seat in range(MAX_SEATS))
"""By seat: this one alone is to act, and none is away."""


class TableState(NamedTuple):
    """A table after `sequence` entries, the last of them stored at `at` (milliseconds since 1970 UTC).

    `ended` is the end at a limit of the operator; `game` then stays as it was.
    """

    rules: GuardedRules
    sequence: int
    at: int
    game: State
    clock: ClockState
    due: Due | None
    seats_to_act: tuple[Seat, ...]
    is_over: bool
    proposal: OpenProposal | None = None
    ended: GameOver | None = None

    @property
    def awaiting(self) -> Awaiting:
        """The next event that the game awaits."""
        return self.ended or self.rules.awaiting(self.game)

    @property
    def scores(self) -> tuple[int, ...]:
        """The running totals by seat."""
        return self.rules.scores(self.game)

    def legal_actions(self, seat: Seat) -> Legal:
        """Return the legal actions of a seat."""
        return NOTHING_LEGAL if self.ended else self.rules.legal_actions(self.game, seat)

    def view(self, viewer: Viewer) -> View:
        """Return everything that a viewer may know of the game; at a limit nothing else of it becomes known."""
        view = self.rules.view(self.game, viewer)
        if self.ended is None:
            return view
        return view._replace(seats_to_act=(), ranking=self.ended.ranking, is_void=self.ended.is_void)

    @property
    def deadline(self) -> int:
        """The time at which the engine acts for a seat, in milliseconds since 1970 UTC; 0 if no seat is to act."""
        return self.due.at if self.due else 0

    @property
    def turn(self) -> Turn:
        """The seats that are to act, and those that are away."""
        to_act, absences = self.seats_to_act, self.clock.absences
        if len(to_act) == 1 and not any(absences):
            return _TURN_OF_ONE[to_act[0]]
        away = (1 << seat for seat, absence in enumerate(absences) if absence)
        return Turn(sum(1 << seat for seat in to_act), sum(away))


class Transition(NamedTuple):
    """An entry, its facts, and the table after it.

    `public`: all facts are for everybody. `reports`: the number of its reports to scoring.
    """

    entry: Entry
    facts: tuple[Fact, ...]
    after: TableState
    public: bool
    reports: int


Effect: TypeAlias = tuple[tuple[Fact, ...], TableState, bool, int]
"""The fields of a transition but its entry, which has the deadline of the table after it."""


def new_table(config: TableConfig, watch: RulesWatch | None = None) -> TableState:
    """Return the table before its first entry, whose rules are watched; raises UnknownRules for an unknown version."""
    rules = guarded_rules(config, watch)
    game = rules.new(config.seat_count, config.options)
    return TableState(rules, 0, 0, game, new_clock(config.seat_count, config.clock), None, (), is_over=False)


def transition_of(config: TableConfig, table: TableState, entry: Entry) -> Transition:
    """Return the transition of the next entry of the log.

    Raises RulesUnusable if the rules, which accepted it, refuse it now, ValueError for an entry after the table's end.
    """
    sequence, at, _, event, acted_by, _ = entry
    try:
        return Transition(entry, *_effect(config, table, sequence, at, event, acted_by))
    except IllegalAction as refusal:
        raise table.rules.failed(refusal) from None


def _effect(
    config: TableConfig, table: TableState, sequence: int, at: int, event: LoggedEvent, acted_by: ActedBy
) -> Effect:
    if table.ended is not None:
        raise ValueError(f"entry {sequence} follows the end of the table")
    if not isinstance(event, Event):
        return _non_game_effect(config, table, sequence, at, event)
    rules = table.rules
    game, facts, awaiting = rules.step(table.game, event)
    to_act = awaiting.seats if isinstance(awaiting, SeatsToAct) else ()
    is_over = isinstance(awaiting, GameOver)
    clock = clock_after(table.clock, config.clock, at, event, acted_by, to_act)
    due = next_due(clock, config.clock, config.seats) if to_act else None
    proposal = table.proposal and _proposal_after_event(table.proposal, at, event, rules, game, facts)
    after = TableState(rules, sequence, at, game, clock, due, to_act, is_over, proposal)
    public, reports = True, int(is_over)
    for fact in facts:
        public = public and fact.audience == EVERYONE
        reports += type(fact) is RoundEnded
    return facts, after, public, reports


def _non_game_effect(config: TableConfig, table: TableState, sequence: int, at: int, event: NonGameEvent) -> Effect:
    after = table._replace(sequence=sequence, at=at)
    match event:
        case TableEnded(limit):
            return _ending_effect(config, table, sequence, at, limit)
        case ClockCompensated(milliseconds):
            after = _with_clock(config, after, clock_after_compensation(table.clock, milliseconds))
        case AwaySet(seat, is_away):
            after = _with_clock(config, after, clock_after_away(table.clock, seat, at, is_away=is_away))
        case Proposed(seat, name, expires_at):
            agreed = {other for other, who in enumerate(config.seats) if who.bot or other == seat}
            after = after._replace(proposal=OpenProposal(sequence, name, seat, frozenset(agreed), expires_at))
        case Voted(seat, _, agree=True) if table.proposal is not None:
            after = after._replace(proposal=table.proposal._replace(agreed=table.proposal.agreed | {seat}))
        case Voted():
            # One refusal ends a proposal.
            after = after._replace(proposal=None)
    return (), after, True, 0


def _with_clock(config: TableConfig, table: TableState, clock: ClockState) -> TableState:
    due = next_due(clock, config.clock, config.seats) if table.seats_to_act else None
    return table._replace(clock=clock, due=due)


def _proposal_after_event(
    before: OpenProposal, at: int, event: Event, rules: Game, game: State, facts: Iterable[Fact]
) -> OpenProposal | None:
    """A proposal ends when it expires, with the round, when it is executed, and when the game cannot execute it."""
    proposal = open_at(before, at)
    if proposal is None or isinstance(event, ProposalAgreed):
        return None
    if any(isinstance(fact, RoundEnded) for fact in facts):
        return None
    return proposal if refusal_of(rules, game, proposal.name) is None else None


def open_at(proposal: OpenProposal | None, at: int) -> OpenProposal | None:
    """Return the proposal unless it has expired at `at`, in milliseconds since 1970 UTC."""
    return proposal if proposal is not None and at < proposal.expires_at else None


def refusal_of(rules: Game, game: State, name: str) -> IllegalAction | None:
    """Return the refusal of a proposal that the game cannot execute now, None if it can."""
    try:
        rules.apply(game, ProposalAgreed(name))
    except IllegalAction as refusal:
        return refusal
    return None


def over_at_limit(rules: Game, game: State, seats: int, limit: str) -> GameOver:
    """Return the end of an unfinished game at a limit: by its completed rounds, or void, as an abandoned one is."""
    ranking = None if limit == ABANDONED else rules.ranking_at_limit(game)
    reason = ABANDONED if limit == ABANDONED else LIMIT_REASON
    return GameOver((tuple(range(seats)),), reason, is_void=True) if ranking is None else GameOver(ranking, reason)


def _ending_effect(config: TableConfig, table: TableState, sequence: int, at: int, limit: str) -> Effect:
    if not table.seats_to_act:
        raise ValueError(f"entry {sequence} cannot end the table: no seat is to act")
    ended = over_at_limit(table.rules, table.game, config.seat_count, limit)
    facts = (
        TurnChanged(table.view(SPECTATOR).phase, ()),
        GameEnded(ended.ranking, ended.reason, is_void=ended.is_void),
    )
    clock = clock_after(table.clock, config.clock, at, TableEnded(limit), ActedBy.PLAYER, ())
    after = TableState(table.rules, sequence, at, table.game, clock, None, (), is_over=True, ended=ended)
    return facts, after, True, 1


def transitions_from(config: TableConfig, table: TableState, entries: Iterable[Entry]) -> Iterator[Transition]:
    """Fold the entries after a state of a table, and yield the transition of each."""
    for entry in entries:
        transition = transition_of(config, table, entry)
        table = transition.after
        yield transition


def advance(
    config: TableConfig,
    table: TableState,
    at: int,
    event: LoggedEvent | None,
    acted_by: ActedBy = ActedBy.PLAYER,
    request_id: str = "",
) -> list[Transition]:
    """Return the transitions of an event and of every shuffle that follows it; without an event, of the shuffles only.

    Entries carry their deadlines. Raises IllegalAction if the rules refuse the event.
    """
    transitions: list[Transition] = []
    # Time in a log never runs backwards, even if the machine's clock does.
    at = max(at, table.at)
    if event is None:
        event = _shuffle_due(config, table)
    while event is not None:
        sequence = table.sequence + 1
        facts, table, public, reports = _effect(config, table, sequence, at, event, acted_by)
        due = table.due
        entry = Entry(sequence, at, due.at if due else 0, event, acted_by, request_id)
        transitions.append(Transition(entry, facts, table, public, reports))
        if table.seats_to_act:
            break
        event, acted_by, request_id = _shuffle_due(config, table), ActedBy.PLAYER, ""
    return transitions


def _shuffle_due(config: TableConfig, table: TableState) -> CardsShuffled | None:
    if table.seats_to_act:
        return None
    needed = table.awaiting
    return shuffle(stream_key(config.seed, config.client_seeds), needed) if isinstance(needed, ShuffleNeeded) else None
