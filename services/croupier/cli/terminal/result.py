"""The result of a game: ranking, score sheet and statistics."""

import asyncio
import contextlib

from rich.text import Text

from croupier.cli.terminal.console import Screen
from croupier.cli.terminal.lines import folded
from croupier.cli.terminal.sheets import sheet_lines
from croupier.cli.terminal.words import Words
from croupier_api.v1 import games_pb2, scoring_pb2
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.errors import CroupierError, NotFound

SHEET_SECONDS = 5.0
POLL_SECONDS = 0.25


async def show_result(client: Client, table: AsyncTable, words: Words, screen: Screen) -> None:
    """Add the result of a finished table to the story."""
    if table.view.is_void:
        screen.say(Text(), Text(words.tr("The game is over. The result is void.")))
    else:
        ranking = [Text(line) for line in words.ranking(table.view.ranking)]
        screen.say(Text(), Text(words.tr("The game is over. Ranking:")), *ranking)
    sheet = await _finished_sheet(client, table.table_id)
    # Scoring learns of a round after the players. If that takes too long, the rounds that this client saw appear.
    rounds = sheet.rounds if sheet else table.round_scores
    screen.say(Text(), Text(words.tr("Score sheet")), *sheet_lines(words, rounds, screen.width))
    if sheet is not None:
        with contextlib.suppress(CroupierError):
            screen.say(Text(), await statistics_of(client, table.table.game, words, screen.width))


async def statistics_of(client: Client, game: str, words: Words, width: int) -> Text:
    """Return the person's statistics in a game, at most `width` columns wide; raises CroupierError."""
    games = (await client.get_player_statistics()).games
    found = next((statistics for statistics in games if statistics.game == game), None)
    return statistics_text(words, found or scoring_pb2.GameStatistics(game=game), width)


async def _finished_sheet(client: Client, table_id: str) -> scoring_pb2.GetScoreSheetResponse | None:
    """Return the sheet of scoring; None if it takes too long."""
    with contextlib.suppress(TimeoutError, CroupierError):
        async with asyncio.timeout(SHEET_SECONDS):
            while True:
                with contextlib.suppress(NotFound):
                    sheet = await client.get_score_sheet(table_id=table_id)
                    if sheet.HasField("result"):
                        return sheet
                await asyncio.sleep(POLL_SECONDS)
    return None


def statistics_text(words: Words, statistics: scoring_pb2.GameStatistics, width: int) -> Text:
    """Return the statistics of a player in one game as a sentence, at most `width` columns wide."""
    counts = [
        f"{words.word(games_pb2.WORD_KIND_COUNT, name)}: {amount}" for name, amount in sorted(statistics.counts.items())
    ]
    return folded(f"{words.tr('You so far')}: ", ", ".join([*words.games(statistics), *counts]), width)
