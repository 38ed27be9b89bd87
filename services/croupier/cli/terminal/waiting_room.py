"""The time before a game: players take seats, and are ready once none is free."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from rich.text import Text

from croupier.cli.faults import CommandFault
from croupier.cli.terminal.console import Picture, Screen, carry_out_lines, until_first
from croupier.cli.terminal.lines import folded
from croupier.cli.terminal.refusals import refusal_text
from croupier.cli.terminal.table_change import change_table
from croupier.cli.terminal.table_text import seat_texts, settings_text
from croupier.cli.terminal.texts import Texts
from croupier.runtime.printed_text import escaped
from croupier_api.v1 import games_pb2, tables_pb2
from croupier_client.aio import Client
from croupier_client.errors import CroupierError, FailedPrecondition, PermissionDenied, Unavailable

POLL_SECONDS = 0.5
ANSWER_SECONDS = 1.5
"""A lobby that has not answered for so long is shown as lost."""
CLIENT_SEED_BYTES = 16


def help_lines(texts: Texts) -> tuple[str, ...]:
    """Return what a person can type before a game."""
    return (
        texts.tr("/start fills the free seats with bots; only the host can. The game begins when no seat is free."),
        texts.tr("/seat NUMBER moves you to a free seat."),
        texts.tr(
            "/set NAME=VALUE changes the table; only the host can, and the others get ready again. Names are seats, "
            "time and reserve (in seconds), and the options of the game: /set seats=3 time=30. croupier games GAME "
            "lists the options."
        ),
        texts.tr("/quit, Ctrl-C and Ctrl-D leave this program; you can come back. /leave frees your seat."),
    )


class WaitingRoom:
    """A forming table of a person, which is read twice a second, so that a lost connection is seen as soon."""

    def __init__(
        self,
        client: Client,
        table: tables_pb2.Table,
        game: games_pb2.GameDescription,
        screen: Screen,
        clock: Callable[[], float] = time.monotonic,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.has_left = False
        """Whether the person has given their seat up."""
        self._client = client
        self._table = table
        self._game = game
        self._screen = screen
        self._notice = ""
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._answered_at = clock()

    async def run(self) -> bool:
        """Wait until the game begins (returns True) or the person leaves; raises CommandFault if the table closes."""
        await until_first(self._follow(), carry_out_lines(self._screen, self._handle))
        return self._has_begun

    @property
    def _has_begun(self) -> bool:
        return self._table.state in (tables_pb2.TABLE_STATE_PLAYING, tables_pb2.TABLE_STATE_FINISHED)

    @property
    def _shown(self) -> tuple[Any, ...]:
        """Return what a person looks at."""
        return list(self._table.seats), self._table.options, self._table.time_control

    def _is_own(self, player_id: str) -> bool:
        return self._client.player is not None and self._client.player.player_id == player_id

    async def _follow(self) -> None:
        self._draw(is_news=True)
        while not self._has_begun:
            before = self._shown
            # An outage may be of any length: the person decides when to leave.
            with contextlib.suppress(TimeoutError, Unavailable):
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._read()
                self._answered_at = self._clock()
            self._draw(is_news=before != self._shown)
            await asyncio.sleep(0 if self._has_begun else self._poll_seconds)

    async def _read(self) -> None:
        """Read the table, and get ready if all seats are taken."""
        self._table = (await self._client.get_table(table_id=self._table.table_id)).table
        if self._table.state == tables_pb2.TABLE_STATE_CLOSED:
            raise CommandFault(self._screen.texts.tr("the table was closed before its game began"))
        is_unready = any(self._is_own(seat.player_id) and not seat.is_ready for seat in self._table.seats)
        if is_unready and not self._has_begun and all(seat.name for seat in self._table.seats):
            # If the seats have changed meanwhile, or the person leaves, the next reading shows them.
            with contextlib.suppress(FailedPrecondition, PermissionDenied):
                seed = secrets.token_bytes(CLIENT_SEED_BYTES)
                ready = await self._client.set_ready(table_id=self._table.table_id, client_seed=seed)
                self._table = ready.table

    async def _handle(self, line: str) -> bool:
        """Carry out a line of input; returns False if the person gives their seat up."""
        self._notice = ""
        try:
            await self._carry_out(line)
        except CommandFault as fault:
            self._notice = fault.message
        except CroupierError as error:
            self._notice = refusal_text(self._screen.texts, error)
        self._draw(is_news=bool(self._notice))
        return not self.has_left

    async def _carry_out(self, line: str) -> None:
        table_id = self._table.table_id
        match line.strip().lower().split():
            case ["/start" | "start"]:
                await self._fill_with_bots()
            case ["/seat", number] if self._is_seat(number):
                moved = await self._client.join_table(table_id=table_id, seat=int(number) - 1)
                self._table = moved.table
            case ["/set", _, *_]:
                # Values of options may have capital letters.
                self._table = await change_table(
                    self._client, self._table, self._game, line.split()[1:], self._screen.texts
                )
            case ["/leave"]:
                await self._client.leave_table(table_id=table_id)
                self.has_left = True
            case ["/help" | "help" | "?"]:
                lines = help_lines(self._screen.texts)
                self._screen.say(*(folded("", text, self._screen.width) for text in lines))
            case _:
                self._notice = self._screen.texts.tr(
                    "the game has not begun: write /start, /seat NUMBER, /set NAME=VALUE, /leave or /quit"
                )

    async def _fill_with_bots(self) -> None:
        for number, seat in enumerate(self._table.seats):
            if seat.reserved_player_id:
                await self._client.clear_seat(table_id=self._table.table_id, seat=number)
            if not seat.name:
                await self._client.add_bot(table_id=self._table.table_id, seat=number)

    def _is_seat(self, number: str) -> bool:
        return number.isdecimal() and 1 <= int(number) <= len(self._table.seats)

    def _draw(self, *, is_news: bool) -> None:
        width, texts, silent = self._screen.width, self._screen.texts, self._clock() - self._answered_at
        messages = [Text(escaped(self._notice), style="italic")] if self._notice else []
        if silent > ANSWER_SECONDS:
            lost = texts.tr(
                "The connection is lost: asking the lobby until it answers. /quit leaves; you can come back."
            )
            messages.append(folded("", lost, width, style="bold red"))
        commands = texts.tr("/seat NUMBER moves you, /leave frees your seat, /quit leaves; you can come back")
        if self._is_own(self._table.host_player_id):
            of_host = texts.tr("/start fills the free seats with bots, /set NAME=VALUE changes the table")
            commands = f"{of_host}, {commands}"
        self._screen.draw(Picture(self._lines(), [folded("", commands, width)], messages), is_news=is_news)

    def _lines(self) -> Sequence[Text]:
        free = sum(not seat.name for seat in self._table.seats)
        texts, count = self._screen.texts, len(self._table.seats)
        waiting = texts.tr("free seats: {count}", count=free) if free else texts.tr("all seats are taken")
        own_id = self._client.player.player_id if self._client.player else ""
        return [
            Text(f"{escaped(self._game.name)}, {texts.tr('seats: {count}', count=count)}, {waiting}", style="bold"),
            settings_text(texts, self._table, self._game, self._screen.width),
            *seat_texts(texts, self._table, own_id),
        ]
