"""Copies of SQLite databases for tests."""

import sqlite3
from contextlib import closing
from pathlib import Path


def copy_database(source: Path, target: Path) -> Path:
    """Copy a database with what is still in its write-ahead log, which a copy of the file alone would leave out."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
    return target
