"""Inserts with ON CONFLICT, by the dialect of the database."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

Upsert: TypeAlias = sqlite.Insert | postgresql.Insert

_KINDS: Mapping[str, Callable[[Table], Upsert]] = MappingProxyType(
    {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
)


def insert_into(dialect: str, table: Table) -> Upsert:
    """Return an insert with on_conflict_do_nothing() and on_conflict_do_update() for a dialect, by its name."""
    return _KINDS[dialect](table)
