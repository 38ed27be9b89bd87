"""Defects of the services, each of which the simulation must find by its invariant."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any, NamedTuple
from unittest.mock import patch
from zlib import crc32

from croupier.engine.api.outbox import Outbox
from croupier.engine.cluster.catch_up import CatchUp
from croupier.engine.cluster.liveness import EngineLiveness
from croupier.engine.core import clock, decide, fold
from croupier.engine.core.clock import NOT_WAITING, Absence, ClockState
from croupier.engine.core.fold import Transition
from croupier.engine.core.folded_table import FoldedTable, Request
from croupier.engine.core.log import Entry
from croupier.engine.core.reports import Report
from croupier.engine.storage import sqlite_writer
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.tables import subscription
from croupier.engine.tables.subscribers import Subscribers
from croupier.engine.tables.table import Table
from croupier.games import facts
from croupier.games.facts import EVERYONE, SPECTATOR, Fact, Viewer
from croupier.games.interface import SeatActed
from croupier.lobby.accounts.players import Player
from croupier.lobby.feed.subscriptions import TableFeed
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.tables import forming_table, revision, table_service
from croupier.lobby.tables.my_seat import my_seat
from croupier.lobby.tables.table_service import TableService
from croupier.runtime.outcomes import Callback
from croupier_loadtest.judge.violations import Invariant

UNANSWERED_STEP = 50
"""One of so many actions gets no answer."""


class Defect(NamedTuple):
    """A change of production code within a block, the scenario that exposes it, and its invariants."""

    change: Callable[[], AbstractContextManager[Any]]
    scenario: str
    found: tuple[Invariant, ...]
    """Any of these, depending on the seed."""


def acknowledge_before_commit() -> AbstractContextManager[Any]:
    """An append counts as durable before it is stored."""
    original = SqlTableStore.append

    def append(
        store: SqlTableStore, table_id: str, entries: Sequence[Entry], change: Any, turn: Any, done: Callback[None]
    ) -> None:
        original(store, table_id, entries, change, turn, lambda _: None)
        asyncio.get_running_loop().call_soon(done, None)

    return patch.object(SqlTableStore, "append", append)


def append_without_condition() -> AbstractContextManager[Any]:
    """An append replaces the entry of another engine with the same sequence."""
    text = sqlite_writer._INSERT.replace("INSERT INTO", "INSERT OR REPLACE INTO")
    return patch.object(sqlite_writer, "_INSERT", text)


def forget_request_id() -> AbstractContextManager[Any]:
    """A repeated request is a new one."""
    return patch.object(FoldedTable, "answer_to", lambda *_: None)


def show_spectators_everything() -> AbstractContextManager[Any]:
    """Private facts are sent to spectators too."""

    def may_know(fact: Fact, viewer: Viewer) -> bool:
        return bool(fact.audience >> viewer & 1) or viewer == SPECTATOR

    return patch.object(subscription, "may_know", may_know)


def compensate_twice() -> AbstractContextManager[Any]:
    """A compensation is not counted as such."""

    def clock_after_compensation(before: ClockState, milliseconds: int) -> ClockState:
        since = (NOT_WAITING if started == NOT_WAITING else started + milliseconds for started in before.since)
        return before._replace(since=tuple(since))

    return patch.object(fold, "clock_after_compensation", clock_after_compensation)


def act_too_early() -> AbstractContextManager[Any]:
    """Seats get a second less than their time."""
    original = clock._allowed
    return patch.object(clock, "_allowed", lambda *about: max(0, original(*about) - 1_000))


def deal_with_open_cards() -> AbstractContextManager[Any]:
    """The rules show every dealt hand to all."""
    return patch.object(facts, "only", lambda _: EVERYONE)


def resume_one_too_far() -> AbstractContextManager[Any]:
    """A resumed stream leaves out the first missed entry."""
    original = Subscribers._messages_of_missed

    def late(one: Subscribers, viewer: Viewer, state: Any, missed: Iterator[Transition]) -> Iterator[bytes]:
        return original(one, viewer, state, islice(missed, 1, None))

    return patch.object(Subscribers, "_messages_of_missed", late)


def never_catch_up_on_lost_notifications() -> AbstractContextManager[Any]:
    """After a lost connection an engine does not look for missed entries."""
    return patch.object(CatchUp, "notifications_missed", lambda _: None)


def forget_reports_before_they_arrive() -> AbstractContextManager[Any]:
    """Reports are marked as delivered before they are."""

    async def deliver_table(outbox: Outbox, table_id: str, reports: Sequence[Report]) -> None:
        done = await outbox._store.reports_done(table_id)
        await outbox._store.set_reports_done(table_id, len(reports))
        outbox._due.pop(table_id, None)
        for report in reports[done:]:
            await outbox._send(table_id, report)

    return patch.object(Outbox, "_deliver_table", deliver_table)


def ignore_returns() -> AbstractContextManager[Any]:
    """The engine plays on for players who have returned."""
    original = clock.clock_after_away

    def clock_after_away(before: ClockState, seat: int, at: int, *, is_away: bool) -> ClockState:
        return original(before, seat, at, is_away=is_away) if is_away else before

    return patch.object(fold, "clock_after_away", clock_after_away)


def wait_for_those_who_left() -> AbstractContextManager[Any]:
    """A seat that its player left has the time of one whose time ran out, for which the others wait."""
    original = clock._allowed

    def allowed(before: ClockState, config: Any, who: Any, seat: int) -> int:
        absences = tuple(min(one, Absence.TIMED_OUT) for one in before.absences)
        return original(before._replace(absences=absences), config, who, seat)

    return patch.object(clock, "_allowed", allowed)


def ignore_the_limit() -> AbstractContextManager[Any]:
    """A table plays on beyond the operator's limit of entries."""
    return patch.object(decide, "end", lambda *_: [])


