"""The console of all commands: texts that come from a server, a player or a file do not control the terminal."""

from collections.abc import Iterable
from typing import IO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from croupier.runtime.printed_text import escaped


class SafeConsole(Console):
    """A console that prints texts as they are, without markup, and escapes what would control the terminal."""

    def __init__(self, file: IO[str] | None = None) -> None:
        super().__init__(file=file, highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable; the console itself adds the codes of their styles afterwards."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escaped(segment.text, keep="\n"), segment.style)
