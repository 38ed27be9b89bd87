"""The command `croupier`: starts, shows and plays what the house has."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from croupier.cli.addresses import FIRST_PORT
from croupier.cli.data_folder import default_data_folder
from croupier.cli.faults import CommandFault
from croupier.cli.games import show_game, show_games
from croupier.cli.serve import run_service

app = typer.Typer(
    help="Multiplayer card games: run the services, watch bots play, play yourself.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
replay_app = typer.Typer(help="Replays of finished tables.", no_args_is_help=True)
app.add_typer(replay_app, name="replay")

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Where everything is kept.", show_default="~/.local/share/croupier"),
]


@app.command()
def up(
    data_dir: DataDir = None,
    port: Annotated[int, typer.Option(min=0, max=65_000, help="First of a block of 30 ports; 0 for free ones.")] = (
        FIRST_PORT
    ),
    shuffle_seed: Annotated[str | None, typer.Option(hidden=True, help="Fixes all shuffles.")] = None,
) -> None:
    """Run lobby, engine and scoring on this machine until Ctrl-C."""
    from croupier.cli.up import up as run_up

    asyncio.run(run_up(_folder(data_dir), port, shuffle_seed, _say))


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def serve(
    context: typer.Context,
    service: Annotated[str, typer.Argument(metavar="lobby|engine|scoring", help="Which service.")],
) -> None:
    """Run one service with its own flags; --help after its name shows them."""
    raise typer.Exit(run_service(service, context.args))


@app.command()
def games(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="One game, with all its options.")] = None,
) -> None:
    """Show the games, with seats and options."""
    console = Console()
    if game is None:
        show_games(console)
    else:
        show_game(console, game)


def _folder(data_dir: Path | None) -> Path:
    return data_dir if data_dir is not None else default_data_folder(os.environ)


def _say(line: str) -> None:
    print(line, flush=True)


def main() -> None:
    """Run the command; whatever goes wrong is told in one line."""
    try:
        app()
    except CommandFault as fault:
        print(f"croupier: {fault.message}", file=sys.stderr)
        sys.exit(fault.exit_code)


if __name__ == "__main__":
    main()
