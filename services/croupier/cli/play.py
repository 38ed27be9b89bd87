"""`croupier play`: a person at a table, against computer players."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from croupier.cli.faults import CommandFault, misused
from croupier.cli.line_editor import LineEditor
from croupier.cli.person_input import HELP, Help, InputFault, Quit, React, read_input
from croupier.cli.screen import Seen, legal_lines, sheet_grid, table_lines
from croupier.cli.terminal import Screen, keys, opened_screen
from croupier.cli.words import Words, can_write_symbols, printable
from croupier_api.v1 import engine_pb2
from croupier_api.v1 import table_pb2 as pb
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.errors import CroupierError, NotFound
from croupier_client.table import Event

USUAL_SEATS = 4
ACTION_SECONDS = 60
RESERVE_SECONDS = 300
TICK_SECONDS = 0.25
SHEET_SECONDS = 5.0
CLIENT_SEED_BYTES = 16
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Seating:
    """The table that a person wants: one that exists, or a new one of a game with computer players."""

    game: str
    seats: int | None
    options: Mapping[str, str]
    bot_delay_milliseconds: int
    table_id: str | None


def device_secret(folder: Path) -> str:
    """The secret by which the services know the person at this machine; it is made when there is none."""
    file = folder.expanduser() / "player.secret"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), file.open("x") as new:
            file.chmod(0o600)
            new.write(secrets.token_hex(SECRET_BYTES))
        return file.read_text()
    except OSError as fault:
        raise CommandFault(f"{file} cannot be used: {fault.strerror}; choose another --data-dir") from None


async def play(client: Client, seating: Seating, console: Console) -> None:
    """Take a seat and play until the game is over or the person leaves; raises CroupierError or CommandFault."""
    table_id = seating.table_id or await _new_table(client, seating)
    async with client.play(table_id) as table:
        if table.seat is None:
            raise CommandFault(f"you have no seat at table {table_id}")
        words = Words(tuple(printable(seat.name) for seat in table.info.seats), can_write_symbols(console.encoding))
        with opened_screen(console) as screen:
            await _Sitting(client, table, words, screen).run()
    if table.finished:
        await _show_result(client, table, words, console)
    else:
        console.print(f"Come back with: croupier play --table {table_id}", highlight=False)


async def _new_table(client: Client, seating: Seating) -> str:
    games = {game.game: game for game in (await client.list_games()).games}
    if seating.game not in games:
        raise misused(f"there is no game {seating.game!r}: choose one of {', '.join(games)}")
    game = games[seating.game]
    seats = seating.seats or min(max(USUAL_SEATS, game.min_seats), game.max_seats)
    clock = pb.Clock(
        action_seconds=ACTION_SECONDS,
        reserve_seconds=RESERVE_SECONDS,
        bot_delay_milliseconds=seating.bot_delay_milliseconds,
    )
    created = await client.create_table(game=game.game, seats=seats, options=seating.options, clock=clock, private=True)
    table_id = created.table.table_id
    for _ in range(seats - 1):
        await client.add_bot(table_id=table_id)
    await client.set_ready(table_id=table_id, client_seed=secrets.token_bytes(CLIENT_SEED_BYTES))
    return table_id


class _Sitting:
    """A person at a table: what is typed becomes actions, what happens becomes a picture and a story."""

    def __init__(self, client: Client, table: AsyncTable, words: Words, screen: Screen) -> None:
        self._client = client
        self._table = table
        self._words = words
        self._screen = screen
        self._editor = LineEditor()
        self._rounds: list[pb.RoundEnded] = []
        self._notice = "/help says what you can type"
        self._news_of = -1

    async def run(self) -> None:
        """Until the game is over or the person leaves."""
        tasks = [asyncio.create_task(work()) for work in (self._follow, self._listen, self._tick)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()

    async def _follow(self) -> None:
        self._draw()
        async for event in self._table:
            self._tell(event)
            self._draw()

    def _tell(self, event: Event) -> None:
        if isinstance(event, engine_pb2.Reaction):
            self._say(f"{self._words.name(event.seat)} reacts: {event.reaction}")
        elif isinstance(event, engine_pb2.TableUpdate):
            reason = " (time was up)" if event.acted_by == engine_pb2.ACTED_BY_TIMEOUT else ""
            for line in self._words.facts(event.facts):
                self._say(line + reason)
            for fact in event.facts:
                if fact.HasField("round_ended"):
                    self._tell_round(fact.round_ended)

    def _tell_round(self, ended: pb.RoundEnded) -> None:
        self._rounds.append(ended)
        self._say(f"Score sheet after round {ended.round}")
        self._screen.say(sheet_grid(self._words, [(it.round, it.points, it.totals) for it in self._rounds]))
        for seat, note in enumerate(ended.notes):
            if note:
                self._say(f"  {self._words.name(seat)}: {note}")

    def _say(self, line: str) -> None:
        self._screen.say(Text(line))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._draw()

    def _draw(self) -> None:
        table = self._table
        bots = frozenset(seat for seat, info in enumerate(table.info.seats) if info.bot)
        seen = Seen(printable(table.info.game), table.view, table.clock, table.seat, bots)
        picture = table_lines(self._words, seen, time.time_ns() // 1_000_000)
        picture += legal_lines(self._words, table.legal_actions)
        if self._notice:
            picture.append(Text(self._notice, style="italic"))
        self._screen.draw(picture, self._editor.typed, is_news=table.to_act and self._news_of != table.sequence)
        if table.to_act:
            self._news_of = table.sequence

    async def _listen(self) -> None:
        pieces = keys()
        while data := await pieces.get():
            for line in self._editor.feed(data):
                if not await self._do(line):
                    return
            self._draw()

    async def _do(self, line: str) -> bool:
        """Do what a line asks for; False if that is to leave."""
        self._notice = ""
        try:
            return await self._fulfil(line)
        except InputFault as fault:
            self._tell_fault(str(fault))
        except CroupierError as error:
            rule = f" ({error.rule})" if error.rule else ""
            self._tell_fault(f"{error.message}{rule}")
        return True

    async def _fulfil(self, line: str) -> bool:
        match read_input(line, self._table.legal_actions):
            case Quit():
                return False
            case Help():
                for text in HELP:
                    self._say(text)
            case React(reaction):
                await self._client.react(table_id=self._table.table_id, reaction=reaction)
            case action:
                await self._table.act(action, expected_sequence=self._table.sequence)
        return True

    def _tell_fault(self, message: str) -> None:
        self._notice = message
        self._news_of = -1


async def _show_result(client: Client, table: AsyncTable, words: Words, console: Console) -> None:
    console.print("\nThe game is over. Ranking:", *words.ranking(table.view.ranking), sep="\n", markup=False)
    rounds = await _sheet(client, table.table_id)
    if rounds:
        console.print("\nScore sheet")
        console.print(sheet_grid(words, rounds))
    console.print(f"\nReplay: croupier replay export {table.table_id}", markup=False)


async def _sheet(client: Client, table_id: str) -> Sequence[tuple[int, Sequence[int], Sequence[int]]]:
    """The rounds as scoring has them; none if it takes too long, since the game itself is done."""
    with contextlib.suppress(TimeoutError, CroupierError):
        async with asyncio.timeout(SHEET_SECONDS):
            while True:
                with contextlib.suppress(NotFound):
                    sheet = await client.get_score_sheet(table_id=table_id)
                    if sheet.HasField("result"):
                        return [(line.round, line.points, line.totals) for line in sheet.rounds]
                await asyncio.sleep(TICK_SECONDS)
    return []
