"""Inserts with ON CONFLICT, by the dialect of the database."""

from typing import TypeAlias

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

Upsert: TypeAlias = sqlite.Insert | postgresql.Insert


def insert_into(dialect: str, table: Table) -> Upsert:
    """Return an insert with on_conflict_do_nothing() and on_conflict_do_update() for a dialect, by its name."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
