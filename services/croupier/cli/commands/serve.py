"""`croupier serve`: one service, or the gateway, in the foreground, with its own flags and CROUPIER_* variables."""

from collections.abc import Sequence
from importlib import import_module

from croupier.cli.faults import misused

SERVICES = ("lobby", "engine", "scoring")
"""The services with a database."""
PROGRAMS = (*SERVICES, "gateway")


def run_service(name: str, arguments: Sequence[str]) -> int:
    """Run a service until it stops, and return its exit code; raises CommandFault for an unknown name."""
    if name not in PROGRAMS:
        raise misused(f"there is no service {name!r}: choose one of {', '.join(PROGRAMS)}")
    # Imported here: a service imports its whole stack, for which no other command should wait.
    main = import_module(f"croupier.{name}.__main__").main
    return int(main(arguments) or 0)
