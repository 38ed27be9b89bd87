"""Formats figures for people; unknown figures are a dash."""

UNKNOWN = "–"
"""The text of an unknown figure."""


def number(value: float, digits: int = 0) -> str:
    """Return a number with thousands separators."""
    return f"{value:,.{digits}f}"


def milliseconds(value: float) -> str:
    """Return a time given in milliseconds, with the significant digits; in seconds from ten on."""
    if value >= 10_000:
        return f"{value / 1000:,.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def size(count: float) -> str:
    """Return a number of bytes in binary units."""
    for unit in ("B", "KiB", "MiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:,.2f} GiB"


def megabytes(count: float) -> str:
    """Return a number of bytes in decimal units, which have round numbers on an axis."""
    return f"{number(count / 1e6)} MB"


def duration(seconds: float) -> str:
    """Return a time given in seconds as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def change(first: float, last: float) -> str:
    """Return the change in percent."""
    return f"{(last - first) / first:+.1%}" if first else UNKNOWN


def known(value: float, formatted: str) -> str:
    """Return the formatted text of a value of which 0 means unknown."""
    return formatted if value else UNKNOWN
