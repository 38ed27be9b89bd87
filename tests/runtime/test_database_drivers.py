"""Internals of asyncpg that croupier uses: a new version that fails here cannot be used yet."""

import inspect
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import asyncpg
import pytest
from packaging.requirements import Requirement
from sqlalchemy import make_url

from croupier.runtime.database.drivers import connect_postgresql
from tests.waiting import until

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
SLOW_MOVE = "DO $$ BEGIN PERFORM pg_sleep(1); INSERT INTO moves VALUES (1); END $$"
COMMITS = "a commit after a timeout would be cancelled at the server, and taken for durable before its standby has it"


def test_the_version_of_the_driver_is_bounded_from_above() -> None:
    listed = map(Requirement, tomllib.loads(PROJECT.read_text())["project"]["dependencies"])
    bounds = next(each.specifier for each in listed if each.name == "asyncpg")
    assert any(bound.operator == "<" for bound in bounds), "any release of asyncpg may change its internals"
    assert version("asyncpg") in bounds


def test_asyncpg_has_what_is_overridden() -> None:
    cancel = getattr(asyncpg.Connection, "_cancel_current_command", None)
    assert cancel, f"asyncpg asks for cancellation by another method: {COMMITS}"
    assert all(each.kind is each.POSITIONAL_OR_KEYWORD for each in inspect.signature(cancel).parameters.values())
    assert "_top_xact" in asyncpg.Connection.__slots__, f"asyncpg keeps its transaction elsewhere: {COMMITS}"


@pytest.mark.postgres
async def test_a_command_goes_on_at_the_server_after_a_timeout_except_within_a_transaction(
    new_database: Callable[..., str],
) -> None:
    url = make_url(new_database())
    observer, connection = await connect_postgresql(url), await connect_postgresql(url)
    await observer.execute("CREATE TABLE moves (number int)")
    async with connection.transaction():
        with pytest.raises(TimeoutError):
            async with connection.transaction():
                await connection.execute(SLOW_MOVE, timeout=0.1)
        assert await connection.fetchval("SELECT count(*) FROM moves") == 0
    with pytest.raises(TimeoutError):
        await connection.execute(SLOW_MOVE, timeout=0.1)
    await until(connection.is_closed, "the connection is dropped")
    await until(lambda: observer.fetchval("SELECT count(*) FROM moves"), f"the move is stored: else {COMMITS}")
    await observer.close()
