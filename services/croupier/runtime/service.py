"""What the programs of all services do alike: their database, their start, and their end."""

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.database import open_database
from croupier.runtime.logs import Logger
from croupier.runtime.schema_versions import DatabaseUnreachable, check_durability, check_schema
from croupier.runtime.server import Listener, announce, run, until_stopped

FIRST_ANSWER_SECONDS = 1.0
"""How long a start waits for the first answers of those it calls; they may start later."""


def run_program(program: str, serve: Coroutine[Any, Any, int]) -> int:
    """Run a service and give its exit code: 2 for settings that cannot be used, 1 while its database does not answer.

    Either is told in one line.
    """
    try:
        return run(serve)
    except (ValueError, OSError, SQLAlchemyError) as fault:
        sys.stderr.write(f"{program}: {str(fault).splitlines()[0]}\n")
        return 1 if isinstance(fault, DatabaseUnreachable) else 2


@asynccontextmanager
async def usable_database(url: str, package: str, logger: Logger) -> AsyncIterator[AsyncEngine]:
    """The database of a service's package; raises ValueError if it cannot be used, or is of another version."""
    database = open_database(url)
    try:
        await check_schema(database, package)
        await check_durability(database, logger)
        yield database
    finally:
        await database.dispose()


def tell_ready(
    listeners: Sequence[Listener], ports: Sequence[str], metrics_address: str, ready_file: Path | None, logger: Logger
) -> None:
    """Say where the service listens, by the names of its ports, of which the last may be missing."""
    addresses = {port: listener.address for port, listener in zip(ports, listeners, strict=False)}
    addresses["metrics"] = metrics_address
    announce(ready_file, addresses)
    logger.info("ready", **addresses)


@asynccontextmanager
async def asking(question: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    """A task that asks whether those whom the service calls take its key, given the time for their first answers.

    Raises what it raises, before the body or after it.
    """
    task = asyncio.create_task(question)
    try:
        await asyncio.wait([task], timeout=FIRST_ANSWER_SECONDS)
        if task.done():
            task.result()
        yield task
        if task.done():
            task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until_stopped_or_refused(task: asyncio.Task[None]) -> None:
    """Wait for SIGINT or SIGTERM, or until a task of `asking` has failed."""
    stopped = asyncio.create_task(until_stopped())
    try:
        await asyncio.wait([stopped, task], return_when=asyncio.FIRST_COMPLETED)
        if not task.done() or task.exception() is None:
            await stopped
    finally:
        stopped.cancel()
        await asyncio.gather(stopped, return_exceptions=True)
