"""A player at one table, to the end of the game or until they leave for good."""

import asyncio
from dataclasses import dataclass, field
from random import Random

import grpc

from croupier_api.v1 import games_pb2
from croupier_client import CroupierError, FollowedTable, TimedOut, choose_random_action
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.players import adversaries
from croupier_loadtest.players.client import PlayerClient
from croupier_loadtest.players.counting import count_refused_action, is_failure
from croupier_loadtest.players.leaving import leave_table, record_failed_at_table
from croupier_loadtest.players.recorder import wall_milliseconds
from croupier_loadtest.players.table import OUTAGE_SECONDS, RecordedTable, opened, read_again
from croupier_loadtest.players.user_context import UserContext
from croupier_loadtest.record import ReportedViolation, SeatRecord, Viewed
from croupier_loadtest.scenarios import Behaviour

MAX_FAILED_ATTEMPTS = 8
FOLLOWING, ABANDONING = "following a table", "abandoning a table"
"""The prefixes of failures after which a player leaves a table, where the others wait for their time-outs."""
CANCELLED = "load test: a player's call was cancelled"
"""The failure that is counted when a player ends though nobody stops them."""
MAX_ACT_MILLISECONDS = 20_000
"""Every player acts within this time, also on a busy machine and while calls are retried."""
OVERDUE_MILLISECONDS = 10_000
"""The time after its deadline at which a table without an entry is overdue; after another silence it is abandoned."""
MAX_UNANSWERED_VIEWS = 2
"""After so many silences without an answer to GetView a table is abandoned: the services are out."""
VIEW_SHARE = 0.05
"""The share of actions after which a player asks for the view."""
REACTION_SHARE = 0.02
DROP_SHARE = 0.15
LEAVE_SHARE = 0.15
CHECK_SECONDS = 1.0
"""The period in which a player who left checks whether others still play."""
AWAY_SECONDS = (0.5, 5.0)
LATE_SECONDS = 0.5
"""The delay of a late player after the time for an action."""
MIN_LATE_RESERVE_MILLISECONDS = 5_000
MAX_LATE_ACTION_SECONDS = 5
"""A player is late only with this reserve, and where an action has no more time than this."""
MAX_THINK_SHARE = 0.6
"""The longest think time, as a share of the time for an action."""


