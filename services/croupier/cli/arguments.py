"""Options that several commands have, and their values."""

import os
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.faults import misused
from croupier.cli.launcher.data_folder import default_data_folder
from croupier.runtime.printed_text import escaped


def _folder(text: str) -> Path:
    # As a path it would be the current folder.
    if not text:
        raise misused("--data-dir is empty: expected a folder")
    return Path(text)


DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        parser=_folder,
        metavar="DIR",
        help="The folder of keys, databases and logs.",
        show_default="~/.local/share/croupier",
    ),
]
Options = Annotated[
    list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game; repeatable.")
]
Server = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="A gateway elsewhere, instead of the services in DIR.")
]
Language = Annotated[
    str,
    typer.Option(
        metavar="LANGUAGE",
        help="The language of games and rules: en, nb or ru.",
        show_default="that of the environment",
    ),
]
OtherPlayer = Annotated[
    str,
    typer.Option(
        "--player", metavar="NAME", help="Another player of this machine, with seats of their own.", show_default=False
    ),
]
WithTls = Annotated[bool, typer.Option("--tls", help="Connect by TLS, to a certificate of a known authority.")]
Authority = Annotated[
    Path | None,
    typer.Option("--ca-file", metavar="FILE", help="Connect by TLS, and trust these authorities (PEM)."),
]
Insecure = Annotated[
    bool, typer.Option("--insecure", help="Connect to another machine without TLS, where others read and change all.")
]


def folder_of(data_dir: Path | None) -> Path:
    """Return the data folder, by default that of the user."""
    return data_dir if data_dir is not None else default_data_folder(os.environ)


def say(line: str) -> None:
    """Print a line at once; what would control the terminal is escaped."""
    print(escaped(line, keep="\n"), flush=True)
