"""Reads the replay, the log and the score sheet of a finished table."""

import asyncio
from contextlib import aclosing
from itertools import chain, repeat

import grpc

from croupier_api.v1 import engine_pb2, scoring_pb2
from croupier_client import NotFound, TimedOut
from croupier_client.rpc import Rpc, Service
from loadtest.judge.streams import MAX_RESUMED_ENTRIES
from loadtest.judge.violations import Invariant
from loadtest.players.client import PlayerClient
from loadtest.players.table import OUTAGE_SECONDS
from loadtest.players.tables import wall_milliseconds
from loadtest.record import Opened, Received, ReportedViolation, SeatRecord, TableRecord

SHEET_POLLS_SECONDS = (0.1, 0.3, 0.5, 1.0, 2.0, 5.0)


async def read_replay_and_sheet(client: PlayerClient, record: TableRecord, timeout_seconds: float) -> None:
    """Add the replay and the score sheet to the record, and report a missing result; raises CroupierError."""
    record.replays.append((await client.get_replay(table_id=record.table_id)).replay)
    sheet = await _finished_sheet(client, record.table_id, timeout_seconds)
    if sheet is not None:
        record.sheet = sheet.SerializeToString()
        return
    detail = f"scoring has no result after {timeout_seconds:g} seconds"
    record.viewers[0].reported.append(ReportedViolation(Invariant.RESULT_MISSING, 0, detail))


async def read_again(client: PlayerClient, table_id: str, viewer: SeatRecord) -> None:
    """Read the whole log on a stream that resumes before the first entry: it must equal what the viewer received live.

    If the log is too long for that, the stream has a snapshot instead, and the end of the log is read on another one.
    Raises CroupierError.
    """
    first = await _read_after(client, table_id, viewer, 0)
    if first.HasField("snapshot"):
        await _read_after(client, table_id, viewer, first.snapshot.sequence - MAX_RESUMED_ENTRIES)


async def _read_after(
    client: PlayerClient, table_id: str, viewer: SeatRecord, after_sequence: int
) -> engine_pb2.TableEvent:
    """Read a stream that resumes after a sequence, and return its first event."""
    viewer.opened.append(Opened(wall_milliseconds(), after_sequence))
    stream = len(viewer.opened) - 1
    request = engine_pb2.WatchTableRequest(table_id=table_id, after_sequence=after_sequence)
    first = None
    try:
        async with (
            asyncio.timeout(OUTAGE_SECONDS),
            aclosing(await client.open(Rpc(Service.ENGINE, request, engine_pb2.WatchTableResponse))) as messages,
        ):
            async for message in messages:
                first = first or message.table_event
                viewer.received.append(Received(wall_milliseconds(), stream, message.SerializeToString()))
    except TimeoutError:
        raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, "the log was not read before the time was over") from None
    return first or engine_pb2.TableEvent()


async def _finished_sheet(
    client: PlayerClient, table_id: str, timeout_seconds: float
) -> scoring_pb2.GetScoreSheetResponse | None:
    """Wait for the score sheet with the result, which the engine reports after the players have received the end."""
    waited = 0.0
    for seconds in chain(SHEET_POLLS_SECONDS, repeat(SHEET_POLLS_SECONDS[-1])):
        try:
            sheet = await client.get_score_sheet(table_id=table_id)
            if sheet.HasField("result"):
                return sheet
        except NotFound:
            pass
        if waited >= timeout_seconds:
            break
        await asyncio.sleep(seconds)
        waited += seconds
    return None
