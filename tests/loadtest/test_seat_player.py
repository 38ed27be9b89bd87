"""Viewers of a table: when players give it up, report a missed deadline, or end; matched ones; and spectators."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from random import Random
from typing import Any, Self, cast

import grpc
import pytest

from croupier_api.v1 import engine_pb2, games_pb2, lobby_pb2, scoring_pb2, tables_pb2
from croupier_client import CroupierError, RetryPolicy, TimedOut, Unavailable
from croupier_client.retry import Attempts, Retries
from croupier_client.rpc import StreamMessage
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.measures import Measures
from croupier_loadtest.mix import MixEntry
from croupier_loadtest.players.client import PlayerClient
from croupier_loadtest.players.groups import matcher
from croupier_loadtest.players.recorder import TableRecords
from croupier_loadtest.players.seat_player import CANCELLED, SeatPlayer
from croupier_loadtest.players.spectators import spectator
from croupier_loadtest.players.table import read_again
from croupier_loadtest.players.user_context import LoadSettings, UserContext
from croupier_loadtest.record import SeatRecord, TableRecord
from croupier_loadtest.scenarios import SCENARIOS, Behaviour

NEVER = 1000
TABLE = tables_pb2.Table(table_id="t", game="thulla", seats=[tables_pb2.Seat(player_id="p")] * 2)


class FakeTable:
    """A table past its deadline whose stream has no message; after so many silences the game is over."""

    def __init__(self, silences: int = 0, compensated_after: int = NEVER, error: BaseException | None = None) -> None:
        self.silences = 0
        self.sequence = 7
        self.clock = engine_pb2.TurnClock(deadline_unix_ms=1)
        self.waiting = asyncio.Event()
        self._is_over_after, self._compensated_after, self._error = silences, compensated_after, error

    async def __aenter__(self) -> Self:
        return self

    async def close(self) -> None:
        pass

    async def wait_for_turn(self, *, timeout_seconds: float) -> bool:
        self.waiting.set()
        self.silences += 1
        if self.silences > self._is_over_after:
            return False
        if self._is_over_after == NEVER:
            await asyncio.Event().wait()
        # The entry that compensates an outage.
        self.sequence += self.silences == self._compensated_after
        raise self._error or TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, "silence")

    async def wait_for_change(self, **_: Any) -> None:
        pass


class LeftTable(FakeTable):
    """A table with so many turns, in which the engine always acts first, so that the player only leaves and returns."""

    is_to_act = is_finished = False

    def __init__(self, turns: int, error: CroupierError | None = None) -> None:
        super().__init__()
        self.asked: list[bool] = []
        self._turns, self._refusal = turns, error

    async def wait_for_turn(self, *, timeout_seconds: float) -> bool:
        self._turns -= 1
        return self._turns >= 0

    async def set_away(self, *, is_away: bool) -> int:
        self.asked.append(is_away)
        if self._refusal is not None:
            raise self._refusal
        return self.sequence


class FakeClient:
    """A client of one table, whose services answer or are out; it is matched to that table so often, until the end."""

    def __init__(self, table: FakeTable, *, are_out: bool = False, matches: int = 0) -> None:
        self.player = lobby_pb2.Player(player_id="p")
        self.draining = asyncio.Event()
        self.watched: FakeTable | None = None
        self._table, self._are_out, self._matches = table, are_out, matches

    async def be_matched(self, **_: Any) -> tables_pb2.Table:
        if not self._matches:
            self.draining.set()
            raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, "the run drains")
        self._matches -= 1
        return TABLE

    async def list_games(self) -> lobby_pb2.ListGamesResponse:
        presets = [games_pb2.PresetDescription(name="blitz")]
        return lobby_pb2.ListGamesResponse(games=[games_pb2.GameDescription(game="thulla", presets=presets)])

    def recorded_table(self, table_id: str, viewer: SeatRecord) -> FakeTable:
        return self._table

    async def get_view(self, *, table_id: str) -> engine_pb2.GetViewResponse:
        if self._are_out:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the services are out")
        return engine_pb2.GetViewResponse(snapshot=engine_pb2.Snapshot(sequence=self._table.sequence))

    async def list_tables(self, **_: Any) -> lobby_pb2.ListTablesResponse:
        return lobby_pb2.ListTablesResponse(tables=[TABLE])

    def watched_table(self, table_id: str, viewer: SeatRecord) -> FakeTable:
        assert self.watched is not None
        return self.watched

    async def get_replay(self, *, table_id: str) -> engine_pb2.GetReplayResponse:
        return engine_pb2.GetReplayResponse(replay="the replay")

    async def get_score_sheet(self, *, table_id: str) -> scoring_pb2.GetScoreSheetResponse:
        return scoring_pb2.GetScoreSheetResponse(table_id=table_id, result=scoring_pb2.GameResult())


class Run:
    """A player at a table."""

    def __init__(self, client: FakeClient, behaviour: Behaviour = Behaviour.STEADY) -> None:
        self.measures, self.submitted = Measures(), list[TableRecord]()
        tables = TableRecords(self.measures, self._submit)
        settings = LoadSettings(SCENARIOS["ceiling"], (MixEntry("thulla", (2,), bot="random", preset="blitz"),), 1)
        player = cast("PlayerClient", client)
        self.context = UserContext(settings, self.measures, tables, client.draining, lambda *_: player)
        self.viewer = tables.add_viewer(TableRecord("t", "thulla", 2, "c"), "p", behaviour)
        self.player = SeatPlayer(self.context, player, "t", self.viewer, Random(1), 30)

    async def _submit(self, record: TableRecord) -> None:
        self.submitted.append(record)


async def test_a_table_is_given_up_while_its_services_are_out() -> None:
    table = FakeTable(silences=NEVER - 1)
    run = Run(FakeClient(table, are_out=True))
    await run.player.play()
    assert table.silences < NEVER - 1
    assert run.viewer.left_milliseconds is not None
    assert not run.viewer.reported
    assert [record.table_id for record in run.submitted] == ["t"]


@pytest.mark.parametrize(
    ("compensated_after", "reported"), [(2, []), (NEVER, [Invariant.DEADLINE_MISSED])], ids=["an outage", "a defect"]
)
async def test_a_deadline_is_missed_if_no_entry_follows_an_answer(
    compensated_after: int, reported: list[Invariant]
) -> None:
    run = Run(FakeClient(FakeTable(2, compensated_after)))
    await run.player.play()
    assert [one.invariant for one in run.viewer.reported] == reported


async def test_a_player_whose_call_is_cancelled_by_nobody_is_a_defect() -> None:
    """The others at the table would wait for them."""
    run = Run(FakeClient(FakeTable(1, error=asyncio.CancelledError())))
    with pytest.raises(asyncio.CancelledError):
        await run.player.play()
    assert run.viewer.left_milliseconds is not None
    assert run.measures.take()["failures"][CANCELLED] == [1, "t"]


async def test_a_player_who_is_stopped_is_no_defect() -> None:
    table = FakeTable(NEVER)
    run = Run(FakeClient(table))
    playing = asyncio.create_task(run.player.play())
    await table.waiting.wait()
    playing.cancel()
    with suppress(asyncio.CancelledError):
        await playing
    assert playing.cancelled()
    assert CANCELLED not in run.measures.take()["failures"]


@pytest.mark.parametrize("behaviour", [Behaviour.AWAY, Behaviour.STEADY])
async def test_only_a_player_who_is_away_leaves_and_returns_once(behaviour: Behaviour) -> None:
    table = LeftTable(turns=200)
    client = FakeClient(table)
    client.draining.set()  # Nobody waits then.
    run = Run(client, behaviour)
    await run.player.play()
    has_left = behaviour is Behaviour.AWAY
    assert table.asked == ([True, False] if has_left else [])
    counts = run.measures.take()["counts"]
    assert [counts.get(name, 0) for name in ("leaves", "returns")] == [has_left, has_left]


async def test_a_player_who_cannot_leave_plays_on() -> None:
    table = LeftTable(200, Unavailable(grpc.StatusCode.UNAVAILABLE, "the services are out"))
    client = FakeClient(table)
    client.draining.set()
    run = Run(client, Behaviour.AWAY)
    await run.player.play()
    assert run.viewer.left_milliseconds is None
    assert run.measures.take()["failures"]


async def test_a_table_that_the_lobby_sends_again_is_played_once() -> None:
    """A lobby does so if the stream of the match broke before its end."""
    run = Run(FakeClient(FakeTable(), matches=3))
    run.context.tables.leave("t")
    await matcher(run.context, "matcher")
    assert [record.table_id for record in run.submitted] == ["t"]
    assert run.measures.take()["counts"]["matches repeated"] == 2


async def test_a_match_that_is_not_what_the_player_searched_for_is_a_violation() -> None:
    run = Run(FakeClient(FakeTable(), matches=1))
    run.context.tables.leave("t")
    await matcher(run.context, "matcher")
    batch = run.measures.take()
    # The player has both seats of the table.
    assert {one["invariant"] for one in batch["violations"]} == {Invariant.FORMING_WRONG}
    assert batch["counts"]["checked matches"] == 1


class WatchedTable(FakeTable):
    """A table whose players leave at its end, before its spectator receives that."""

    is_finished = True

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run = run

    async def __aenter__(self) -> Self:
        await self._run.player.play()
        self._run.context.stop_after_game()
        return self


async def test_the_last_viewer_of_a_finished_table_reads_its_replay_and_score_sheet() -> None:
    """A spectator may receive the end later than the players."""
    client = FakeClient(FakeTable())
    run = Run(client)
    client.watched = WatchedTable(run)
    await spectator(run.context, "spectator")
    (record,) = run.submitted
    assert len(record.viewers) == 2
    assert record.replays == ["the replay"]
    assert record.sheet is not None


class Reader(FakeClient):
    """A client whose first stream is lost after one message; the game is over, and its log has two entries."""

    def __init__(self) -> None:
        super().__init__(FakeTable())
        self.streams = 0

    def retries(self, attempts: Attempts) -> Retries:
        return Retries(RetryPolicy(first_delay_seconds=0), attempts, lambda: 0, Random(1))

    async def open_table(self, watch: engine_pb2.WatchTableRequest) -> AsyncGenerator[StreamMessage, None]:
        self.streams += 1
        return self._log(is_lost=self.streams == 1)

    async def _log(self, *, is_lost: bool) -> AsyncGenerator[engine_pb2.WatchTableResponse, None]:
        yield entry(1)
        if is_lost:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the engine stops")
        yield entry(2)


def entry(sequence: int) -> engine_pb2.WatchTableResponse:
    event = engine_pb2.TableEvent(update=engine_pb2.TableUpdate(sequence=sequence))
    return engine_pb2.WatchTableResponse(table_event=event)


async def test_a_log_is_read_on_another_stream_after_the_first_is_lost() -> None:
    client, viewer = Reader(), SeatRecord("p")
    await read_again(cast("PlayerClient", client), "t", viewer)
    assert [opened.after_sequence for opened in viewer.opened] == [0, 0]
    assert [one.stream for one in viewer.received] == [0, 1, 1]
