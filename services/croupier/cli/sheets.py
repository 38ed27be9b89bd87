"""Score sheets as players of a game write them: a line for each round, a column for each seat, and why."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeAlias

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from croupier.cli.lines import WIDTH, folded, reddened
from croupier.cli.words import Words
from croupier_api.v1 import scoring_pb2
from croupier_api.v1 import table_pb2 as pb

Round: TypeAlias = scoring_pb2.SheetRound | pb.RoundEnded

NUMBER_WIDTH = 4
WIDEST_COLUMN = 16
ROOM_FOR_COLUMNS = 48
NARROWEST_HEADLINE = 24
MOST_NOTE_LINES = 3


def sheet_lines(words: Words, rounds: Iterable[Round]) -> Iterator[Text]:
    """The names, and for each round points and running totals, what the round was, and how each line came about."""
    seats = len(words.names)
    width = _column_width(seats)
    names = "".join(_right(f" {name}", width) for name in words.names)
    yield Text(" " * NUMBER_WIDTH + names, style="bold")
    for line in rounds:
        yield from _round_lines(words, line, width)


def _column_width(seats: int) -> int:
    """The width of a seat's column with the blank before it: all that is to be had for many seats, not more for few."""
    return min(WIDEST_COLUMN, max(ROOM_FOR_COLUMNS // seats, min(9, (WIDTH - NUMBER_WIDTH) // seats)))


def _round_lines(words: Words, line: Round, width: int) -> Iterator[Text]:
    scores = [f"{points:+} {total:4}" for points, total in zip(line.points, line.totals, strict=True)]
    room = WIDTH - NUMBER_WIDTH - width * len(scores) - 2
    headline, notes = words.prose(line.headline), [words.prose(note) for note in line.notes]
    wide = room >= NARROWEST_HEADLINE
    beside = textwrap.wrap(headline, room) if wide else []
    cells = _wrapped(notes, width - 1)
    row = Text(f"{line.round:>{NUMBER_WIDTH - 1}} " + "".join(_right(score, width) for score in scores))
    yield row.append(f"  {beside[0]}" if beside else "", style="dim")
    if headline and not wide:
        yield folded(" " * NUMBER_WIDTH, headline, style="dim")
    for texts in zip_longest(beside[1:], *cells, fillvalue=""):
        under = "".join(_right(text, width) for text in texts[1:]).ljust(width * len(scores))
        yield reddened(Text(f"{' ' * NUMBER_WIDTH}{under}  {texts[0]}".rstrip(), style="dim"))
    if not cells and any(notes):
        told = (f"{words.name(seat)}: {note}" for seat, note in enumerate(notes) if note)
        yield folded(" " * NUMBER_WIDTH, "; ".join(told), style="dim")


def _wrapped(notes: Sequence[str], width: int) -> list[list[str]]:
    """The notes as cells of this width; none if they are too long for that."""
    cells = [_cell(note, width) for note in notes]
    fit = all(len(cell) <= MOST_NOTE_LINES and all(cell_len(text) <= width for text in cell) for cell in cells)
    return cells if fit else []


def _cell(note: str, width: int) -> list[str]:
    """A note in lines, broken after commas if that will do."""
    lines = note.replace(", ", ",\n").split("\n") if cell_len(note) > width else [note]
    return (
        lines if all(cell_len(line) <= width for line in lines) else textwrap.wrap(note, width, break_long_words=False)
    )


def _right(text: str, width: int) -> str:
    """A text at the right of its column, cut if it is too long."""
    length = cell_len(text)
    return " " * (width - length) + text if length <= width else set_cell_size(text, width)
