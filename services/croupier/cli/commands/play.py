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

from croupier.cli.commands.rules import rules_page
from croupier.cli.faults import CommandFault, misused
from croupier.cli.local_player import LocalPlayer
from croupier.cli.options import described_options, game_id
from croupier.cli.printed_command import printed_command
from croupier.cli.terminal.console import Screen, opened_screen
from croupier.cli.terminal.game_session import TICK_SECONDS, GameSession
from croupier.cli.terminal.lines import MAX_WIDTH, folded
from croupier.cli.terminal.sheets import sheet_lines
from croupier.cli.terminal.table_menu import TableMenu
from croupier.cli.terminal.waiting_room import WaitingRoom
from croupier.cli.terminal.words import Words, can_write_symbols, words_of
from croupier.runtime.printed_text import escaped
from croupier_api.v1 import games_pb2, scoring_pb2, tables_pb2
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.errors import CroupierError, FailedPrecondition, NotFound, Unavailable
from croupier_client.table import new_request_id

USUAL_GAME = "thulla"
USUAL_SEATS = 4
ACTION_TIME = Duration(seconds=60)
RESERVE_TIME = Duration(seconds=300)
SHEET_SECONDS = 5.0
RUNNING = (tables_pb2.TABLE_STATE_FORMING, tables_pb2.TABLE_STATE_PLAYING)


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


async def play(client: Client, choice: TableChoice, player: LocalPlayer, console: Console) -> None:
    """Take a seat and play until the game is over or the person leaves; raises CroupierError or CommandFault."""
    visit = TableVisit(client, choice, player, console)
    try:
        with _cancelled_by_signals() as task:
            await visit.play()
    except asyncio.CancelledError:
        # Ctrl-C, Ctrl-D and signals end the program as /quit does.
        task.uncancel()
    except CroupierError as error:
        if visit.table_id is None:
            raise
        is_lost = isinstance(error, Unavailable) and not error.reason_name
        why = "the services answer no more" if is_lost else error.message
        raise CommandFault(f"{why}; come back with: {visit.way_back}") from None
    if visit.is_paused:
        console.print(f"Come back with: {visit.way_back}", soft_wrap=True)


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
    """One visit of a person to one table, from the choice of it to the result."""

    def __init__(self, client: Client, choice: TableChoice, player: LocalPlayer, console: Console) -> None:
        self.table_id: str | None = None
        """The table of the person, once they have a seat."""
        self.is_paused = False
        """Whether the person may come back to the table."""
        self._client = client
        self._choice = choice
        self._player = player
        self._console = console
        self._games: Mapping[str, games_pb2.GameDescription] = {}

    @property
    def way_back(self) -> str:
        """Return the command by which the person comes back to the table."""
        return self._command("play", "--table", str(self.table_id))

    def _command(self, *words: str) -> str:
        of_player = ("--player", self._player.name) if self._player.name else ()
        return printed_command(*words, *of_player, *self._choice.connection)

    async def play(self) -> None:
        """Play until the game is over or the person leaves; raises CroupierError or CommandFault."""
        self._games = {game.game: game for game in (await self._client.list_games()).games}
        async with opened_screen(self._console) as screen:
            table = await self._chosen_table(screen)
            if table is None:
                return
            self._remember(table)
            finished = await self._follow(table, screen)
        if finished is not None:
            await self._show_result(finished)

    def _remember(self, table: tables_pb2.Table) -> None:
        """Record the person's seat at a table; raises CommandFault if they have none."""
        own = self._client.player
        if not any(own and seat.player_id == own.player_id for seat in table.seats):
            raise CommandFault(f"you have no seat at table {table.table_id}")
        self.table_id, self.is_paused = table.table_id, True
        self._player.remember(table.table_id)

    async def _chosen_table(self, screen: Screen) -> tables_pb2.Table | None:
        """Return the table of the person, who has a seat; None if they leave before."""
        choice = self._choice
        if choice.table_id is not None:
            with _not_found(f"there is no table {choice.table_id} with a seat of yours"):
                return (await self._client.get_table(table_id=choice.table_id)).table
        if choice.invite_code is not None:
            with _not_found(f"there is no table with the code {choice.invite_code}: ask your friend for it again"):
                return await self._joined(choice.invite_code, screen)
        if choice.is_open and sys.stdin.isatty() and (unfinished := await self._unfinished()):
            menu = TableMenu(unfinished, [self._title(table) for table in unfinished], screen)
            has_chosen = await menu.run()
            for table in menu.given_up:
                await self._give_up(table)
            if menu.chosen is not None or not has_chosen:
                return menu.chosen
        return await self._new_table(screen)

    async def _give_up(self, table: tables_pb2.Table) -> None:
        """Leave a table, or its seat to the computer if its game has begun."""
        if table.state == tables_pb2.TABLE_STATE_FORMING:
            await self._client.leave_table(table_id=table.table_id)
        else:
            # The game may have ended since the tables were shown.
            with contextlib.suppress(FailedPrecondition):
                await self._client.set_away(table_id=table.table_id, request_id=new_request_id(), is_away=True)
        self._player.forget(table.table_id)

    async def _joined(self, invite_code: str, screen: Screen) -> tables_pb2.Table:
        known = self._player.tables()
        table = (await self._client.join_table(invite_code=invite_code)).table
        if table.table_id in known:
            screen.say(
                folded("", "You have a seat there: another person of this machine adds --player NAME.", screen.width)
            )
        return table

    async def _unfinished(self) -> list[tables_pb2.Table]:
        """Return the player's tables that are not finished, those first that they came to last."""
        unfinished = []
        for table_id in reversed(self._player.tables()):
            with contextlib.suppress(NotFound):
                table = (await self._client.get_table(table_id=table_id)).table
                if table.state in RUNNING:
                    unfinished.append(table)
                    continue
            self._player.forget(table_id)
        return unfinished

    def _title(self, table: tables_pb2.Table) -> str:
        own = self._client.player
        others = [escaped(seat.name) for seat in table.seats if seat.name and seat.player_id != (own and own.player_id)]
        state = "not begun" if table.state == tables_pb2.TABLE_STATE_FORMING else "begun"
        return f"{self._game(table.game).name} with {', '.join(others) or 'nobody yet'}, {state}"

    def _game(self, name: str) -> games_pb2.GameDescription:
        return self._games.get(name, games_pb2.GameDescription(name=name))

    async def _new_table(self, screen: Screen) -> tables_pb2.Table:
        choice = self._choice
        names = {known: game.name for known, game in self._games.items()}
        game = self._games[game_id(choice.game or USUAL_GAME, names)]
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
        )
        table = created.table
        self._remember(table)
        if choice.is_for_friends:
            code = table.invite_code
            join = printed_command("play", "--join", code, "--player", "NAME", *choice.connection)
            others = f"Others join by the code {code}. In another terminal of this machine:"
            screen.say(folded("", others, screen.width), Text(join))
        else:
            for seat in range(1, seats):
                table = (await self._client.add_bot(table_id=table.table_id, seat=seat)).table
        return table

    async def _follow(self, table: tables_pb2.Table, screen: Screen) -> AsyncTable | None:
        """Wait for the game and play it; returns its table once it is over."""
        game = self._game(table.game)
        if table.state == tables_pb2.TABLE_STATE_FORMING:
            room = WaitingRoom(self._client, table, game.name, screen)
            if not await room.run():
                self._end_if(room.has_left)
                return None
        async with self._client.play_table(table.table_id) as playing:
            session = GameSession(
                self._client, playing, game, self._words(playing), screen, rules_page(playing.table.game)
            )
            await session.run()
        self._end_if(session.has_left or playing.is_finished)
        return playing if playing.is_finished else None

    def _end_if(self, is_over: bool) -> None:
        if is_over and self.table_id is not None:
            self.is_paused = False
            self._player.forget(self.table_id)

    def _words(self, table: AsyncTable) -> Words:
        names = [seat.name for seat in table.table.seats]
        return words_of(self._game(table.table.game), names, can_write_symbols(self._console.encoding))

    async def _show_result(self, table: AsyncTable) -> None:
        console, words = self._console, self._words(table)
        console.print("\nThe game is over. Ranking:", *words.ranking(table.view.ranking), sep="\n")
        sheet = await _finished_sheet(self._client, table.table_id)
        # Scoring learns of a round after the players. If that takes too long, the rounds that this client saw appear.
        rounds, width = sheet.rounds if sheet else table.round_scores, min(MAX_WIDTH, console.width)
        console.print("\nScore sheet", *sheet_lines(words, rounds, width), sep="\n")
        if sheet is not None:
            with contextlib.suppress(CroupierError):
                for statistics in (await self._client.get_player_statistics()).games:
                    if statistics.game == table.table.game:
                        console.print("", statistics_text(words, statistics, width), sep="\n")
        export = self._command("replay", "export", table.table_id)
        console.print(f"\nReplay: {export}", soft_wrap=True)


