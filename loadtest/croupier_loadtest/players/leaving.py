"""Leaves tables: a viewer of a finished one reads its replay and score sheet, and the last one submits its record."""

import asyncio
from itertools import chain, repeat

from croupier_api.v1 import scoring_pb2
from croupier_api.v1.errors_pb2 import ERROR_REASON_TABLE_NOT_FINISHED
from croupier_client import Client, CroupierError, Internal, NotFound
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.measures import Measures
from croupier_loadtest.players.counting import record_failed
from croupier_loadtest.players.user_context import UserContext
from croupier_loadtest.record import ReportedViolation, SeatRecord, TableRecord

INTERRUPTED = "load test: no time to read the records of a game"
"""The failure that is counted when a viewer is stopped while reading the records of a table."""
SHEET_TIMEOUT_FACTOR = 10
"""The time limit of a result, in multiples of the maximum silence of a stream; results of many tables queue up."""
SHEET_POLLS_SECONDS = (0.1, 0.3, 0.5, 1.0, 2.0, 5.0)


async def leave_table(context: UserContext, client: Client, table_id: str, viewer: SeatRecord) -> None:
    """Leave a table, as a player or as a spectator."""
    tables = context.tables
    try:
        if (read := tables.record_to_read(table_id, viewer)) is not None:
            await read_replay_and_sheet(client, read, context.settings.silence_seconds * SHEET_TIMEOUT_FACTOR)
    except CroupierError as error:
        # For spectators with a delay the game is not over yet.
        if viewer.seat is not None or error.reason != ERROR_REASON_TABLE_NOT_FINISHED:
            record_failed_at_table(context.measures, viewer, "reading the records", error)
    except asyncio.CancelledError:
        context.measures.record_failure(INTERRUPTED, table_id)
        raise
    finally:
        if (record := tables.leave(table_id)) is not None:
            await tables.submit(record)


def record_failed_at_table(measures: Measures, viewer: SeatRecord, operation: str, error: CroupierError) -> None:
    """Count a failed operation at a table; an internal error or a lost table is a violation."""
    if isinstance(error, Internal):
        viewer.reported.append(ReportedViolation(Invariant.INTERNAL_ERROR, 0, f"{operation}: {error}"))
        return
    if isinstance(error, NotFound) and viewer.received:
        detail = f"{operation}: {error}, after a game had begun there"
        viewer.reported.append(ReportedViolation(Invariant.TABLE_LOST, 0, detail))
    # Counted as well, since this table may not be judged.
    record_failed(measures, operation, error)


async def read_replay_and_sheet(client: Client, record: TableRecord, timeout_seconds: float) -> None:
    """Add the replay and the score sheet to the record, and report a missing result; raises CroupierError."""
    record.replays.append((await client.get_replay(table_id=record.table_id)).replay)
    sheet = await _finished_sheet(client, record.table_id, timeout_seconds)
    if sheet is not None:
        record.sheet = sheet.SerializeToString()
        return
    detail = f"scoring has no result after {timeout_seconds:g} seconds"
    record.viewers[0].reported.append(ReportedViolation(Invariant.RESULT_MISSING, 0, detail))


async def _finished_sheet(
    client: Client, table_id: str, timeout_seconds: float
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
