"""Errors of commands: a line, perhaps with details below it, and an exit code, without a traceback."""

import sys
from collections.abc import Sequence
from typing import NoReturn

from croupier.runtime.printed_text import escaped

FAILED = 1
MISUSED = 2


class CommandFault(Exception):
    """A fault and its remedy in one line, with lines of details; `exit_code` is 2 if the command line is wrong."""

    def __init__(self, message: str, exit_code: int = FAILED, details: Sequence[str] = ()) -> None:
        self._lines = (message, *details)
        super().__init__("\n".join(self._lines))
        self.message = message
        self.exit_code = exit_code

    def end(self, program: str) -> NoReturn:
        """Print the fault as the error of a program, and exit."""
        first, *details = map(escaped, self._lines)
        print(f"{program}: {first}", *details, sep="\n", file=sys.stderr)
        sys.exit(self.exit_code)


def misused(message: str) -> CommandFault:
    """Return the fault of a wrong command line."""
    return CommandFault(message, MISUSED)
