"""The players of the simulation, and their behaviour."""

import asyncio
from contextlib import aclosing

import croupier_client as client
from croupier.games.registry import installed_games
from croupier_api.v1 import actions_pb2, cards_pb2, engine_pb2, games_pb2
from croupier_client.rpc import Rpc, Service
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import TableRecord
from croupier_loadtest.simulation.lobby_player import LobbyPlayer

ABSENT_SECONDS = (5.5, 10.0)
AWAY_SECONDS = (0.1, 8.0)
RETURN_SHARE = 0.7
"""The share of returns by a call; other players return by their next action, if they are quicker than the engine."""


class Player(LobbyPlayer):
    """A player, who plays their tables and watches others."""

    async def play(self, table_id: str) -> None:
        """Play until the game is over."""
        finished = False
        while not finished:
            async with self._client.play_table(table_id) as table:
                finished = await self._play_seat(table)

    async def _play_seat(self, table: client.AsyncTable) -> bool:
        """Play; returns False if the player leaves for a while."""
        beside = [asyncio.create_task(work(table)) for work in (self._vote_and_react, self._leave_and_return)]
        try:
            while await table.wait_for_turn():
                if self.is_drawn(self._behaviour.leave):
                    return False
                await self._take_turn(table)
            return True
        finally:
            for task in beside:
                task.cancel()

    async def _take_turn(self, table: client.AsyncTable) -> None:
        if self.is_drawn(self._behaviour.absent):
            await asyncio.sleep(self._random.uniform(*ABSENT_SECONDS))
        else:
            await asyncio.sleep(self._random.expovariate(1 / self._behaviour.think_seconds))
        await self._present.wait()
        if not table.is_to_act:
            return
        sequence = table.sequence
        try:
            if self.is_drawn(self._behaviour.random_cards):
                card = self._random.choice(cards_pb2.Card.values()[1:])
                await table.submit_action(actions_pb2.Action(play=actions_pb2.PlayAction(card=card)))
            elif self._random.random() < self._behaviour.unary_calls:
                await self._act_by_call(table)
            else:
                expected = sequence if self._random.random() < 0.5 else None
                await table.submit_action(client.choose_random_action(table, self._random), expected_sequence=expected)
        except client.StaleSequence:
            await table.wait_for_change(after=sequence, timeout_seconds=60)
        except client.IllegalAction:
            await asyncio.sleep(0.01)
        except client.FailedPrecondition:
            if not table.is_finished:
                raise

    async def _act_by_call(self, table: client.AsyncTable) -> None:
        sequence = table.sequence
        action = client.choose_random_action(table, self._random)
        answer = await self._client.submit_action(
            table_id=table.table_id, request_id=self._client.new_request_id(), action=action
        )
        await table.wait_for_change(after=max(sequence, answer.sequence - 1), timeout_seconds=60)

    async def _vote_and_react(self, table: client.AsyncTable) -> None:
        """Propose, vote, react and ask for views at random times."""
        voted = 0
        while not table.is_finished:
            await asyncio.sleep(self._random.uniform(0.2, 1.0))
            try:
                if table.proposal is not None and table.proposal.sequence != voted:
                    voted = table.proposal.sequence
                    await table.cast_vote(agree=self._random.random() < 0.8)
                elif self.is_drawn(self._behaviour.other_calls):
                    await self._propose_or_react(table)
            except client.BrokenStream as fault:
                self._findings.add(Invariant.SEQUENCE_GAP, f"{self.name}: {fault}")
            except client.CroupierError:
                continue

    async def _propose_or_react(self, table: client.AsyncTable) -> None:
        proposals = list(installed_games()[table.table.game].proposals)
        if proposals and self._random.random() < 0.5:
            await table.create_proposal(self._random.choice(proposals))
        elif self._random.random() < 0.5:
            await self._client.send_reaction(table_id=table.table_id, reaction=games_pb2.REACTION_WOW)
        else:
            await self._client.get_view(table_id=table.table_id)

    async def _leave_and_return(self, table: client.AsyncTable) -> None:
        """Leave the seat to the engine at random times, and return to it."""
        while not table.is_finished:
            if self._present.is_set():
                await asyncio.sleep(self._random.uniform(0.2, 1.0))
                if not self.is_drawn(self._behaviour.away) or not await self._set_away(table, is_away=True):
                    continue
                self._present.clear()
            await asyncio.sleep(self._random.uniform(*AWAY_SECONDS))
            if self._random.random() < RETURN_SHARE:
                await self._set_away(table, is_away=False)
            self._present.set()

    async def _set_away(self, table: client.AsyncTable, *, is_away: bool) -> bool:
        """Leave the seat or return to it; False if that failed."""
        try:
            await table.set_away(is_away=is_away)
        except client.BrokenStream as fault:
            self._findings.add(Invariant.SEQUENCE_GAP, f"{self.name}: {fault}")
            return False
        except client.CroupierError:
            return False
        return True

    async def watch(self, table_id: str) -> None:
        """Watch until the game is over."""
        async with self._client.watch_table(table_id) as table:
            async for event in table:
                if self.is_drawn(self._behaviour.absent) and isinstance(event, engine_pb2.TableUpdate):
                    await asyncio.sleep(self._random.uniform(0.1, 2.0))

    async def read_again(self, table_id: str) -> None:
        """Read a finished table again, on a stream that resumes before the first entry."""
        request = engine_pb2.WatchTableRequest(table_id=table_id, after_sequence=0)
        rpc = Rpc(Service.ENGINE, request, engine_pb2.WatchTableResponse)
        async with aclosing(await self._client.open(rpc)) as messages:
            async for _ in messages:
                pass

    async def fetch(self, record: TableRecord) -> None:
        """Add the replay and the score sheet of a finished table to its record."""
        table_id = record.table_id
        answer = await self._client.get_replay(table_id=table_id)
        record.sheet = (await self._client.get_score_sheet(table_id=table_id)).SerializeToString()
        record.replays.append(answer.replay)

    async def board(self, game: str) -> list[bytes]:
        """Return the leaderboard of a game: LeaderboardEntry messages."""
        board = await self._client.get_leaderboard(game=game)
        return [entry.SerializeToString() for entry in board.entries]

    async def statistics(self, player_id: str) -> bytes:
        """Return the statistics of a player: a GetPlayerStatisticsResponse."""
        answer = await self._client.get_player_statistics(player_id=player_id)
        return bytes(answer.SerializeToString())
