"""Texts as lines that fit the width of a terminal; red suits in red."""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.text import Text

from croupier.runtime.printed_text import escaped

USUAL_WIDTH = 80
MAX_WIDTH = 100
"""Longer lines are hard to read."""
INDENT = "    "


def folded(label: str, text: str, width: int, style: str = "") -> Text:
    """Return a text that is broken at blanks to a width in columns, later lines indented."""
    return listed(label, text.split(" "), " ", width, style)


def listed(label: str, items: Iterable[str], separator: str, width: int, style: str = "") -> Text:
    """Return items side by side, never broken within, as many to a line as the width in columns allows.

    Line breaks and other controls within the texts are escaped.
    """
    lines = [escaped(label)]
    for item in map(escaped, items):
        if cell_len(lines[-1]) + cell_len(item) > width and lines[-1].strip():
            lines.append(INDENT)
        lines[-1] += item + separator
    return reddened(Text("\n".join(line.rstrip() for line in lines), style=style))


def reddened(text: Text) -> Text:
    """Return the same text with its red cards and suits in red."""
    text.highlight_regex(r"(?:\b[2-9TJQKA])?[♦♥]", "red")
    return text
