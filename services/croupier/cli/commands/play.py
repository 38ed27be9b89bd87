"""`croupier play`: a person at a table, with bots or with friends."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from google.protobuf.duration_pb2 import Duration
from rich.console import Console
from rich.text import Text

from croupier.cli.faults import CommandFault, misused
from croupier.cli.local_player import LocalPlayer
from croupier.cli.options import described_options, game_id
from croupier.cli.printed_command import printed_command
from croupier.cli.terminal.console import Screen, opened_screen
from croupier.cli.terminal.game_session import GameSession
from croupier.cli.terminal.join_question import JoinQuestion
from croupier.cli.terminal.lines import folded
from croupier.cli.terminal.lookups import Lookups
from croupier.cli.terminal.play_again import PlayAgain
from croupier.cli.terminal.refusals import refusal_text
from croupier.cli.terminal.result import show_result
from croupier.cli.terminal.table_menu import TableMenu
from croupier.cli.terminal.texts import Texts
from croupier.cli.terminal.waiting_room import WaitingRoom
from croupier.cli.terminal.words import Words, can_write_symbols, words_of
from croupier_api.v1 import games_pb2, lobby_pb2, tables_pb2
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.errors import CroupierError, NotFound, Unavailable

USUAL_GAME = "thulla"
USUAL_SEATS = 4
ACTION_TIME = Duration(seconds=60)
RESERVE_TIME = Duration(seconds=300)
MENU_TABLES = 20
"""As many as a player may have, by default."""


@dataclass(frozen=True, slots=True)
class TableChoice:
    """The table to play at: one by its id or invite code, or a new one, with bots or for friends.

    Raises CommandFault for options that exclude each other.
    """

    game: str | None = None
    seats: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    bot_delay_milliseconds: int = 0
    table_id: str | None = None
    invite_code: str | None = None
    is_for_friends: bool = False
    is_first: bool = True
    """Whether the person has never played at these services, and is asked nothing."""
    connection: Sequence[str] = ()
    """The options by which another command reaches the same services."""

    def __post_init__(self) -> None:
        ways = {"--table": self.table_id, "--join": self.invite_code, "--invite": self.is_for_friends}
        given = [name for name, value in ways.items() if value]
        if len(given) > 1:
            raise misused(f"{' and '.join(given)} exclude each other: name one of them")
        if (self.table_id or self.invite_code) and self._describes_a_table:
            raise misused(f"{given[0]} is for a table that exists: leave --game, --seats and --option out")

    @property
    def is_open(self) -> bool:
        """Whether the person has not said where or what to play."""
        return not (self.table_id or self.invite_code or self.is_for_friends or self._describes_a_table)

    @property
    def _describes_a_table(self) -> bool:
        return bool(self.game or self.seats or self.options)


async def play(client: Client, choice: TableChoice, player: LocalPlayer, console: Console, texts: Texts) -> None:
    """Take a seat and play until the person leaves, or plays no further game; raises CroupierError or CommandFault."""
    visit = TableVisit(client, choice, player, console, texts)
    try:
        with _cancelled_by_signals() as task:
            await visit.play()
    except asyncio.CancelledError:
        # Ctrl-C, Ctrl-D and signals end the program as /quit does.
        task.uncancel()
    except CroupierError as error:
        if not visit.is_paused:
            raise
        is_lost = isinstance(error, Unavailable) and not error.reason_name
        why = texts.tr("the services answer no more") if is_lost else refusal_text(texts, error)
        raise CommandFault(texts.tr("{why}; come back with: {command}", why=why, command=visit.way_back)) from None
    if visit.is_paused:
        console.print(texts.tr("Come back with: {command}", command=visit.way_back), soft_wrap=True)


@contextlib.contextmanager
def _cancelled_by_signals() -> Iterator["asyncio.Task[object]"]:
    """Yield the calling task, which SIGTERM and SIGHUP cancel; SIGINT does so anyway."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None  # noqa: S101 - coroutines run in tasks
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    try:
        yield task
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)


