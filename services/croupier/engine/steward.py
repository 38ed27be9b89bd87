"""What an engine does at a table by itself: it acts for seats whose time has come, and sees proposals through."""

from croupier.engine.cached import CachedTable
from croupier.engine.log import ActedBy
from croupier.engine.proposals import open_at
from croupier.engine.table import advance
from croupier.engine.turn_timer import TurnTimer
from croupier.engine.voting import is_agreed, steps_when_agreed
from croupier.games.actions import Action
from croupier.games.catalogue import GAMES
from croupier.games.facts import Seat
from croupier.games.interface import SeatActed, Seen

RETRY_MILLISECONDS = 1_000
RETURN_MILLISECONDS = 5_000
"""How long players have at least to come back to a table that was taken up again."""


class Steward:
    """Looks after one table until it is stopped; what fails is tried again."""

    def __init__(self, table: CachedTable) -> None:
        self._table = table
        self._services = table.services
        self._players_are_back_at = table.services.clock() + RETURN_MILLISECONDS
        self._timer = TurnTimer(table.services.clock, self._timer_fired)
        self._is_stopped = False

    def look(self) -> None:
        """See what is to be done now, and when next; to be called whenever anything about the table has changed."""
        if self._is_stopped:
            return
        if self._table.is_doubtful:
            self._timer.set(self._services.clock() + RETRY_MILLISECONDS)
            return
        if deadline := self._effective_deadline():
            self._timer.set(deadline)
        if open_at(self._table.state.proposal, self._services.clock()):
            self._see_proposal_through()

    def stop(self) -> None:
        """Let no time run out, and do nothing more."""
        self._is_stopped = True
        self._timer.cancel()

    def _timer_fired(self) -> None:
        if self._table.is_doubtful or self._effective_deadline() <= self._services.clock():
            self._services.background.start(self._act_for_seat())
        else:
            self.look()

    # Acting for seats whose time has come

    def _effective_deadline(self) -> int:
        """When the engine acts for a seat; players have time to come back after nobody served, whatever the clock."""
        due = self._table.state.due
        if due is None:
            return 0
        if self._table.config.seats[due.seat].bot:
            return due.at
        return max(due.at, self._players_are_back_at)

    async def _act_for_seat(self) -> None:
        """Act for the seat whose time has come, if it has not acted meanwhile."""
        failed = True
        try:
            async with self._table.lock:
                if self._table.is_doubtful:
                    await self._table.catch_up()
                due, now = self._table.state.due, self._services.clock()
                if due is not None and self._effective_deadline() <= now:
                    await self._store_for_seat(due.seat, now)
            failed = False
        finally:
            if failed:
                self._timer.set(self._services.clock() + RETRY_MILLISECONDS)
            else:
                self.look()

    async def _store_for_seat(self, seat: Seat, now: int) -> None:
        table = self._table
        bot = table.config.seats[seat].bot
        event = SeatActed(seat, self._decide(seat, bot))
        by = ActedBy.BOT if bot else ActedBy.TIMEOUT
        stored = await table.store(advance(table.config, table.state, now, event, by))
        if stored and by is ActedBy.TIMEOUT:
            self._services.metrics.clock_expiries.labels(table.config.game).inc()

    def _decide(self, seat: Seat, bot: str) -> Action:
        """What a computer player would do, which sees what its seat sees and nothing more."""
        config, game = self._table.config, self._table.state.game
        bots = GAMES[config.game].bots
        chosen = bots.get(bot) or next(iter(bots.values()))
        return chosen(Seen(seat, config.options, game.view(seat), game.legal_actions(seat)), self._services.choose)

    # Proposals that nobody is left to vote on

    @property
    def silent_seats(self) -> frozenset[Seat]:
        """The seats that count as agreeing: the engine plays for them, or nobody is connected for them.

        The latter says nothing while players have time to come back, or when the engine has ended their streams.
        """
        table = self._table
        away = frozenset(seat for seat, is_away in enumerate(table.state.clock.away) if is_away)
        if self._is_stopped or self._services.clock() < self._players_are_back_at:
            return away
        return away.union(seat for seat in range(table.config.seat_count) if not table.audience.has(seat))

    def _see_proposal_through(self) -> None:
        now = self._services.clock()
        if now < self._players_are_back_at:
            self._timer.set(self._players_are_back_at)
        if is_agreed(self._table.config, self._table.state, now, self.silent_seats):
            self._services.background.start(self._carry_proposal())

    async def _carry_proposal(self) -> None:
        table = self._table
        async with table.lock:
            if table.is_doubtful:
                await table.catch_up()
            steps = steps_when_agreed(table.config, table.state, self._services.clock(), self.silent_seats)
            if steps:
                await table.store(steps)
