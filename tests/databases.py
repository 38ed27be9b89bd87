"""Databases of tests: copies of SQLite files, and tests on both kinds of database."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.postgres)
on_postgresql = pytest.mark.parametrize("database_url", [POSTGRESQL], indirect=True)
on_both_databases = pytest.mark.parametrize("database_url", ["sqlite", POSTGRESQL], indirect=True)
"""For tests of stores: the layers above do not depend on the database."""


def copy_database(source: Path, target: Path) -> Path:
    """Copy a database with its write-ahead log, which a copy of the file alone would leave out."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
    target.chmod(0o600)
    return target
