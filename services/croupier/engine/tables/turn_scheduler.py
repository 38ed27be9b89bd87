"""The engine's own actions at a table: for computer players, for seats whose time runs out, and on proposals."""

import math

from croupier.engine.bots.worker import BotRequest, thinking_milliseconds
from croupier.engine.core.clock import Due, abandoned_at
from croupier.engine.core.compensation import outage_until
from croupier.engine.core.fold import advance
from croupier.engine.core.limits import ABANDONED
from croupier.engine.core.log import ActedBy, TableEnded
from croupier.engine.core.voting import is_agreed, transitions_when_agreed
from croupier.engine.tables.cached_table import CachedTable
from croupier.engine.tables.turn_timer import TurnTimer
from croupier.games.actions import Action
from croupier.games.facts import Seat
from croupier.games.interface import Observation, SeatActed
from croupier.games.registry import rules_of

RETRY_MILLISECONDS = 1_000
STANDBY_MILLISECONDS = 500
"""An engine that is not the last writer of a table acts this much later, in case the last writer does not."""
LIVENESS_RETRY_MILLISECONDS = 300
"""The time until the heartbeats of other engines are read again, to know about outages."""

MAX_SEED = 1 << 62
"""The seed of a bot request is below this."""


class TurnScheduler:
    """Acts at one table until it is stopped; failures are retried."""

    def __init__(self, table: CachedTable) -> None:
        self._table = table
        self._services = table.services
        self._timer = TurnTimer(table.services.clock)
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
        due = self._table.state.due
        if due is not None and due.seat not in self._deciding:
            self._timer.set(self._when_to_act(due), self._timer_fired)
        if is_agreed(self._table.config, self._table.state, self._services.clock()):
            self._services.background.start(self._execute_proposal())

    def stop(self) -> None:
        """Start no more actions."""
        self._is_stopped = True
        self._timer.cancel()

    def _retry_later(self) -> None:
        self._timer.set(self._services.clock() + RETRY_MILLISECONDS, self._timer_fired)

    def _timer_fired(self) -> None:
        if self._table.needs_catch_up or self._due_seat() is not None:
            self._services.background.start(self._act())
        else:
            self.schedule()

    # Actions for seats

    def _when_to_act(self, due: Due) -> int:
        at = due.at if self._table.is_last_writer else due.at + STANDBY_MILLISECONDS
        if self._table.config.seats[due.seat].bot:
            at = max(at, self._table.entry_rate.next_at, self._paid_at or 0)
        return max(at, self._not_before)

    def _due_seat(self) -> Seat | None:
        """Return the seat for which the engine has to act now."""
        due = self._table.state.due
        if due is None or self._when_to_act(due) > self._services.clock():
            return None
        return due.seat

    async def _act(self) -> None:
        """Act for the due seat, if it has not acted meanwhile."""
        failed = True
        try:
            if await self._services.liveness.is_alive():
                if (bot_request := await self._act_or_ask()) is not None:
                    await self._act_on(bot_request)
                failed = False
            else:
                self._table.hand_over_streams()
        finally:
            if failed and not self._is_stopped:
                self._retry_later()
            else:
                self.schedule()

    async def _act_or_ask(self) -> BotRequest | None:
        """Act for the due seat; if a bot worker has to decide first, return the request for it."""
        async with self._table.lock:
            if self._table.needs_catch_up:
                await self._table.catch_up()
            seat = self._due_seat()
            if seat is None or seat in self._deciding:
                return None
            if self._is_abandoned or not self._table.config.seats[seat].bot:
                await self._time_out(seat)
                return None
            if not self._pay_for_entry():
                return None
            self._paid_at = None
            bot_request = self._bot_request(seat)
            if bot_request is None:
                await self._store(seat, self._quick_decision(seat))
            return bot_request

    @property
    def _is_abandoned(self) -> bool:
        """Whether the next deadline of the table is its end, because all people are away."""
        state, config = self._table.state, self._table.config
        return state.due is not None and state.due.at == abandoned_at(state.clock, config.clock, config.seats)

    def _pay_for_entry(self) -> bool:
        """Take a unit for an entry from the table's network, once; return False if the entry has to wait for it.

        So the tables of a network whose budget is used up have their turns one after the other, and none of them polls.
        """
        if self._paid_at is None and self._table.network:
            seconds = self._services.networks.delay(self._table.network)
            if seconds > 0:
                self._paid_at = self._services.clock() + math.ceil(seconds * 1000)
                return False
        return True

    async def _time_out(self, seat: Seat) -> None:
        """Act for a player whose time has run out, or end an abandoned table.

        If an outage took part of the time, that is compensated first. Outages are not certain at once, and one that
        continues is compensated when it has ended: compensation in parts, one at each new deadline, would fill the log.
        """
        table, now, is_abandoned = self._table, self._services.clock(), self._is_abandoned
        if is_abandoned or not table.state.clock.away[seat]:
            liveness = self._services.liveness
            if not await liveness.is_certain_of(table.state.deadline):
                self._not_before = now + LIVENESS_RETRY_MILLISECONDS
                return
            self._not_before = outage_until(liveness.outages, now)
            if self._not_before > now:
                return
            if compensation := table.compensation(now):
                await table.store(compensation)
                return
        if is_abandoned:
            await table.store(advance(table.config, table.state, now, TableEnded(ABANDONED)))
        else:
            await self._store(seat, self._quick_decision(seat))

    def _bot_request(self, seat: Seat) -> BotRequest | None:
        """Return the request for a bot worker; None if the seat's computer player decides at once."""
        config = self._table.config
        bot = config.seats[seat].bot
        if not thinking_milliseconds(rules_of(config.game, config.rules_version), bot):
            return None
        seed = self._services.random(MAX_SEED)
        return BotRequest(config.table_id, config.game, config.rules_version, bot, self._observation(seat), seed)

    async def _act_on(self, bot_request: BotRequest) -> None:
        """Act as a bot worker decides; the table stays unlocked meanwhile.

        If the observation of the seat has changed by then, the decision is discarded, and a new request follows.
        """
        seat = bot_request.observation.seat
        self._deciding.add(seat)
        try:
            action = await self._services.bot_workers.decide(bot_request)
            async with self._table.lock:
                if self._table.needs_catch_up:
                    await self._table.catch_up()
                if not self._is_stopped and self._observation(seat) == bot_request.observation:
                    await self._store(seat, action or self._quick_decision(seat))
        finally:
            self._deciding.discard(seat)

    async def _store(self, seat: Seat, action: Action) -> None:
        table = self._table
        by = ActedBy.BOT if table.config.seats[seat].bot else ActedBy.TIMEOUT
        now = self._services.clock()
        stored = await table.store(advance(table.config, table.state, now, SeatActed(seat, action), by))
        if stored and by is ActedBy.TIMEOUT:
            if table.network:
                self._services.networks.owe(table.network, 1)
            self._services.metrics.clock_expiries.labels(table.config.game).inc()

    def _quick_decision(self, seat: Seat) -> Action:
        """Return the action of the quick computer player of a seat, or else of the first one of the game."""
        config = self._table.config
        bots = rules_of(config.game, config.rules_version).bots
        chosen = bots.get(config.seats[seat].bot) or next(iter(bots.values()))
        return chosen(self._observation(seat), self._services.random)

    def _observation(self, seat: Seat) -> Observation:
        """Return the observation of a seat, which is all that its computer player gets."""
        state = self._table.state
        return Observation(seat, self._table.config.options, state.view(seat), state.legal_actions(seat))

    # Proposals that all seats agree with

    async def _execute_proposal(self) -> None:
        table = self._table
        async with table.lock:
            if table.needs_catch_up:
                await table.catch_up()
            if transitions := transitions_when_agreed(table.config, table.state, self._services.clock()):
                await table.store(transitions)
