"""One player at one table: legal actions by chance until the game is over, through whatever happens."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

import grpc

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client import BrokenStream, CroupierError, FailedPrecondition, StaleSequence, Unavailable, random_legal
from croupier_client.callers import Call, Service
from loadtest.faults.records import Stream, TableRecord
from loadtest.faults.witness import Connections, WitnessClient, WitnessTable

if TYPE_CHECKING:
    from loadtest.faults.swarm import Manners

MOST_STREAMS = 50
AWAY_SECONDS = 9.0
LEAVES_AT_TURN = 0.1


class Player:
    """A seat, or a spectator, at one table."""

    def __init__(
        self, manners: "Manners", record: TableRecord, client: WitnessClient, stream: Stream, random: Random
    ) -> None:
        self._manners = manners
        self._record = record
        self._client = client
        self._stream = stream
        self._random = random

    async def play_to_the_end(self) -> str:
        """Play until the game is over; gives what no client should ever see, or nothing."""
        try:
            for _ in range(MOST_STREAMS):
                if await self._play_for_a_while():
                    return ""
        except BrokenStream as error:
            return str(error)
        except CroupierError as error:
            return f"gave up: {error}"
        return f"the game is not over after {MOST_STREAMS} streams"

    async def _play_for_a_while(self) -> bool:
        """Play until the game is over (True), or until the player goes away for some time (False)."""
        folds = self._random.random() < 1 / 8
        async with WitnessTable(self._client, self._record, self._stream, folds) as table:
            while await table.your_turn():
                if self._leaves() and self._random.random() < LEAVES_AT_TURN:
                    break
                await asyncio.sleep(self._random.uniform(0, 2 * self._manners.think_seconds))
                if table.to_act and not table.finished:
                    await self._take_turn(table)
            else:
                return table.finished
        with suppress(TimeoutError):
            # Who is away when the run ends comes back: else his table would wait for him, and look stuck.
            async with asyncio.timeout(AWAY_SECONDS):
                await self._manners.ending.wait()
        return False

    def _leaves(self) -> bool:
        return self._stream.leaves and not self._manners.ending.is_set()

    async def _take_turn(self, table: WitnessTable) -> None:
        seen, action = table.sequence, random_legal(table, self._random)
        expected = seen if len(table.view.seats_to_act) == 1 else None
        try:
            if self._manners.twins:
                await self._act_twice(table, action, expected, self._manners.twins)
            else:
                await table.act(action, expected_sequence=expected)
        except StaleSequence:
            await table.changed(after=seen)
        except FailedPrecondition as error:
            # The engine acted in between, or the game ended: then the table has moved on.
            if not table.finished and table.sequence == seen and not self._stream.hampered:
                raise BrokenStream(f"a legal action was refused at {seen}: {error}") from error
        except Unavailable as error:
            # It is not known how it went; the stream will tell.
            self._client.errors.note_raised(error)
            await asyncio.sleep(self._manners.think_seconds)

    async def _act_twice(
        self, table: WitnessTable, action: table_pb2.Action, expected: int | None, twins: Sequence[Connections]
    ) -> None:
        """Send one request to several engines at the same moment; all that answer must answer alike."""
        request = table.submit(action, expected)
        call = Call(Service.ENGINE, request, engine_pb2.SubmitActionResponse)
        try:
            answers = await asyncio.gather(*(self._client.ask(twin, call) for twin in twins), return_exceptions=True)
        finally:
            table.forget(request.request_id)
        accepted = [answer.sequence for answer in answers if not isinstance(answer, BaseException)]
        for sequence in accepted:
            table.promised(request.request_id, sequence)
        refused = [answer for answer in answers if isinstance(answer, CroupierError)]
        if accepted and any(not isinstance(error, Unavailable) for error in refused):
            raise BrokenStream(f"one engine accepted what another refused: {refused}")
        if not accepted:
            raise refused[0] if refused else Unavailable(grpc.StatusCode.UNAVAILABLE, "no engine answered")
        await table.changed(after=max(accepted) - 1)
