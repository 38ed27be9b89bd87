"""The toy as an installed package, for processes that find games by their entry points."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]


def with_toy_installed(folder: Path) -> dict[str, str]:
    """Return the environment of a process in which the toy is installed; a folder gets its metadata."""
    package = folder / "toy-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[croupier.games]\ntoy = tests.games.toy:TOY\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(folder)))}
