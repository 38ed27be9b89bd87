"""`croupier new-game`: writes a package with a small game of one's own, which passes its own check."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from croupier import cli
from croupier.cli.faults import CommandFault, misused
from croupier.games.registry import registry

TEMPLATE = Path(str(cli.__file__)).with_name("new_game_template")
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
MAX_NAME = 32


def new_game(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its id, for example gin_rummy.")],
    into: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write the package into.")] = Path(),
) -> None:
    """Write a package with a small game of your own, to be changed into yours."""
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise misused(f"invalid name {name!r}: expected lower case words with _ between, at most {MAX_NAME} characters")
    if package := registry().packages.get(name):
        raise misused(f"{package} has a game {name!r} already: choose another name")
    folder = into / name
    if folder.exists():
        raise CommandFault(f"{folder} exists already: choose another folder by --into")
    write_package(folder, names_of(name))
    print(f"{folder} has the game; README.md has what to do next:\n")
    print(f"  pip install --editable '{folder}[test]'\n  croupier games {name} --check")


def names_of(name: str) -> Mapping[str, str]:
    """Return the names of a game by those of the template."""
    words = name.split("_")
    return {
        "example_game": name,
        "example-game": "-".join(words),
        "ExampleGame": "".join(map(str.capitalize, words)),
        "Example Game": " ".join(map(str.capitalize, words)),
        "EXAMPLE": "".join(words).upper()[:16],
    }


def write_package(folder: Path, names: Mapping[str, str]) -> None:
    """Write the package of the template with other names."""
    for source in sorted(path for path in TEMPLATE.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        target = folder / renamed(str(source.relative_to(TEMPLATE)), names)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(renamed(source.read_text(encoding="utf-8"), names), encoding="utf-8")


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a text of the template with other names."""
    for before, after in names.items():
        text = text.replace(before, after)
    return text
