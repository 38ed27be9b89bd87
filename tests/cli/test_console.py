"""Pictures in terminals of every size, typed lines, and a forming table whose lobby does not answer."""

import asyncio
from itertools import count, islice
from random import Random
from typing import Any

import grpc
import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from croupier.cli.terminal.console import Picture, carry_out_lines, fitted
from croupier.cli.terminal.legal import legal_lines
from croupier.cli.terminal.result import statistics_text
from croupier.cli.terminal.screen import DisplayedTable, table_lines
from croupier.cli.terminal.waiting_room import WaitingRoom
from croupier.cli.terminal.words import words_of
from croupier.conformance.walks import walk
from croupier.engine.api.action_codec import encode_legal
from croupier.engine.api.fact_codec import encode_view
from croupier.engine.api.table_codec import encode_game, encode_teams
from croupier.games.interface import Game, resolve_options
from croupier.games.registry import OWN_GAMES
from croupier_api.v1 import engine_pb2, games_pb2, lobby_pb2, scoring_pb2, tables_pb2
from croupier_client.errors import PermissionDenied, Unavailable
from tests.cli.conftest import FakeScreen

COLUMNS = (40, 60, 80, 200)
ROWS = (20, 24, 60)
SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8)))
STEP = 4
"""Of so many steps of a game in a row, the picture of one is looked at."""
MORE = "... more"
NOTICE = "9♣: you must follow spades (THU-PLAY-3); you may play 5♠ or 8♠"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=list(OWN_GAMES))
def test_every_table_fits_every_terminal(game: Game, seed: int) -> None:
    seats = max(game.seats)
    words = words_of(encode_game(game), [f"Player {seat}" for seat in range(1, seats + 1)], symbols=True)
    random = Random(seed)
    for step in islice(walk(game, game.new(seats, resolve_options(game, seats, {})), random), seed % STEP, None, STEP):
        view, legal = encode_view(game.view(step.after, 0)), encode_legal(game.legal_actions(step.after, 0))
        table = DisplayedTable(
            game.name, view, engine_pb2.TurnClock(), None, 0, frozenset({1}), encode_teams(game.teams(seats))
        )
        columns, rows = random.choice(COLUMNS), random.choice(ROWS)
        choices = legal_lines(words, legal, view.seats[0].cards, view.card_order, columns)
        picture = Picture(table_lines(words, table, columns), choices, [Text(NOTICE)])
        for line in (*picture.table, *picture.choices):
            assert all(cell_len(row) <= columns for row in line.plain.split("\n")), (seed, columns, line.plain)
        shown = [row.plain for row in fitted(Console(), picture, columns, rows - 1, MORE)]
        last = [row.plain for row in Text(NOTICE).wrap(Console(), columns)]
        wanted = [row for line in choices for row in line.plain.split("\n")]
        assert len(shown) < rows
        assert shown[-len(last) :] == last
        is_whole = shown[-len(last) - len(wanted) : -len(last)] == wanted
        assert is_whole or shown[-len(last) - 1].startswith(MORE), (seed, columns, rows, shown)


def test_a_picture_that_is_too_tall_keeps_its_headline_choices_and_messages() -> None:
    picture = Picture(*([Text(f"{part} {number}") for number in range(9)] for part in ("table", "choice", "message")))
    shown = [row.plain for row in fitted(Console(), picture, 80, 21, MORE)]
    assert shown == [
        "table 0",
        "table 7",
        "table 8",
        *(f"{part} {n}" for part in ("choice", "message") for n in range(9)),
    ]
    assert [row.plain for row in fitted(Console(), picture, 80, 18, MORE)] == shown[3:]
    shown = [row.plain for row in fitted(Console(), picture, 80, 12, MORE)]
    assert shown == ["choice 0", "choice 1", MORE, *(f"message {n}" for n in range(9))]
    assert len(fitted(Console(), picture, 80, 5, MORE)) == 5


def test_a_terminal_that_is_too_small_shows_what_it_can() -> None:
    game = OWN_GAMES["thulla"]
    words = words_of(encode_game(game), [f"Player {seat}" for seat in range(1, 5)], symbols=True)
    state = next(iter(walk(game, game.new(4, resolve_options(game, 4, {})), Random(0)))).after
    view, legal = encode_view(game.view(state, 0)), encode_legal(game.legal_actions(state, 0))
    table = DisplayedTable(game.name, view, engine_pb2.TurnClock(), None, 0)
    picture = Picture(table_lines(words, table, 12), legal_lines(words, legal, (), (), 12), [Text(NOTICE)])
    assert len(fitted(Console(), picture, 12, 3, MORE)) == 3
    assert fitted(Console(), picture, 12, 0, MORE) == []


