"""A table with one person and computer players, for tests of whole deployments."""

from typing import Any

from croupier_client.aio import Client


async def opened_table(client: Client, seat_count: int = 3, **more: Any) -> str:
    """Open a table with the client's player and computer players; returns its id."""
    table_id: str = (await client.create_table(game="thulla", seat_count=seat_count, **more)).table.table_id
    for _ in range(seat_count - 1):
        await client.add_bot(table_id=table_id)
    await client.set_ready(table_id=table_id)
    return table_id


async def has_result(client: Client) -> bool:
    """Whether scoring lists the result of a table of the client's player."""
    return bool((await client.list_results()).results)
