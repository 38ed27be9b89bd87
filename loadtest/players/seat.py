"""A player at one table, to the end of the game or until they leave for good."""

import asyncio
from random import Random

import grpc

from croupier_api.v1 import actions_pb2
from croupier_client import CroupierError, FollowedTable, Internal, NotFound, TimedOut, choose_random_action
from loadtest.judge.violations import Invariant
from loadtest.players import adversaries
from loadtest.players.client import PlayerClient
from loadtest.players.counting import count_refused_action, is_failure
from loadtest.players.table import Seat
from loadtest.players.table_results import read_again, read_replay_and_sheet
from loadtest.players.tables import wall_milliseconds
from loadtest.players.user_context import UserContext
from loadtest.record import Noted, SeatRecord, TableRecord, Viewed
from loadtest.scenarios import Behaviour

MAX_SETBACKS = 8
CUT_SHORT = "load test: no time to read the records of a game"
"""The failure that is counted when a player is stopped while reading the records of a table."""
OVERDUE_MILLISECONDS = 10_000
"""A table without an entry is given up so long after its deadline."""
SHEET_SILENCES = 10
"""The time limit of a result, in multiples of the silence of a stream: tables that end together queue up."""
VIEW_SHARE = 0.05
"""The share of actions after which a player asks for the view."""
REACTION_SHARE = 0.02
DROP_SHARE = 0.15
LEAVE_SHARE = 0.15
AWAY_SECONDS = 1.0
"""The period in which a player who left checks whether others still play."""
LATE_SECONDS = 0.5
"""A late player acts so long after the time for an action."""
MIN_LATE_RESERVE_MILLISECONDS = 5_000
MAX_LATE_ACTION_SECONDS = 5
"""A player is late only with this reserve, and where an action has no more time than this."""
MAX_THINK_SHARE = 0.6
"""The longest think time, as a share of the time for an action."""


