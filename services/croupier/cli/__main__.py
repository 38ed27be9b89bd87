"""The command `croupier`: starts, shows and plays what the house has."""

import asyncio
import getpass
import io
import os
import secrets
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from croupier.cli.addresses import FIRST_PORT
from croupier.cli.data_folder import default_data_folder
from croupier.cli.door_commands import door_app
from croupier.cli.faults import FAILED, CommandFault, misused
from croupier.cli.games import show_game, show_games
from croupier.cli.keys import AUTHORITY_DAYS, USUAL_DAYS
from croupier.cli.keys import keys as make_keys
from croupier.cli.options import game_named, read_options, seats_of, split_options
from croupier.cli.serve import run_service
from croupier.games.catalogue import GAMES

app = typer.Typer(
    help="Multiplayer card games: run the services, watch bots play, play yourself.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
replay_app = typer.Typer(help="Replays of finished tables.", no_args_is_help=True)
app.add_typer(replay_app, name="replay")
report_app = typer.Typer(help="Reports of load tests.", no_args_is_help=True)
app.add_typer(report_app, name="report")
app.add_typer(door_app, name="door")

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Where everything is kept.", show_default="~/.local/share/croupier"),
]


Options = Annotated[
    list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game; repeatable.")
]
MOST_TABLES = 500
USUAL_SEATS = 4
LONGEST_NAME_CHARACTERS = 32
ALL_GAMES = "all"


@app.command()
def up(
    data_dir: DataDir = None,
    port: Annotated[int, typer.Option(min=0, max=65_000, help="First of a block of 30 ports; 0 for free ones.")] = (
        FIRST_PORT
    ),
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", envvar="CROUPIER_DATABASE", help="postgresql://... shared by all services."),
    ] = None,
    engines: Annotated[int, typer.Option(metavar="N", help="Instances of the engine; each has a block of ports.")] = 1,
    lobbies: Annotated[int, typer.Option(metavar="N", help="Instances of the lobby.")] = 1,
    scorings: Annotated[int, typer.Option(metavar="N", help="Instances of scoring.")] = 1,
    mutual_tls: Annotated[
        bool, typer.Option("--mutual-tls", help="Services speak TLS and ask every caller for a certificate of DIR's.")
    ] = False,
    no_door: Annotated[bool, typer.Option("--no-door", help="Only the services, without a front door.")] = False,
    tls: Annotated[bool, typer.Option("--tls", help="TLS at the door, by a certificate made on first use.")] = False,
    certificate: Annotated[Path | None, typer.Option(metavar="FILE", help="TLS by this certificate (PEM).")] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="The private key of --certificate (PEM).")] = None,
    shuffle_seed: Annotated[str | None, typer.Option(hidden=True, help="Fixes all shuffles.")] = None,
    extra_flag: Annotated[
        list[str] | None, typer.Option(hidden=True, metavar="INSTANCE=FLAG", help="For tests; repeatable.")
    ] = None,
) -> None:
    """Run lobby, engine and scoring behind one front door on this machine until Ctrl-C."""
    from croupier.cli.front_door import DoorChoice
    from croupier.cli.replicas import Replicas
    from croupier.cli.supervisor import Manner
    from croupier.cli.up import up as run_up

    flags = [flag.partition("=")[::2] for flag in extra_flag or ()]
    manner = Manner(
        shuffle_seed=shuffle_seed,
        note=_say,
        database=database,
        replicas=Replicas(lobby=lobbies, engine=engines, scoring=scorings),
        mutual_tls=mutual_tls,
        extra_flags={instance: [flag for other, flag in flags if other == instance] for instance, _ in flags},
    )
    door = None if no_door else DoorChoice(tls, certificate, key)
    asyncio.run(run_up(_folder(data_dir), port, manner, door))


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def serve(
    context: typer.Context,
    service: Annotated[str, typer.Argument(metavar="lobby|engine|scoring|door", help="Which one.")],
) -> None:
    """Run one service with its own flags; --help after its name shows them."""
    raise typer.Exit(run_service(service, context.args))


