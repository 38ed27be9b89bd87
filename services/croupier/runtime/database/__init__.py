"""Databases: SQLite and PostgreSQL by two verbs, their schemas and their faults."""