class SeatPlayer:
    """A player's seat at one table."""

    def __init__(
        self,
        context: UserContext,
        client: PlayerClient,
        table_id: str,
        viewer: SeatRecord,
        random: Random,
        action_seconds: float,
    ) -> None:
        self._context = context
        self._client = client
        self._table_id = table_id
        self._viewer = viewer
        self._random = random
        self._action_seconds = action_seconds
        self._max_think_seconds = action_seconds * MAX_THINK_SHARE
        self._setbacks = 0
        self._sheet_seconds = context.settings.silence_seconds * SHEET_SILENCES
        self._behaviour = Behaviour(viewer.behaviour)
        self._is_to_be_late = self._behaviour is Behaviour.LATE and action_seconds <= MAX_LATE_ACTION_SECONDS

    async def play(self) -> None:
        """Play until the game is over, or is left or given up; the last player at a table submits its record.

        When time is up, a leaver comes back, so that the others need not wait for a time-out in each turn.
        """
        try:
            is_over = await self._follow()
            if self._behaviour is Behaviour.LEAVER and not is_over and await self._await_return():
                is_over = await self._follow()
            if is_over and self._random.random() < self._context.settings.scenario.reread_share:
                await read_again(self._client, self._table_id, self._viewer)
        except CroupierError as error:
            self._failed("following a table", error)
            self._leave()
        except asyncio.CancelledError:
            self._leave()
            raise
        if record := self._context.tables.leave(self._table_id):
            try:
                if record.is_finished:
                    await self._read_replay_and_sheet(record)
            except asyncio.CancelledError:
                self._context.measures.failed(CUT_SHORT, self._table_id)
                raise
            finally:
                await self._context.tables.submit(record)

    async def _follow(self) -> bool:
        """Follow the table; False if the player leaves."""
        async with self._client.seat(self._table_id, self._viewer) as seat:
            if is_over := await self._turns(seat):
                self._context.tables.finished(self._table_id)
                await self._check_view(seat)
        return is_over

    async def _await_return(self) -> bool:
        """Stay away until time is up or all have left; returns whether a player still plays."""
        while (is_played := self._context.tables.is_played(self._table_id)) and not self._context.is_time_up:
            await self._context.sleep(AWAY_SECONDS)
        return is_played

    async def _turns(self, seat: Seat) -> bool:
        """Take turn after turn; False if the player leaves."""
        has_stayed = self._viewer.left_milliseconds is None
        while await self._is_my_turn(seat):
            if self._behaviour is Behaviour.LEAVER and has_stayed and self._random.random() < LEAVE_SHARE:
                self._leave()
                return False
            await self._take_turn(seat)
            if self._setbacks >= MAX_SETBACKS:
                self._context.measures.failed("giving up a table", f"{self._setbacks} attempts in a row failed")
                self._leave()
                return False
        return True

    def _leave(self) -> None:
        """Record when the player left, for the first time if more than once."""
        if self._viewer.left_milliseconds is None:
            self._viewer.left_milliseconds = wall_milliseconds()

    async def _is_my_turn(self, seat: Seat) -> bool:
        """Wait for the turn, and check the view whenever the stream has been silent for long."""
        while True:
            try:
                return await seat.wait_for_turn(timeout_seconds=self._context.settings.silence_seconds)
            except TimedOut:
                await self._check_view(seat)
                self._check_overdue(seat)

    def _check_overdue(self, table: FollowedTable) -> None:
        """Note a table that has exceeded its deadline; raises TimedOut."""
        deadline = table.clock.deadline_unix_ms
        if deadline and wall_milliseconds() > deadline + OVERDUE_MILLISECONDS:
            detail = f"no time-out was applied {wall_milliseconds() - deadline} ms after the deadline"
            self._note(Invariant.DEADLINE_MISSED, table.sequence, detail)
            raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, detail)

    async def _take_turn(self, seat: Seat) -> None:
        if self._behaviour is Behaviour.FLAKY and self._random.random() < DROP_SHARE:
            seat.drop()
        await self._think(seat)
        if self._behaviour is Behaviour.ADVERSARY and seat.is_to_act:
            await self._probe(seat)
        if not seat.is_to_act or seat.is_finished:
            return
        await self._act(seat)
        if self._random.random() < VIEW_SHARE:
            await self._check_view(seat)
        if self._random.random() < REACTION_SHARE:
            await self._react()
        if self._behaviour is Behaviour.ADVERSARY and not seat.is_to_act and not seat.is_finished:
            await self._attempt(seat, adversaries.out_of_turn(seat, self._random))

    async def _think(self, table: FollowedTable) -> None:
        seconds = min(self._context.settings.scenario.think_time.seconds(self._random), self._max_think_seconds)
        if self._is_to_be_late and not self._context.is_time_up:
            reserve = table.clock.reserve_ms[table.seat or 0]
            seconds = self._action_seconds + LATE_SECONDS if reserve >= MIN_LATE_RESERVE_MILLISECONDS else seconds
            self._is_to_be_late = False
        if seconds:
            await self._context.sleep(seconds)

    # Acting

    async def _act(self, seat: Seat) -> None:
        action = choose_random_action(seat, self._random)
        sequence = await self._attempt(seat, adversaries.Attempt(action, seat.expected_sequence))
        self._setbacks = 0 if sequence is not None else self._setbacks + 1
        if sequence is not None and self._behaviour is Behaviour.DUPLICATE:
            await self._duplicate(seat, action)

    async def _duplicate(self, seat: Seat, action: actions_pb2.Action) -> None:
        """Send the same action, and then another one, under the same request id."""
        sent = [one for one in self._viewer.sent if one.action == action.SerializeToString()]
        if not sent:
            return
        await self._attempt(seat, adversaries.Attempt(action), sent[-1].request_id)
        await self._attempt(seat, adversaries.other_action(action), sent[-1].request_id)

    async def _attempt(self, seat: Seat, attempt: adversaries.Attempt, request_id: str = "") -> int | None:
        """Send an action; None if it was refused or failed, which is recorded too."""
        if attempt.expected is not None:
            self._context.measures.count(f"probe {attempt.expected.name}")
        by_call = bool(request_id) or (attempt.expected is not None and self._random.random() < 0.5)
        try:
            return await seat.attempt(attempt, request_id=request_id, by_call=by_call)
        except TimedOut as error:
            self._context.measures.failed("acting", str(error))
        except CroupierError as error:
            if is_failure(error):
                self._failed("acting", error)
        return None

    async def _react(self) -> None:
        try:
            await self._client.send_reaction(table_id=self._table_id, reaction="clap")
        except CroupierError as error:
            if is_failure(error):
                self._failed("reacting", error)

    # Adversaries

    async def _probe(self, seat: Seat) -> None:
        await self._attempt(seat, adversaries.on_turn(seat, self._random))
        match self._random.randrange(8):
            case 0:
                await self._send_invalid(self._random.choice(adversaries.INVALID_REQUESTS))
            case 1:
                await self._act_at_other_table(seat)

    async def _send_invalid(self, request: adversaries.InvalidRequest) -> None:
        self._context.measures.count(f"probe {request.name}")
        error = await self._client.send_bytes(adversaries.SUBMIT_ACTION, request.body)
        self._check_refusal(request.name, error, frozenset({(request.code, request.reason)}))

    async def _act_at_other_table(self, seat: Seat) -> None:
        player = self._viewer.player_id
        other = self._context.tables.other_table(player, self._random)
        if other is None or not seat.legal_actions.actions:
            return
        self._context.measures.count("probe another's table")
        request_id, action = f"elsewhere-{self._random.getrandbits(48):x}", seat.legal_actions.actions[0]
        refusal = None
        try:
            await self._client.submit_action(table_id=other.table_id, request_id=request_id, action=action)
        except CroupierError as error:
            refusal = error
            if error.reason_name:
                count_refused_action(self._context.measures, error.reason_name)
        self._check_refusal("another's table", refusal, adversaries.FOREIGN_REFUSALS)

    def _check_refusal(self, name: str, error: CroupierError | None, refusals: frozenset[adversaries.Refusal]) -> None:
        if error is None:
            self._note(Invariant.ILLEGAL_ACCEPTED, 0, f"{name} was accepted")
        elif is_failure(error):
            self._failed(f"trying {name}", error)
        elif (error.code, error.reason) not in refusals:
            self._note(Invariant.WRONG_REFUSAL, 0, f"{name} was refused with {error}")

    # Checking

    async def _check_view(self, seat: Seat) -> None:
        """Ask for the view, whose sequence the stream must reach soon."""
        try:
            snapshot = (await self._client.get_view(table_id=self._table_id)).snapshot
        except CroupierError as error:
            self._failed("GetView", error)
            return
        self._viewer.viewed.append(Viewed(wall_milliseconds(), snapshot.SerializeToString()))
        try:
            await seat.wait_for_change(
                after=snapshot.sequence - 1, timeout_seconds=self._context.settings.silence_seconds
            )
        except TimedOut:
            detail = f"GetView was at sequence {snapshot.sequence}, the stream is still at {seat.sequence}"
            self._note(Invariant.STREAM_SILENT, seat.sequence, detail)
            raise

    async def _read_replay_and_sheet(self, record: TableRecord) -> None:
        try:
            await read_replay_and_sheet(self._client, record, self._sheet_seconds)
        except CroupierError as error:
            self._failed("reading the records", error)

    def _note(self, invariant: Invariant, sequence: int, detail: str) -> None:
        self._viewer.noted.append(Noted(invariant, sequence, detail))

    def _failed(self, operation: str, error: CroupierError) -> None:
        if isinstance(error, Internal):
            self._note(Invariant.INTERNAL_ERROR, 0, f"{operation}: {error}")
            return
        if isinstance(error, NotFound) and self._viewer.received:
            self._note(Invariant.TABLE_LOST, 0, f"{operation}: {error}, after a game had begun there")
        # Counted as well, since this table may not be judged.
        self._context.measures.failed(f"{operation}: {error.code.name} {error.reason_name}".strip(), str(error))
