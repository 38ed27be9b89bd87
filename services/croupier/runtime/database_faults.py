"""Errors of databases: whether they are transient, and their descriptions for operators."""

import os
import socket
from collections.abc import Mapping
from types import MappingProxyType

import asyncpg
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

# Classes and codes of appendix A of PostgreSQL's manual.
_TRANSIENT_CLASSES = ("08", "40", "53", "57", "58")
"""Connection, serialization and deadlock, resources, operator, system."""
_TRANSIENT_CODES = ("25006", "25P03", "25P04", "55P03", "28000", "28P01", "3D000")
"""Read only (a standby), timeouts of sessions and locks, and logins that fail while a server is set up again."""
_STALE_PLAN = "InvalidCachedStatementError"
_MISSING_PRIVILEGE = "42501"
_UNREACHABLE_CLASSES = ("08", "53", "57")

_DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "28P01": "its server refuses this user and password: check both in the URL",
        "28000": "its server refuses this user: check the user in the URL, and the server's pg_hba.conf",
        "3D000": "there is no such database: create it first, for example with createdb",
        "53300": "its server has no connection left: raise its max_connections, or run fewer replicas",
        "57P03": "its server is starting up or shutting down: try again",
        "25006": "it is read-only: use the URL of the primary",
    }
)


def is_transient(fault: BaseException) -> bool:
    """Return whether the same operation may succeed later, because the database cannot be used just now.

    If a connection is lost before SQLAlchemy has set it up, the error is the driver's own.
    """
    if isinstance(fault, OperationalError | InterfaceError | asyncpg.InterfaceError | PoolTimeout | OSError):
        return True
    if not isinstance(fault, DBAPIError | asyncpg.PostgresError):
        return False
    code = sql_state(fault)
    return (
        getattr(fault, "connection_invalidated", False)
        or code.startswith(_TRANSIENT_CLASSES)
        or code in _TRANSIENT_CODES
        or type(getattr(fault, "orig", fault)).__name__ == _STALE_PLAN
    )


def is_unreachable(fault: BaseException) -> bool:
    """Return whether the server does not answer, whereas URL, user and privileges may be right."""
    return isinstance(fault, PoolTimeout | OSError) or sql_state(fault).startswith(_UNREACHABLE_CLASSES)


def sql_state(fault: BaseException) -> str:
    """Return PostgreSQL's SQLSTATE of an error, or an empty text."""
    return getattr(getattr(fault, "orig", fault), "sqlstate", None) or ""


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
    cause = getattr(fault, "orig", None) or fault
    message = (str(getattr(cause, "__cause__", None) or cause).splitlines() or [type(cause).__name__])[0]
    if sql_state(fault) == _MISSING_PRIVILEGE:
        return f"{message}: grant it to this user, or use the owner's URL"
    return f"{message}: check its path and rights" if isinstance(fault, OperationalError) else message


def _reason(fault: OSError) -> str:
    if type(fault) is ConnectionError:
        return str(fault)
    # The text of the event loop quotes every address that was tried.
    return os.strerror(fault.errno).lower() if fault.errno else "none of its addresses accepts connections"
