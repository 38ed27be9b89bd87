"""A scripted person at a terminal, as `pyte` shows it."""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyte

DEADLINE_SECONDS = 300.0
"""Of a whole game, also on a busy machine."""
PAUSE_SECONDS = 0.1
AGAIN_SECONDS = 2.0
CONFIRM = "write yes to confirm"

CROUPIER = (sys.executable, "-m", "croupier.cli")
"""The command of this checkout."""

CHOICE = re.compile(r"you may: (keep|swap) (\d+)")
NAMED_SUIT = {"keep": " s", "swap": ""}


def answer(table: str) -> str:
    """Return a line for the first legal action; of a choice, with as few cards as allowed."""
    asked = CHOICE.findall(table)
    if not asked:
        # A bid is its own number.
        bids = re.findall(r"you may(?: bid:|: bid) (\d+)", table)
        return bids[-1] if bids and table.rpartition("you may")[2].lstrip(": ").startswith("bid") else "1"
    verb, count = asked[-1]
    hand = table.rpartition("your hand: ")[2].partition("you may")[0]
    cards = re.findall(r"[2-9TJQKA][CDHS]|JK", hand)
    return f"{verb} {' '.join(cards[: int(count)])}{NAMED_SUIT[verb]}"


class Person:
    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        columns: int = 80,
        rows: int = 24,
        program: Sequence[str] = CROUPIER,
    ) -> None:
        self.terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            # With the terminal as its own, Ctrl-C is a signal to it.
            ["/usr/bin/setsid", "--ctty", *program, *command],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            # The language is that of the test, whatever this machine has.
            env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment},
        )
        os.close(theirs)
        self.output = ""
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000)
        self._stream = pyte.Stream(self._screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_plain = environment.get("TERM") == "dumb"
        self._answered, self._typed_at, self._answer_at = "", 0, 0.0
        self._deadline = time.monotonic() + DEADLINE_SECONDS

    @property
    def seen(self) -> str:
        """Return all lines that the terminal has shown and shows."""
        if self._is_plain:
            return self.output
        above = (
            "".join(line[column].data for column in range(self._screen.columns)) for line in self._screen.history.top
        )
        return "\n".join(line.rstrip() for line in (*above, *self._screen.display))

    @property
    def shown(self) -> str:
        """Return what the person looks at: the screen, or in a plain terminal the lines since they typed."""
        return self.output[self._typed_at :] if self._is_plain else "\n".join(map(str.rstrip, self._screen.display))

    def press(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def type(self, line: str) -> None:
        self._typed_at = len(self.output)
        self.press(f"{line}\r")

    def read(self) -> str:
        """Return the output since the last call; empty after a pause."""
        assert time.monotonic() < self._deadline, self.seen[-3000:]
        if not select.select([self.terminal], [], [], PAUSE_SECONDS)[0]:
            return ""
        try:
            text = self._decoder.decode(os.read(self.terminal, 65536))
        except OSError:  # The other side of the pseudo-terminal is closed.
            return ""
        self.output += text
        self._stream.feed(text)
        return text

    def read_until(self, wanted: str) -> None:
        while wanted not in " ".join(self.seen.split()):
            has_ended = self.process.poll() is not None
            assert self.read() or not has_ended, self.seen[-3000:]

    def read_to_the_end(self) -> int:
        """Read until the program has ended; returns its exit code."""
        while self.read() or self.process.poll() is None:
            pass
        return self.process.wait()

    def act(self) -> None:
        """Read, and answer the table if it asks for an action or a confirmation."""
        self.read()
        table = "\n".join(line for line in self.shown.split("\n") if not line.startswith(">") and "left" not in line)
        # An answer may come too late: then the table stays as it was, and the person tries again.
        is_new = table != self._answered or time.monotonic() > self._answer_at + AGAIN_SECONDS
        if ("you may" in table or CONFIRM in table) and is_new:
            self.type("yes" if CONFIRM in table else answer(table))
            self._answered, self._answer_at = table, time.monotonic()

    def play_until(self, wanted: str) -> None:
        while self.process.poll() is None and wanted not in self.seen:
            self.act()

    def play_to_the_end(self) -> None:
        self.play_until("over. Ranking:")
        self.read_until("Write again to play again")
        self.type("/quit")
        assert self.read_to_the_end() == 0, self.seen[-3000:]
        assert "The game is over. Ranking:" in self.seen


@contextmanager
def person_in(
    folder: Path,
    environment: Mapping[str, str],
    table: Sequence[str] = ("--game", "thulla", "--seats", "2"),
    columns: int = 80,
    rows: int = 24,
    program: Sequence[str] = CROUPIER,
) -> Iterator[Person]:
    """Run `croupier play` for a person until the end of the block."""
    command = ["play", *table, "--data-dir", str(folder), "--bot-delay", "0"]
    person = Person(command, environment, columns, rows, program)
    try:
        yield person
    finally:
        person.process.terminate()
        person.read_to_the_end()
        os.close(person.terminal)
