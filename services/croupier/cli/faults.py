"""Errors of commands: one line and an exit code, without a traceback."""

import sys
from typing import NoReturn

from croupier.runtime.printed_text import escaped

FAILED = 1
MISUSED = 2


class CommandFault(Exception):
    """A fault and its remedy in one line; `exit_code` is 2 if the command line itself is wrong."""

    def __init__(self, message: str, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code

    def end(self, program: str) -> NoReturn:
        """Print the fault as the error of a program, and exit."""
        print(f"{program}: {escaped(self.message)}", file=sys.stderr)
        sys.exit(self.exit_code)


def misused(message: str) -> CommandFault:
    """Return the fault of a wrong command line."""
    return CommandFault(message, MISUSED)
