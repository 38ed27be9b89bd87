"""What an engine does at a table by itself: it acts for seats whose time has come, and sees proposals through."""

from collections.abc import Callable, Coroutine
from typing import TypeAlias
from weakref import WeakMethod, ref

from croupier.engine.cached import CachedTable
from croupier.engine.clock import Due
from croupier.engine.credits import credit_due, interrupted_until
from croupier.engine.log import ActedBy
from croupier.engine.table import Step, advance
from croupier.engine.thinking import Thought, thinking_milliseconds
from croupier.engine.turn_timer import TurnTimer
from croupier.engine.voting import is_agreed, steps_when_agreed
from croupier.games.actions import Action
from croupier.games.catalogue import rules_of
from croupier.games.facts import Seat
from croupier.games.interface import SeatActed, Seen

Work: TypeAlias = Callable[[], Coroutine[None, None, None]]
RETRY_MILLISECONDS = 1_000
FOLLOW_MILLISECONDS = 500
"""Of several engines with a table in memory, the one that appended last acts first; the others do if it does not."""
UNCERTAIN_MILLISECONDS = 300
"""How long to wait until other engines may have said whether they were there."""

SEEDS = 1 << 62
"""The chance of a thought is one of so many."""


class Steward:
    """Looks after one table until it is stopped; what fails is tried again."""

    def __init__(self, table: CachedTable) -> None:
        # A table and its steward that knew each other would stay in memory until somebody looks for such circles, which
        # an engine with many tables cannot do often.
        self._table_or_gone = ref(table)
        self._services = table.services
        self._timer = TurnTimer(table.services.clock, WeakMethod(self._timer_fired))
        self.is_stopped = False
        self._pondering: set[Seat] = set()
        """The seats whose computer players think now, since their time has come."""
        self._not_before = 0
        """Until when no seat is acted for, in milliseconds since 1970 UTC: see _run_out."""

    @property
    def _table(self) -> CachedTable:
        table = self._table_or_gone()
        if table is None:
            raise RuntimeError("what a steward does keeps its table in memory")
        return table

    def _start(self, work: Work) -> None:
        self._services.background.start(_with_table(self._table, work))

    @property
    def is_busy(self) -> bool:
        """Whether something is thought about for this table."""
        return bool(self._pondering)

    def look(self) -> None:
        """See what is to be done now, and when next; to be called whenever anything about the table has changed."""
        if self.is_stopped:
            return
        if self._table.is_doubtful:
            self._timer.set(self._services.clock() + RETRY_MILLISECONDS)
            return
        due = self._table.state.due
        if due is not None and due.seat not in self._pondering:
            self._timer.set(self._when_to_act(due))
        if is_agreed(self._table.config, self._table.state, self._services.clock()):
            self._start(self._carry_proposal)

    def stop(self) -> None:
        """Let no time run out, and do nothing more."""
        self.is_stopped = True
        self._timer.cancel()

    def _timer_fired(self) -> None:
        if self._table.is_doubtful or self._due_seat() is not None:
            self._start(self._act)
        else:
            self.look()

    # Acting for seats whose time has come

    def _when_to_act(self, due: Due) -> int:
        at = due.at if self._table.is_leading else due.at + FOLLOW_MILLISECONDS
        return max(at, self._not_before)

    def _due_seat(self) -> Seat | None:
        """The seat whose time has come."""
        due = self._table.state.due
        if due is None or self._when_to_act(due) > self._services.clock():
            return None
        return due.seat

    async def _act(self) -> None:
        """Act for the seat whose time has come, if it has not acted meanwhile."""
        failed = True
        try:
            if await self._services.attendance.is_there():
                if (thought := await self._act_or_ask()) is not None:
                    await self._ponder(thought)
                failed = False
            else:
                self._table.give_up()
        finally:
            if failed and not self.is_stopped:
                self._timer.set(self._services.clock() + RETRY_MILLISECONDS)
            else:
                self.look()

    async def _act_or_ask(self) -> Thought | None:
        """Act for the seat whose time has come, unless its computer player has to think first: about what, then."""
        async with self._table.lock:
            if self._table.is_doubtful:
                await self._table.catch_up()
            seat = self._due_seat()
            if seat is None or seat in self._pondering:
                return None
            if not self._table.config.seats[seat].bot:
                await self._run_out(seat)
                return None
            thought = self._thought(seat)
            if thought is None:
                await self._store(seat, self._quick_decision(seat))
            return thought

    async def _run_out(self, seat: Seat) -> None:
        """A player's time has run out, unless part of it was not served: that is given back first.

        What is served is not certain at once, and an interruption that goes on is given back whole when it has ended:
        bit by bit, each as long as it went on before the last deadline, would fill the log.
        """
        table, now = self._table, self._services.clock()
        if not table.state.clock.away[seat]:
            attendance = self._services.attendance
            if not await attendance.is_certain_of(table.state.deadline):
                self._not_before = now + UNCERTAIN_MILLISECONDS
                return
            self._not_before = interrupted_until(attendance.roll.interruptions, now)
            if self._not_before > now:
                return
            if steps := self.credit_steps(now):
                await table.store(steps)
                return
        await self._store(seat, self._quick_decision(seat))

    def credit_steps(self, now: int) -> list[Step]:
        """The step that gives back what was not served of the time of those to act; none if that is nothing."""
        table = self._table
        credit = credit_due(table.state.clock, now, self._services.attendance.roll.interruptions)
        return advance(table.config, table.state, now, credit) if credit else []

    def _thought(self, seat: Seat) -> Thought | None:
        """What the seat's computer player has to think about; None if it is one that decides at once."""
        config = self._table.config
        bot = config.seats[seat].bot
        if not thinking_milliseconds(rules_of(config.game, config.rules_version), bot):
            return None
        seed = self._services.choose(SEEDS)
        return Thought(config.game, config.rules_version, bot, self._seen(seat), seed)

    async def _ponder(self, thought: Thought) -> None:
        """Act as a computer player decides that thinks, while the table goes on.

        If its seat sees or may do anything else by then than what it thought about, it is asked again.
        """
        seat = thought.seen.seat
        self._pondering.add(seat)
        try:
            action = await self._services.thinkers.decide(thought)
            async with self._table.lock:
                if self._table.is_doubtful:
                    await self._table.catch_up()
                if not self.is_stopped and self._seen(seat) == thought.seen:
                    await self._store(seat, action or self._quick_decision(seat))
        finally:
            self._pondering.discard(seat)

    async def _store(self, seat: Seat, action: Action) -> None:
        table = self._table
        by = ActedBy.BOT if table.config.seats[seat].bot else ActedBy.TIMEOUT
        now = self._services.clock()
        stored = await table.store(advance(table.config, table.state, now, SeatActed(seat, action), by))
        if stored and by is ActedBy.TIMEOUT:
            self._services.metrics.clock_expiries.labels(table.config.game).inc()

    def _quick_decision(self, seat: Seat) -> Action:
        """What a computer player does that need not think: the seat's own, or else the first of the game."""
        config = self._table.config
        bots = rules_of(config.game, config.rules_version).bots
        chosen = bots.get(config.seats[seat].bot) or next(iter(bots.values()))
        return chosen(self._seen(seat), self._services.choose)

    def _seen(self, seat: Seat) -> Seen:
        """What a computer player gets: what its seat sees, and nothing more."""
        game = self._table.state.game
        return Seen(seat, self._table.config.options, game.view(seat), game.legal_actions(seat))

    # Proposals that nobody is left to vote on

    async def _carry_proposal(self) -> None:
        table = self._table
        async with table.lock:
            if table.is_doubtful:
                await table.catch_up()
            if steps := steps_when_agreed(table.config, table.state, self._services.clock()):
                await table.store(steps)


async def _with_table(_table: CachedTable, work: Work) -> None:
    """Do something for which the table has to stay in memory."""
    await work()
