"""Attackers who try to read private tables."""

from collections.abc import Sequence

from google.protobuf.message import Message

from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2, tables_pb2
from loadtest.judge.violations import Invariant
from loadtest.players.attackers.attacker import PAGE_SIZE, Attacker
from loadtest.players.attackers.client import OK, AttackClient
from loadtest.players.attackers.hoarding import GAME, open_table

LINK = "a.b.c"
PRIVATE_TABLE = lobby_pb2.CreateTableRequest(
    game=GAME, seat_count=2, access=tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_SEATED)
)
SHOWN = (OK, "NOT_SEATED", "TABLE_NOT_FINISHED", "TABLE_FULL", "TABLE_STARTED")
"""Outcomes by which a table is known to exist."""
READS_OF_A_TABLE = 20
"""The number of times that all requests about a table are sent."""


async def private_tables(attacker: Attacker) -> None:
    """Read tables that only their players may see: by their ids, with forged links, and from lists."""
    clients = await attacker.sign_in(2)
    while len(clients) == 2:
        host, snoop = clients
        table_id = await open_table(attacker, [host], PRIVATE_TABLE)
        for _ in range(READS_OF_A_TABLE if table_id else 0):
            await attacker.pause()
            for request in _requests(table_id):
                outcome = (await attacker.call(snoop, request)).outcome
                if outcome in SHOWN:
                    detail = f"{type(request).DESCRIPTOR.name} answered {outcome}"
                    attacker.record_violation(Invariant.PRIVATE_TABLE_SEEN, table_id, detail)
            await _check_lists(attacker, snoop, table_id)
        clients = await attacker.sign_in(2)


def _requests(table_id: str) -> Sequence[Message]:
    return (
        lobby_pb2.GetTableRequest(table_id=table_id),
        lobby_pb2.JoinTableRequest(table_id=table_id),
        engine_pb2.GetViewRequest(table_id=table_id),
        engine_pb2.GetViewRequest(table_id=table_id, link=LINK),
        engine_pb2.GetReplayRequest(table_id=table_id),
        engine_pb2.CreateLinkRequest(table_id=table_id, purpose=engine_pb2.LINK_PURPOSE_WATCH),
        engine_pb2.SendReactionRequest(table_id=table_id, reaction="clap"),
        scoring_pb2.GetScoreSheetRequest(table_id=table_id),
    )


async def _check_lists(attacker: Attacker, snoop: AttackClient, table_id: str) -> None:
    tables = await attacker.call(snoop, lobby_pb2.ListTablesRequest(page_size=PAGE_SIZE))
    results = await attacker.call(snoop, scoring_pb2.ListResultsRequest(page_size=PAGE_SIZE))
    listed = [table.table_id for table in tables.message.tables] if tables.message is not None else []
    listed += [result.table_id for result in results.message.results] if results.message is not None else []
    if table_id in listed:
        attacker.record_violation(Invariant.PRIVATE_TABLE_SEEN, table_id, "it is listed")
