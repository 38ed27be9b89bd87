"""What a database's faults mean: whether they pass by themselves, and what they are in plain words."""

import os
import socket
from collections.abc import Mapping
from types import MappingProxyType

import asyncpg
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

# Classes and codes of appendix A of PostgreSQL's manual.
_PASSING_CLASSES = ("08", "40", "53", "57", "58")
"""Connection, serialization and deadlock, resources, operator, system."""
_PASSING_CODES = ("25006", "25P03", "25P04", "55P03", "28000", "28P01", "3D000")
"""Read only (a standby), time-outs of sessions and locks, and what is refused while a server is set up anew."""
_STALE_PLAN = "InvalidCachedStatementError"
_NO_RIGHTS = "42501"
_AT_ONCE_CLASSES = ("08", "53", "57")

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "28P01": "its server does not take this user and password: see to both in the URL",
        "28000": "its server does not let this user in: see to the user in the URL, and to the server's pg_hba.conf",
        "3D000": "there is no such database: make it first, for example with createdb",
        "53300": "its server has no connection left: raise its max_connections, or run fewer replicas",
        "57P03": "its server is starting up or shutting down: try again",
        "25006": "it can only be read: give the URL of the primary",
    }
)


def is_passing(fault: BaseException) -> bool:
    """Whether a fault is that the database cannot be used just now, so that the same may succeed later.

    It is the driver's own fault where a connection is lost after it was opened and before SQLAlchemy has set it up.
    """
    if isinstance(fault, OperationalError | InterfaceError | asyncpg.InterfaceError | PoolTimeout | OSError):
        return True
    if not isinstance(fault, DBAPIError | asyncpg.PostgresError):
        return False
    code = sql_state(fault)
    return (
        getattr(fault, "connection_invalidated", False)
        or code.startswith(_PASSING_CLASSES)
        or code in _PASSING_CODES
        or type(getattr(fault, "orig", fault)).__name__ == _STALE_PLAN
    )


def is_unreachable(fault: BaseException) -> bool:
    """Whether it is enough to wait, or to start the server: nothing is wrong with URL, user or rights."""
    return isinstance(fault, PoolTimeout | OSError) or sql_state(fault).startswith(_AT_ONCE_CLASSES)


def sql_state(fault: BaseException) -> str:
    """PostgreSQL's five characters for what happened, or an empty text."""
    return getattr(getattr(fault, "orig", fault), "sqlstate", None) or ""


def in_words(fault: BaseException) -> str:
    """What is wrong with a database and what to do, to be put after its name."""
    if isinstance(fault, TimeoutError | PoolTimeout):
        return "its server does not answer in time: see to host and port, and whether it runs"
    if isinstance(fault, socket.gaierror):
        return "the name of its server is not known: see to the host in the URL"
    if isinstance(fault, OSError):
        return f"its server cannot be reached ({_reason(fault)}): see to host and port, and whether it runs"
    if words := _WORDS.get(sql_state(fault)):
        return words
    cause = getattr(fault, "orig", None) or fault
    said = (str(getattr(cause, "__cause__", None) or cause).splitlines() or [type(cause).__name__])[0]
    if sql_state(fault) == _NO_RIGHTS:
        return f"{said}: grant it to this user, or use the owner's URL"
    return f"{said}: see to its path and rights" if isinstance(fault, OperationalError) else said


def _reason(fault: OSError) -> str:
    if type(fault) is ConnectionError:
        return str(fault)
    # The text of the event loop quotes every address that was tried.
    return os.strerror(fault.errno).lower() if fault.errno else "no address of it takes connections"
