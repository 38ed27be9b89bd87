"""Services with a defect built in, each of which the simulation has to find under the right name."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, NamedTuple
from unittest.mock import patch

from croupier.engine import clock, sqlite_writer, streams, table
from croupier.engine.audience import Audience
from croupier.engine.cached import CachedTable
from croupier.engine.clock import NOBODY_WAITS, ClockState
from croupier.engine.follower import Follower
from croupier.engine.log import Entry
from croupier.engine.reports import Report, Reporter
from croupier.engine.sql_store import SqlTableStore
from croupier.engine.table import Step
from croupier.games.facts import EVERYONE, SPECTATOR, Fact, Viewer
from croupier.games.one_ten import deal as one_ten_deal
from croupier.games.thulla import deal as thulla_deal
from loadtest.judge.violations import Invariant


class Defect(NamedTuple):
    """A change of production code for as long as a block lasts, the scenario that shows it soon, and what is found."""

    change: Callable[[], AbstractContextManager[Any]]
    scenario: str
    found: tuple[Invariant, ...]
    """Any of these, depending on the seed."""


def acknowledge_before_commit() -> AbstractContextManager[Any]:
    """An append is taken for stored once it waits to be."""
    honest = SqlTableStore.append

    async def append(store: SqlTableStore, table_id: str, entries: Sequence[Entry], mark: Any) -> None:
        asyncio.ensure_future(honest(store, table_id, entries, mark)).add_done_callback(
            lambda done: done.cancelled() or done.exception()
        )

    return patch.object(SqlTableStore, "append", append)


def append_without_condition() -> AbstractContextManager[Any]:
    """An append replaces what another engine stored under the same sequence."""
    text = sqlite_writer._INSERT_TEXT.replace("INSERT INTO", "INSERT OR REPLACE INTO")
    return patch.object(sqlite_writer, "_INSERT_TEXT", text)


def forget_request_id() -> AbstractContextManager[Any]:
    """A request that comes again is a new one."""
    return patch.object(CachedTable, "_answered", lambda *_: None)


def show_spectators_everything() -> AbstractContextManager[Any]:
    """Facts for one seat go to spectators too."""

    def may_know(fact: Fact, viewer: Viewer) -> bool:
        return bool(fact.audience >> viewer & 1) or viewer == SPECTATOR

    return patch.object(streams, "may_know", may_know)


def credit_twice() -> AbstractContextManager[Any]:
    """It is not counted what was given back."""

    def clock_after_credit(before: ClockState, milliseconds: int) -> ClockState:
        since = (NOBODY_WAITS if started == NOBODY_WAITS else started + milliseconds for started in before.since)
        return before._replace(since=tuple(since))

    return patch.object(table, "clock_after_credit", clock_after_credit)


def play_too_early() -> AbstractContextManager[Any]:
    """Seats get a second less than they have."""
    honest = clock._allowed
    return patch.object(clock, "_allowed", lambda *about: max(0, honest(*about) - 1_000))


def deal_with_open_cards() -> AbstractContextManager[Any]:
    """The rules show every hand that is dealt to all."""

    changed = ExitStack()
    for deal in (thulla_deal, one_ten_deal):
        changed.enter_context(patch.object(deal, "only", lambda _: EVERYONE))
    return changed


def resume_one_too_far() -> AbstractContextManager[Any]:
    """A resumed stream leaves out the first entry that was missed."""
    honest = Audience.resume

    def resume(audience: Audience, viewer: Viewer, state: Any, missed: Iterable[Step]) -> Any:
        return honest(audience, viewer, state, list(missed)[1:])

    return patch.object(Audience, "resume", resume)


def never_catch_up_on_lost_news() -> AbstractContextManager[Any]:
    """After a lost connection no engine looks for what it missed."""
    return patch.object(Follower, "news_were_missed", lambda _: None)


def forget_reports_before_they_arrive() -> AbstractContextManager[Any]:
    """Reports are noted as handed over before they are."""

    async def hand_over(reporter: Reporter, table_id: str, reports: Sequence[Report]) -> None:
        done = await reporter._store.reports_done(table_id)
        await reporter._store.set_reports_done(table_id, len(reports))
        reporter._due.pop(table_id, None)
        for report in reports[done:]:
            await reporter._send(table_id, report)

    return patch.object(Reporter, "_hand_over_table", hand_over)


DEFECTS: Mapping[str, Defect] = {
    defect.change.__name__: defect
    for defect in (
        Defect(acknowledge_before_commit, "", (Invariant.SHOWN_BEFORE_STORED,)),
        Defect(append_without_condition, "contended", (Invariant.LOG_BROKEN,)),
        Defect(forget_request_id, "contended", (Invariant.ACTION_DOUBLED, Invariant.WRONG_REFUSAL)),
        Defect(show_spectators_everything, "contended", (Invariant.HIDDEN_CARD_SEEN,)),
        Defect(credit_twice, "absent", (Invariant.CREDIT_WRONG,)),
        Defect(play_too_early, "absent", (Invariant.PLAYED_FOR_TOO_EARLY,)),
        Defect(deal_with_open_cards, "", (Invariant.HIDDEN_CARD_SEEN,)),
        Defect(resume_one_too_far, "contended", (Invariant.SEQUENCE_GAP,)),
        Defect(never_catch_up_on_lost_news, "contended", (Invariant.STREAM_SILENT,)),
        Defect(forget_reports_before_they_arrive, "deployed", (Invariant.RESULT_MISSING, Invariant.LEDGER_DIFFERS)),
    )
}
