"""Forming tables on a real database, with an engine in memory."""

import asyncio
from dataclasses import replace

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.engine_port import Preparation
from croupier.lobby.forming import CODE_LETTERS, FORMING
from croupier.lobby.tables import Table, TableClock, TableState
from croupier.runtime.errors import IllegalNow, MalformedRequest, NotFound
from tests.databases import on_both_databases
from tests.lobby.fakes import PAIRS, SILENT, FakeClock, FakeEngine, player
from tests.lobby.matches import ADA, BOB

ALONE = replace(PAIRS, game="alone", seats=1)


async def ready(lobby: Lobby, table: Table, *players: str) -> Table:
    for player_id in players:
        table = await lobby.forming.set_ready(player_id, table.table_id, True, player_id[-1:].encode())
    return table


async def test_a_bot_for_the_last_seat_opens_a_ready_table(lobby: Lobby, engine: FakeEngine) -> None:
    table = await lobby.forming.create(ADA, PAIRS)
    await ready(lobby, table, ADA.player_id)
    opened = await lobby.forming.add_bot(ADA.player_id, table.table_id, "")
    assert (opened.state, opened.seats[1].bot) == (TableState.PLAYING, "clever")
    assert list(engine.opened) == [table.table_id]


@pytest.mark.parametrize(("game", "bot"), [("pairs", "genius"), ("alone", ""), ("alone", "random")])
async def test_bots_that_the_game_has_not_are_refused(lobby: Lobby, game: str, bot: str) -> None:
    table = await lobby.forming.create(ADA, replace(PAIRS, game=game))
    with pytest.raises(MalformedRequest) as refusal:
        await lobby.forming.add_bot(ADA.player_id, table.table_id, bot)
    assert (refusal.value.reason, refusal.value.field) == ("UNKNOWN_BOT", "bot")


async def test_a_silent_engine_leaves_the_table_to_the_next_set_ready(lobby: Lobby, engine: FakeEngine) -> None:
    table = await lobby.forming.create(ADA, ALONE)
    engine.failure = SILENT
    waiting = await ready(lobby, table, ADA.player_id)
    assert waiting.state is TableState.OPENING
    with pytest.raises(IllegalNow, match="begun"):
        await lobby.forming.leave(ADA.player_id, table.table_id)
    engine.failure = None
    assert (await ready(lobby, table, ADA.player_id)).state is TableState.PLAYING


async def test_a_table_that_the_engine_refuses_for_ever_closes(lobby: Lobby, engine: FakeEngine) -> None:
    table = await lobby.forming.create(ADA, ALONE)
    engine.prepared.clear()
    assert (await ready(lobby, table, ADA.player_id)).state is TableState.CLOSED


async def test_private_tables_are_entered_by_invite_code_only(lobby: Lobby) -> None:
    table = await lobby.forming.create(ADA, replace(PAIRS, seats=3, private=True))
    assert len(table.invite_code) == 8
    assert set(table.invite_code) <= set(CODE_LETTERS)
    for call in (
        lobby.forming.get(BOB.player_id, table.table_id),
        lobby.forming.join(BOB, table.table_id),
        lobby.forming.leave(BOB.player_id, table.table_id),
        lobby.forming.set_ready(BOB.player_id, table.table_id, True, b""),
        lobby.forming.add_bot(BOB.player_id, table.table_id, ""),
        lobby.forming.remove_seat(BOB.player_id, table.table_id, 0),
        lobby.forming.join_invited(BOB, "23456789"),
    ):
        with pytest.raises(NotFound):
            await call
    joined = await lobby.forming.join_invited(BOB, f" {table.invite_code.lower()} ")
    assert joined.seat_of(BOB.player_id) == 1
    assert await lobby.forming.join(BOB, table.table_id) == joined
    assert await lobby.forming.public("", FORMING, None, 10) == []


async def test_an_invite_code_that_is_taken_is_drawn_again(lobby: Lobby) -> None:
    first = await lobby.forming.create(ADA, replace(PAIRS, private=True))
    second = await lobby.forming.create(ADA, replace(PAIRS, private=True))

    class Repeats(type(lobby.forming.source)):  # type: ignore[misc]
        codes = iter([*first.invite_code, *second.invite_code])

        def choice(self, letters: str) -> str:
            return next(self.codes, None) or str(super().choice(letters))

    forming = replace(lobby.forming, source=Repeats(7))
    third = await forming.create(ADA, replace(PAIRS, private=True))
    assert len({first.invite_code, second.invite_code, third.invite_code}) == 3


async def test_everybody_ready_at_once_opens_once(lobby: Lobby, engine: FakeEngine) -> None:
    table = await lobby.forming.create(ADA, replace(PAIRS, seats=5))
    others = [player(number) for number in range(2, 6)]
    for other in others:
        await lobby.forming.join(other, table.table_id)
    await asyncio.gather(*(ready(lobby, table, one.player_id) for one in (ADA, *others)))
    assert (await lobby.forming.get(ADA.player_id, table.table_id)).state is TableState.PLAYING
    assert [seat.client_seed for seat in engine.opened[table.table_id]] == [b"1", b"2", b"3", b"4", b"5"]


@on_both_databases
async def test_pages_are_newest_first_without_gap_or_repeat(lobby: Lobby, clock: FakeClock) -> None:
    made = []
    for number in range(7):
        clock.advance(number % 2)
        table = await lobby.forming.create(player(number), replace(PAIRS, game="alone" if number == 3 else "pairs"))
        made.append((table.created_milliseconds, table.table_id))
    seen: list[tuple[int, str]] = []
    while page := await lobby.forming.public("", FORMING, seen[-1] if seen else None, 2):
        seen += [(table.created_milliseconds, table.table_id) for table in page]
    assert seen == sorted(made, reverse=True)
    assert len(await lobby.forming.public("alone", FORMING, None, 10)) == 1
    assert await lobby.forming.public("", [TableState.PLAYING], None, 10) == []


async def test_a_table_is_as_the_engine_prepared_it(lobby: Lobby, engine: FakeEngine) -> None:
    async def prepare(*_: object) -> Preparation:
        return Preparation({"rounds": "9"}, TableClock(5, 6, 7), "beef")

    engine.prepare_table = prepare  # type: ignore[method-assign, assignment]
    table = await lobby.forming.create(ADA, PAIRS)
    assert (table.clock, dict(table.options), table.commitment) == (TableClock(5, 6, 7), {"rounds": "9"}, "beef")
    assert await lobby.forming.get(BOB.player_id, table.table_id) == table
