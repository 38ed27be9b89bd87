"""Engines, lobbies and ledgers with a fault built in, each of which the simulation has to find."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType
from typing import Any, NamedTuple

from croupier.engine import archive, clock, packing, sqlite_writer, steward, streams, table
from croupier.engine.assembly import Engine
from croupier.engine.audience import Audience
from croupier.engine.cached import CachedTable
from croupier.engine.caretaker import Caretaker
from croupier.engine.clock import NOBODY_WAITS, ClockState
from croupier.engine.follower import Follower
from croupier.engine.log import Entry
from croupier.engine.reports import Report, Reporter
from croupier.engine.shared_clock import SharedClock
from croupier.engine.sql_store import SqlTableStore
from croupier.engine.steward import Steward
from croupier.engine.table import Step
from croupier.engine.thinking import Thought
from croupier.games.facts import EVERYONE, SPECTATOR, Fact, Viewer
from croupier.games.one_ten import deal as one_ten_deal
from croupier.games.thulla import deal as thulla_deal
from croupier.lobby.reconciling import Reconciler
from croupier.lobby.ticket_store import TicketStore
from croupier.scoring import ledger
from croupier.scoring.schema import ROUNDS


class Variant(NamedTuple):
    """A change of production code for as long as a block lasts, and the scenario in which it shows soon."""

    change: Callable[[], AbstractContextManager[None]]
    scenario: str


@contextmanager
def _replaced(owner: object, name: str, value: object) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def acknowledge_before_commit() -> AbstractContextManager[None]:
    """An append is taken for stored once it waits to be."""
    honest = SqlTableStore.append

    async def append(store: SqlTableStore, table_id: str, entries: Sequence[Entry], mark: Any) -> None:
        asyncio.ensure_future(honest(store, table_id, entries, mark)).add_done_callback(
            lambda done: done.cancelled() or done.exception()
        )

    return _replaced(SqlTableStore, "append", append)


def append_without_condition() -> AbstractContextManager[None]:
    """An append replaces what somebody else stored under the same sequence."""
    text = sqlite_writer._INSERT_TEXT.replace("INSERT INTO", "INSERT OR REPLACE INTO")
    return _replaced(sqlite_writer, "_INSERT_TEXT", text)


def forget_request_id() -> AbstractContextManager[None]:
    """A request that comes again is a new one."""
    return _replaced(CachedTable, "_answered", lambda *_: None)


def show_spectators_everything() -> AbstractContextManager[None]:
    """Facts for one seat go to spectators too."""

    def may_know(fact: Fact, viewer: Viewer) -> bool:
        return bool(fact.audience >> viewer & 1) or viewer == SPECTATOR

    return _replaced(streams, "may_know", may_know)


def show_neighbours_alike() -> AbstractContextManager[None]:
    """What two seats get alike is told apart by too little."""
    honest = streams.may_know
    return _replaced(streams, "may_know", lambda fact, viewer: honest(fact, viewer & ~1 if viewer < 4 else viewer))


def credit_twice() -> AbstractContextManager[None]:
    """It is not noted for which time something was given back."""

    def clock_after_credit(before: ClockState, milliseconds: int) -> ClockState:
        since = (NOBODY_WAITS if started == NOBODY_WAITS else started + milliseconds for started in before.since)
        return before._replace(since=tuple(since))

    return _replaced(table, "clock_after_credit", clock_after_credit)


def give_nothing_back() -> AbstractContextManager[None]:
    """Time that nobody served counts like any other."""
    return _replaced(steward, "credit_due", lambda *_: None)


def play_too_early() -> AbstractContextManager[None]:
    """Seats get a second less than they have."""
    honest = clock._allowed
    return _replaced(clock, "_allowed", lambda *about: max(0, honest(*about) - 1_000))


def deal_with_open_cards() -> AbstractContextManager[None]:
    """The rules show every hand that is dealt to all."""

    @contextmanager
    def both() -> Iterator[None]:
        with (
            _replaced(thulla_deal, "only", lambda _: EVERYONE),
            _replaced(one_ten_deal, "only", lambda _: EVERYONE),
        ):
            yield

    return both()


def resume_one_too_far() -> AbstractContextManager[None]:
    """A resumed stream leaves out the first entry that was missed."""
    honest = Audience.resume

    def resume(audience: Audience, viewer: Viewer, state: Any, missed: Iterable[Step]) -> Any:
        return honest(audience, viewer, state, list(missed)[1:])

    return _replaced(Audience, "resume", resume)


def never_catch_up_on_lost_news() -> AbstractContextManager[None]:
    """After a lost connection nobody looks for what was missed."""
    return _replaced(Follower, "news_were_missed", lambda _: None)


def take_over_in_silence() -> AbstractContextManager[None]:
    """What another engine appended is taken over and shown to nobody."""

    def take_over(cached: CachedTable, missed: Sequence[Entry]) -> bool:
        for made in _steps(cached, missed):
            cached._take(made)
        return bool(missed)

    return _replaced(CachedTable, "_take_over", take_over)


def _steps(cached: CachedTable, missed: Sequence[Entry]) -> Iterator[Step]:
    state = cached.state
    for entry in missed:
        made = table.step(cached.config, state, entry)
        state = made.after
        yield made


def never_sweep() -> AbstractContextManager[None]:
    """Nobody looks for deadlines that no engine holds."""

    async def sweep(_: Caretaker) -> None:
        return

    return _replaced(Caretaker, "sweep", sweep)


def forget_reports_before_they_arrive() -> AbstractContextManager[None]:
    """Reports are noted as handed over before they are."""

    async def hand_over(reporter: Reporter, table_id: str, reports: Sequence[Report]) -> None:
        done = await reporter._store.reports_done(table_id)
        await reporter._store.set_reports_done(table_id, len(reports))
        reporter._due.pop(table_id, None)
        for report in reports[done:]:
            await reporter._send(table_id, report)

    return _replaced(Reporter, "_hand_over_table", hand_over)


def drop_what_waits_when_draining() -> AbstractContextManager[None]:
    """An engine that stops takes actions on, and does not store them."""
    honest = SqlTableStore.append

    async def append(store: SqlTableStore, table_id: str, entries: Sequence[Entry], mark: Any) -> None:
        if not store._closing:
            await honest(store, table_id, entries, mark)

    elsewhere = Engine.send_streams_elsewhere

    async def send_streams_elsewhere(engine: Engine, grace_seconds: float) -> None:
        engine.store.close()
        await asyncio.sleep(0.3)
        await elsewhere(engine, grace_seconds)

    @contextmanager
    def both() -> Iterator[None]:
        with (
            _replaced(SqlTableStore, "append", append),
            _replaced(Engine, "send_streams_elsewhere", send_streams_elsewhere),
        ):
            yield

    return both()


def play_a_stale_thought() -> AbstractContextManager[None]:
    """A computer player does what it thought of, whatever has happened meanwhile."""

    async def ponder(self: Steward, thought: Thought) -> None:
        seat = thought.seen.seat
        self._pondering.add(seat)
        try:
            action = await self._services.thinkers.decide(thought)
            async with self._table.lock:
                await self._store(seat, action or self._quick_decision(seat))
        finally:
            self._pondering.discard(seat)

    return _replaced(Steward, "_ponder", ponder)


def trust_the_own_clock() -> AbstractContextManager[None]:
    """An engine takes its own time for that of all."""
    return _replaced(SharedClock, "__call__", lambda self: self._local())


def leave_out_of_the_archive() -> AbstractContextManager[None]:
    """The archive misses the last entry of each log."""
    honest = packing.packed
    return _replaced(archive, "packed", lambda rows: honest(list(rows)[:-1]))


def never_finish_in_the_lobby() -> AbstractContextManager[None]:
    """The lobby does not ask which games are over."""

    async def finish_tables(_: Reconciler) -> None:
        return

    return _replaced(Reconciler, "finish_tables", finish_tables)


def forget_who_was_told() -> AbstractContextManager[None]:
    """A ticket goes as soon as its table is told."""

    async def deliver(tickets: TicketStore, stream_id: str, _now: int) -> None:
        await tickets.discard(stream_id)

    return _replaced(TicketStore, "deliver", deliver)


def count_repeated_rounds() -> AbstractContextManager[None]:
    """Scoring takes a repeated round for a new one."""
    honest = ledger._insert

    async def insert(*arguments: Any) -> bool:
        await honest(*arguments)
        return arguments[1] is ROUNDS

    return _replaced(ledger, "_insert", insert)


VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        change.__name__: Variant(change, scenario)
        for change, scenario in (
            (acknowledge_before_commit, ""),
            (append_without_condition, "contended"),
            (forget_request_id, "contended"),
            (show_spectators_everything, "contended"),
            (show_neighbours_alike, ""),
            (credit_twice, "absent"),
            (give_nothing_back, "absent"),
            (play_too_early, "absent"),
            (deal_with_open_cards, ""),
            (resume_one_too_far, "contended"),
            (never_catch_up_on_lost_news, "contended"),
            (take_over_in_silence, "contended"),
            (never_sweep, "absent"),
            (forget_reports_before_they_arrive, "deployed"),
            (drop_what_waits_when_draining, "deployed"),
            (play_a_stale_thought, "pondered"),
            (trust_the_own_clock, "contended"),
            (leave_out_of_the_archive, ""),
            (never_finish_in_the_lobby, ""),
            (forget_who_was_told, "matched"),
            (count_repeated_rounds, "deployed"),
        )
    }
)


def variant_named(name: str) -> AbstractContextManager[None]:
    """The change that a variant makes; none for an empty name."""
    return VARIANTS[name].change() if name else nullcontext()
