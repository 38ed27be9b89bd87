"""Texts of others, as a terminal may show them: what would control it is an escape such as \\x1b."""

import unicodedata

_CONTROLLING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: control characters, such as ESC and those of C1; formats, such as overrides of the direction;
surrogates; separators of lines."""
_JOINERS = "\u200c\u200d"
"""Formats within emoji and within words of some languages, which only join letters or not."""


def escaped(text: str, keep: str = "") -> str:
    """Return a text with an escape for each character that controls a terminal, except for those to keep."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter if _is_shown(letter) or letter in keep else letter.encode("unicode_escape").decode() for letter in text
    )


def _is_shown(letter: str) -> bool:
    return letter in _JOINERS or unicodedata.category(letter) not in _CONTROLLING
