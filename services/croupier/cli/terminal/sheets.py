"""Score sheets as players write them: a line for each round with its headline and notes, a column for each seat."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from croupier.cli.terminal.lines import USUAL_WIDTH, folded, listed, reddened
from croupier.cli.terminal.words import Words
from croupier_api.v1 import facts_pb2

NUMBER_WIDTH = 4
WIDEST_COLUMN = 16
NARROWEST_COLUMN = 9
ROOM_FOR_COLUMNS = 52
NARROWEST_HEADLINE = 22
MAX_NOTE_LINES = 3


def sheet_lines(words: Words, rounds: Sequence[facts_pb2.RoundScore], width: int = USUAL_WIDTH) -> Iterator[Text]:
    """Return the names, and for each round the points, the running totals, the headline and the notes.

    `width` is in columns; where it is too small for a column for each seat, the points are a list.
    """
    column = _column_width(len(words.names), width)
    if column < NARROWEST_COLUMN:
        for line in rounds:
            yield from _listed_round(words, line, width)
        return
    names = "".join(_right(f" {name}", column) for name in words.names)
    yield Text(" " * NUMBER_WIDTH + names, style="bold")
    cells = [[_cell(words.phrases(note.phrases), column - 1) for note in line.notes] for line in rounds]
    fit = all(_fits(cell, column - 1) for line in cells for cell in line)
    for line, notes in zip(rounds, cells, strict=True):
        yield from _round_lines(words, line, notes if fit else [], column, width)
        if not fit and _has_notes(line):
            yield _listed_notes(words, line, width)


def detail_lines(words: Words, score: facts_pb2.RoundScore, width: int = USUAL_WIDTH) -> Iterator[Text]:
    """Return a round: its points, headline and notes, then value by value; `width` is in columns."""
    yield Text(f"{words.round} {score.round}", style="bold")
    yield from _listed_round(words, score, width)
    for detail in score.details:
        seat = f"{words.name(detail.seat)}, " if detail.HasField("seat") else ""
        yield folded(" " * NUMBER_WIDTH, seat + words.mark(detail), width)


def _column_width(seats: int, width: int) -> int:
    """Return the width of a seat's column with the blank before it: all that is available, up to a limit."""
    room = ROOM_FOR_COLUMNS + width - USUAL_WIDTH
    return min(WIDEST_COLUMN, max(room // seats, min(NARROWEST_COLUMN, (width - NUMBER_WIDTH) // seats)))


def _listed_round(words: Words, line: facts_pb2.RoundScore, width: int) -> Iterator[Text]:
    points = zip(words.names, line.points, line.totals, strict=True)
    scores = [f"{name} {gained:+} {total}" for name, gained, total in points]
    yield listed(f"{line.round:>{NUMBER_WIDTH - 1}} ", scores, "   ", width)
    if line.headline:
        yield folded(" " * NUMBER_WIDTH, words.phrases(line.headline), width, style="dim")
    if _has_notes(line):
        yield _listed_notes(words, line, width)


def _has_notes(line: facts_pb2.RoundScore) -> bool:
    return any(note.phrases for note in line.notes)


def _cell(note: str, width: int) -> list[str]:
    """Return a note in lines, broken after commas if it fits so."""
    lines = note.replace(", ", ",\n").split("\n") if cell_len(note) > width else [note]
    return lines if _fits(lines, width) else textwrap.wrap(note, width, break_long_words=False)


def _fits(cell: Sequence[str], width: int) -> bool:
    return len(cell) <= MAX_NOTE_LINES and all(cell_len(text) <= width for text in cell)


def _round_lines(
    words: Words, line: facts_pb2.RoundScore, notes: Sequence[Sequence[str]], column: int, width: int
) -> Iterator[Text]:
    """Return points and totals, notes as cells below them, and the headline beside them, or below for lack of room."""
    scores = [f"{points:+} {total:4}" for points, total in zip(line.points, line.totals, strict=True)]
    room = width - NUMBER_WIDTH - column * len(scores) - 2
    headline = words.phrases(line.headline)
    beside = textwrap.wrap(headline, room) if room >= NARROWEST_HEADLINE else []
    row = Text(f"{line.round:>{NUMBER_WIDTH - 1}} " + "".join(_right(score, column) for score in scores))
    yield row.append(f"  {beside[0]}" if beside else "", style="dim")
    if headline and not beside:
        yield folded(" " * NUMBER_WIDTH, headline, width, style="dim")
    for texts in zip_longest(beside[1:], *notes, fillvalue=""):
        under = "".join(_right(text, column) for text in texts[1:]).ljust(column * len(scores))
        yield reddened(Text(f"{' ' * NUMBER_WIDTH}{under}  {texts[0]}".rstrip(), style="dim"))


def _listed_notes(words: Words, line: facts_pb2.RoundScore, width: int) -> Text:
    notes = [
        f"{words.name(seat)}: {words.phrases(note.phrases)}" for seat, note in enumerate(line.notes) if note.phrases
    ]
    if max(map(cell_len, notes)) > width - 2 * NUMBER_WIDTH:
        return folded(" " * NUMBER_WIDTH, "; ".join(notes), width, style="dim")
    return listed(" " * NUMBER_WIDTH, notes, "   ", width, style="dim")


def _right(text: str, width: int) -> str:
    """Return a text at the right of its column, cut if it is too long."""
    length = cell_len(text)
    return " " * (width - length) + text if length <= width else set_cell_size(text, width)
