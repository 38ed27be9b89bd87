"""Commands of players; each imports its work when it is called."""

import asyncio
import getpass
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from croupier.cli import arguments
from croupier.cli.faults import FAILED
from croupier.cli.options import split_options
from croupier.cli.printed_command import connection_options

if TYPE_CHECKING:
    from croupier_client.aio import Client

MAX_NAME_CHARACTERS = 32

replay_app = typer.Typer(help="Replays of finished tables.", no_args_is_help=True)


def play(
    game: Annotated[
        str | None, typer.Option(help="Which game; croupier games lists them.", show_default="thulla, or the first one")
    ] = None,
    seats: Annotated[int | None, typer.Option(min=1, help="Players; 4, or as near as the game allows.")] = None,
    option: arguments.Options = None,
    data_dir: arguments.DataDir = None,
    server: arguments.Server = None,
    tls: arguments.WithTls = False,
    ca_file: arguments.Authority = None,
    insecure: arguments.Insecure = False,
    name: Annotated[str | None, typer.Option(help="Your name at the table.", show_default="your login name")] = None,
    player: arguments.OtherPlayer = "",
    invite: Annotated[bool, typer.Option("--invite", help="A new table for friends, who join by a code.")] = False,
    join: Annotated[str | None, typer.Option(metavar="CODE", help="Join the table of a friend.")] = None,
    table: Annotated[str | None, typer.Option(metavar="TABLE_ID", help="Come back to a table of yours.")] = None,
    device_code: Annotated[
        str,
        typer.Option(metavar="CODE", help="Sign in as the player of another device, by its code.", show_default=False),
    ] = "",
    bot_delay: Annotated[int, typer.Option(min=0, max=10_000, help="How long bots think, in milliseconds.")] = 700,
    language: arguments.Language = "",
) -> None:
    """Play in this terminal, against bots or with friends."""
    from croupier.cli.commands.play import TableChoice
    from croupier.cli.commands.play import play as run_play
    from croupier.cli.local_player import LocalPlayer
    from croupier.cli.terminal.safe_console import SafeConsole
    from croupier.cli.terminal.texts import language_of_environment, texts_in

    connection = connection_options(data_dir, server, tls, ca_file, insecure)
    options = split_options(option or ())
    local_player = LocalPlayer(arguments.folder_of(data_dir), player, server or "")
    is_first = not (local_player.is_known() or device_code)
    choice = TableChoice(game, seats, options, bot_delay, table, join, invite, is_first, connection)
    texts = texts_in(language or language_of_environment(os.environ))
    # A name that was not asked for would undo a renaming.
    shown_name = name if name is not None else (player or _login_name()) if is_first else ""

    async def run() -> None:
        signing_in = _signed_in(data_dir, server, tls, ca_file, insecure, player, shown_name, device_code)
        async with signing_in as client:
            local_player.remember()
            await run_play(client, choice, local_player, SafeConsole(), texts)

    asyncio.run(run())


@replay_app.command("export")
def replay_export(
    table_id: Annotated[str, typer.Argument(metavar="TABLE_ID", help="A finished table.")],
    data_dir: arguments.DataDir = None,
    server: arguments.Server = None,
    tls: arguments.WithTls = False,
    ca_file: arguments.Authority = None,
    insecure: arguments.Insecure = False,
    player: arguments.OtherPlayer = "",
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="TABLE_ID.jsonl if left out, - for standard output.")
    ] = None,
    link: Annotated[str, typer.Option(help="A link by a player of the table.", show_default=False)] = "",
) -> None:
    """Write the replay of a finished table as JSON lines."""
    from croupier.cli.commands.replay import write

    file = output if output is not None else Path(f"{table_id}.jsonl")

    async def run() -> str:
        async with _signed_in(data_dir, server, tls, ca_file, insecure, player) as client:
            return (await client.get_replay(table_id=table_id, link=link)).replay

    write(asyncio.run(run()), file)
    if file != Path("-"):
        arguments.say(f"{file} written")


@replay_app.command("link")
def replay_link(
    table_id: Annotated[str, typer.Argument(metavar="TABLE_ID", help="A table of yours.")],
    data_dir: arguments.DataDir = None,
    server: arguments.Server = None,
    tls: arguments.WithTls = False,
    ca_file: arguments.Authority = None,
    insecure: arguments.Insecure = False,
    player: arguments.OtherPlayer = "",
) -> None:
    """Print a link by which others read the replay of a table of yours, once its game is over."""
    from croupier.cli.commands.replay import share

    async def run() -> str:
        async with _signed_in(data_dir, server, tls, ca_file, insecure, player) as client:
            return await share(client, table_id, connection_options(None, server, tls, ca_file, insecure))

    arguments.say(asyncio.run(run()))


@replay_app.command("verify")
def replay_verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Replay files, or folders of them.")],
) -> None:
    """Play replays again and check every line of them, every deal against its seed."""
    from croupier.cli.commands.replay import verify

    raise typer.Exit(FAILED if verify(files, arguments.say) else 0)


@asynccontextmanager
async def _signed_in(
    data_dir: Path | None,
    server: str | None,
    tls: bool,
    ca_file: Path | None,
    insecure: bool,
    player: str,
    name: str = "",
    device_code: str = "",
) -> AsyncIterator["Client"]:
    """Yield the client of a player of this machine, signed in at the services that the options name."""
    from croupier.cli.local_player import LocalPlayer
    from croupier.cli.services import reachable_services, signed_in_client, trust

    folder = arguments.folder_of(data_dir)
    secret, tls_settings = LocalPlayer(folder, player, server or "").secret(), trust(tls, ca_file)
    async with (
        reachable_services(folder, server or None, arguments.say, tls_settings, insecure=insecure) as endpoints,
        signed_in_client(endpoints, secret, name, device_code) as client,
    ):
        yield client


def _login_name() -> str:
    try:
        return getpass.getuser()[:MAX_NAME_CHARACTERS]
    except (OSError, KeyError):
        return "You"
