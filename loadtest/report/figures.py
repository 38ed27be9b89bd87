"""How figures are written for people; figures that are not known are written as a dash."""

UNKNOWN = "–"
"""Stands where nothing was measured."""
SECONDS_FROM_MILLISECONDS = 10_000
"""Longer times are written in seconds."""


def number(value: float, digits: int = 0) -> str:
    """A number with its thousands apart."""
    return f"{value:,.{digits}f}"


def cores(value: float) -> str:
    """A number of processor cores."""
    return f"{value:.2f}"


def milliseconds(value: float) -> str:
    """A time given in milliseconds, with as many digits as say something."""
    if value >= SECONDS_FROM_MILLISECONDS:
        return f"{value / 1000:,.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def size(count: float) -> str:
    """A number of bytes in binary units."""
    for unit in ("B", "KiB", "MiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:,.2f} GiB"


def megabytes(count: float) -> str:
    """A number of bytes in decimal units, of which round numbers stand at an axis."""
    return f"{number(count / 1e6)} MB"


def duration(seconds: float) -> str:
    """A time given in seconds as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def change(first: float, last: float) -> str:
    """By how many percent something grew or shrank."""
    return f"{(last - first) / first:+.1%}" if first else UNKNOWN


def known(value: float, written: str) -> str:
    """What was written of a value where 0 means that nothing is known."""
    return written if value else UNKNOWN


def printable(text: str) -> str:
    """A text in one line that cannot steer a terminal: what others said, as it may be shown."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
