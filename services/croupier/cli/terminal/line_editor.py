"""An editor for a line of input, for a terminal that sends each key at once while the screen changes."""

import codecs
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

MAX_LINE_CHARACTERS = 500
_END_OF_INPUT = "\x04"
_ESCAPE = "\x1b"


class LineEditor:
    """The line so far; keys go in as bytes, lines come out."""

    def __init__(self) -> None:
        self.typed = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._in_escape = False

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that these keys complete; end of input (Ctrl-D) on an empty line returns "/quit"."""
        lines = []
        for key in self._decoder.decode(data):
            if self._in_escape:
                # Arrow and function keys are sequences that end with a letter or a tilde.
                self._in_escape = not ((key.isalpha() and key != "O") or key == "~")
            elif key in "\r\n":
                lines.append(self.typed)
                self.typed = ""
            elif key == _END_OF_INPUT and not self.typed:
                lines.append("/quit")
            else:
                self._edit(key)
        return lines

    def _edit(self, key: str) -> None:
        if key == _ESCAPE:
            self._in_escape = True
        elif key in "\x7f\x08":
            self.typed = self.typed[:-1]
        elif key == "\x15":
            self.typed = ""
        elif key.isprintable() and len(self.typed) < MAX_LINE_CHARACTERS:
            self.typed += key


@contextmanager
def every_key_at_once() -> Iterator[None]:
    """Make the terminal on standard input send keys unbuffered and without echo; Ctrl-C still interrupts."""
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin, termios.TCSANOW)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
