"""Errors of databases: whether they are transient, and their descriptions for operators."""

import os
import socket
import sqlite3
from collections.abc import Mapping
from types import MappingProxyType

import asyncpg
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

# Classes and codes of appendix A of PostgreSQL's manual.
_SESSION_CLASSES = ("08", "25", "26", "57P", "58")
"""Connection, state of the transaction (25006: read-only), lost prepared statements, shutdown, system.

All of them are states of a session or its server: another session may be at another server, after a failover.
"""
_TRANSIENT_CLASSES = (*_SESSION_CLASSES, "40", "53", "57")
"""Also serialization and deadlock, resources, and cancelled statements."""
_TRANSIENT_CODES = ("55P03", "28000", "28P01", "3D000")
"""Timeouts of locks, and logins that fail while a server is set up again."""
_MISSING_PRIVILEGE = "42501"
_READ_ONLY = "25006"
_CONNECTION_LOST = "08003"
_UNREACHABLE_CLASSES = ("08", "53", "57", _READ_ONLY)

_CODES_OF_FILES = (sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
"""Of SQLite, without the rest of an extended code."""
_DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "28P01": "its server refuses this user and password: check both in the URL",
        "28000": "its server refuses this user: check the user in the URL, and the server's pg_hba.conf",
        "3D000": "there is no such database: create it first, for example with createdb",
        "53300": "its server has no connection left: raise its max_connections, or run fewer replicas",
        _CONNECTION_LOST: "its server ended the connection",
        "57P01": "its server ended the connection",
        "57P02": "its server ended the connection",
        "57P03": "its server is starting up or shutting down: try again",
        _READ_ONLY: "it is read-only: use the URL of the primary",
    }
)


def is_transient(fault: BaseException) -> bool:
    """Return whether the same operation may succeed later, because the database cannot be used just now.

    If a connection is lost before SQLAlchemy has set it up, the error is the driver's own.
    """
    if isinstance(fault, OperationalError | InterfaceError | asyncpg.InterfaceError | PoolTimeout | OSError):
        return True
    # The driver's internal error is that of a connection that was lost within a command, or of read-only servers.
    if isinstance(driver_error(fault), asyncpg.InternalClientError | sqlite3.OperationalError):
        return True
    if not isinstance(fault, DBAPIError | asyncpg.PostgresError):
        return False
    code = sql_state(fault)
    return (
        getattr(fault, "connection_invalidated", False)
        or code.startswith(_TRANSIENT_CLASSES)
        or code in _TRANSIENT_CODES
        or isinstance(driver_error(fault), asyncpg.InvalidCachedStatementError)
    )


def ends_session(fault: BaseException) -> bool:
    """Return whether a connection to PostgreSQL is of no more use after an error that its driver raised on it."""
    return sql_state(fault).startswith(_SESSION_CLASSES)


def is_unreachable(fault: BaseException) -> bool:
    """Return whether the server does not answer, whereas URL, user and privileges may be right."""
    return isinstance(fault, PoolTimeout | OSError) or sql_state(fault).startswith(_UNREACHABLE_CLASSES)


def sql_state(fault: BaseException) -> str:
    """Return PostgreSQL's SQLSTATE of an error, or an empty text."""
    error = driver_error(fault)
    if isinstance(error, asyncpg.TargetServerAttributeNotMatched):
        return _READ_ONLY
    return getattr(error, "sqlstate", None) or ""


def driver_error(fault: BaseException) -> BaseException:
    """Return the driver's own error, which SQLAlchemy translates and then wraps."""
    if not isinstance(fault, DBAPIError) or fault.orig is None:
        return fault
    return fault.orig.__cause__ or fault.orig


def describe(fault: BaseException) -> str:
    """Return the error and its remedy as a clause that follows the name of the database."""
    if isinstance(fault, TimeoutError | PoolTimeout):
        return "its server does not answer in time: check host and port, and whether it runs"
    if isinstance(fault, socket.gaierror):
        return "unknown host: check the host in the URL"
    if isinstance(fault, OSError):
        return f"its server cannot be reached ({_reason(fault)}): check host and port, and whether it runs"
    if words := _DESCRIPTIONS.get(sql_state(fault)):
        return words
    error = driver_error(fault)
    if isinstance(error, asyncpg.InternalClientError):
        return _DESCRIPTIONS[_CONNECTION_LOST]
    message = (str(error).splitlines() or [type(error).__name__])[0]
    if sql_state(fault) == _MISSING_PRIVILEGE:
        return f"{message}: grant it to this user, or use the owner's URL"
    is_of_file = isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _CODES_OF_FILES
    return f"{message}: check its path and rights" if is_of_file else message


def _reason(fault: OSError) -> str:
    if type(fault) is ConnectionError:
        return str(fault)
    # The text of the event loop quotes every address that was tried.
    return os.strerror(fault.errno).lower() if fault.errno else "none of its addresses accepts connections"
