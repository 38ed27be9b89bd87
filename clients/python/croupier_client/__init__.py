"""The reference client of croupier: sessions, tables and typed errors over the contract; it knows no rules.

    import asyncio, random
    from croupier_client import Client, Endpoints, play_game, random_legal

    async def main() -> None:
        chance = random.Random()
        async with Client(Endpoints.single("127.0.0.1:7700"), "a secret of my own", "Kari") as client:
            table = (await client.create_table(game="thulla", seats=3)).table
            await client.add_bot(table_id=table.table_id)
            await client.add_bot(table_id=table.table_id)
            await client.set_ready(table_id=table.table_id)
            async with client.play(table.table_id) as playing:
                await play_game(playing, lambda seen: random_legal(seen, chance))
                print(playing.ranking, playing.view)

    asyncio.run(main())

`aio` and `blocking` are the two thin channels; `session`, `table`, `view` and `retry` decide everything, without I/O.
"""

from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable, AsyncWatchedTable
from croupier_client.blocking import BlockingClient
from croupier_client.blocking_table import BlockingTable, BlockingWatchedTable
from croupier_client.bots import choose_cards, play_game, play_game_blocking, random_legal
from croupier_client.cards import action_text, card_from_text, card_text, cards_text, suit_from_text, suit_text
from croupier_client.endpoints import Endpoints, Tls
from croupier_client.errors import (
    AlreadyExists,
    BrokenStream,
    CroupierError,
    FailedPrecondition,
    FoldError,
    IllegalAction,
    Internal,
    InvalidArgument,
    LimitReached,
    NotFound,
    PermissionDenied,
    SequenceError,
    StaleSequence,
    TimedOut,
    Unauthenticated,
    Unavailable,
    from_refusal,
    from_rpc_error,
)
from croupier_client.retry import RetryPolicy
from croupier_client.session import Session
from croupier_client.table import Event, Table
from croupier_client.view import fold

__all__ = [
    "AlreadyExists",
    "AsyncTable",
    "AsyncWatchedTable",
    "BlockingClient",
    "BlockingTable",
    "BlockingWatchedTable",
    "BrokenStream",
    "Client",
    "CroupierError",
    "Endpoints",
    "Event",
    "FailedPrecondition",
    "FoldError",
    "IllegalAction",
    "Internal",
    "InvalidArgument",
    "LimitReached",
    "NotFound",
    "PermissionDenied",
    "RetryPolicy",
    "SequenceError",
    "Session",
    "StaleSequence",
    "Table",
    "TimedOut",
    "Tls",
    "Unauthenticated",
    "Unavailable",
    "action_text",
    "card_from_text",
    "card_text",
    "cards_text",
    "choose_cards",
    "fold",
    "from_refusal",
    "from_rpc_error",
    "play_game",
    "play_game_blocking",
    "random_legal",
    "suit_from_text",
    "suit_text",
]
