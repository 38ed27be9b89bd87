"""A person's session at a table that they leave to the computer, and to which they return."""

import asyncio
from typing import Any

import grpc
import pytest
from rich.text import Text

from croupier.cli.terminal.console import Picture
from croupier.cli.terminal.game_session import GameSession
from croupier.cli.terminal.words import Words
from croupier_api.v1 import actions_pb2, engine_pb2, games_pb2
from croupier_client import FollowedTable, LimitReached, StaleSequence
from tests.cli.conftest import FakeScreen
from tests.client.fake_table import HAND, FakeTable
from tests.client.messages import event_message, play

WORDS = Words(("Ada", "Ben"), symbols=False)
DEADLINE_SECONDS = 60.0
AWAY_NOTICE = "The computer plays for you: write /back, or anything else, to play on."
THROW_DOWN = actions_pb2.Action(throw_down=actions_pb2.ThrowDownAction())
STALE = StaleSequence(grpc.StatusCode.ABORTED, "invalid expected_sequence 0: expected 1, the table has moved on")
TOO_LATE = "too late, the table has moved on, and nothing was played"


class SessionTable(FollowedTable):
    """A table that answers once the session has shown the entry; `done` is what the person did, in order."""

    def __init__(self, *away: int) -> None:
        super().__init__("t1")
        self.done: list[bool | actions_pb2.Action] = []
        """Whether they left or returned, and actions."""
        self.refusal: LimitReached | None = None
        """Of the next call to leave or return."""
        self.missed: list[dict[str, Any]] = []
        """Entries of the table that come before the next action reaches it."""
        self._events = asyncio.Queue[engine_pb2.TableUpdate]()
        self._is_shown = True
        snapshot = FakeTable().snapshot()
        snapshot.clock.away_seats.extend(away)
        self.receive(event_message(snapshot=snapshot))

    def __aiter__(self) -> "SessionTable":
        return self

    async def __anext__(self) -> engine_pb2.TableUpdate:
        if not self._is_shown:
            self._events.task_done()
        self._is_shown = False
        return await self._events.get()

    async def update(self, **fields: Any) -> int:
        """Receive another entry."""
        update = engine_pb2.TableUpdate(sequence=self.sequence + 1, legal_actions=self.legal_actions, **fields)
        self.receive(event_message(update=update))
        self._events.put_nowait(update)
        await self._events.join()
        return self.sequence

    async def set_away(self, *, is_away: bool) -> int:
        if self.refusal is not None:
            raise self.refusal
        self.done.append(is_away)
        seats = [0] if is_away else []
        return await self.update(seat=0, is_away=is_away, clock={"away_seats": seats, "left_seats": seats})

    async def submit_action(self, action: actions_pb2.Action, *, expected_sequence: int | None) -> int:
        if self.missed:
            await self.update(**self.missed.pop())
        if expected_sequence != self.sequence:
            raise STALE
        self.done.append(action)
        return await self.update(seat=0, clock={})


