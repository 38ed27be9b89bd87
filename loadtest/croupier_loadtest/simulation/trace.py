"""The trace of a run, as lines of text and as one digest."""

import hashlib
from collections.abc import Callable
from typing import TextIO


class Trace:
    """Writes a line for every event; two runs are equal if their digests are."""

    def __init__(self, clock: Callable[[], float], file: TextIO | None = None) -> None:
        self._clock = clock
        self._file = file
        self._digest = hashlib.sha256()
        self.is_open = True

    def write(self, kind: str, *fields: object) -> None:
        """Write a line: the virtual time, the kind of event, and its fields."""
        if not self.is_open:
            return
        line = " ".join((f"{self._clock():.6f}", kind, *map(str, fields)))
        self._digest.update(line.encode() + b"\n")
        if self._file is not None:
            self._file.write(line + "\n")

    @property
    def digest(self) -> str:
        """The digest of all lines so far."""
        return self._digest.hexdigest()[:16]
