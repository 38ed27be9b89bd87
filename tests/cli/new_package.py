"""A package that `croupier new-game` has written, and commands that find it installed."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.installed_packages import write_metadata


def install(folder: Path, name: str) -> None:
    """Write what pip writes of a package that is installed from its folder."""
    entry_points = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["entry-points"]
    write_metadata(folder, f"croupier-{name}", "0.1.0", entry_points)


def croupier(folder: Path, *arguments: str) -> str:
    """Return what a command prints that ends well, with the package of a folder installed."""
    command = [sys.executable, "-m", "croupier.cli", *arguments]
    done = subprocess.run(command, env=with_path(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def with_path(folder: Path) -> dict[str, str]:
    """Return the environment of such a process."""
    return {**os.environ, "PYTHONPATH": str(folder)}
