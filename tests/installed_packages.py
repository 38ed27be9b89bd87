"""Packages that are installed for the processes of a test, by a folder on their path."""

import os
import sys
import tomllib
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

from croupier.games.interface import Game

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/pyproject.toml"))
"""The folders of packages with games that are no part of croupier."""
TOY = {"croupier.games": {"toy": "tests.games.toy:TOY"}}


def write_metadata(site: Path, name: str, version: str, entry_points: Mapping[str, Mapping[str, str]]) -> Path:
    """Write what pip writes of a package into a folder of packages, entry points by group; return its own folder."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{entry} = {target}" for entry, target in entries.items())])
        for group, entries in entry_points.items()
    ]
    (folder / "entry_points.txt").write_text("\n".join(groups))
    return folder


def with_toy_installed(site: Path) -> dict[str, str]:
    """Return the environment of a process in which the toy is installed; a folder gets its metadata."""
    write_metadata(site, "toy", "1.0", TOY)
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(site)))}


def with_games_installed(site: Path) -> dict[str, str]:
    """Return the environment of a process in which the toy and all examples are installed, as `with_toy_installed`."""
    for project in map(_project, EXAMPLES):
        write_metadata(site, project["name"], project["version"], project["entry-points"])
    installed = with_toy_installed(site)
    return {**installed, "PYTHONPATH": os.pathsep.join([installed["PYTHONPATH"], *map(str, EXAMPLES)])}


def example_games() -> tuple[Game, ...]:
    """Return the games of all examples."""
    with patch.object(sys, "path", [*map(str, EXAMPLES), *sys.path]):
        games = [_project(folder)["entry-points"]["croupier.games"].values() for folder in EXAMPLES]
        return tuple(resolve_name(entry)() for entry in chain.from_iterable(games))


def _project(folder: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return project
