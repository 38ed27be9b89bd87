"""A rules page, or one rule of it, as a terminal shows it."""

import re

from rich.markdown import Markdown

_ANCHOR = re.compile(r'<a id="[^"]*"></a>')


def shown_page(markdown: str) -> Markdown:
    """Return Markdown laid out for a terminal, which has no anchors."""
    return Markdown(_ANCHOR.sub("", markdown), hyperlinks=False)


def rule_text(markdown: str, rule: str) -> str:
    """Return the paragraph, item or table row of a page that begins at the anchor of a rule; empty if there is none.

    A text that ends with a colon goes on with what it announces, a row has the head of its table. The id of the rule
    may be in upper or lower case.
    """
    lines = markdown.splitlines()
    anchor = f'<a id="{rule}"></a>'.lower()
    start = next((number for number, line in enumerate(lines) if anchor in line.lower()), None)
    if start is None:
        return ""
    if lines[start].startswith("|"):
        head = start
        while lines[head - 1].startswith("|"):
            head -= 1
        return "\n".join([*lines[head : head + 2], lines[start]])
    end = start + 1
    while end < len(lines) and lines[end].strip() and not lines[end].startswith(("- ", "|", "#")):
        end += 1
    if lines[end - 1].endswith(":"):
        while end < len(lines) and not lines[end].startswith("#") and not _ANCHOR.search(lines[end]):
            end += 1
    return "\n".join(lines[start:end])