async def test_lines_that_were_typed_before_the_end_are_carried_out() -> None:
    done = []

    async def carry_out(line: str) -> bool:
        for _ in range(10):
            await asyncio.sleep(0)
        done.append(line)
        return True

    await carry_out_lines(FakeScreen("1", "2"), carry_out)
    assert done == ["1", "2"]


async def test_the_input_ends_although_a_line_is_not_answered() -> None:
    async def carry_out(_line: str) -> bool:
        await asyncio.Event().wait()
        return True

    async with asyncio.timeout(60):
        await carry_out_lines(FakeScreen("1"), carry_out, last_lines_seconds=0.01)


async def test_the_error_of_a_line_ends_the_reading() -> None:
    async def carry_out(line: str) -> bool:
        raise ValueError(line)

    with pytest.raises(ValueError, match="1"):
        await carry_out_lines(FakeScreen("1", "2"), carry_out)


@pytest.mark.parametrize(
    ("left", "expected"), [(0, "games: 3, won: 1 (33%), average"), (1, "games: 3, won: 1 (33%), left: 1, average")]
)
def test_statistics_have_the_games_that_the_player_left(left: int, expected: str) -> None:
    words = words_of(encode_game(OWN_GAMES["thulla"]), ["Anna"], symbols=True)
    statistics = scoring_pb2.GameStatistics(
        games_finished=3, games_won=1, win_rate=1 / 3, games_left=left, average_place=2
    )
    assert statistics_text(words, statistics, 80).plain == f"You so far: {expected} place: 2.0"


def test_statistics_without_games_have_no_average_place() -> None:
    words = words_of(encode_game(OWN_GAMES["thulla"]), ["Anna"], symbols=True)
    assert statistics_text(words, scoring_pb2.GameStatistics(), 80).plain == "You so far: games: 0, won: 0 (0%)"


def test_statistics_of_a_game_without_winners_have_its_figure_and_no_wins_or_places() -> None:
    words = words_of(encode_game(OWN_GAMES["solo"]), ["Anna"], symbols=True)
    statistics = scoring_pb2.GameStatistics(
        games_finished=4,
        average_place=1.75,
        figure=scoring_pb2.Figure(name="escape_rate", value=0.75),
        outcomes={"escaped": 3, "buck": 1},
    )
    assert statistics_text(words, statistics, 80).plain == "You so far: games: 4, escaped: 3 (75%)"


DEADLINE_SECONDS = 30.0
FAILURES = 20
SEAT = tables_pb2.Seat(name="Ada", player_id="ada")
TABLE = tables_pb2.Table(table_id="t1", state=tables_pb2.TABLE_STATE_FORMING, seats=[SEAT])
THULLA = games_pb2.GameDescription(game="thulla", name="Thulla")
BEGUN = tables_pb2.Table(table_id="t1", state=tables_pb2.TABLE_STATE_PLAYING)


class Client:
    """A client whose calls have scripted answers: a table, or None while no lobby answers."""

    player = lobby_pb2.Player(player_id="ada")

    def __init__(self, *answers: tables_pb2.Table | None) -> None:
        self._answers = list(answers)

    async def get_table(self, *, table_id: str) -> Any:
        if table := self._answers.pop(0):
            return lobby_pb2.GetTableResponse(table=table)
        raise Unavailable(grpc.StatusCode.UNAVAILABLE, f"no lobby for {table_id}")

    async def set_ready(self, *, table_id: str, client_seed: bytes) -> Any:
        raise PermissionDenied(grpc.StatusCode.PERMISSION_DENIED, f"no seat at {table_id}: join it first")


async def test_a_lost_lobby_is_shown_and_asked_until_it_answers() -> None:
    screen, seconds = FakeScreen(), count(0, 10)
    client: Any = Client(*[None] * FAILURES, BEGUN)
    room = WaitingRoom(client, TABLE, THULLA, screen, clock=lambda: float(next(seconds)), poll_seconds=0)
    async with asyncio.timeout(DEADLINE_SECONDS):
        assert await room.run()
    assert len(screen.messages) >= FAILURES
    assert screen.messages[0].startswith("The connection is lost: asking the lobby until it answers")


async def test_a_seat_that_was_given_up_between_the_reading_and_getting_ready_is_no_fault() -> None:
    client: Any = Client(TABLE, BEGUN)
    async with asyncio.timeout(DEADLINE_SECONDS):
        assert await WaitingRoom(client, TABLE, THULLA, FakeScreen(), poll_seconds=0).run()
