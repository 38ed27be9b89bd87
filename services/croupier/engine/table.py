"""A table as a pure fold over its log: the game's state, the clock and what is proposed."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from croupier.engine.clock import ClockState, Due, clock_after, clock_after_credit, new_clock, next_due
from croupier.engine.log import ActedBy, Aside, Entry, LoggedEvent, TableConfig, TimeCredited
from croupier.engine.proposals import OpenProposal, proposal_after_event, proposal_after_said
from croupier.engine.shuffles import shuffle, stream_key
from croupier.games.catalogue import rules_of
from croupier.games.facts import EVERYONE, Fact, RoundEnded, Seat
from croupier.games.interface import GameOver, SeatsToAct, ShuffleNeeded, State


class TableState(NamedTuple):
    """A table after `sequence` entries, the last of them stored at `at` (milliseconds since 1970 UTC)."""

    sequence: int
    at: int
    game: State
    clock: ClockState
    due: Due | None
    seats_to_act: tuple[Seat, ...]
    is_over: bool
    proposal: OpenProposal | None = None

    @property
    def deadline(self) -> int:
        """When the engine acts for a seat, in milliseconds since 1970 UTC; 0 when nobody is to act."""
        return self.due.at if self.due else 0


class Step(NamedTuple):
    """An entry, what it made known, and the table after it.

    `public` says that all facts are for everybody, `reports` how many reports scoring gets of it.
    """

    entry: Entry
    facts: tuple[Fact, ...]
    after: TableState
    public: bool
    reports: int


def new_table(config: TableConfig) -> TableState:
    """The table before its first entry; raises UnknownRules if those it begins with are not known here."""
    game = rules_of(config.game, config.rules_version).new(config.seat_count, config.options)
    return TableState(0, 0, game, new_clock(config.seat_count, config.clock), None, (), is_over=False)


def step(config: TableConfig, table: TableState, entry: Entry) -> Step:
    """Apply the next entry; raises IllegalAction if the rules refuse it."""
    if isinstance(entry.event, Aside):
        return _aside(config, table, entry)
    game, facts = table.game.apply(entry.event)
    awaiting = game.awaiting
    to_act = awaiting.seats if isinstance(awaiting, SeatsToAct) else ()
    is_over = isinstance(awaiting, GameOver)
    clock = clock_after(table.clock, config.clock, entry, to_act)
    due = next_due(clock, config.clock, config.seats) if to_act else None
    proposal = proposal_after_event(table.proposal, entry, game, facts)
    after = TableState(entry.sequence, entry.at, game, clock, due, to_act, is_over, proposal)
    public, reports = True, int(is_over)
    for fact in facts:
        public = public and fact.audience == EVERYONE
        reports += type(fact) is RoundEnded
    return Step(entry, facts, after, public, reports)


def _aside(config: TableConfig, table: TableState, entry: Entry) -> Step:
    after = table._replace(sequence=entry.sequence, at=entry.at)
    if isinstance(entry.event, TimeCredited):
        clock = clock_after_credit(table.clock, entry.event.milliseconds)
        due = next_due(clock, config.clock, config.seats) if table.seats_to_act else None
        after = after._replace(clock=clock, due=due)
    else:
        after = after._replace(proposal=proposal_after_said(config, table.proposal, entry))
    return Step(entry, (), after, public=True, reports=0)


def steps_of(config: TableConfig, entries: Iterable[Entry]) -> Iterator[Step]:
    """Fold a whole log, step by step."""
    table = new_table(config)
    for entry in entries:
        made = step(config, table, entry)
        table = made.after
        yield made


def advance(
    config: TableConfig,
    table: TableState,
    at: int,
    event: LoggedEvent | None,
    acted_by: ActedBy = ActedBy.PLAYER,
    request_id: str = "",
) -> list[Step]:
    """The steps that an event makes, with every shuffle that follows from it; without an event only the shuffles.

    Raises IllegalAction if the rules refuse the event. Entries carry their deadlines.
    """
    steps: list[Step] = []
    # Time in a log never runs backwards, also when the machine's clock does.
    at = max(at, table.at)
    if event is not None:
        steps.append(_next_step(config, table, at, event, acted_by, request_id))
        table = steps[-1].after
    while isinstance(table.game.awaiting, ShuffleNeeded):
        shuffled = shuffle(stream_key(config.seed, config.client_seeds), table.game.awaiting)
        steps.append(_next_step(config, table, at, shuffled))
        table = steps[-1].after
    return steps


def _next_step(
    config: TableConfig,
    table: TableState,
    at: int,
    event: LoggedEvent,
    acted_by: ActedBy = ActedBy.PLAYER,
    request_id: str = "",
) -> Step:
    sequence = table.sequence + 1
    made = step(config, table, Entry(sequence, at, 0, event, acted_by, request_id))
    entry = Entry(sequence, at, made.after.deadline, event, acted_by, request_id)
    return Step(entry, made.facts, made.after, made.public, made.reports)
