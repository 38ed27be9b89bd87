"""Texts as lines of a terminal, at most 80 columns wide; red suits in red."""

from collections.abc import Iterable

from rich.cells import cell_len
from rich.text import Text

WIDTH = 80
INDENT = "    "


def folded(label: str, text: str, style: str = "") -> Text:
    """Return a text that is broken at blanks to the width, later lines indented."""
    return listed(label, text.split(" "), " ", style)


def listed(label: str, items: Iterable[str], separator: str, style: str = "") -> Text:
    """Return items side by side, never broken within, as many to a line as the width allows."""
    lines = [label]
    for item in items:
        if cell_len(lines[-1]) + cell_len(item) >= WIDTH and lines[-1].strip():
            lines.append(INDENT)
        lines[-1] += item + separator
    return reddened(Text("\n".join(line.rstrip() for line in lines), style=style))


def reddened(text: Text) -> Text:
    """Return the same text with its red cards and suits in red."""
    text.highlight_regex(r"(?:\b[2-9TJQKA])?[♦♥]", "red")
    return text
