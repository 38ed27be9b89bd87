"""The migrations of the database, what they lead to, and the table that has its revision."""

from croupier.scoring.schema import METADATA as METADATA

VERSION_TABLE = "scoring_schema_version"