def play_on_without_people() -> AbstractContextManager[Any]:
    """The engine plays for the last person of a deserted table too."""
    return patch.object(clock, "abandoned_at", lambda *_: None)


def never_answer_some_actions() -> AbstractContextManager[Any]:
    """Of some actions the engine neither stores nor refuses any copy, while the stream brings everything else."""
    original = Table.append_once

    async def append_once(table: Table, request: Request, request_id: str, expected: int | None = None) -> int:
        if isinstance(request, SeatActed) and not crc32(request_id.encode()) % UNANSWERED_STEP:
            await asyncio.Event().wait()
        return await original(table, request, request_id, expected)

    return patch.multiple(Table, append_once=append_once, act_at_once=lambda *_: False)


def keep_streams_while_cut_off() -> AbstractContextManager[Any]:
    """An engine that cannot reach the database keeps the streams of tables where nothing is due."""
    return patch.object(EngineLiveness, "is_cut_off", False)


def follow_a_table_twice() -> AbstractContextManager[Any]:
    """Two players who play again at once create a table each."""
    original = TableStore.add

    async def add(store: TableStore, table: forming_table.Table, previous: Any = None, request: Any = None) -> None:
        await original(store, table, None, request)
        if previous is not None:
            await store.update(*previous)

    return patch.object(TableStore, "add", add)


def give_reserved_seats_away() -> AbstractContextManager[Any]:
    """The first free seat may be one that is reserved for another player."""
    original = forming_table._first_free

    def first_free(table: forming_table.Table) -> int:
        reserved = [number for number, seat in enumerate(table.seats) if seat.reserved_player_id]
        return reserved[0] if reserved else original(table)

    return patch.multiple(forming_table, _first_free=first_free, _check_free=lambda *_: None)


def create_again_by_the_same_request() -> AbstractContextManager[Any]:
    """A repeated request for a table creates another one."""
    original = TableStore.add

    async def add(store: TableStore, table: forming_table.Table, previous: Any = None, request: Any = None) -> None:
        await original(store, table, previous)

    return patch.object(TableStore, "add", add)


def stay_ready_across_changes() -> AbstractContextManager[Any]:
    """Players stay ready when the host changes the table's settings."""
    return patch.object(revision, "_kept", lambda seat, **_: seat)


def seat_those_who_look() -> AbstractContextManager[Any]:
    """A look at a table by its code takes a seat."""
    original = TableService.get_by_invite_code

    async def get_by_invite_code(tables: TableService, viewer_id: str, invite_code: str) -> forming_table.Table:
        table = await original(tables, viewer_id, invite_code)
        return await tables.join(Player(viewer_id, "Guest"), table.table_id)

    return patch.object(TableService, "get_by_invite_code", get_by_invite_code)


