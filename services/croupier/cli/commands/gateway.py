"""`croupier gateway`: configurations of the gateway and of its collector, and its calls; each imports its work."""

import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.faults import CommandFault, misused
from croupier.runtime.server.program import SettingsError

PROGRAM = "croupier gateway config"

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

    --output FOLDER writes it as envoy.yaml into a folder instead, with the page of the web table, and with the files
    that --secrets-folder and --traces-collector ask for. What is printed has no web table: Envoy reads its page there.
    --check refuses invalid certificates and keys, which then have to be on this machine, and warns if other machines
    can connect without TLS.
    """
    from croupier.gateway.checks import check_files, exposure, now_utc
    from croupier.gateway.configuration import configuration_files
    from croupier.gateway.settings import GatewaySettings
    from croupier.runtime.settings import read_settings

    try:
        settings = read_settings(GatewaySettings, PROGRAM, context.args)
        made = configuration_files(settings, output)
        if check:
            check_files(settings, now_utc())
            if warning := exposure(settings):
                print(f"{PROGRAM}: {warning}", file=sys.stderr)
    except SettingsError as fault:
        raise misused(str(fault)) from None
    if output is None:
        print(made["envoy.yaml"].decode().rstrip("\n"))
    else:
        _write(made, output)


def _write(made: Mapping[str, bytes], output: Path) -> None:
    from croupier.gateway.configuration import write_files

    try:
        output.mkdir(parents=True, exist_ok=True)
        write_files(made, output)
    except OSError as fault:
        raise CommandFault(f"{output} cannot be written to: {fault.strerror}") from None
    for name in dict.fromkeys(name.partition("/")[0] for name in made):
        print(f"{output / name} written")


@gateway_app.command()
def collector() -> None:
    """Print the configuration of the OpenTelemetry Collector that filters the gateway's traces."""
    from croupier.gateway.configuration import collector_configuration

    print(collector_configuration(), end="")


@gateway_app.command()
def openapi() -> None:
    """Print the calls of the gateway as JSON over HTTP, as an OpenAPI 3.1 document."""
    print(files("croupier_api.v1").joinpath("openapi.json").read_text(), end="")
