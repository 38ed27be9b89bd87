"""How a command fails: one clear line and an exit code, never a traceback."""

FAILED = 1
MISUSED = 2


class CommandFault(Exception):
    """What was wrong and how to be right, in one line; `exit_code` is 2 where the command line itself was wrong."""

    def __init__(self, message: str, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


def misused(message: str) -> CommandFault:
    """The command line itself was wrong."""
    return CommandFault(message, MISUSED)
