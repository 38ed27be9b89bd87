"""Reads what the services keep of a table that is over."""

from collections.abc import Awaitable, Callable
from itertools import chain, repeat

from croupier_api.v1 import scoring_pb2
from croupier_client import NotFound
from loadtest.judge.violations import Invariant
from loadtest.players.world import PlayerClient
from loadtest.record import Noted, TableRecord

SHEET_POLLS_SECONDS = (0.1, 0.3, 0.5, 1.0, 2.0, 5.0)


async def read_records(
    client: PlayerClient, record: TableRecord, pause: Callable[[float], Awaitable[None]], patience_seconds: float
) -> None:
    """Add the replay and the score sheet to the record, and note a result that is missing; raises CroupierError."""
    record.replays.append((await client.get_replay(table_id=record.table_id)).replay)
    sheet = await _finished_sheet(client, record.table_id, pause, patience_seconds)
    if sheet is not None:
        record.sheet = sheet.SerializeToString()
        return
    detail = f"scoring has no result after {patience_seconds:g} seconds"
    record.viewers[0].noted.append(Noted(Invariant.RESULT_MISSING, 0, detail))


async def _finished_sheet(
    client: PlayerClient, table_id: str, pause: Callable[[float], Awaitable[None]], patience_seconds: float
) -> scoring_pb2.GetScoreSheetResponse | None:
    """The score sheet once the result is on it: the engine reports after the players have received the end."""
    waited = 0.0
    for seconds in chain(SHEET_POLLS_SECONDS, repeat(SHEET_POLLS_SECONDS[-1])):
        try:
            sheet = await client.get_score_sheet(table_id=table_id)
            if sheet.HasField("result"):
                return sheet
        except NotFound:
            pass
        if waited >= patience_seconds:
            break
        await pause(seconds)
        waited += seconds
    return None
