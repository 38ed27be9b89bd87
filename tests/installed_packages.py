"""Packages that are installed for the processes of a test, by a folder on their path."""

import os
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
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
