"""A look at a table before a person takes a seat there."""

from rich.text import Text

from croupier.cli.terminal.console import Picture, Screen, carry_out_lines
from croupier.cli.terminal.lines import folded
from croupier.cli.terminal.table_text import seat_texts, settings_text
from croupier.runtime.printed_text import escaped
from croupier_api.v1 import games_pb2, tables_pb2


class JoinQuestion:
    """The question whether a person takes a seat at a table that they see."""

    def __init__(self, table: tables_pb2.Table, game: games_pb2.GameDescription, screen: Screen) -> None:
        self._table = table
        self._game = game
        self._screen = screen
        self._is_joining = False

    async def run(self) -> bool:
        """Return whether the person wants to join."""
        self._draw("")
        await carry_out_lines(self._screen, self._handle)
        return self._is_joining

    async def _handle(self, line: str) -> bool:
        answer = line.strip().lower()
        texts = self._screen.texts
        self._is_joining = answer in ("yes", "y", texts.tr("yes"))
        if self._is_joining or answer in ("no", "n", texts.tr("no")):
            return False
        self._draw(texts.tr("invalid answer '{answer}': expected yes or no", answer=line.strip()))
        return True

    def _draw(self, fault: str) -> None:
        width, texts = self._screen.width, self._screen.texts
        seats = texts.tr("seats: {count}", count=len(self._table.seats))
        rows = [
            Text(f"{escaped(self._game.name)}, {seats}", style="bold"),
            settings_text(texts, self._table, self._game, width),
            *seat_texts(texts, self._table, ""),
        ]
        notice = [Text(escaped(fault), style="italic")] if fault else []
        self._screen.draw(
            Picture(rows, [folded("", texts.tr("Write yes to take a seat, or no."), width)], notice), is_news=True
        )
