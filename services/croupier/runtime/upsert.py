"""Inserts that give way to a row that is there: the same clauses for both databases, each with its own insert."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

GivingWay: TypeAlias = sqlite.Insert | postgresql.Insert

_KINDS: Mapping[str, Callable[[Table], GivingWay]] = MappingProxyType(
    {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
)


def insert_into(connection: AsyncConnection, table: Table) -> GivingWay:
    """An insert that takes on_conflict_do_nothing() and on_conflict_do_update()."""
    return _KINDS[connection.dialect.name](table)
