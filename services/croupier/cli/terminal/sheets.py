"""Score sheets as players write them: a line for each round with its headline and notes, a column for each seat."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from croupier.cli.terminal.lines import WIDTH, folded, listed, reddened
from croupier.cli.terminal.words import Words
from croupier_api.v1 import facts_pb2

NUMBER_WIDTH = 4
WIDEST_COLUMN = 16
ROOM_FOR_COLUMNS = 52
NARROWEST_HEADLINE = 22
MAX_NOTE_LINES = 3


def sheet_lines(words: Words, rounds: Sequence[facts_pb2.RoundScore]) -> Iterator[Text]:
    """Return the names, and for each round the points, the running totals, the headline and the notes."""
    width = _column_width(len(words.names))
    names = "".join(_right(f" {name}", width) for name in words.names)
    yield Text(" " * NUMBER_WIDTH + names, style="bold")
    cells = [[_cell(words.prose(note), width - 1) for note in line.notes] for line in rounds]
    fit = all(_fits(cell, width - 1) for line in cells for cell in line)
    for line, notes in zip(rounds, cells, strict=True):
        yield from _round_lines(words, line, notes if fit else [], width)
        if not fit and any(line.notes):
            yield _listed_notes(words, line)


def _column_width(seats: int) -> int:
    """Return the width of a seat's column with the blank before it: all that is available, up to a limit."""
    return min(WIDEST_COLUMN, max(ROOM_FOR_COLUMNS // seats, min(9, (WIDTH - NUMBER_WIDTH) // seats)))


def _cell(note: str, width: int) -> list[str]:
    """Return a note in lines, broken after commas if it fits so."""
    lines = note.replace(", ", ",\n").split("\n") if cell_len(note) > width else [note]
    return lines if _fits(lines, width) else textwrap.wrap(note, width, break_long_words=False)


def _fits(cell: Sequence[str], width: int) -> bool:
    return len(cell) <= MAX_NOTE_LINES and all(cell_len(text) <= width for text in cell)


def _round_lines(
    words: Words, line: facts_pb2.RoundScore, notes: Sequence[Sequence[str]], width: int
) -> Iterator[Text]:
    """Return points and totals, notes as cells below them, and the headline beside them, or below for lack of room."""
    scores = [f"{points:+} {total:4}" for points, total in zip(line.points, line.totals, strict=True)]
    room = WIDTH - NUMBER_WIDTH - width * len(scores) - 2
    headline = words.prose(line.headline)
    beside = textwrap.wrap(headline, room) if room >= NARROWEST_HEADLINE else []
    row = Text(f"{line.round:>{NUMBER_WIDTH - 1}} " + "".join(_right(score, width) for score in scores))
    yield row.append(f"  {beside[0]}" if beside else "", style="dim")
    if headline and not beside:
        yield folded(" " * NUMBER_WIDTH, headline, style="dim")
    for texts in zip_longest(beside[1:], *notes, fillvalue=""):
        under = "".join(_right(text, width) for text in texts[1:]).ljust(width * len(scores))
        yield reddened(Text(f"{' ' * NUMBER_WIDTH}{under}  {texts[0]}".rstrip(), style="dim"))


def _listed_notes(words: Words, line: facts_pb2.RoundScore) -> Text:
    notes = [f"{words.name(seat)}: {words.prose(note)}" for seat, note in enumerate(line.notes) if note]
    if max(map(cell_len, notes)) > WIDTH - 2 * NUMBER_WIDTH:
        return folded(" " * NUMBER_WIDTH, "; ".join(notes), style="dim")
    return listed(" " * NUMBER_WIDTH, notes, "   ", style="dim")


def _right(text: str, width: int) -> str:
    """Return a text at the right of its column, cut if it is too long."""
    length = cell_len(text)
    return " " * (width - length) + text if length <= width else set_cell_size(text, width)
