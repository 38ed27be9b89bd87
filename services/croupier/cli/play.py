"""`croupier play`: a person at a table, against computer players."""

import asyncio
import contextlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from croupier.cli.faults import CommandFault, misused
from croupier.cli.lines import folded
from croupier.cli.sheets import sheet_lines
from croupier.cli.sitting import TICK_SECONDS, Sitting
from croupier.cli.terminal import opened_screen
from croupier.cli.words import Words, can_write_symbols, printable
from croupier_api.v1 import engine_pb2, scoring_pb2
from croupier_api.v1 import table_pb2 as pb
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.errors import CroupierError, NotFound

USUAL_SEATS = 4
ACTION_SECONDS = 60
RESERVE_SECONDS = 300
SHEET_SECONDS = 5.0
CLIENT_SEED_BYTES = 16
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Seating:
    """The table that a person wants: one that exists, or a new one of a game with computer players."""

    game: str
    seats: int | None
    options: Mapping[str, str]
    bot_delay_milliseconds: int
    table_id: str | None


def device_secret(folder: Path) -> str:
    """The secret by which the services know the person at this machine; it is made when there is none."""
    file = folder.expanduser() / "player.secret"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), file.open("x") as new:
            file.chmod(0o600)
            new.write(secrets.token_hex(SECRET_BYTES))
        return file.read_text()
    except OSError as fault:
        raise CommandFault(f"{file} cannot be used: {fault.strerror}; choose another --data-dir") from None


async def play(client: Client, seating: Seating, console: Console) -> None:
    """Take a seat and play until the game is over or the person leaves; raises CroupierError or CommandFault."""
    games = {game.game: game for game in (await client.list_games()).games}
    table_id = seating.table_id or await _new_table(client, games, seating)
    async with client.play(table_id) as table:
        if table.seat is None:
            raise CommandFault(f"you have no seat at table {table_id}")
        game = games.get(table.info.game, engine_pb2.GameDescription(name=printable(table.info.game)))
        names = tuple(printable(seat.name) for seat in table.info.seats)
        words = Words(names, can_write_symbols(console.encoding), dict(game.names))
        with opened_screen(console) as screen:
            await Sitting(client, table, game, words, screen).run()
    if table.finished:
        await _show_result(client, table, words, console)
    else:
        console.print(f"Come back with: croupier play --table {table_id}", highlight=False)


async def _new_table(client: Client, games: Mapping[str, engine_pb2.GameDescription], seating: Seating) -> str:
    if seating.game not in games:
        raise misused(f"there is no game {seating.game!r}: choose one of {', '.join(games)}")
    game = games[seating.game]
    seats = seating.seats or min(max(USUAL_SEATS, game.min_seats), game.max_seats)
    clock = pb.Clock(
        action_seconds=ACTION_SECONDS,
        reserve_seconds=RESERVE_SECONDS,
        bot_delay_milliseconds=seating.bot_delay_milliseconds,
    )
    created = await client.create_table(game=game.game, seats=seats, options=seating.options, clock=clock, private=True)
    table_id = created.table.table_id
    for _ in range(seats - 1):
        await client.add_bot(table_id=table_id)
    await client.set_ready(table_id=table_id, client_seed=secrets.token_bytes(CLIENT_SEED_BYTES))
    return table_id


async def _show_result(client: Client, table: AsyncTable, words: Words, console: Console) -> None:
    console.print("\nThe game is over. Ranking:", *words.ranking(table.view.ranking), sep="\n", markup=False)
    sheet = await _finished_sheet(client, table.table_id)
    # Scoring hears of a round after the players, so what they saw stands in where that takes long.
    console.print("\nScore sheet", *sheet_lines(words, sheet.rounds if sheet else table.rounds), sep="\n")
    if sheet is not None:
        await _show_statistics(client, table.info.game, words, console)
    console.print(f"\nReplay: croupier replay export {table.table_id}", markup=False)


async def _finished_sheet(client: Client, table_id: str) -> scoring_pb2.GetScoreSheetResponse | None:
    """The sheet as scoring has it; none if it takes too long, since the game itself is done."""
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
    """What the person has done in all games of this kind; nothing if scoring does not say."""
    with contextlib.suppress(CroupierError):
        for done in (await client.get_player_statistics()).games:
            if done.game == game:
                console.print("", statistics_text(words, done), sep="\n", markup=False)


def statistics_text(words: Words, done: scoring_pb2.GameStatistics) -> Text:
    """All that scoring counts of a player in one game, in a sentence."""
    counts = [f"{words.term(name)} {amount}" for name, amount in sorted(done.counts.items())]
    places = [f"won {done.games_won} of {done.games_finished}", f"average place {done.average_place:.1f}"]
    return folded("You so far: ", ", ".join([*places, *counts]))
