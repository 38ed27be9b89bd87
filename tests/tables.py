"""A table with one person and bots, for tests of whole deployments."""

from typing import Any

from google.protobuf.duration_pb2 import Duration

from croupier_api.v1.tables_pb2 import TimeControl
from croupier_client.aio import Client

QUICK_BOTS = TimeControl(bot_delay=Duration(nanos=1_000_000))


async def opened_table(client: Client, seat_count: int = 3, **more: Any) -> str:
    """Open a table with the client's player and bots; returns its id."""
    table_id: str = (await client.create_table(game="thulla", seat_count=seat_count, **more)).table.table_id
    for _ in range(seat_count - 1):
        await client.add_bot(table_id=table_id)
    await client.set_ready(table_id=table_id)
    return table_id


async def has_result(client: Client) -> bool:
    """Return whether scoring lists a result of the client's player."""
    assert client.player is not None
    return bool((await client.list_results(player_id=client.player.player_id)).results)
