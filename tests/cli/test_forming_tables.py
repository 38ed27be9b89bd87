"""Typed changes of a forming table, the list of a person's tables, and the question whether they play again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import MessageToDict

from croupier.cli.faults import CommandFault
from croupier.cli.terminal.console import Picture
from croupier.cli.terminal.lookups import Lookups
from croupier.cli.terminal.play_again import PlayAgain
from croupier.cli.terminal.table_change import change_table
from croupier.cli.terminal.table_menu import TableMenu
from croupier.cli.terminal.table_text import changed_options, my_table_text, settings_text, time_text
from croupier.cli.terminal.texts import Texts
from croupier.cli.terminal.words import Words
from croupier.engine.api.table_codec import encode_game
from croupier.games.registry import OWN_GAMES
from croupier_api.v1 import games_pb2, lobby_pb2, tables_pb2
from croupier_client.errors import FailedPrecondition, Unavailable
from tests.cli.conftest import FakeScreen

DEADLINE_SECONDS = 60.0
THULLA = encode_game(OWN_GAMES["thulla"])
TIMES = tables_pb2.TimeControl()
TIMES.action_time.FromSeconds(30)
TIMES.reserve_time.FromSeconds(60)
TIMES.away_time.FromSeconds(3)


def forming(**options: bool | int | str) -> tables_pb2.Table:
    """Return a table of four seats with the defaults of Thulla, but for some options."""
    table = tables_pb2.Table(
        table_id="t1",
        game="thulla",
        state=tables_pb2.TABLE_STATE_FORMING,
        seats=[tables_pb2.Seat(player_id="ada", name="Ada"), *(tables_pb2.Seat() for _ in range(3))],
        time_control=TIMES,
        access=tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_LINK),
    )
    table.options.update({option.name: option.default for option in OWN_GAMES["thulla"].options(4)} | options)
    return table


class ChangingClient:
    """A client that keeps what it is asked to change."""

    def __init__(self) -> None:
        self.changes: list[dict[str, Any]] = []

    async def update_table(self, **change: Any) -> lobby_pb2.UpdateTableResponse:
        self.changes.append(change)
        return lobby_pb2.UpdateTableResponse(table=tables_pb2.Table(table_id=change["table_id"]))


async def changed_by(table: tables_pb2.Table, *pairs: str) -> dict[str, Any]:
    client: Any = ChangingClient()
    await change_table(client, table, THULLA, pairs, Texts())
    [change] = client.changes
    return dict(change)


async def test_what_is_not_named_stays() -> None:
    change = await changed_by(forming(best_of=3), "stall_limit=9")
    assert (change["seat_count"], change["options"]) == (4, {"best_of": 3, "stall_limit": 9})
    assert change["time_control"] == TIMES
    assert change["access"].visibility == tables_pb2.VISIBILITY_LINK


async def test_seats_and_times_are_numbers_and_the_time_of_an_absent_player_follows() -> None:
    change = await changed_by(forming(), "seats=2", "time=7200", "reserve=0")
    assert (change["seat_count"], change["options"]) == (2, {})
    assert MessageToDict(change["time_control"]) == {"actionTime": "7200s", "reserveTime": "0s"}


@pytest.mark.parametrize(
    ("pair", "fault"),
    [
        ("seats", "invalid setting 'seats': expected NAME=VALUE"),
        ("seats=two", "invalid seats 'two': expected a whole number of at most 6 digits"),
        ("time=1234567", "invalid time '1234567': expected a whole number of at most 6 digits"),
        ("time=-1", "invalid time '-1': expected a whole number of at most 6 digits"),
    ],
)
async def test_a_setting_that_cannot_be_read_changes_nothing(pair: str, fault: str) -> None:
    client: Any = ChangingClient()
    with pytest.raises(CommandFault) as raised:
        await change_table(client, forming(), THULLA, ["best_of=3", pair], Texts())
    assert (raised.value.message, client.changes) == (fault, [])


def test_the_settings_of_a_table_are_its_times_and_what_differs_from_the_defaults() -> None:
    table = forming(best_of=3, scoring="points")
    assert changed_options(table, THULLA) == {"best_of": 3, "scoring": "points"}
    assert settings_text(Texts(), table, THULLA, 200).plain.split("; ") == [
        "  time to act: 30 s",
        "in reserve: 1 min",
        "Games in a match: 3",
        "Scoring: penalty: points of the cards left at the end",
    ]


def test_options_have_their_texts_in_the_language_and_those_of_a_later_version_are_shown_as_they_are() -> None:
    game = games_pb2.GameDescription()
    for option in ("jokers", "newest_option"):
        game.options.add(name=option).flag.default_value = False
    game.words.add(kind=games_pb2.WORD_KIND_OPTION, word="jokers", text="Jokere")
    game.words.add(kind=games_pb2.WORD_KIND_OPTION_CHOICE, word="lead.low_card", text="lavt kort")
    table = tables_pb2.Table()
    table.options.update({"jokers": True, "newest_option": True, "lead": "low_card", "deal": "odd_one"})
    texts = Texts("nb", {("", "yes"): "ja", ("", "time to act: {time}"): "betenkningstid: {time}"})
    assert settings_text(texts, table, game, 200).plain.split("; ") == [
        "  betenkningstid: 0 s",
        "deal: odd one",
        "Jokere: ja",
        "lead: lavt kort",
        "newest option: ja",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (60, "1 min"), (90, "90 s"), (150, "2 min"), (3_600, "1 h"), (86_400, "24 h")]
)
def test_a_time_has_the_largest_fitting_unit(seconds: int, text: str) -> None:
    assert time_text(Texts(), seconds) == text


@pytest.mark.parametrize(
    ("seat", "state"),
    [
        ({"is_to_act": True, "deadline_time": {"seconds": 1_090}, "is_away": False}, "your turn, 90 s left"),
        ({"is_to_act": True, "deadline_time": {"seconds": 990}, "is_away": False}, "your turn, 0 s left"),
        ({"is_to_act": False, "is_away": True}, "begun, the computer plays for you"),
        ({}, "begun"),
    ],
)
def test_a_persons_table_has_the_turn_the_time_and_who_plays(seat: dict[str, Any], state: str) -> None:
    table = forming()
    table.state = tables_pb2.TABLE_STATE_PLAYING
    mine = lobby_pb2.MyTable(table=table, my_seat=lobby_pb2.MySeat(**seat))
    assert my_table_text(Texts(), mine, "Thulla", "ada", 1_000.0) == f"Thulla, with nobody yet: {state}"


class TableScreen(FakeScreen):
    """A screen that keeps the lines above the choices too, and whose person takes their time to type."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self.shown: list[str] = []

    def draw(self, picture: Picture, *, is_news: bool) -> None:
        super().draw(picture, is_news=is_news)
        self.shown = [line.plain for line in picture.table]

    async def read(self) -> str | None:
        for _ in range(10):
            await asyncio.sleep(0)
        return await super().read()


