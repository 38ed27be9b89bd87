"""A choice between unfinished tables and a new one."""

from collections.abc import Sequence

from rich.text import Text

from croupier.cli.terminal.console import Picture, Screen, carry_out_lines
from croupier.cli.terminal.lines import folded
from croupier_api.v1 import tables_pb2

INSTRUCTION = "Write the number of a table to come back to it, /leave and its number to give it up, or new."


class TableMenu:
    """The unfinished tables of a person; `titles` are their descriptions."""

    def __init__(self, tables: Sequence[tables_pb2.Table], titles: Sequence[str], screen: Screen) -> None:
        self.chosen: tables_pb2.Table | None = None
        """The table to come back to; None for a new one."""
        self.given_up: list[tables_pb2.Table] = []
        """The tables that the person has given up."""
        self._tables = dict(enumerate(tables, start=1))
        self._titles = titles
        self._screen = screen
        self._notice = ""
        self._has_chosen = False

    async def run(self) -> bool:
        """Wait for the choice; returns False if the person leaves without one."""
        self._draw()
        await carry_out_lines(self._screen, self._handle)
        return self._has_chosen

    async def _handle(self, line: str) -> bool:
        """Take a line of input; returns False once there is a choice."""
        self._notice = ""
        match line.lower().split():
            case ["new" | "n" | "/new"]:
                self._has_chosen = True
            case [number] if table := self._table(number):
                self.chosen, self._has_chosen = table, True
            case ["/leave", number] if table := self._table(number):
                self.given_up.append(self._tables.pop(int(number)))
            case _:
                self._notice = f"invalid answer {line.strip()!r}: expected a number, /leave and a number, or new"
        self._draw()
        return not self._has_chosen

    def _table(self, number: str) -> tables_pb2.Table | None:
        return self._tables.get(int(number)) if number.isdecimal() else None

    def _draw(self) -> None:
        rows = [Text("Unfinished tables" if self._tables else "No unfinished tables", style="bold")]
        rows += [folded("", f"  {number} {self._titles[number - 1]}", self._screen.width) for number in self._tables]
        notice = [Text(self._notice, style="italic")] if self._notice else []
        instruction = folded("", INSTRUCTION, self._screen.width)
        self._screen.draw(Picture(rows, [instruction], notice), is_news=True)
