"""What the command lines of the load tests have in common."""

import argparse
import secrets
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

MISUSED = 2
PYTHON = "python -m "


class Parser(argparse.ArgumentParser):
    """Reads the command line of a module; what is wrong is told in one line, with exit code 2."""

    def __init__(self, module: str, description: str, epilog: str = "") -> None:
        super().__init__(prog=PYTHON + module, description=description, epilog=epilog)

    def error(self, message: str) -> NoReturn:
        """One line, instead of the whole usage."""
        print(f"{self.prog.removeprefix(PYTHON)}: {message}", file=sys.stderr)
        sys.exit(MISUSED)

    def refuse_less_than_one(self, given: argparse.Namespace, *names: str) -> None:
        """Refuse what is given among these and is less than 1."""
        for name in names:
            if getattr(given, name) is not None and getattr(given, name) < 1:
                self.error(f"--{name.replace('_', '-')} is at least 1")

    def repeated(self, arguments: Sequence[str], seed: int | None) -> tuple[int, str]:
        """The seed that is given, or one of chance, and the command that does the same again."""
        if seed is not None:
            return seed, f"{self.prog} {shlex.join(arguments)}"
        chosen = secrets.randbelow(2**31)
        return chosen, f"{self.prog} {shlex.join([*arguments, '--seed', str(chosen)])}"


def new_folder(name: str) -> Path:
    """Where results go if nobody says where: results/TIME-NAME."""
    return Path("results") / f"{time.strftime('%Y%m%d-%H%M%S')}-{name}"
