"""A choice between a person's own tables, a new one and one of a friend; their player can be changed too."""

import time
from collections.abc import Callable, Mapping, Sequence

from rich.text import Text

from croupier.cli.terminal import account
from croupier.cli.terminal.account import Account
from croupier.cli.terminal.console import Picture, Screen, carry_out_lines
from croupier.cli.terminal.lines import folded
from croupier.cli.terminal.refusals import refusal_text
from croupier.cli.terminal.table_text import my_table_text
from croupier_api.v1 import lobby_pb2, tables_pb2
from croupier_client.aio import Client
from croupier_client.errors import CroupierError, FailedPrecondition
from croupier_client.table import new_request_id


class TableMenu:
    """The own tables of a person, as they were when the menu opened; names of games are by id."""

    def __init__(
        self,
        client: Client,
        tables: Sequence[lobby_pb2.MyTable],
        game_names: Mapping[str, str],
        screen: Screen,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.chosen: tables_pb2.Table | None = None
        """The table to come back to; None for another one."""
        self.invite_code: str | None = None
        """The code of the table to join; None for another one."""
        self.account = Account(client, screen.texts)
        self._client = client
        self._tables = dict(enumerate(tables, start=1))
        self._game_names = game_names
        self._screen = screen
        self._clock = clock
        self._notice = ""
        self._has_chosen = False

    async def run(self) -> bool:
        """Wait for the choice; returns False if the person leaves without one."""
        self._draw()
        await carry_out_lines(self._screen, self._handle)
        return self._has_chosen

    async def _handle(self, line: str) -> bool:
        """Take a line of input; returns False once there is a choice, or the player has signed out."""
        try:
            answer = await self.account.answer(line)
            self._notice = answer if answer is not None else await self._choose(line)
        except CroupierError as error:
            self._notice = refusal_text(self._screen.texts, error)
        if self.account.has_ended:
            self._screen.say(folded("", self._notice, self._screen.width))
        self._draw()
        return not (self._has_chosen or self.account.has_ended)

    async def _choose(self, line: str) -> str:
        """Carry out a line about tables; returns a notice, empty for none."""
        match line.lower().split():
            case ["new" | "n" | "/new"]:
                self._has_chosen = True
            case ["/join", code]:
                self.invite_code, self._has_chosen = code, True
            case [number] if table := self._table(number):
                self.chosen, self._has_chosen = table, True
            case ["/leave", number] if table := self._table(number):
                await self._give_up(table)
                del self._tables[int(number)]
            case ["/help" | "help" | "?"]:
                lines = account.help_lines(self._screen.texts)
                self._screen.say(*(folded("", text, self._screen.width) for text in lines))
            case _:
                return self._screen.texts.tr(
                    "invalid answer '{answer}': expected a number, /leave and a number, /join and a code, new, or "
                    "/help",
                    answer=line.strip(),
                )
        return ""

    def _table(self, number: str) -> tables_pb2.Table | None:
        found = self._tables.get(int(number)) if number.isdecimal() else None
        return None if found is None else found.table

    async def _give_up(self, table: tables_pb2.Table) -> None:
        """Leave a table, or its seat to the computer if its game has begun."""
        if table.state == tables_pb2.TABLE_STATE_FORMING:
            await self._client.leave_table(table_id=table.table_id)
            return
        try:
            await self._client.set_away(table_id=table.table_id, request_id=new_request_id(), is_away=True)
        except FailedPrecondition:
            # The game has ended since the menu opened.
            return

    def _draw(self) -> None:
        own_id = self._client.player.player_id if self._client.player else ""
        texts = self._screen.texts
        title = texts.tr("Your tables") if self._tables else texts.tr("You have no tables")
        rows = [Text(title, style="bold")]
        for number, mine in self._tables.items():
            name = self._game_names.get(mine.table.game, mine.table.game)
            row = my_table_text(texts, mine, name, own_id, self._clock())
            rows.append(folded("", f"  {number} {row}", self._screen.width))
        notice = [folded("", self._notice, self._screen.width, style="italic")] if self._notice else []
        instruction = texts.tr(
            "Write the number of a table to come back to it, /leave and its number to give it up, /join and a code, or "
            "new. /help lists more."
        )
        self._screen.draw(Picture(rows, [folded("", instruction, self._screen.width)], notice), is_news=True)
