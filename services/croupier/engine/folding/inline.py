"""Folds on the event loop, in short steps: for simulations and tests, and while there is no folding process."""

import asyncio
from collections.abc import AsyncIterator
from itertools import islice

from croupier.engine.core.log_codec import LogPart, rows_of
from croupier.engine.folding.port import FoldInSteps, LogFold, Result

MAX_INLINE_ROWS = 64
"""A part of a log with no more rows than this is folded faster here than in a process."""
STEP_ROWS = 16
"""The rows of a step, which take about a millisecond."""


class InlineFolder:
    """Folds on the event loop, and lets other tasks run after each step."""

    async def fold(self, fold: LogFold[Result], parts: AsyncIterator[LogPart]) -> Result:
        """Return the result of a fold over the parts of a log; raises what `parts` and the fold raise."""
        steps = FoldInSteps(fold)
        async for part in parts:
            await add_inline(steps, part)
        return steps.result()

    async def close(self) -> None:
        """Do nothing: there is no process."""


async def add_inline(steps: FoldInSteps[Result], part: LogPart) -> None:
    """Add a part to a fold on the event loop."""
    rows = rows_of(steps.table_id, part)
    is_waiting = True
    while is_waiting:
        taken = tuple(islice(rows, STEP_ROWS))
        steps.take(LogPart(rows=taken))
        is_waiting = steps.step(STEP_ROWS) or bool(taken)
        await asyncio.sleep(0)