class TableVisit:
    """One visit of a person: the choice of a table, its game, and those that they play after it."""

    def __init__(
        self, client: Client, choice: TableChoice, player: LocalPlayer, console: Console, texts: Texts
    ) -> None:
        self.table_id: str | None = None
        """The table of the person, once they have a seat."""
        self.is_paused = False
        """Whether the person may come back to the table."""
        self._client = client
        self._choice = choice
        self._player = player
        self._console = console
        self._texts = texts
        self._games: Mapping[str, games_pb2.GameDescription] = {}
        self._reactions: Sequence[games_pb2.ReactionDescription] = ()

    @property
    def way_back(self) -> str:
        """Return the command by which the person comes back to the table."""
        return self._command("play", "--table", str(self.table_id))

    def _command(self, *words: str) -> str:
        of_player = ("--player", self._player.name) if self._player.name else ()
        return printed_command(*words, *of_player, *self._choice.connection)

    async def play(self) -> None:
        """Play until the person leaves, or plays no further game; raises CroupierError or CommandFault."""
        offered = await self._client.list_games(language=self._texts.language)
        self._games = {game.game: game for game in offered.games}
        self._reactions = offered.reactions
        async with opened_screen(self._console, self._texts) as screen:
            table = await self._chosen_table(screen)
            while table is not None:
                self._take_seat(table)
                finished = await self._follow(table, screen)
                table = None if finished is None else await self._next_table(finished, screen)

    def _take_seat(self, table: tables_pb2.Table) -> None:
        """Note the person's seat at a table; raises CommandFault if they have none."""
        if not self._has_seat(table):
            raise CommandFault(self._texts.tr("you have no seat at table {table}", table=table.table_id))
        self.table_id, self.is_paused = table.table_id, True

    def _has_seat(self, table: tables_pb2.Table) -> bool:
        own = self._client.player
        return any(own and seat.player_id == own.player_id for seat in table.seats)

    async def _chosen_table(self, screen: Screen) -> tables_pb2.Table | None:
        """Return the table of the person, who has a seat; None if they leave before."""
        choice = self._choice
        if choice.table_id is not None:
            fault = self._texts.tr("there is no table {table} with a seat of yours", table=choice.table_id)
            with _not_found(fault):
                return (await self._client.get_table(table_id=choice.table_id)).table
        if choice.invite_code is not None:
            return await self._joined(choice.invite_code, screen)
        if choice.is_open and sys.stdin.isatty():
            mine = await self._own_tables()
            if mine or not choice.is_first:
                return await self._table_of_menu(mine, screen)
        return await self._new_table(screen)

    async def _table_of_menu(self, mine: Sequence[lobby_pb2.MyTable], screen: Screen) -> tables_pb2.Table | None:
        names = {game.game: game.name for game in self._games.values()}
        menu = TableMenu(self._client, mine, names, screen)
        has_chosen = await menu.run()
        if menu.account.is_deleted:
            self._player.forget()
        if menu.chosen is not None or not has_chosen:
            return menu.chosen
        return await (self._joined(menu.invite_code, screen) if menu.invite_code else self._new_table(screen))

    async def _joined(self, invite_code: str, screen: Screen) -> tables_pb2.Table | None:
        """Return a table at which the person has a seat, by its code; None if they see it and do not want one."""
        fault = self._texts.tr("there is no table with the code {code}: ask your friend for it again", code=invite_code)
        with _not_found(fault):
            table = (await self._client.get_table(invite_code=invite_code)).table
            if self._has_seat(table):
                hint = self._texts.tr("You have a seat there: another person of this machine adds --player NAME.")
                screen.say(folded("", hint, screen.width))
                return table
            if sys.stdin.isatty() and not await JoinQuestion(table, self._game(table.game), screen).run():
                return None
            return (await self._client.join_table(invite_code=invite_code)).table

    async def _own_tables(self) -> Sequence[lobby_pb2.MyTable]:
        """Return the tables of the person that are not finished, newest first."""
        answer = await self._client.list_my_tables(page_size=MENU_TABLES)
        return answer.tables

    def _game(self, name: str) -> games_pb2.GameDescription:
        return self._games.get(name, games_pb2.GameDescription(name=name))

    async def _new_table(self, screen: Screen) -> tables_pb2.Table:
        choice = self._choice
        names = {known: game.name for known, game in self._games.items()}
        usual = USUAL_GAME if USUAL_GAME in names else next(iter(names), USUAL_GAME)
        game = self._games[game_id(choice.game or usual, names)]
        seats = choice.seats or min(max(USUAL_SEATS, game.min_seats), game.max_seats)
        bot_delay = Duration()
        bot_delay.FromMilliseconds(choice.bot_delay_milliseconds)
        created = await self._client.create_table(
            game=game.game,
            seat_count=seats,
            options=described_options(game, choice.options),
            time_control=tables_pb2.TimeControl(
                action_time=ACTION_TIME, reserve_time=RESERVE_TIME, bot_delay=bot_delay
            ),
            access=tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_LINK),
            bots=() if choice.is_for_friends else ("",) * (seats - 1),
            is_ready=not choice.is_for_friends,
        )
        if choice.is_for_friends:
            code = created.table.invite_code
            join = printed_command("play", "--join", code, "--player", "NAME", *choice.connection)
            others = self._texts.tr("Others join by the code {code}. In another terminal of this machine:", code=code)
            screen.say(folded("", others, screen.width), Text(join))
        return created.table

    async def _follow(self, table: tables_pb2.Table, screen: Screen) -> AsyncTable | None:
        """Wait for the game and play it; returns its table once it is over."""
        game = self._game(table.game)
        if table.state == tables_pb2.TABLE_STATE_FORMING:
            room = WaitingRoom(self._client, table, game, screen)
            if not await room.run():
                self._end_if(room.has_left)
                return None
        async with self._client.play_table(table.table_id) as playing:
            session = GameSession(self._client, playing, game, self._words(playing), screen, self._reactions)
            await session.run()
        self._end_if(session.has_left or playing.is_finished)
        return playing if playing.is_finished else None

    def _end_if(self, is_over: bool) -> None:
        if is_over:
            self.is_paused = False

    async def _next_table(self, finished: AsyncTable, screen: Screen) -> tables_pb2.Table | None:
        """Show the result of a table, and return the one at which the person plays again; None if they do not."""
        words = self._words(finished)
        await show_result(self._client, finished, words, screen)
        command = self._command("replay", "export", finished.table_id)
        screen.say(Text(), Text(f"{self._texts.tr('Replay')}: {command}"))
        if not sys.stdin.isatty():
            return None
        lookups = Lookups(self._client, finished.table, words)
        return await PlayAgain(self._client, finished.table_id, lookups, screen).run()

    def _words(self, table: AsyncTable) -> Words:
        names = [seat.name for seat in table.table.seats]
        symbols = can_write_symbols(self._console.encoding)
        return words_of(self._game(table.table.game), names, symbols, self._texts)


@contextlib.contextmanager
def _not_found(message: str) -> Iterator[None]:
    """Raise CommandFault with a message where a table is unknown to the services, or not for the person."""
    try:
        yield
    except NotFound:
        raise CommandFault(message) from None