@contextlib.contextmanager
def _not_found(message: str) -> Iterator[None]:
    """Raise CommandFault with a message where a table is unknown to the services, or not for the person."""
    try:
        yield
    except NotFound:
        raise CommandFault(message) from None


async def _finished_sheet(client: Client, table_id: str) -> scoring_pb2.GetScoreSheetResponse | None:
    """Return the sheet of scoring; None if it takes too long."""
    with contextlib.suppress(TimeoutError, CroupierError):
        async with asyncio.timeout(SHEET_SECONDS):
            while True:
                with contextlib.suppress(NotFound):
                    sheet = await client.get_score_sheet(table_id=table_id)
                    if sheet.HasField("result"):
                        return sheet
                await asyncio.sleep(TICK_SECONDS)
    return None


def statistics_text(words: Words, statistics: scoring_pb2.GameStatistics, width: int) -> Text:
    """Return the statistics of a player in one game as a sentence, at most `width` columns wide."""
    counts = [f"{words.term(name)} {amount}" for name, amount in sorted(statistics.counts.items())]
    won = f"won {statistics.games_won} of {statistics.games_finished}"
    left = [f"left {statistics.games_left}"] if statistics.games_left else []
    places = [won, *left, f"average place {statistics.average_place:.1f}"]
    return folded("You so far: ", ", ".join([*places, *counts]), width)
