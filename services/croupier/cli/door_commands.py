"""`croupier door` as a command line; what it does is imported when it is asked for."""

from pathlib import Path
from typing import Annotated

import typer

door_app = typer.Typer(help="The front door: one address for all players.", no_args_is_help=True)


@door_app.command(
    "config", add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def config(
    context: typer.Context,
    output: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write the files into this folder.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Refuse certificates that cannot be used.")] = False,
) -> None:
    """Print Envoy's configuration, made from the door's settings; --help shows these.

    --output FOLDER writes it as envoy.yaml into a folder instead, with the files that --secrets-folder asks for.
    --check refuses certificates and keys that cannot be used, which have to be on this machine then.
    """
    from croupier.cli.door import show_configuration

    for line in show_configuration(context.args, output, with_check=check):
        print(line)


@door_app.command()
def openapi(page: Annotated[bool, typer.Option("--page", help="Print a page to read, in Markdown.")] = False) -> None:
    """Print what the door offers as JSON over HTTP, as an OpenAPI 3.1 document."""
    import json

    from croupier.door.openapi import openapi as document
    from croupier.door.page import page as readable

    print(readable(document()) if page else json.dumps(document(), indent=2))
