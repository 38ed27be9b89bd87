"""A table as the tests of whole houses want it: one person, and computer players around him."""

from typing import Any

from croupier_client.aio import Client


async def opened_table(client: Client, seats: int = 3, **more: Any) -> str:
    """A table of the client's with computer players, at which the game is on; gives its id."""
    table_id: str = (await client.create_table(game="thulla", seats=seats, **more)).table.table_id
    for _ in range(seats - 1):
        await client.add_bot(table_id=table_id)
    await client.set_ready(table_id=table_id)
    return table_id


async def has_result(client: Client) -> bool:
    """Whether scoring lists the result of a table of the client's."""
    return bool((await client.list_results()).results)