@app.command()
def migrate(
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="The database that services share. [env var: CROUPIER_DATABASE]")
    ] = None,
    data_dir: DataDir = None,
    service: Annotated[
        list[str] | None, typer.Option(metavar="lobby|engine|scoring", help="Only this one; repeatable.")
    ] = None,
    wait: Annotated[
        int | None, typer.Option(metavar="SECONDS", min=0, help="Change nothing; wait until somebody else has done it.")
    ] = None,
) -> None:
    """Bring the tables in the database up to date, before services of this version are started."""
    from croupier.cli.migrate import checked_services, migrate_folder, migrate_shared, wait_for_others

    services = checked_services(service or ())
    if database is not None and data_dir is not None:
        raise misused("--database and --data-dir exclude each other: name the one where the services' data is")
    url = database or os.environ.get("CROUPIER_DATABASE")
    if wait is not None and (url is None or data_dir is not None):
        raise misused("--wait is for a database that others bring up to date: name it with --database")
    if url and wait is not None:
        asyncio.run(wait_for_others(url, services, wait, _say))
    elif url and data_dir is None:
        asyncio.run(migrate_shared(url, services, _say))
    else:
        asyncio.run(migrate_folder(_folder(data_dir), services, _say))


@app.command()
def keys(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where they are put; what is there stays.")],
    certificates: Annotated[
        bool, typer.Option("--certificates", help="Also an authority, and a certificate for each service and the door.")
    ] = False,
    days: Annotated[
        int, typer.Option(min=1, max=AUTHORITY_DAYS, metavar="N", help="How long the certificates hold.")
    ] = USUAL_DAYS,
) -> None:
    """Make the keys that services sign with, and certificates for mutual TLS between them."""
    make_keys(folder.expanduser().absolute(), days if certificates else None, datetime.now(UTC), _say)


@app.command()
def games(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="One game, with all its options.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Show the rules of GAME instead.")] = False,
) -> None:
    """Show the games, with seats and options, or the rules of one."""
    console = Console()
    if rules:
        from croupier.cli.rules import show_rules

        if game is None:
            raise misused("--rules needs the name of a game: croupier games GAME --rules")
        show_rules(console, game_named(game))
    elif game is None:
        show_games(console)
    else:
        show_game(console, game)


@app.command()
def health(
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Where a service listens.")],
    service: Annotated[
        str, typer.Option(metavar="NAME", help="Empty: whether it is ready; live: whether it runs.")
    ] = "",
) -> None:
    """Ask a service whether it serves: exit code 0 if so, 1 if not."""
    from croupier.cli.health import check_health

    check_health(address, service)


@app.command()
def demo(
    game: Annotated[str, typer.Option(help="Which game, or all; croupier games lists them.")] = "thulla",
    seats: Annotated[int | None, typer.Option(help="Players at each table; 4, or as near as the game allows.")] = None,
    tables: Annotated[int, typer.Option(min=1, max=MOST_TABLES, help="Tables, all played at once.")] = 1,
    option: Options = None,
    seed: Annotated[str | None, typer.Option(help="Fixes every decision and every shuffle.")] = None,
    replays: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder to write <table_id>.jsonl to.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the last line.")] = False,
) -> None:
    """Play whole games by bots on services of their own, and check that every record of them agrees."""
    from croupier.cli.demo import demo as run_demo
    from croupier.cli.demo_plan import DemoPlan

    if game == ALL_GAMES and (seats is not None or option):
        raise misused("--seats and --option are for one game: name it with --game, or leave them out")
    fixed = seed if seed is not None else secrets.token_hex()
    plans = []
    for chosen in GAMES.values() if game == ALL_GAMES else [game_named(game)]:
        count = seats_of(chosen, seats, usual=USUAL_SEATS)
        plans.append(
            DemoPlan(chosen.id, count, tables, read_options(chosen, count, split_options(option or ())), fixed)
        )
    asyncio.run(run_demo(plans, seed, replays, quiet, Console(highlight=False)))


@app.command()
def league(
    game: Annotated[str, typer.Option(help="Which game; croupier games lists them, all plays each.")] = "thulla",
    tables: Annotated[int, typer.Option(min=1, help="Tables to play, rounded up to whole deals.")] = 200,
    seed: Annotated[str, typer.Option(help="Fixes all cards and all decisions by chance.")] = "1",
    seats: Annotated[int | None, typer.Option(help="Seats at each table; 4, or as near as the game allows.")] = None,
    bots: Annotated[str, typer.Option(metavar="NAME,...", help="Who plays, in turn until each seat is taken.")] = (
        "sensible,random"
    ),
    option: Options = None,
    thinking: Annotated[int, typer.Option(min=1, help="Milliseconds that a searching player thinks.")] = 200,
    iterations: Annotated[int | None, typer.Option(min=1, help="Think so many iterations instead; repeatable.")] = None,
    processes: Annotated[int | None, typer.Option(min=1, help="Worker processes; one for each core.")] = None,
) -> None:
    """Let computer players meet: each deal is played in every order in which they can sit."""
    from croupier.cli.league import LeaguePlan, plans, run_league

    names, options = tuple(bots.split(",")), split_options(option or ())
    asked = LeaguePlan(game, seats or USUAL_SEATS, options, names, tables, seed, thinking, iterations)
    run_league(plans(asked, seats), processes, Console(highlight=False))


