"""The lobby's database: transactions, locks and notifications between replicas."""

import hashlib

from sqlalchemy import BigInteger, Column, ColumnElement, Connection, Select, cast, func, literal, select, text

from croupier.runtime.database.database import Database
from croupier.runtime.database.notifications import Notifications
from croupier.runtime.observation.logs import Logger

NOTIFICATION_CHANNEL = "croupier_lobby_table"
"""The channel of PostgreSQL on which lobbies send the ids of changed tables to each other."""


class Store:
    """The lobby's database, PostgreSQL or SQLite.

    A database ends one of two transactions that wait for each other. Therefore a transaction that changes several rows
    locks them in one order, or skips those that are locked.
    """

    def __init__(self, database: Database, logger: Logger) -> None:
        self._is_postgresql = database.dialect == "postgresql"
        self.read = database.read
        self.write = database.write
        self.notifications = Notifications(database, logger) if self._is_postgresql else None
        """Those of changed tables, between the replicas of the lobby; None on SQLite, which has one."""

    def notify(self, table_id: str) -> None:
        """Notify the other replicas soon of a changed table, after the commit; the notification may get lost."""
        if self.notifications is not None:
            self.notifications.send(NOTIFICATION_CHANNEL, table_id)

    def arrival_time(self, now: int) -> ColumnElement[int]:
        """Return the time in milliseconds since 1970 UTC, by one clock for all replicas."""
        if self._is_postgresql:
            return cast(func.extract("epoch", func.clock_timestamp()) * 1000, BigInteger)
        return literal(now, BigInteger)


def acquire_advisory_locks(connection: Connection, *keys: tuple[str | int, ...]) -> None:
    """Wait for locks, in one order, and hold them until the transaction ends.

    At READ COMMITTED concurrent transactions would not see each other's rows. A transaction acquires such locks before
    anything else. Only a match locks networks after tickets: no transaction that has a network waits for a ticket.
    """
    if connection.dialect.name == "postgresql":
        for number in sorted(map(_lock_number, keys)):
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": number})


def _lock_number(key: tuple[str | int, ...]) -> int:
    digest = hashlib.sha256("\0".join(map(str, ("croupier lobby", *key))).encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


def select_unlocked(key: Column[str], *conditions: ColumnElement[bool]) -> Select[str]:
    """Return a query that locks rows and selects their keys, but skips rows that are locked."""
    return select(key).where(*conditions).with_for_update(skip_locked=True)