def seat_players_anywhere() -> AbstractContextManager[Any]:
    """A player gets the first free seat, and not the one that they ask for."""
    original = forming_table.join
    return patch.object(forming_table, "join", lambda table, player, _: original(table, player))


def list_no_running_games() -> AbstractContextManager[Any]:
    """A list of own tables leaves out games that are being played."""
    original = TableService.list_own

    async def list_own(tables: TableService, *about: Any) -> list[forming_table.Table]:
        return [table for table in await original(tables, *about) if table.state != forming_table.TableState.PLAYING]

    return patch.object(TableService, "list_own", list_own)


def show_turns_of_the_next_seat() -> AbstractContextManager[Any]:
    """A list of own tables has the turn of another seat."""

    def next_seat(table: forming_table.Table, player_id: str, turn: Any) -> Any:
        turned = turn and turn._replace(to_act=turn.to_act << 1 | turn.to_act >> len(table.seats) - 1)
        return my_seat(table, player_id, turned)

    return patch.object(table_service, "my_seat", next_seat)


def stream_no_changes_of_own_tables() -> AbstractContextManager[Any]:
    """A stream of own tables ends with its beginning."""
    return patch.object(TableFeed, "_publish_own", lambda *_: None)


DEFECTS: Mapping[str, Defect] = {
    defect.change.__name__: defect
    for defect in (
        Defect(acknowledge_before_commit, "", (Invariant.SHOWN_BEFORE_STORED,)),
        Defect(append_without_condition, "contended", (Invariant.LOG_BROKEN,)),
        Defect(forget_request_id, "contended", (Invariant.ACTION_DUPLICATED, Invariant.WRONG_REFUSAL)),
        Defect(show_spectators_everything, "contended", (Invariant.HIDDEN_CARD_SEEN,)),
        Defect(compensate_twice, "absent", (Invariant.COMPENSATION_WRONG,)),
        Defect(act_too_early, "absent", (Invariant.TIMEOUT_TOO_EARLY,)),
        Defect(deal_with_open_cards, "", (Invariant.HIDDEN_CARD_SEEN,)),
        Defect(resume_one_too_far, "contended", (Invariant.SEQUENCE_GAP,)),
        Defect(never_catch_up_on_lost_notifications, "contended", (Invariant.STREAM_SILENT,)),
        Defect(forget_reports_before_they_arrive, "deployed", (Invariant.RESULT_MISSING, Invariant.LEDGER_DIFFERS)),
        Defect(ignore_returns, "leaving", (Invariant.TIMEOUT_TOO_EARLY, Invariant.LOG_BROKEN)),
        Defect(wait_for_those_who_left, "leaving", (Invariant.LOG_BROKEN,)),
        Defect(ignore_the_limit, "", (Invariant.LOG_BROKEN,)),
        Defect(play_on_without_people, "absent", (Invariant.LOG_BROKEN,)),
        Defect(follow_a_table_twice, "rematch", (Invariant.REMATCH_WRONG,)),
        Defect(give_reserved_seats_away, "rematch", (Invariant.REMATCH_WRONG,)),
        Defect(create_again_by_the_same_request, "forming", (Invariant.REPEAT_DIFFERS,)),
        Defect(stay_ready_across_changes, "forming", (Invariant.FORMING_WRONG,)),
        Defect(seat_those_who_look, "forming", (Invariant.FORMING_WRONG,)),
        Defect(seat_players_anywhere, "forming", (Invariant.FORMING_WRONG,)),
        Defect(list_no_running_games, "forming", (Invariant.OWN_TABLES_WRONG,)),
        Defect(show_turns_of_the_next_seat, "forming", (Invariant.OWN_TABLES_WRONG,)),
        Defect(stream_no_changes_of_own_tables, "forming", (Invariant.OWN_TABLES_WRONG,)),
        Defect(never_answer_some_actions, "steady", (Invariant.TABLE_PAUSED,)),
        Defect(keep_streams_while_cut_off, "steady", (Invariant.TABLE_PAUSED,)),
    )
}
