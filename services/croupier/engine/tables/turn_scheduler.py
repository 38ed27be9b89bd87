"""The engine's own actions at a table: for computer players, for seats whose time runs out, and on proposals."""

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from croupier.engine.bots.worker import BotRequest, thinking_milliseconds
from croupier.engine.bots.worker_pool import BotWorkers
from croupier.engine.core import decide
from croupier.engine.core.clock import Due
from croupier.engine.core.compensation import Outage, outage_until
from croupier.engine.core.fold import TableState, Transition, advance
from croupier.engine.core.log import ActedBy, TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.engine.tables.entry_rate import EntryRate
from croupier.engine.tasks import Background
from croupier.games.actions import Action
from croupier.games.facts import Seat
from croupier.games.interface import IllegalAction, Observation, RandomSource, SeatActed
from croupier.games.registry import rules_of
from croupier.runtime.admission.budget import Budget
from croupier.runtime.identity.tokens import Clock

RETRY_MILLISECONDS = 1_000
STANDBY_MILLISECONDS = 500
"""An engine that is not the last writer of a table acts this much later, in case the last writer does not."""
LIVENESS_RETRY_MILLISECONDS = 300
"""The time until the heartbeats of other engines are read again, to know about outages."""

MAX_SEED = 1 << 62
"""The seed of a bot request is below this."""


class ScheduledTable(Protocol):
    """The port to the table."""

    @property
    def state(self) -> TableState:
        """The table after the last entry that this engine knows."""

    @property
    def needs_catch_up(self) -> bool:
        """Whether the log may hold entries that this engine does not know."""

    @property
    def is_last_writer(self) -> bool:
        """Whether this engine appended the last entry."""

    @property
    def entry_rate(self) -> EntryRate:
        """The rate of its entries."""

    def locked(self) -> AbstractAsyncContextManager[TableState]:
        """Hold the lock for the block, after a catch-up if the log may have grown; raises Unavailable."""

    async def store(self, transitions: list[Transition]) -> bool:
        """Append transitions and apply them; return False if another engine was first. The caller holds the lock.

        Raises Unavailable.
        """

    def hand_over_streams(self) -> None:
        """Hand all streams over to other engines, because this one cannot read the log for now."""


class Liveness(Protocol):
    """The port to the liveness of engines: knows their outages, and whether this one is alive."""

    @property
    def outages(self) -> Sequence[Outage]:
        """The outages known so far, in no order."""

    async def is_certain_of(self, moment: int) -> bool:
        """Return whether every outage before a moment is known, in milliseconds since 1970 UTC; raises Unavailable."""

    async def is_alive(self) -> bool:
        """Return whether other engines consider this one alive; send a heartbeat at once if the last is old."""


