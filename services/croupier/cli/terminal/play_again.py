"""The time after a game, in which a person may play again with the same people."""

import asyncio
import contextlib

from rich.text import Text

from croupier.cli.terminal.console import Picture, Screen, carry_out_lines, until_first
from croupier.cli.terminal.lines import folded
from croupier.cli.terminal.lookups import Lookups
from croupier.cli.terminal.person_input import InputFault, read_lookup
from croupier.cli.terminal.refusals import refusal_text
from croupier.runtime.printed_text import escaped
from croupier_api.v1 import tables_pb2
from croupier_client.aio import Client
from croupier_client.errors import CroupierError


class PlayAgain:
    """A finished table of a person, which is followed until another table comes after it."""

    def __init__(self, client: Client, table_id: str, lookups: Lookups, screen: Screen) -> None:
        self.next_table: tables_pb2.Table | None = None
        """The table to play at next, where the person has a seat."""
        self._client = client
        self._table_id = table_id
        self._lookups = lookups
        self._screen = screen
        self._news = ""
        self._notice = ""

    async def run(self) -> tables_pb2.Table | None:
        """Return the next table with a seat of the person; None if they leave."""
        self._draw()
        await until_first(self._follow(), carry_out_lines(self._screen, self._handle))
        return self.next_table

    async def _follow(self) -> None:
        with contextlib.suppress(CroupierError):
            async for change in self._client.watch_tables(table_id=self._table_id):
                if change.table.next_table_id:
                    name = await self._host_name(change.table.next_table_id)
                    self._news = self._screen.texts.tr(
                        "{name} plays again, and a seat is kept for you for a minute.", name=name
                    )
                    self._draw()
                    break
        # Without news the person may ask all the same.
        await asyncio.Event().wait()

    async def _host_name(self, table_id: str) -> str:
        table = (await self._client.get_table(table_id=table_id)).table
        names = [seat.name for seat in table.seats if seat.player_id == table.host_player_id]
        return names[0] if names else self._screen.texts.tr("Another player")

    async def _handle(self, line: str) -> bool:
        """Take a line of input; returns False once the person has a seat at the next table."""
        self._notice = ""
        try:
            await self._carry_out(line)
        except InputFault as fault:
            self._notice = str(fault)
        except CroupierError as error:
            self._notice = refusal_text(self._screen.texts, error)
        self._draw()
        return self.next_table is None

    async def _carry_out(self, line: str) -> None:
        tr = self._screen.texts.tr
        if line.strip().lower() in ("again", "/again", "yes", "y", tr("again"), tr("yes")):
            self.next_table = (await self._client.rematch(table_id=self._table_id)).table
            return
        lookup = read_lookup(line)
        if lookup is None:
            answer = line.strip()
            raise InputFault(tr("invalid answer '{answer}': expected again, /sheet or /quit", answer=answer))
        self._screen.say(*await self._lookups.lines(lookup, self._screen.width))

    def _draw(self) -> None:
        width = self._screen.width
        rows = [folded("", self._news, width, style="bold")] if self._news else []
        notice = [Text(escaped(self._notice), style="italic")] if self._notice else []
        question = self._screen.texts.tr(
            "Write again to play again at a new table with the same seats, /sheet for the score sheet, or /quit."
        )
        self._screen.draw(Picture(rows, [folded("", question, width)], notice), is_news=True)
