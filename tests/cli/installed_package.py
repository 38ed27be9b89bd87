"""A package with a game that is installed for the processes of a test, by a folder on their path."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path


def install(folder: Path, name: str) -> None:
    """Write what pip writes of a package that is installed from its folder."""
    installed = folder / f"croupier_{name}-0.1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: croupier-{name}\nVersion: 0.1.0\n")
    groups = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{entry} = {value}" for entry, value in entries.items()))
    ]
    (installed / "entry_points.txt").write_text("\n".join(lines))


def croupier(folder: Path, *arguments: str) -> str:
    """Return what a command prints that ends well, with the package of a folder installed."""
    command = [sys.executable, "-m", "croupier.cli", *arguments]
    done = subprocess.run(command, env=with_path(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def with_path(folder: Path) -> dict[str, str]:
    """Return the environment of such a process."""
    return {**os.environ, "PYTHONPATH": str(folder)}