Server = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="A front door elsewhere, instead of DIR's own.")]
WithTls = Annotated[bool, typer.Option("--tls", help="The front door speaks TLS, with a certificate known everywhere.")]
Authority = Annotated[
    Path | None,
    typer.Option("--ca-file", metavar="FILE", help="TLS, trusting what these certificates (PEM) vouch for."),
]


@app.command()
def play(
    game: Annotated[str, typer.Option(help="Which game; croupier games lists them.")] = "thulla",
    seats: Annotated[int | None, typer.Option(min=1, help="Players; 4, or as near as the game allows.")] = None,
    option: Options = None,
    data_dir: DataDir = None,
    server: Server = None,
    tls: WithTls = False,
    ca_file: Authority = None,
    name: Annotated[str | None, typer.Option(help="Your name at the table.", show_default="your login name")] = None,
    table: Annotated[str | None, typer.Option(metavar="TABLE_ID", help="Come back to a table of yours.")] = None,
    bot_delay: Annotated[int, typer.Option(min=0, max=10_000, help="How long bots think, in milliseconds.")] = 700,
) -> None:
    """Play against bots in this terminal."""
    from croupier.cli.play import Seating, device_secret
    from croupier.cli.play import play as run_play
    from croupier.cli.reach import reachable_services, signed_in_client, trust

    folder = _folder(data_dir)
    seating = Seating(game, seats, split_options(option or ()), bot_delay, table)

    async def run() -> None:
        secret = device_secret(folder)
        async with (
            reachable_services(folder, server, _say, trust(tls, ca_file)) as endpoints,
            signed_in_client(endpoints, secret, name if name is not None else _login_name()) as client,
        ):
            await run_play(client, seating, Console(highlight=False))

    asyncio.run(run())


@replay_app.command("export")
def replay_export(
    table_id: Annotated[str, typer.Argument(metavar="TABLE_ID", help="A finished table.")],
    data_dir: DataDir = None,
    server: Server = None,
    tls: WithTls = False,
    ca_file: Authority = None,
    output: Annotated[Path | None, typer.Option("--output", metavar="FILE", help="TABLE_ID.jsonl if left out.")] = None,
) -> None:
    """Write the replay of a finished table as JSON lines."""
    from croupier.cli.play import device_secret
    from croupier.cli.reach import reachable_services, signed_in_client, trust
    from croupier.cli.replay import export

    folder = _folder(data_dir)

    async def run() -> Path:
        secret = device_secret(folder)
        async with (
            reachable_services(folder, server, _say, trust(tls, ca_file)) as endpoints,
            signed_in_client(endpoints, secret, "") as client,
        ):
            return await export(client, table_id, output)

    _say(f"{asyncio.run(run())} written")


@replay_app.command("verify")
def replay_verify(files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Replay files.")]) -> None:
    """Play replays again and check every line of them, every deal against its seed."""
    from croupier.cli.replay import verify

    raise typer.Exit(FAILED if verify(files, _say) else 0)


@report_app.command("compare")
def report_compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A result.json, or the folder that holds one.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="What is held against it.")],
    fail_above: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="Exit with 1 if p99 or CPU got worse by more, or violations rose."),
    ] = None,
) -> None:
    """Show two load tests side by side and which of them is better."""
    from croupier.cli.report import compare

    raise typer.Exit(compare(first, second, fail_above, Console(highlight=False)))


def _login_name() -> str:
    try:
        return getpass.getuser()[:LONGEST_NAME_CHARACTERS]
    except (OSError, KeyError):
        return "You"


def _folder(data_dir: Path | None) -> Path:
    return data_dir if data_dir is not None else default_data_folder(os.environ)


def _say(line: str) -> None:
    print(line, flush=True)


def main() -> None:
    """Run the command; whatever goes wrong is told in one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except CommandFault as fault:
        _fail(fault.message, fault.exit_code)
    except Exception as error:
        # The client's errors are told apart only here: importing them takes longer than most commands.
        from croupier_client.errors import CroupierError

        if not isinstance(error, CroupierError):
            raise
        _fail(str(error), FAILED)


def _fail(message: str, exit_code: int) -> NoReturn:
    print(f"croupier: {message}", file=sys.stderr)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
