"""`croupier load` as a command line: Locust's own, with the load test as its file."""

import importlib.util
import os
import sys

import typer

from croupier.cli.faults import CommandFault


def load(context: typer.Context) -> None:
    """Play many tables at once on running services, or on own ones, and judge every table: croupier load --help."""
    if importlib.util.find_spec("locust") is None:
        raise CommandFault("the load test needs more packages: pip install 'croupier[load]' brings them")
    # Locust replaces the sockets of its process before anything else is imported.
    os.execv(sys.executable, [sys.executable, "-m", "croupier_loadtest", *context.args])  # noqa: S606
