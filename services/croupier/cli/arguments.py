"""Options that several commands have, and what they mean."""

import os
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.data_folder import default_data_folder

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Where everything is kept.", show_default="~/.local/share/croupier"),
]
Options = Annotated[
    list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game; repeatable.")
]
Server = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="A front door elsewhere, instead of DIR's own.")]
WithTls = Annotated[bool, typer.Option("--tls", help="The front door speaks TLS, with a certificate known everywhere.")]
Authority = Annotated[
    Path | None,
    typer.Option("--ca-file", metavar="FILE", help="TLS, trusting what these certificates (PEM) vouch for."),
]


def folder_of(data_dir: Path | None) -> Path:
    """The data folder that is meant."""
    return data_dir if data_dir is not None else default_data_folder(os.environ)


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)
