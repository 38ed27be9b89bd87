"""Somebody plays at a table, in his manner, to the end of the game or until he leaves it for good."""

import asyncio
from random import Random

import grpc

from croupier_api.v1 import table_pb2
from croupier_client import CroupierError, Internal, NotFound, Table, TimedOut, random_legal
from loadtest.judge.violations import Invariant
from loadtest.players import cheats
from loadtest.players.client import PlayerClient
from loadtest.players.counting import count_refused_action, is_failure
from loadtest.players.records import read_again, read_records
from loadtest.players.table import Seat
from loadtest.players.tables import wall_milliseconds
from loadtest.players.world import World
from loadtest.record import Noted, SeatRecord, TableRecord, Viewed
from loadtest.scenarios import Manner

MOST_SETBACKS = 8
CUT_SHORT = "load test: no time to read the records of a game"
"""How a player's end while reading the records of a table is counted."""
OVERDUE_MILLISECONDS = 10_000
"""Beyond a deadline by so much, a table that does not go on is given up."""
SHEET_SILENCES = 10
"""A result may take so many times what a stream may be silent: where all end at once, there are many to hand over."""
LOOKED_AT = 0.05
"""How often a player asks for the view after his move."""
REACTED = 0.02
DROPPED = 0.15
LEFT = 0.15
AWAY_SECONDS = 1.0
"""How often somebody who left asks whether others still play."""
LATE_SECONDS = 0.5
"""So much beyond the time for an action somebody acts who is late."""
LATE_RESERVE_MILLISECONDS = 5_000
"""With less of a reserve nobody is late."""
LATE_ACTION_SECONDS = 5
"""Nor where an action has more than this."""
THOUGHT_OF_ACTION_TIME = 0.6
"""Nobody thinks longer than this part of the time for an action."""


