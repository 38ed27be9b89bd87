"""A service that acknowledges actions before their commit, which fault runs must find.

`python -m tests.faults.early_acknowledgement run FLAGS` is a fault run with such services; with other arguments the
module is the child process of one of them.
"""

import asyncio
import sys
from collections.abc import Sequence

from croupier.engine.core.fold import Turn
from croupier.engine.core.log import Entry
from croupier.engine.storage.port import TableChange
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.runtime.outcomes import Callback
from croupier_loadtest.faults.child import main as run_child
from croupier_loadtest.faults.command import main as run_faults

DELAY_SECONDS = 0.3


def acknowledge_early() -> None:
    """Change the store to call back at once, and to commit in the same order later."""
    append, order, pending = SqlTableStore.append, asyncio.Lock(), set[asyncio.Task[None]]()

    def early(
        store: SqlTableStore,
        table_id: str,
        entries: Sequence[Entry],
        change: TableChange | None,
        turn: Turn,
        done: Callback[None],
    ) -> None:
        async def later() -> None:
            await asyncio.sleep(DELAY_SECONDS)
            async with order:
                stored = asyncio.Event()
                append(store, table_id, entries, change, turn, lambda _: stored.set())
                await stored.wait()

        task = asyncio.create_task(later())
        pending.add(task)
        task.add_done_callback(pending.discard)
        asyncio.get_running_loop().call_soon(done, None)

    setattr(SqlTableStore, "append", early)  # noqa: B010 - mypy allows no other way


if __name__ == "__main__":
    if sys.argv[1] == "run":
        sys.exit(run_faults(sys.argv[2:], child=__spec__.name))
    acknowledge_early()
    sys.exit(run_child(sys.argv[1:]))