class TurnScheduler:
    """Acts at one table until it is stopped; failures are retried.

    `network` is that of the player who created the table, empty if it is not known: the entries of computer players and
    time-outs take units of its budget in `networks`.
    """

    def __init__(
        self,
        table: ScheduledTable,
        config: TableConfig,
        network: str,
        *,
        bot_workers: BotWorkers,
        liveness: Liveness,
        background: Background,
        networks: Budget,
        clock: Clock,
        random: RandomSource,
        metrics: EngineMetrics,
    ) -> None:
        self._table = table
        self._config = config
        self._network = network
        self._bot_workers = bot_workers
        self._liveness = liveness
        self._background = background
        self._networks = networks
        self._clock = clock
        self._random = random
        self._expiries = metrics.clock_expiries.labels(config.game)
        self._timer = TurnTimer(clock)
        self._is_stopped = False
        self._deciding: set[Seat] = set()
        """The seats whose computer players decide in a bot worker now."""
        self._not_before = 0
        """No seat is acted for before this time, in milliseconds since 1970 UTC: see _time_out."""
        self._paid_at: int | None = None
        """From this time on a computer player may act once, for which the network has paid; None if it has to pay."""

    @property
    def is_busy(self) -> bool:
        """Whether a bot worker decides for this table."""
        return bool(self._deciding)

    def schedule(self) -> None:
        """Start due actions, and set the timer for the next; called after each change of the table."""
        if self._is_stopped:
            return
        if self._table.needs_catch_up:
            self._retry_later()
            return
        state = self._table.state
        due = state.due
        # No seat is acted for before its due time, so a timer that fires by then stays as it is.
        if due is not None and due.seat not in self._deciding and not self._timer.fires_by(due.at):
            self._timer.set(self._when_to_act(due), self._timer_fired)
        if state.proposal is not None and decide.is_agreed(self._config, state, self._clock()):
            self._background.start(self._execute_proposal())

    def stop(self) -> None:
        """Start no more actions."""
        self._is_stopped = True
        self._timer.cancel()

    def _retry_later(self) -> None:
        self._timer.set(self._clock() + RETRY_MILLISECONDS, self._timer_fired)

    def _timer_fired(self) -> None:
        if self._table.needs_catch_up or self._due_seat() is not None:
            self._background.start(self._act())
        else:
            self.schedule()

    # Actions for seats

    def _when_to_act(self, due: Due) -> int:
        at = due.at if self._table.is_last_writer else due.at + STANDBY_MILLISECONDS
        if self._config.seats[due.seat].bot:
            at = max(at, self._table.entry_rate.next_at, self._paid_at or 0)
        return max(at, self._not_before)

    def _due_seat(self) -> Seat | None:
        """Return the seat for which the engine has to act now."""
        due = self._table.state.due
        if due is None or self._when_to_act(due) > self._clock():
            return None
        return due.seat

    async def _act(self) -> None:
        """Act for the due seat, if it has not acted meanwhile."""
        failed = True
        try:
            if await self._liveness.is_alive():
                if (bot_request := await self._act_or_ask()) is not None:
                    await self._act_on(bot_request)
                failed = False
            else:
                self._table.hand_over_streams()
        except IllegalAction as refusal:
            # Of an action that the game offered to its own computer player.
            raise self._table.state.rules.failed(refusal) from None
        finally:
            if failed and not self._is_stopped:
                self._retry_later()
            else:
                self.schedule()

    async def _act_or_ask(self) -> BotRequest | None:
        """Act for the due seat; if a bot worker has to decide first, return the request for it."""
        async with self._table.locked() as state:
            seat = self._due_seat()
            if seat is None or seat in self._deciding:
                return None
            if decide.is_abandoned(self._config, state) or not self._config.seats[seat].bot:
                await self._time_out(state, seat)
                return None
            if not self._pay_for_entry():
                return None
            self._paid_at = None
            bot_request = self._bot_request(state, seat)
            if bot_request is None:
                await self._act_for_bot(state, seat, self._quick_decision(state, seat))
            return bot_request

    def _pay_for_entry(self) -> bool:
        """Take a unit for an entry from the table's network, once; return False if the entry has to wait for it.

        So the tables of a network whose budget is used up have their turns one after the other, and none of them polls.
        """
        if self._paid_at is None and self._network:
            seconds = self._networks.delay(self._network)
            if seconds > 0:
                self._paid_at = self._clock() + math.ceil(seconds * 1000)
                return False
        return True

    async def _time_out(self, state: TableState, seat: Seat) -> None:
        """Act for a player whose time has run out, or end an abandoned table.

        If an outage took part of the time, that is compensated first. Outages are not certain at once, and one that
        continues is compensated when it has ended: compensation in parts, one at each new deadline, would fill the log.
        """
        now, liveness = self._clock(), self._liveness
        if decide.counts_outages(self._config, state, seat):
            if not await liveness.is_certain_of(state.deadline):
                self._not_before = now + LIVENESS_RETRY_MILLISECONDS
                return
            self._not_before = outage_until(liveness.outages, now)
            if self._not_before > now:
                return
        acted = SeatActed(seat, self._quick_decision(state, seat))
        transitions = decide.time_out(self._config, state, now, acted, liveness.outages)
        if await self._table.store(transitions) and transitions[0].entry.acted_by is ActedBy.TIMEOUT:
            if self._network:
                self._networks.owe(self._network, 1)
            self._expiries.inc()

    async def _act_for_bot(self, state: TableState, seat: Seat, action: Action) -> None:
        await self._table.store(advance(self._config, state, self._clock(), SeatActed(seat, action), ActedBy.BOT))

    def _bot_request(self, state: TableState, seat: Seat) -> BotRequest | None:
        """Return the request for a bot worker; None if the seat's computer player decides at once."""
        config = self._config
        bot = config.seats[seat].bot
        if not thinking_milliseconds(rules_of(config.game, config.rules_version), bot):
            return None
        observation, seed = self._observation(state, seat), self._random(MAX_SEED)
        return BotRequest(config.table_id, config.game, config.rules_version, bot, observation, seed)

    async def _act_on(self, bot_request: BotRequest) -> None:
        """Act as a bot worker decides; the table stays unlocked meanwhile.

        If the observation of the seat has changed by then, the decision is discarded, and a new request follows.
        """
        seat = bot_request.observation.seat
        self._deciding.add(seat)
        try:
            action = await self._bot_workers.decide(bot_request)
            async with self._table.locked() as state:
                if not self._is_stopped and self._observation(state, seat) == bot_request.observation:
                    await self._act_for_bot(state, seat, action or self._quick_decision(state, seat))
        finally:
            self._deciding.discard(seat)

    def _quick_decision(self, state: TableState, seat: Seat) -> Action:
        """Return the action of the quick computer player of a seat, or else of the first one of the game."""
        return state.rules.quick_action(self._config.seats[seat].bot, self._observation(state, seat), self._random)

    def _observation(self, state: TableState, seat: Seat) -> Observation:
        """Return the observation of a seat, which is all that its computer player gets."""
        return Observation(seat, self._config.options, state.view(seat), state.legal_actions(seat))

    # Proposals that all seats agree with

    async def _execute_proposal(self) -> None:
        async with self._table.locked() as state:
            if transitions := decide.agreement(self._config, state, self._clock()):
                await self._table.store(transitions)


class TurnTimer:
    """A timer that may fire too early but never too late: moving its deadline later costs nothing.

    It holds a reference to its callback only while it is set.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._handle: asyncio.TimerHandle | None = None
        self._deadline = 0

    def fires_by(self, deadline: int) -> bool:
        """Return whether it is set and fires no later than at `deadline` (milliseconds since 1970 UTC)."""
        return self._handle is not None and self._deadline <= deadline

    def set(self, deadline: int, fired: Callable[[], None]) -> None:
        """Call `fired` no later than at `deadline` (milliseconds since 1970 UTC)."""
        if self.fires_by(deadline):
            return  # It fires earlier; the callback then checks the clock and sets it again.
        self.cancel()
        self._deadline = deadline
        wait_seconds = max(0, deadline - self._clock()) / 1000
        self._handle = asyncio.get_running_loop().call_later(wait_seconds, self._fire, fired)

    def cancel(self) -> None:
        """Cancel the callback."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self, fired: Callable[[], None]) -> None:
        self._handle = None
        fired()