class SeatPlayer:
    """A player's seat at one table."""

    def __init__(
        self,
        world: World,
        client: PlayerClient,
        table_id: str,
        viewer: SeatRecord,
        random: Random,
        action_seconds: float,
    ) -> None:
        self._world = world
        self._client = client
        self._table_id = table_id
        self._viewer = viewer
        self._random = random
        self._action_seconds = action_seconds
        self._longest_thought = action_seconds * THOUGHT_OF_ACTION_TIME
        self._setbacks = 0
        self._sheet_seconds = world.manners.silence_seconds * SHEET_SILENCES
        self._manner = Manner(viewer.manner)
        self._is_to_be_late = self._manner is Manner.LATE and action_seconds <= LATE_ACTION_SECONDS

    async def play(self) -> None:
        """Play until the game is over, or is left or given up; whoever leaves last sees the table off.

        When time is up, whoever left comes back, so that the others need not wait for a time-out turn after turn.
        """
        try:
            is_over = await self._follow()
            if self._manner is Manner.LEAVER and not is_over and await self._is_missed():
                is_over = await self._follow()
            if is_over and self._random.random() < self._world.manners.scenario.rereading:
                await read_again(self._client, self._table_id, self._viewer)
        except CroupierError as error:
            self._failed("following a table", error)
            self._leave()
        except asyncio.CancelledError:
            self._leave()
            raise
        if record := self._world.tables.leave(self._table_id):
            try:
                if record.is_finished:
                    await self._read_records(record)
            except asyncio.CancelledError:
                self._world.measures.failed(CUT_SHORT, self._table_id)
                raise
            finally:
                await self._world.tables.see_off(record)

    async def _follow(self) -> bool:
        """Follow the table; False if the player leaves or gives up."""
        async with self._client.seat(self._table_id, self._viewer) as seat:
            if is_over := await self._turns(seat):
                self._world.tables.finished(self._table_id)
                await self._look(seat)
        return is_over

    async def _is_missed(self) -> bool:
        """Stay away until time is up, or nobody plays at the table any more; whether somebody does."""
        while (is_played := self._world.tables.is_played(self._table_id)) and not self._world.is_time_up:
            await self._world.sleep(AWAY_SECONDS)
        return is_played

    async def _turns(self, seat: Seat) -> bool:
        """Take turn after turn; False if the player leaves or gives up."""
        has_stayed = self._viewer.left_milliseconds is None
        while await self._is_my_turn(seat):
            if self._manner is Manner.LEAVER and has_stayed and self._random.random() < LEFT:
                self._leave()
                return False
            await self._take_turn(seat)
            if self._setbacks >= MOST_SETBACKS:
                self._world.measures.failed("giving up a table", f"{self._setbacks} attempts in a row failed")
                self._leave()
                return False
        return True

    def _leave(self) -> None:
        """Note when the player left, for the first time if they came back meanwhile."""
        if self._viewer.left_milliseconds is None:
            self._viewer.left_milliseconds = wall_milliseconds()

    async def _is_my_turn(self, seat: Seat) -> bool:
        """Wait for the turn, and look now and then whether the stream has fallen silent while the game goes on."""
        while True:
            try:
                return await seat.your_turn(timeout_seconds=self._world.manners.silence_seconds)
            except TimedOut:
                await self._look(seat)
                self._check_overdue(seat)

    def _check_overdue(self, table: Table) -> None:
        """Note a table that waits beyond its deadline; raises TimedOut."""
        deadline = table.clock.deadline_milliseconds
        if deadline and wall_milliseconds() > deadline + OVERDUE_MILLISECONDS:
            detail = f"nobody was played for though time ran out {wall_milliseconds() - deadline} ms ago"
            self._note(Invariant.DEADLINE_MISSED, table.sequence, detail)
            raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, detail)

    async def _take_turn(self, seat: Seat) -> None:
        if self._manner is Manner.FLAKY and self._random.random() < DROPPED:
            seat.drop()
        await self._think(seat)
        if self._manner is Manner.CHEAT and seat.to_act:
            await self._cheat(seat)
        if not seat.to_act or seat.finished:
            return
        await self._act(seat)
        if self._random.random() < LOOKED_AT:
            await self._look(seat)
        if self._random.random() < REACTED:
            await self._react()
        if self._manner is Manner.CHEAT and not seat.to_act and not seat.finished:
            await self._attempt(seat, cheats.out_of_turn(seat, self._random))

    async def _think(self, table: Table) -> None:
        thought = min(self._world.manners.scenario.thinking.seconds(self._random), self._longest_thought)
        if self._is_to_be_late and not self._world.is_time_up:
            reserve = table.clock.reserve_milliseconds[table.seat or 0]
            thought = self._action_seconds + LATE_SECONDS if reserve >= LATE_RESERVE_MILLISECONDS else thought
            self._is_to_be_late = False
        if thought:
            await self._world.sleep(thought)

    # Acting

    async def _act(self, seat: Seat) -> None:
        action = random_legal(seat, self._random)
        # Where several may act at once, others move the table on, and what was legal stays so.
        seen = seat.sequence if len(seat.view.seats_to_act) == 1 else None
        sequence = await self._attempt(seat, cheats.Attempt(action, seen))
        self._setbacks = 0 if sequence is not None else self._setbacks + 1
        if sequence is not None and self._manner is Manner.DUPLICATE:
            await self._duplicate(seat, action)

    async def _duplicate(self, seat: Seat, action: table_pb2.Action) -> None:
        """Send the same again under the same name, and something else under the same name."""
        sent = [one for one in self._viewer.sent if one.action == action.SerializeToString()]
        if not sent:
            return
        await self._attempt(seat, cheats.Attempt(action), sent[-1].request_id)
        await self._attempt(seat, cheats.other_action(action), sent[-1].request_id)

    async def _attempt(self, seat: Seat, attempt: cheats.Attempt, request_id: str = "") -> int | None:
        """Send an action; None if it was refused or failed, which the record tells too."""
        if attempt.expected is not None:
            self._world.measures.count(f"probe {attempt.expected.name}")
        by_call = bool(request_id) or (attempt.expected is not None and self._random.random() < 0.5)
        try:
            return await seat.attempt(attempt, request_id=request_id, by_call=by_call)
        except TimedOut as error:
            self._world.measures.failed("acting", str(error))
        except CroupierError as error:
            if is_failure(error):
                self._failed("acting", error)
        return None

    async def _react(self) -> None:
        try:
            await self._client.react(table_id=self._table_id, reaction="clap")
        except CroupierError as error:
            if is_failure(error):
                self._failed("reacting", error)

    # Asking for refusals

    async def _cheat(self, seat: Seat) -> None:
        await self._attempt(seat, cheats.on_turn(seat, self._random))
        match self._random.randrange(8):
            case 0:
                await self._send_rubbish(self._random.choice(cheats.RUBBISH))
            case 1:
                await self._act_elsewhere(seat)

    async def _send_rubbish(self, rubbish: cheats.Rubbish) -> None:
        self._world.measures.count(f"probe {rubbish.name}")
        error = await self._client.send_bytes(cheats.SUBMIT_ACTION, rubbish.body)
        self._judge(rubbish.name, error, frozenset({(rubbish.code, rubbish.reason)}))

    async def _act_elsewhere(self, seat: Seat) -> None:
        player = self._viewer.player_id
        other = self._world.tables.elsewhere(player, self._random)
        if other is None or not seat.legal_actions.actions:
            return
        self._world.measures.count("probe another's table")
        request_id, action = f"elsewhere-{self._random.getrandbits(48):x}", seat.legal_actions.actions[0]
        refusal = None
        try:
            await self._client.submit_action(table_id=other.table_id, request_id=request_id, action=action)
        except CroupierError as error:
            refusal = error
            if error.reason:
                count_refused_action(self._world.measures, error.reason)
        self._judge("another's table", refusal, cheats.FOREIGN_REFUSALS)

    def _judge(self, name: str, error: CroupierError | None, refusals: frozenset[tuple[grpc.StatusCode, str]]) -> None:
        if error is None:
            self._note(Invariant.ILLEGAL_ACCEPTED, 0, f"{name} was accepted")
        elif is_failure(error):
            self._failed(f"trying {name}", error)
        elif (error.code, error.reason) not in refusals:
            self._note(Invariant.WRONG_REFUSAL, 0, f"{name} was refused with {error.code.name} {error.reason}: {error}")

    # Checking

    async def _look(self, seat: Seat) -> None:
        """Ask for the view, up to which the stream must come soon."""
        try:
            snapshot = (await self._client.get_view(table_id=self._table_id)).snapshot
        except CroupierError as error:
            self._failed("GetView", error)
            return
        self._viewer.viewed.append(Viewed(wall_milliseconds(), snapshot.SerializeToString()))
        try:
            await seat.changed(after=snapshot.sequence - 1, timeout_seconds=self._world.manners.silence_seconds)
        except TimedOut:
            detail = f"GetView has been at {snapshot.sequence} for long, the stream is at {seat.sequence}"
            self._note(Invariant.STREAM_SILENT, seat.sequence, detail)
            raise

    async def _read_records(self, record: TableRecord) -> None:
        try:
            await read_records(self._client, record, self._sheet_seconds)
        except CroupierError as error:
            self._failed("reading the records", error)

    def _note(self, invariant: Invariant, sequence: int, detail: str) -> None:
        self._viewer.noted.append(Noted(invariant, sequence, detail))

    def _failed(self, what: str, error: CroupierError) -> None:
        if isinstance(error, Internal):
            self._note(Invariant.INTERNAL_ERROR, 0, f"{what}: {error}")
            return
        if isinstance(error, NotFound) and self._viewer.heard:
            self._note(Invariant.TABLE_LOST, 0, f"{what}: {error}, though it was played at")
        # Counted as well: the judge may not look at this table.
        self._world.measures.failed(f"{what}: {error.code.name} {error.reason}".strip(), str(error))
