"""Commands that are printed for a person to run next: pasted into the same shell, they do what was promised."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

NAME = "croupier"


def printed_command(*words: str) -> str:
    """Return a command with this program as it was called, quoted for a shell."""
    return shlex.join((*_program(sys.argv[0]), *words))


def _program(called: str) -> Sequence[str]:
    if Path(called).name != NAME:
        return (sys.executable, "-m", "croupier.cli")
    found = shutil.which(NAME)
    return (NAME if found and Path(found).resolve() == Path(called).resolve() else called,)


def connection_options(
    data_dir: Path | None, server: str | None, tls: bool, ca_file: Path | None, insecure: bool
) -> tuple[str, ...]:
    """Return the options by which another command reaches the same services as the same person."""
    given = {"--data-dir": data_dir, "--server": server, "--ca-file": ca_file}
    named = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    return (*named, *(flag for flag, is_given in (("--tls", tls), ("--insecure", insecure)) if is_given))
