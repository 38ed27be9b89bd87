"""`croupier gateway` as a command line; its work is imported when it is called."""

import sys
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

gateway_app = typer.Typer(help="The gateway: one address for all players.", no_args_is_help=True)


@gateway_app.command(
    "config", add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def config(
    context: typer.Context,
    output: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write the files into this folder.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Refuse invalid certificates.")] = False,
) -> None:
    """Print Envoy's configuration for the gateway's settings; --help lists the settings.

    --output FOLDER writes it as envoy.yaml into a folder instead, with the files that --secrets-folder and
    --traces-collector ask for.
    --check refuses invalid certificates and keys, which then have to be on this machine, and warns if other machines
    can connect without TLS.
    """
    from croupier.cli.commands.gateway import show_configuration

    for line in show_configuration(context.args, output, with_check=check, warn=partial(print, file=sys.stderr)):
        print(line)


@gateway_app.command()
def collector() -> None:
    """Print the configuration of the OpenTelemetry Collector that filters the gateway's traces."""
    from croupier.gateway.configuration import collector_configuration

    print(collector_configuration(), end="")


@gateway_app.command()
def openapi() -> None:
    """Print the calls of the gateway as JSON over HTTP, as an OpenAPI 3.1 document."""
    print(files("croupier_api.v1").joinpath("openapi.json").read_text(), end="")
