"""Logs in a database: the port, the schema, group commit, the writers of both databases, and the archive."""