@dataclass(slots=True)
class SeatPlayer:
    """A player's seat at one table."""

    _context: UserContext
    _client: PlayerClient
    _table_id: str
    _viewer: SeatRecord
    _random: Random
    _action_seconds: float
    _failed_attempts: int = 0
    _behaviour: Behaviour = field(init=False)
    _will_be_late: bool = field(init=False)
    _will_be_away: bool = field(init=False)

    def __post_init__(self) -> None:
        self._behaviour = Behaviour(self._viewer.behaviour)
        self._viewer.thinks_milliseconds = MAX_ACT_MILLISECONDS
        self._will_be_away = self._behaviour is Behaviour.AWAY
        self._will_be_late = self._behaviour is Behaviour.LATE and self._action_seconds <= MAX_LATE_ACTION_SECONDS

    async def play(self) -> bool:
        """Play until the game is over, left or abandoned; the last player at a table submits its record.

        Returns whether the player received the end of the game. When the run drains, a leaver returns, so that the
        others need not wait for a time-out in each turn.
        """
        tables, is_over = self._context.tables, False
        try:
            is_over = await self._follow()
            if self._behaviour is Behaviour.LEAVER and not is_over:
                while tables.has_active_players(self._table_id) and not self._context.is_stopping:
                    await self._context.sleep(CHECK_SECONDS)
                is_over = tables.has_active_players(self._table_id) and await self._follow()
            if is_over and self._random.random() < self._context.settings.scenario.reread_share:
                await self._read_again()
        except CroupierError as error:
            self._failed(FOLLOWING, error)
            self._leave()
        except asyncio.CancelledError:
            self._leave()
            if (task := asyncio.current_task()) is None or not task.cancelling():
                # Their connections were closed, or the like. A task group of players would not notice it.
                self._context.measures.record_failure(CANCELLED, self._table_id)
            raise
        await leave_table(self._context, self._client, self._table_id, self._viewer)
        return is_over

    async def _read_again(self) -> None:
        """Read the log of a finished table again; a failure ends the player, for whom no other one waits."""
        try:
            await read_again(self._client, self._table_id, self._viewer)
        except CroupierError as error:
            self._failed("reading a table again", error)
            self._leave()

    async def _follow(self) -> bool:
        """Follow the table; False if the player leaves."""
        async with opened(self._client.recorded_table(self._table_id, self._viewer)) as table:
            if is_over := await self._turns(table):
                self._context.tables.mark_finished(self._table_id)
                await self._check_view(table)
        return is_over

    async def _turns(self, table: RecordedTable) -> bool:
        """Take turn after turn; False if the player leaves."""
        has_stayed = self._viewer.left_milliseconds is None
        while await self._is_my_turn(table):
            if self._behaviour is Behaviour.LEAVER and has_stayed and self._random.random() < LEAVE_SHARE:
                self._leave()
                return False
            await self._take_turn(table)
            if self._failed_attempts >= MAX_FAILED_ATTEMPTS:
                self._context.measures.record_failure(ABANDONING, f"{self._failed_attempts} attempts in a row failed")
                self._leave()
                return False
        return True

    def _leave(self) -> None:
        """Record when the player left, for the first time if more than once."""
        if self._viewer.left_milliseconds is None:
            self._viewer.left_milliseconds = wall_milliseconds()

    async def _is_my_turn(self, table: RecordedTable) -> bool:
        """Wait for the turn, and check the view whenever the stream has been silent for long."""
        overdue, unanswered = None, 0
        while True:
            try:
                return await table.wait_for_turn(timeout_seconds=self._context.settings.silence_seconds)
            except TimedOut:
                unanswered = 0 if await self._check_view(table) else unanswered + 1
                if unanswered >= MAX_UNANSWERED_VIEWS:
                    raise
                overdue = self._check_overdue(table, overdue) if not unanswered else None

    def _check_overdue(self, table: FollowedTable, overdue: int | None) -> int | None:
        """Return the sequence of a table that has exceeded its deadline; reports one that was there before.

        After an outage the table has its time back a few seconds later. Raises TimedOut for a reported table.
        """
        deadline = table.clock.deadline_unix_ms
        if not deadline or wall_milliseconds() <= deadline + OVERDUE_MILLISECONDS:
            return None
        if overdue == table.sequence:
            detail = f"no time-out was applied {wall_milliseconds() - deadline} ms after the deadline"
            self._report(Invariant.DEADLINE_MISSED, table.sequence, detail)
            raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, detail)
        return table.sequence

    async def _take_turn(self, table: RecordedTable) -> None:
        if self._behaviour is Behaviour.FLAKY and self._random.random() < DROP_SHARE:
            table.drop()
        await self._think(table)
        await self._leave_for_a_while(table)
        if self._behaviour is Behaviour.ADVERSARY and table.is_to_act:
            await self._probe(table)
        if not table.is_to_act or table.is_finished:
            return
        await self._act(table)
        await self._leave_for_a_while(table)
        if self._random.random() < VIEW_SHARE:
            await self._check_view(table)
        if self._random.random() < REACTION_SHARE:
            await self._react()
        if self._behaviour is Behaviour.ADVERSARY and not table.is_to_act and not table.is_finished:
            await self._attempt(table, adversaries.out_of_turn(table, self._random))

    async def _leave_for_a_while(self, table: RecordedTable) -> None:
        """Leave the seat to the engine once, in the player's turn or after it, and return."""
        if not self._will_be_away or table.is_finished or self._random.random() >= LEAVE_SHARE:
            return
        self._will_be_away = False
        for is_away in (True, False):
            try:
                async with asyncio.timeout(OUTAGE_SECONDS):
                    await table.set_away(is_away=is_away)
                self._context.measures.count("leaves" if is_away else "returns")
            except TimeoutError:
                self._context.measures.record_failure("leaving or returning", f"no answer in {OUTAGE_SECONDS:g} s")
            except CroupierError as error:
                if is_failure(error):
                    self._failed("leaving or returning", error)
            if is_away:
                await self._context.sleep(self._random.uniform(*AWAY_SECONDS))

    async def _think(self, table: FollowedTable) -> None:
        thinks = self._context.settings.scenario.think_time.seconds(self._random)
        seconds = min(thinks, self._action_seconds * MAX_THINK_SHARE)
        if self._will_be_late and not self._context.is_stopping:
            reserve = table.clock.reserve_ms[table.seat or 0]
            seconds = self._action_seconds + LATE_SECONDS if reserve >= MIN_LATE_RESERVE_MILLISECONDS else seconds
            self._will_be_late = False
        if seconds:
            await self._context.sleep(seconds)

    async def _act(self, table: RecordedTable) -> None:
        action = choose_random_action(table, self._random)
        sequence = await self._attempt(table, adversaries.Attempt(action, table.expected_sequence))
        self._failed_attempts = 0 if sequence is not None else self._failed_attempts + 1
        sent = [one for one in self._viewer.sent if one.action == action.SerializeToString()]
        if sequence is not None and self._behaviour is Behaviour.DUPLICATE and sent:
            # The same action, and then another one, under the same request id.
            await self._attempt(table, adversaries.Attempt(action), sent[-1].request_id)
            await self._attempt(table, adversaries.other_action(action), sent[-1].request_id)

    async def _attempt(self, table: RecordedTable, attempt: adversaries.Attempt, request_id: str = "") -> int | None:
        """Send an action; None if it was refused or failed, which is recorded too."""
        if attempt.expected is not None:
            self._context.measures.count(f"probe {attempt.expected.name}")
        by_call = bool(request_id) or (attempt.expected is not None and self._random.random() < 0.5)
        try:
            async with asyncio.timeout(OUTAGE_SECONDS):
                return await table.attempt(attempt, request_id=request_id, by_call=by_call)
        except (TimedOut, TimeoutError) as error:
            self._context.measures.record_failure("acting", str(error) or f"no answer in {OUTAGE_SECONDS:g} s")
        except CroupierError as error:
            if is_failure(error):
                self._failed("acting", error)
        return None

    async def _react(self) -> None:
        try:
            await self._client.send_reaction(table_id=self._table_id, reaction=games_pb2.REACTION_CLAP)
        except CroupierError as error:
            if is_failure(error):
                self._failed("reacting", error)

    async def _probe(self, table: RecordedTable) -> None:
        await self._attempt(table, adversaries.on_turn(table, self._random))
        match self._random.randrange(8):
            case 0:
                invalid = self._random.choice(adversaries.INVALID_REQUESTS)
                self._context.measures.count(f"probe {invalid.name}")
                error = await self._client.send_bytes(adversaries.SUBMIT_ACTION, invalid.body)
                self._check_refusal(invalid.name, error, invalid.refusals)
            case 1:
                await self._act_at_other_table(table)

    async def _act_at_other_table(self, table: RecordedTable) -> None:
        player = self._viewer.player_id
        other = self._context.tables.other_table(player, self._random)
        if other is None or not table.legal_actions.actions:
            return
        self._context.measures.count("probe another's table")
        request_id, action = f"elsewhere-{self._random.getrandbits(48):x}", table.legal_actions.actions[0]
        refusal = None
        try:
            await self._client.submit_action(table_id=other.table_id, request_id=request_id, action=action)
        except CroupierError as error:
            refusal = error
            if error.reason_name:
                count_refused_action(self._context.measures, error.reason_name)
        refusals = adversaries.PRIVATE_REFUSALS if other.is_private else adversaries.FOREIGN_REFUSALS
        self._check_refusal("another's table", refusal, refusals)

    def _check_refusal(self, name: str, error: CroupierError | None, refusals: frozenset[adversaries.Refusal]) -> None:
        if error is None:
            self._report(Invariant.ILLEGAL_ACCEPTED, 0, f"{name} was accepted")
        elif is_failure(error):
            self._failed(f"trying {name}", error)
        elif (error.code, error.reason) not in refusals:
            self._report(Invariant.WRONG_REFUSAL, 0, f"{name} was refused with {error}")

    async def _check_view(self, table: RecordedTable) -> bool:
        """Ask for the view, whose sequence the stream must reach soon; returns whether it was answered."""
        try:
            snapshot = (await self._client.get_view(table_id=self._table_id)).snapshot
        except CroupierError as error:
            self._failed("GetView", error)
            return False
        self._viewer.viewed.append(Viewed(wall_milliseconds(), snapshot.SerializeToString()))
        try:
            await table.wait_for_change(
                after=snapshot.sequence - 1, timeout_seconds=self._context.settings.silence_seconds
            )
        except TimedOut:
            detail = f"GetView was at sequence {snapshot.sequence}, the stream is still at {table.sequence}"
            self._report(Invariant.STREAM_SILENT, table.sequence, detail)
            raise
        return True

    def _report(self, invariant: Invariant, sequence: int, detail: str) -> None:
        self._viewer.reported.append(ReportedViolation(invariant, sequence, detail))

    def _failed(self, operation: str, error: CroupierError) -> None:
        record_failed_at_table(self._context.measures, self._viewer, operation, error)