class MenuClient:
    """A client that refuses the first call to leave a table."""

    player = lobby_pb2.Player(player_id="ada", name="Ada")

    def __init__(self) -> None:
        self.left: list[str] = []

    async def leave_table(self, *, table_id: str) -> None:
        self.left.append(table_id)
        if len(self.left) == 1:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "no lobby answers")


async def test_a_table_that_could_not_be_left_stays_in_the_list() -> None:
    client: Any = MenuClient()
    tables = [lobby_pb2.MyTable(table=forming())]
    menu = TableMenu(client, tables, {"thulla": "Thulla"}, screen := TableScreen("/leave 1", "/leave 2"))
    assert not await menu.run()
    assert screen.shown == ["Your tables", "  1 Thulla, with nobody yet: not begun"]
    assert "no lobby answers" in screen.messages
    menu = TableMenu(client, tables, {"thulla": "Thulla"}, screen := TableScreen("/leave 1", "/join ABCD2345"))
    assert await menu.run()
    assert (screen.shown, menu.chosen, menu.invite_code) == (["You have no tables"], None, "abcd2345")


class AgainClient:
    """A client whose finished table another player plays again, or whose stream breaks."""

    def __init__(self, *, next_table_id: str = "") -> None:
        self._next_table_id = next_table_id
        self.refusals = [FailedPrecondition(grpc.StatusCode.FAILED_PRECONDITION, "every seat is taken")]

    async def watch_tables(self, *, table_id: str) -> AsyncIterator[lobby_pb2.WatchTablesResponse]:
        yield lobby_pb2.WatchTablesResponse(table=tables_pb2.Table(table_id=table_id))
        if not self._next_table_id:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, "the lobby is gone")
        yield lobby_pb2.WatchTablesResponse(table=tables_pb2.Table(next_table_id=self._next_table_id))

    async def get_table(self, *, table_id: str) -> lobby_pb2.GetTableResponse:
        seats = [tables_pb2.Seat(player_id="ben", name="Ben"), tables_pb2.Seat(reserved_player_id="ada")]
        return lobby_pb2.GetTableResponse(table=tables_pb2.Table(table_id=table_id, host_player_id="ben", seats=seats))

    async def rematch(self, *, table_id: str) -> lobby_pb2.RematchResponse:
        if self.refusals:
            raise self.refusals.pop()
        return lobby_pb2.RematchResponse(table=tables_pb2.Table(table_id=f"after {table_id}"))


class WaitingScreen(TableScreen):
    """A screen whose person types once the news are shown."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self._has_news = asyncio.Event()

    def draw(self, picture: Picture, *, is_news: bool) -> None:
        super().draw(picture, is_news=is_news)
        if self.shown:
            self._has_news.set()

    async def read(self) -> str | None:
        await self._has_news.wait()
        return await super().read()


def lookups(client: Any) -> Lookups:
    return Lookups(client, tables_pb2.PlayedTable(table_id="t1"), Words((), symbols=False))


async def test_a_person_reads_who_plays_again_and_gets_the_next_table_after_a_refusal() -> None:
    client: Any = AgainClient(next_table_id="t2")
    screen = WaitingScreen("never", "again", "again")
    async with asyncio.timeout(DEADLINE_SECONDS):
        following = await PlayAgain(client, "t1", lookups(client), screen).run()
    assert following is not None
    assert following.table_id == "after t1"
    assert screen.shown == ["Ben plays again, and a seat is kept for you for a minute."]
    assert screen.messages == ["invalid answer 'never': expected again, /sheet or /quit", "every seat is taken"]


async def test_a_person_plays_again_although_nothing_is_known_of_the_others() -> None:
    client: Any = AgainClient()
    client.refusals.clear()
    async with asyncio.timeout(DEADLINE_SECONDS):
        assert await PlayAgain(client, "t1", lookups(client), TableScreen("again")).run() is not None
        assert await PlayAgain(client, "t1", lookups(client), TableScreen("no")).run() is None
