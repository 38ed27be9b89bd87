"""Databases through SQLAlchemy, migrated by Alembic; SQLite is the one that is run today."""

import asyncio
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

import aiosqlite
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

BUSY_TIMEOUT_MILLISECONDS = 10_000
CHECKPOINT_PAGES = 10_000
"""Pages of the write-ahead log (40 MB) before they are copied home: a page that many commits touch is copied once."""

LAST_WORD_SECONDS = 1.0


def open_database(url: str) -> AsyncEngine:
    """Open a database by its SQLAlchemy URL, such as sqlite+aiosqlite:////data/x.db; raises ValueError for others."""
    try:
        # The text of a failure would otherwise quote what was to be stored: cards, seeds, tokens.
        engine = create_async_engine(url, hide_parameters=True, connect_args={"async_creator_fn": _connect})
    except (SQLAlchemyError, ImportError):
        raise ValueError(
            "--database is not the SQLAlchemy URL of a database with an asynchronous driver that is installed"
        ) from None
    if engine.dialect.name != "sqlite":
        raise ValueError(f"--database is of {engine.dialect.name}, which is not served yet: SQLite is")
    event.listen(engine.sync_engine, "connect", _set_pragmas)
    return engine


async def _connect(*arguments: Any, **options: Any) -> aiosqlite.Connection:
    connection = aiosqlite.connect(*arguments, **options)
    thread = connection._thread
    # As SQLAlchemy has it: a connection that is still open does not keep the process from ending.
    thread.daemon = True
    try:
        return await connection
    except BaseException:
        # Refused or cancelled: the thread has yet to tell the event loop of its end, which is a matter of microseconds,
        # and nobody waits for that. A program that gives up here would close the loop under it.
        thread.join(LAST_WORD_SECONDS)
        raise


def blocking_twin(engine: AsyncEngine) -> Engine:
    """The same SQLite database through the driver of the standard library, for use on one thread."""
    twin = create_engine(engine.url.set(drivername="sqlite"), hide_parameters=True)
    event.listen(twin, "connect", _set_pragmas)
    return twin


def _set_pragmas(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    # WAL lets readers go on while a commit is under way; FULL makes a commit survive a loss of power.
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        f"busy_timeout={BUSY_TIMEOUT_MILLISECONDS}",
        f"wal_autocheckpoint={CHECKPOINT_PAGES}",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


async def migrate(engine: AsyncEngine, package: str) -> None:
    """Bring the schema up to date with the migrations of a service's package, for example "croupier.engine".

    Raises ValueError for a database that cannot be used.
    """
    config = Config()
    config.set_main_option("script_location", str(files(package) / "migrations"))
    try:
        async with engine.connect() as connection:
            await connection.run_sync(_upgrade, config)
            await connection.commit()
    except DBAPIError as fault:
        name = engine.url.render_as_string(hide_password=True)
        raise ValueError(f"the database {name} cannot be used, {fault.orig}: see to its path and rights") from None


def _upgrade(connection: Connection, config: Config) -> None:
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


async def is_reachable(engine: AsyncEngine, timeout_seconds: float = 2.0) -> bool:
    """Whether the database answers in time."""

    async def ask() -> None:
        async with engine.connect() as connection:
            await connection.execute(text("SELECT 1"))

    return await _succeeds(ask, timeout_seconds)


async def _succeeds(ask: Callable[[], Awaitable[None]], timeout_seconds: float) -> bool:
    try:
        # Not wait_for: in Python 3.11 that can swallow a cancellation.
        async with asyncio.timeout(timeout_seconds):
            await ask()
    except Exception:  # noqa: BLE001 - whatever is wrong, it cannot be used now
        return False
    return True
