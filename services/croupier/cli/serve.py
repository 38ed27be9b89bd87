"""`croupier serve`: one service, or the front door, in the foreground, with its own flags and CROUPIER_* variables."""

from collections.abc import Sequence
from importlib import import_module

from croupier.cli.faults import misused

SERVICES = ("lobby", "engine", "scoring")
"""Those that keep something, and so have a database."""
PROGRAMS = (*SERVICES, "door")


def run_service(name: str, arguments: Sequence[str]) -> int:
    """Run a service until it is told to stop and give its exit code; raises CommandFault for an unknown name."""
    if name not in PROGRAMS:
        raise misused(f"there is no service {name!r}: choose one of {', '.join(PROGRAMS)}")
    # Imported here: a service brings its whole stack with it, which no other command should wait for.
    main = import_module(f"croupier.{name}.__main__").main
    return int(main(arguments) or 0)
