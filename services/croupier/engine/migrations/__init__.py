"""The migrations of the database, what they lead to, and the table that has its revision."""

from croupier.engine.storage.schema import METADATA as METADATA

VERSION_TABLE = "engine_schema_version"
