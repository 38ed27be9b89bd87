"""Shows of a demonstration: a table with all hands open, its story in lines, a count of many tables, or nothing."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from croupier.cli.terminal.facts import fact_lines
from croupier.cli.terminal.screen import DisplayedTable, table_lines
from croupier.cli.terminal.words import Words
from croupier_api.v1 import engine_pb2
from croupier_client.aio_table import AsyncTable
from loadtest.demo.players import Show

STORY_LINES = 5
FRAMES_PER_SECOND = 10
REPORTS = 10


@contextmanager
def chosen_show(console: Console, words: Words, title: str, tables: int, quiet: bool, in_short: bool) -> Iterator[Show]:
    """Open the show that fits: live on a terminal, plain lines elsewhere, but without the story if `in_short`."""
    is_plain = not console.is_terminal or console.is_dumb_terminal
    if quiet or (in_short and is_plain):
        yield lambda _tables, _update: None
    elif is_plain:
        yield partial(_tell, console, words) if tables == 1 else _count(console, tables, None)
    else:
        with Live(console=console, refresh_per_second=FRAMES_PER_SECOND) as live:
            yield _picture(live, words, title) if tables == 1 else _count(console, tables, live)


def _tell(console: Console, words: Words, _tables: Sequence[AsyncTable], update: engine_pb2.TableUpdate) -> None:
    for line in fact_lines(words, update.facts):
        console.print(f"{update.sequence:4} {line}")


def _picture(live: Live, words: Words, title: str) -> Show:
    story: deque[str] = deque(maxlen=STORY_LINES)

    def show(tables: Sequence[AsyncTable], update: engine_pb2.TableUpdate) -> None:
        story.extend(fact_lines(words, update.facts))
        hands = {seat: tuple(table.view.seats[seat].cards) for seat, table in enumerate(tables)}
        first = tables[0]
        picture = DisplayedTable(
            title, first.view, first.clock, first.seconds_left, None, teams=first.table.teams, hands=hands
        )
        lines = table_lines(words, picture)
        live.update(Group(*lines, Text(""), *(Text(line, style="dim") for line in story)))

    return show


def _count(console: Console, tables: int, live: Live | None) -> Show:
    """Return a show of one changing line on a terminal, of a few lines elsewhere."""
    finished = entries = 0

    def show(_tables: Sequence[AsyncTable], update: engine_pb2.TableUpdate) -> None:
        nonlocal finished, entries
        ends = any(fact.HasField("game_ended") for fact in update.facts)
        entries += 1
        finished += ends
        line = f"{finished} of {tables} tables finished, {entries} entries"
        if live is not None:
            live.update(Text(line))
        elif ends and finished % max(1, tables // REPORTS) == 0:
            console.print(line)

    return show
