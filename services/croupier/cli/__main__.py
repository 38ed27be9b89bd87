"""The command `croupier`: runs the services, shows the games and plays them."""

import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from croupier.cli.commands.games import games
from croupier.cli.commands.gateway import gateway_app
from croupier.cli.commands.new_game import new_game
from croupier.cli.commands.operator_options import health, keys, migrate, serve, up
from croupier.cli.commands.player_options import play, replay_app
from croupier.cli.faults import FAILED, CommandFault, misused
from croupier.cli.variables import warnings_of
from croupier.games.registry import InvalidGames
from croupier.runtime.printed_text import escaped
from croupier_loadtest.command import load
from croupier_loadtest.demo.command import demo

PROGRAM = "croupier"
OPTIONS_OF_OTHERS = {"allow_extra_args": True, "ignore_unknown_options": True}
"""The settings of a command whose options are those of another program."""


def show_version(is_wanted: bool) -> None:
    """Print the version and end the command, if that is wanted."""
    if is_wanted:
        print(f"{PROGRAM} {version(PROGRAM)}")
        raise typer.Exit


def croupier(
    _version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Multiplayer card games: run the services, watch bots play, play yourself."""
    for warning in warnings_of(os.environ):
        print(f"{PROGRAM}: {warning}", file=sys.stderr)


app = typer.Typer(
    callback=croupier,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(up)
app.command(add_help_option=False, context_settings=OPTIONS_OF_OTHERS)(serve)
app.command()(migrate)
app.command()(keys)
app.command()(games)
app.command()(new_game)
app.command()(health)
app.command()(demo)
app.command(add_help_option=False, context_settings=OPTIONS_OF_OTHERS)(load)
app.command()(play)
app.add_typer(replay_app, name="replay")
app.add_typer(gateway_app, name="gateway")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command, by default with the arguments of the process; an error is printed as one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app(arguments)
    except CommandFault as fault:
        fault.end(PROGRAM)
    except InvalidGames as fault:
        misused(str(fault)).end(PROGRAM)
    except Exception as error:  # noqa: BLE001 - its traceback is printed
        # Imported here: that takes longer than most commands.
        from croupier_client.errors import CroupierError

        if isinstance(error, CroupierError):
            CommandFault(str(error)).end(PROGRAM)
        sys.stderr.write(escaped(traceback.format_exc(), keep="\n"))
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
