"""Input and output of `croupier play`: a picture that stays above the line that is typed, or plain lines."""

import asyncio
import concurrent.futures
import contextlib
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.widgets import TextArea
from rich.console import Console, RenderableType
from rich.text import Text

from croupier.cli.terminal.lines import MAX_WIDTH
from croupier.cli.terminal.texts import Texts

MAX_LINE_CHARACTERS = 500
MAX_LINES = 16
"""Of typed lines that wait; more stay in the input."""
LAST_LINES_SECONDS = 2.0
"""The time that typed lines have after the end of the input."""
QUIT_WORDS = frozenset({"/quit", "/exit", "quit", "exit", "q"})


@dataclass(frozen=True, slots=True)
class Picture:
    """All that a person sees besides the story: the table, their choices below it, and messages to them."""

    table: Sequence[Text] = ()
    choices: Sequence[Text] = ()
    messages: Sequence[Text] = ()


class Screen(Protocol):
    """Shows a picture and a story, and reads typed lines; `texts` are in the language of the person."""

    texts: Texts

    @property
    def width(self) -> int:
        """Return the columns that a line may have."""

    def say(self, *lines: RenderableType) -> None:
        """Add lines to the story."""

    def draw(self, picture: Picture, *, is_news: bool) -> None:
        """Show a picture; `is_news` if the person is to look at it now."""

    async def read(self) -> str | None:
        """Return the next typed line; None at the end of the input."""


class LiveScreen(Screen):
    """A screen whose picture stays at the bottom, above the typed line, with the story above both.

    `leave` is called when the person leaves: by Ctrl-C, by Ctrl-D or in words.
    """

    def __init__(self, console: Console, texts: Texts, leave: Callable[[], object]) -> None:
        self.texts = texts
        self._console = console
        self._leave = leave
        self._picture = Picture()
        self._lines: asyncio.Queue[str] = asyncio.Queue(MAX_LINES)
        self._input = TextArea(
            prompt="> ", multiline=False, wrap_lines=False, history=InMemoryHistory(), accept_handler=self._accept
        )
        picture = Window(FormattedTextControl(self._rendered), dont_extend_height=True)
        self.application = Application[None](
            Layout(HSplit([picture, self._input]), focused_element=self._input),
            key_bindings=self._bindings(),
            erase_when_done=True,
            # Some terminals do not answer where their cursor is; it is not needed.
            output=Vt100_Output(sys.stdout, _terminal_size, enable_cpr=False),
        )

    @property
    def width(self) -> int:
        return min(MAX_WIDTH, self.application.output.get_size().columns)

    def say(self, *lines: RenderableType) -> None:
        """Add lines above the picture."""
        _print(self._console, lines)

    def draw(self, picture: Picture, *, is_news: bool) -> None:  # noqa: ARG002 - it is always current
        """Replace the picture."""
        self._picture = picture
        self.application.invalidate()

    async def read(self) -> str | None:
        return await self._lines.get()

    def _accept(self, buffer: Buffer) -> bool:
        """Take a line; returns whether it stays in the input."""
        if is_quit(buffer.text):
            self._leave()
        elif self._lines.full():
            return True
        else:
            self._lines.put_nowait(buffer.text[:MAX_LINE_CHARACTERS])
        return False

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()

        def leave(_event: KeyPressEvent) -> None:
            self._leave()

        bindings.add("c-c")(leave)
        # In a line Ctrl-D deletes a character, as in a shell.
        bindings.add("c-d", filter=Condition(lambda: not self._input.text))(leave)
        return bindings

    def _rendered(self) -> ANSI:
        size = self.application.output.get_size()
        more = self.texts.tr("... /actions lists all")
        rows = fitted(self._console, self._picture, size.columns, size.rows - 1, more)
        with self._console.capture() as captured:
            self._console.print(*rows, sep="\n", end="", soft_wrap=True)
        return ANSI(captured.get())


def _terminal_size() -> Size:
    size = shutil.get_terminal_size()
    return Size(size.lines, size.columns)


