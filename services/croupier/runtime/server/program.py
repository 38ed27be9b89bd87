"""The end of a program that cannot run: a line for each fault, and an exit code for its kind."""

import sys
from collections.abc import Callable, Mapping

FAILED = 1
MISUSED = 2


class SettingsError(ValueError):
    """A program cannot run with its settings: a line for each fault, with the expected value and without secrets."""


class DatabaseUnreachable(Exception):
    """The database does not answer, whereas the settings may be right."""


def check_together(given: Mapping[str, object]) -> None:
    """Raise SettingsError if some of these settings, by their flags, are None and others are not."""
    missing = [flag for flag, value in given.items() if value is None]
    if 0 < len(missing) < len(given):
        raise SettingsError(f"{', '.join(missing)} missing: {', '.join(given)} go together")


def run_program(program: str, start: Callable[[], int]) -> int:
    """Run a program and return its exit code: MISUSED for a SettingsError, FAILED if its database does not answer."""
    try:
        return start()
    except (SettingsError, DatabaseUnreachable) as fault:
        sys.stderr.writelines(f"{program}: {line}\n" for line in str(fault).splitlines())
        return MISUSED if isinstance(fault, SettingsError) else FAILED
