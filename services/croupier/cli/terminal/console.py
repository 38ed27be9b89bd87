"""Input and output of `croupier play`: keys in, a picture that stays in place or plain lines out."""

import asyncio
import concurrent.futures
import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from croupier.cli.terminal.line_editor import every_key_at_once

READ_BYTES = 1024
MAX_PIECES = 4
FRAMES_PER_SECOND = 8


class Screen(Protocol):
    """Shows a table."""

    def say(self, line: RenderableType) -> None:
        """Add a line to the story."""

    def draw(self, picture: Sequence[Text], typed: str, is_news: bool) -> None:
        """Show the table as it is now, and the typed text; `is_news` if the viewer is to look at it now."""


class LiveScreen:
    """A screen whose picture stays at the bottom, with the story above it."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def say(self, line: RenderableType) -> None:
        """Add a line above the picture."""
        self._live.console.print(line)

    def draw(self, picture: Sequence[Text], typed: str, is_news: bool) -> None:  # noqa: ARG002 - it is always current
        """Replace the picture."""
        rows = [*(row for text in picture for row in text.split("\n")), Text(f"> {typed}_")]
        room = self._live.console.height - 1
        # A picture that is too tall loses its upper part: the hand and the legal actions are at its end.
        self._live.update(Group(*(rows if len(rows) <= room else [rows[0], *rows[1 - room :]])))


class PlainScreen:
    """A screen of lines only, for terminals that cannot move the cursor and for files; it shows news alone."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, line: RenderableType) -> None:
        """Add a line."""
        self._console.print(line)

    def draw(self, picture: Sequence[Text], typed: str, is_news: bool) -> None:  # noqa: ARG002 - the terminal echoes
        """Add the table, if the person is to look at it."""
        if is_news:
            self._console.print(*picture, sep="\n")


@contextmanager
def opened_screen(console: Console) -> Iterator[Screen]:
    """Open the screen that fits the terminal."""
    if not (console.is_terminal and sys.stdin.isatty()) or console.is_dumb_terminal:
        yield PlainScreen(console)
        return
    with every_key_at_once(), Live(console=console, refresh_per_second=FRAMES_PER_SECOND, transient=True) as live:
        yield LiveScreen(live)


def keys() -> "asyncio.Queue[bytes]":
    """Return a queue of the bytes of standard input from now on, with an empty piece at its end."""
    queue: asyncio.Queue[bytes] = asyncio.Queue(MAX_PIECES)
    loop = asyncio.get_running_loop()
    # A thread, because some kinds of standard input cannot be polled; it ends with the program.
    threading.Thread(target=_read, args=(loop, queue), daemon=True).start()
    return queue


def _read(loop: asyncio.AbstractEventLoop, queue: "asyncio.Queue[bytes]") -> None:
    while not loop.is_closed():
        data = os.read(sys.stdin.fileno(), READ_BYTES)
        with contextlib.suppress(RuntimeError, concurrent.futures.CancelledError):
            # Waits while the queue is full: input that comes too fast stays unread.
            asyncio.run_coroutine_threadsafe(queue.put(data), loop).result()
        if not data:
            return