class PlainScreen(Screen):
    """A screen of lines only, for terminals that cannot move the cursor and for files; it shows news alone."""

    def __init__(self, console: Console, texts: Texts) -> None:
        self.texts = texts
        self._console = console
        self._lines: asyncio.Queue[str | None] = asyncio.Queue(MAX_LINES)
        # A thread, because some kinds of standard input cannot be polled; it ends with the program.
        threading.Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True).start()

    @property
    def width(self) -> int:
        return min(MAX_WIDTH, self._console.width)

    def say(self, *lines: RenderableType) -> None:
        _print(self._console, lines)

    def draw(self, picture: Picture, *, is_news: bool) -> None:
        """Add the picture, if the person is to look at it."""
        if is_news:
            _print(self._console, (*picture.table, *picture.choices, *picture.messages))

    async def read(self) -> str | None:
        """Return the next line of standard input; None at its end, or where the person leaves in words."""
        return await self._lines.get()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        is_last = False
        while not (is_last or loop.is_closed()):
            line = sys.stdin.readline(MAX_LINE_CHARACTERS)
            is_last = not line or is_quit(line)
            with contextlib.suppress(RuntimeError, concurrent.futures.CancelledError):
                # Waits while the queue is full.
                read = None if is_last else line.rstrip("\n")
                asyncio.run_coroutine_threadsafe(self._lines.put(read), loop).result()


def is_quit(line: str) -> bool:
    """Return whether a typed line ends the program."""
    return line.strip().lower() in QUIT_WORDS


def _print(console: Console, lines: Sequence[RenderableType]) -> None:
    for line in lines:
        # A text has its line breaks already, or is a command to paste.
        console.print(line, soft_wrap=isinstance(line, Text))


def fitted(console: Console, picture: Picture, columns: int, room: int, more: str) -> list[Text]:
    """Return the rows of a picture, at most `room`: messages and choices first, then the lower part of the table.

    `more` stands for choices that have no room.
    """
    table, choices, messages = (
        [row for text in part for row in text.wrap(console, columns)]
        for part in (picture.table, picture.choices, picture.messages)
    )
    messages = messages[:room]
    room -= len(messages)
    if len(choices) > room:
        choices = [*choices[: max(0, room - 1)], Text(more, style="dim")][:room]
    room -= len(choices)
    if len(table) > room:
        # The headline, and the rows next to the choices, where the trick and the hand are.
        table = [*table[:1], *table[len(table) - room + 1 :]][:room]
    return [*table, *choices, *messages]


@asynccontextmanager
async def opened_screen(console: Console, texts: Texts) -> AsyncIterator[Screen]:
    """Open the screen that fits the terminal; the calling task is cancelled when the person leaves."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - coroutines run in tasks
    if not (console.is_terminal and sys.stdin.isatty()) or console.is_dumb_terminal:
        yield PlainScreen(console, texts)
        return
    screen = LiveScreen(console, texts, task.cancel)
    # What services of this program note is shown above the picture, too.
    with patch_stdout(raw=True):
        running = asyncio.create_task(screen.application.run_async(handle_sigint=False, set_exception_handler=False))
        # Without its terminal the application ends by itself.
        running.add_done_callback(lambda ended: ended.cancelled() or task.cancel())
        try:
            yield screen
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def carry_out_lines(
    screen: Screen, carry_out: Callable[[str], Awaitable[bool]], last_lines_seconds: float = LAST_LINES_SECONDS
) -> None:
    """Carry out typed lines one at a time until that returns False, or the input ends; raises what it raises."""
    waiting: asyncio.Queue[str] = asyncio.Queue(MAX_LINES)

    async def work() -> None:
        while await carry_out(await waiting.get()):
            waiting.task_done()

    async def read() -> None:
        while (line := await screen.read()) is not None:
            await waiting.put(line)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(last_lines_seconds):
                await waiting.join()

    await until_first(work(), read())


async def until_first(*works: Coroutine[None, None, None]) -> None:
    """Run all until the first of them ends, then cancel the others; raises its error."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