class SessionScreen(FakeScreen):
    """A screen that keeps what is said too."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self.said: list[str] = []

    def say(self, *lines: object) -> None:
        self.said += [line.plain for line in lines if isinstance(line, Text)]


def session_at(table: SessionTable, screen: SessionScreen) -> GameSession:
    client: Any = None
    followed: Any = table
    return GameSession(client, followed, games_pb2.GameDescription(name="Laying"), WORDS, screen)


async def at_table(table: SessionTable, *typed: str) -> tuple[GameSession, SessionScreen]:
    """Type lines at a table; return the session after them."""
    session = session_at(table, screen := SessionScreen(*typed))
    async with asyncio.timeout(DEADLINE_SECONDS):
        await session.run()
    return session, screen


async def shown_after(table: SessionTable, *updates: dict[str, Any]) -> SessionScreen:
    """Return the screen of a person who types nothing, after some updates."""
    running = asyncio.create_task(session_at(table, screen := SessionScreen()).run())
    async with asyncio.timeout(DEADLINE_SECONDS):
        for update in updates:
            await table.update(**update)
    running.cancel()
    return screen


async def test_a_person_leaves_their_seat_to_the_computer_and_returns() -> None:
    table = SessionTable()
    session, screen = await at_table(table, "/away", "/back", "/back")
    assert table.done == [True, False]
    assert screen.said == ["Ada leaves the seat to the computer", "Ada is back"]
    assert not session.has_left


@pytest.mark.parametrize("typed", ["xyzzy", "", "/actions", "/help"])
async def test_a_person_whose_time_ran_out_returns_with_anything_that_they_write(typed: str) -> None:
    table = SessionTable(0)
    _, screen = await at_table(table, typed, "xyzzy")
    assert table.done == [False]
    assert AWAY_NOTICE in screen.messages[0]


async def test_a_person_returns_before_they_act() -> None:
    table = SessionTable(0)
    await at_table(table, "1")
    assert table.done == [False, play(HAND[0])]


async def test_a_person_who_is_not_away_makes_no_call_to_return() -> None:
    for others in ((), (1,)):
        table = SessionTable(*others)
        _, screen = await at_table(table, "/help")
        assert table.done == []
        assert AWAY_NOTICE not in screen.messages


async def test_a_person_who_only_looks_does_not_return() -> None:
    table = SessionTable(0)
    screen = await shown_after(table, {"clock": {"away_seats": [0]}})
    assert table.done == []
    assert AWAY_NOTICE in screen.messages


async def test_a_person_who_gives_the_table_up_leaves_their_seat_to_the_computer() -> None:
    table = SessionTable()
    session, screen = await at_table(table, "/leave", "yes", "1")
    assert (session.has_left, table.done) == (True, [True])
    assert any("where the computer plays on for you" in message for message in screen.messages)
    # Who is away leaves for good without a return in between.
    table = SessionTable(0)
    session, _ = await at_table(table, "/leave", "yes")
    assert (session.has_left, table.done) == (True, [True])


async def test_a_person_who_leaves_too_often_reads_why_and_stays() -> None:
    table = SessionTable()
    table.refusal = LimitReached(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many departures")
    session, screen = await at_table(table, "/leave", "yes", "/away")
    assert not session.has_left
    assert screen.messages.count("too many departures") == 2


async def test_actions_of_the_computer_have_their_reason() -> None:
    screen = await shown_after(
        SessionTable(),
        *(
            {
                "seat": 1,
                "acted_by": engine_pb2.ACTED_BY_TIMEOUT,
                "facts": [{"trick_taken": {"seat": 1}}],
                "clock": {"away_seats": [1], "left_seats": left},
            }
            for left in ([], [1])
        ),
    )
    assert screen.said == ["Ben takes the trick (time was up)", "Ben takes the trick (away)"]


async def test_a_person_whose_action_comes_too_late_reads_it_and_nothing_is_played() -> None:
    table = SessionTable()
    table.missed = [{"seat": 1, "acted_by": engine_pb2.ACTED_BY_TIMEOUT}]
    _, screen = await at_table(table, "1", "1")
    assert screen.said == [f"1: {TOO_LATE}"]
    assert table.done == [play(HAND[0])]


class AskingScreen(SessionScreen):
    """A screen at which the table moves on between the question and the answer."""

    def __init__(self, table: SessionTable, *lines: str) -> None:
        super().__init__(*lines)
        self._table = table
        self._has_asked = asyncio.Event()

    def draw(self, picture: Picture, *, is_news: bool) -> None:
        super().draw(picture, is_news=is_news)
        if any("write yes to confirm" in message.plain for message in picture.messages):
            self._has_asked.set()

    async def read(self) -> str | None:
        line = await super().read()
        if line == "yes":
            await self._has_asked.wait()
            await self._table.update(seat=1, acted_by=engine_pb2.ACTED_BY_TIMEOUT)
        return line


async def test_a_person_confirms_an_action_of_the_turn_in_which_they_wrote_it() -> None:
    table = SessionTable()
    table.legal_actions = actions_pb2.LegalActions(actions=[THROW_DOWN])
    session = session_at(table, screen := AskingScreen(table, "throw down", "yes"))
    async with asyncio.timeout(DEADLINE_SECONDS):
        await session.run()
    assert screen.said == [f"yes: {TOO_LATE}"]
    assert table.done == []
