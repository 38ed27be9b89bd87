"""The reference client of croupier: sessions, tables and typed errors over the contract; it knows no rules.

    import asyncio, random
    from croupier_client import Client, Endpoints, choose_random_action, play_game

    async def main() -> None:
        rng = random.Random()
        async with Client(Endpoints.single("127.0.0.1:7700"), "a secret of my own", "Kari") as client:
            table = (await client.create_table(game="thulla", seat_count=3)).table
            await client.add_bot(table_id=table.table_id)
            await client.add_bot(table_id=table.table_id)
            await client.set_ready(table_id=table.table_id)
            async with client.play_table(table.table_id) as playing:
                await play_game(playing, lambda seen: choose_random_action(seen, rng))
                print(playing.ranking, playing.view)

    asyncio.run(main())

`aio` and `blocking` are two thin channels; `session`, `table`, `view` and `retry` hold all logic, without I/O.
"""

from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable, AsyncWatchedTable
from croupier_client.blocking import BlockingClient
from croupier_client.blocking_table import BlockingTable, BlockingWatchedTable
from croupier_client.bots import choose_random_action, play_game, play_game_blocking
from croupier_client.cards import action_text, card_from_text, card_text, cards_text, suit_from_text, suit_text
from croupier_client.choices import complete_choice
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
    Superseded,
    TimedOut,
    Unauthenticated,
    Unavailable,
    from_rpc_error,
    from_status,
)
from croupier_client.retry import RetryPolicy
from croupier_client.session import Session
from croupier_client.table import Event, FollowedTable, new_request_id
from croupier_client.view import Viewer, fold

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
    "FollowedTable",
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
    "Superseded",
    "TimedOut",
    "Tls",
    "Unauthenticated",
    "Unavailable",
    "Viewer",
    "action_text",
    "card_from_text",
    "card_text",
    "cards_text",
    "choose_random_action",
    "complete_choice",
    "fold",
    "from_rpc_error",
    "from_status",
    "new_request_id",
    "play_game",
    "play_game_blocking",
    "suit_from_text",
    "suit_text",
]
