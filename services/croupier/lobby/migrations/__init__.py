"""The migrations of the database, what they lead to, and the table that has its revision."""

from croupier.lobby.storage.schema import METADATA as METADATA

VERSION_TABLE = "lobby_schema_version"
