"""`croupier play`: a person at a table, against bots."""

import asyncio
import contextlib
import os
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.duration_pb2 import Duration
from rich.console import Console
from rich.text import Text

from croupier.cli.commands.rules import rules_page
from croupier.cli.faults import CommandFault
from croupier.cli.options import described_options, game_id
from croupier.cli.printed_command import printed_command
from croupier.cli.terminal.console import opened_screen
from croupier.cli.terminal.game_session import TICK_SECONDS, GameSession
from croupier.cli.terminal.lines import folded
from croupier.cli.terminal.sheets import sheet_lines
from croupier.cli.terminal.words import Words, can_write_symbols, printable, words_of
from croupier.runtime.permissions import check_private, make_private_folder, open_private
from croupier.runtime.program import SettingsError
from croupier_api.v1 import games_pb2, scoring_pb2, tables_pb2
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.errors import CroupierError, NotFound

USUAL_SEATS = 4
ACTION_TIME = Duration(seconds=60)
RESERVE_TIME = Duration(seconds=300)
SHEET_SECONDS = 5.0
CLIENT_SEED_BYTES = 16
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class TableChoice:
    """The table to play at: one that exists, or a new one of a game with bots."""

    game: str
    seats: int | None
    options: Mapping[str, str]
    bot_delay_milliseconds: int
    table_id: str | None
    connection: Sequence[str] = ()
    """The options by which another command reaches the same services."""


def device_secret(folder: Path) -> str:
    """Return the secret by which the services know the person at this machine, by default a new one.

    Raises CommandFault for a file that cannot be used, or that others may read.
    """
    file = folder.expanduser() / "player.secret"
    try:
        make_private_folder(file.parent)
        with contextlib.suppress(FileExistsError), open_private(file, os.O_EXCL) as new:
            new.write(secrets.token_hex(SECRET_BYTES).encode())
        check_private(file, f"chmod 600 {shlex.quote(str(file))}")
        return file.read_text()
    except SettingsError as fault:
        raise CommandFault(str(fault)) from None
    except OSError as fault:
        raise CommandFault(f"{file} cannot be used: {fault.strerror}; choose another --data-dir") from None


async def play(client: Client, choice: TableChoice, console: Console) -> None:
    """Take a seat and play until the game is over or the person leaves; raises CroupierError or CommandFault."""
    games = {game.game: game for game in (await client.list_games()).games}
    table_id = choice.table_id or await _new_table(client, games, choice)
    async with client.play_table(table_id) as table:
        if table.seat is None:
            raise CommandFault(f"you have no seat at table {table_id}")
        game = games.get(table.table.game, games_pb2.GameDescription(name=printable(table.table.game)))
        names = [printable(seat.name) for seat in table.table.seats]
        words = words_of(game, names, can_write_symbols(console.encoding))
        with opened_screen(console) as screen:
            await GameSession(client, table, game, words, screen, rules_page(table.table.game)).run()
    if table.is_finished:
        await _show_result(client, table, words, console)
        export = printed_command("replay", "export", table_id, *choice.connection)
        console.print(f"\nReplay: {export}", markup=False, soft_wrap=True)
    else:
        back = printed_command("play", "--table", table_id, *choice.connection)
        console.print(f"Come back with: {back}", markup=False, soft_wrap=True)


async def _new_table(client: Client, games: Mapping[str, games_pb2.GameDescription], choice: TableChoice) -> str:
    game = games[game_id(choice.game, {known: game.name for known, game in games.items()})]
    seats = choice.seats or min(max(USUAL_SEATS, game.min_seats), game.max_seats)
    bot_delay = Duration()
    bot_delay.FromMilliseconds(choice.bot_delay_milliseconds)
    created = await client.create_table(
        game=game.game,
        seat_count=seats,
        options=described_options(game, choice.options),
        time_control=tables_pb2.TimeControl(action_time=ACTION_TIME, reserve_time=RESERVE_TIME, bot_delay=bot_delay),
        access=tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_LINK),
    )
    table_id = created.table.table_id
    for _ in range(seats - 1):
        await client.add_bot(table_id=table_id)
    await client.set_ready(table_id=table_id, client_seed=secrets.token_bytes(CLIENT_SEED_BYTES))
    return table_id


async def _show_result(client: Client, table: AsyncTable, words: Words, console: Console) -> None:
    console.print("\nThe game is over. Ranking:", *words.ranking(table.view.ranking), sep="\n", markup=False)
    sheet = await _finished_sheet(client, table.table_id)
    # Scoring learns of a round after the players. If that takes too long, the rounds that this client saw are shown.
    console.print("\nScore sheet", *sheet_lines(words, sheet.rounds if sheet else table.round_scores), sep="\n")
    if sheet is not None:
        await _show_statistics(client, table.table.game, words, console)


async def _finished_sheet(client: Client, table_id: str) -> scoring_pb2.GetScoreSheetResponse | None:
    """Return the sheet of scoring; None if it takes too long."""
    with contextlib.suppress(TimeoutError, CroupierError):
        async with asyncio.timeout(SHEET_SECONDS):
            while True:
                with contextlib.suppress(NotFound):
                    sheet = await client.get_score_sheet(table_id=table_id)
                    if sheet.HasField("result"):
                        return sheet
                await asyncio.sleep(TICK_SECONDS)
    return None


async def _show_statistics(client: Client, game: str, words: Words, console: Console) -> None:
    """Print the person's statistics in this game; nothing if scoring has none."""
    with contextlib.suppress(CroupierError):
        for statistics in (await client.get_player_statistics()).games:
            if statistics.game == game:
                console.print("", statistics_text(words, statistics), sep="\n", markup=False)


def statistics_text(words: Words, statistics: scoring_pb2.GameStatistics) -> Text:
    """Return the statistics of a player in one game as a sentence."""
    counts = [f"{words.term(name)} {amount}" for name, amount in sorted(statistics.counts.items())]
    won = f"won {statistics.games_won} of {statistics.games_finished}"
    places = [won, f"average place {statistics.average_place:.1f}"]
    return folded("You so far: ", ", ".join([*places, *counts]))
