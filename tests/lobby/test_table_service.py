"""Forming tables on a real database with a fake engine."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from croupier.lobby.accounts.players import CODE_LETTERS
from croupier.lobby.assembly import Lobby
from croupier.lobby.tables.engine_port import Preparation
from croupier.lobby.tables.forming_table import TableState, TimeControl, join
from croupier.lobby.tables.table_service import FORMING
from croupier.runtime.errors import IllegalNow, MalformedRequest, NotFound
from tests.databases import on_both_databases
from tests.lobby.fakes import ALONE, ENGINE_UNAVAILABLE, HIDDEN_PAIRS, PAIRS, FakeClock, FakeEngine, player
from tests.lobby.matches import ADA, BOB, ready


@pytest.mark.parametrize(("game", "bot"), [("pairs", "genius"), ("alone", ""), ("alone", "random")])
async def test_bots_that_the_game_does_not_have_are_refused(lobby: Lobby, game: str, bot: str) -> None:
    table = await lobby.tables.create(ADA, replace(PAIRS, game=game))
    with pytest.raises(MalformedRequest) as refusal:
        await lobby.tables.add_bot(ADA.player_id, table.table_id, bot)
    assert (refusal.value.reason_name, refusal.value.field) == ("UNKNOWN_BOT", "bot")


@pytest.mark.parametrize("seat_count", [0, 1, 6, 2**32 - 1])
async def test_a_number_of_seats_that_the_game_does_not_have_is_refused(lobby: Lobby, seat_count: int) -> None:
    with pytest.raises(MalformedRequest, match="expected 2 to 5") as refusal:
        await lobby.tables.create(ADA, replace(PAIRS, seat_count=seat_count))
    assert refusal.value.field == "seat_count"


async def test_set_ready_opens_a_table_that_an_unavailable_engine_did_not_open(
    lobby: Lobby, engine: FakeEngine
) -> None:
    table = await lobby.tables.create(ADA, ALONE)
    engine.failure = ENGINE_UNAVAILABLE
    waiting = await ready(lobby, table, ADA)
    assert waiting.state is TableState.OPENING
    with pytest.raises(IllegalNow, match="begun"):
        await lobby.tables.leave(ADA.player_id, table.table_id)
    engine.failure = None
    assert (await ready(lobby, table, ADA)).state is TableState.PLAYING


async def test_tables_that_are_not_public_can_be_joined_by_invite_code_only(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, replace(HIDDEN_PAIRS, seat_count=3))
    assert len(table.invite_code) == 8
    assert set(table.invite_code) <= set(CODE_LETTERS)
    for call in (
        lobby.tables.get(BOB.player_id, table.table_id),
        lobby.tables.join(BOB, table.table_id),
        lobby.tables.leave(BOB.player_id, table.table_id),
        lobby.tables.set_ready(BOB.player_id, table.table_id, True, b""),
        lobby.tables.add_bot(BOB.player_id, table.table_id, ""),
        lobby.tables.clear_seat(BOB.player_id, table.table_id, 0),
        lobby.tables.join_by_invite_code(BOB, "23456789"),
    ):
        with pytest.raises(NotFound):
            await call
    joined = await lobby.tables.join_by_invite_code(BOB, f" {table.invite_code.lower()} ")
    assert joined.seat_of(BOB.player_id) == 1
    assert await lobby.tables.join(BOB, table.table_id) == joined
    assert await lobby.tables.list_public("", FORMING, None, 10) == []


async def test_a_removed_player_finds_the_table_in_no_way(lobby: Lobby, engine: FakeEngine) -> None:
    for spec in (PAIRS, HIDDEN_PAIRS):
        table = await lobby.tables.create(ADA, spec)
        await lobby.tables.updater.update(table.table_id, partial(join, player=BOB))
        cleared = await lobby.tables.clear_seat(ADA.player_id, table.table_id, 1, block=True)
        codes = {table.invite_code, cleared.invite_code}
        assert len(codes) == 2
        for call in (
            lobby.tables.get(BOB.player_id, table.table_id),
            lobby.tables.join(BOB, table.table_id),
            *(lobby.tables.get_by_invite_code(BOB.player_id, code) for code in codes),
            *(lobby.tables.join_by_invite_code(BOB, code) for code in codes),
        ):
            with pytest.raises(NotFound):
                await call
        await ready(lobby, table, ADA)
        await lobby.tables.add_bot(ADA.player_id, table.table_id, "")
        assert engine.accesses[table.table_id] == replace(spec.access, removed_players=(BOB.player_id,))


@on_both_databases
async def test_an_invite_code_that_is_in_use_is_drawn_again(lobby: Lobby) -> None:
    first = await lobby.tables.create(ADA, HIDDEN_PAIRS)
    second = await lobby.tables.create(ADA, HIDDEN_PAIRS)

    class Repeats(type(lobby.tables.source)):  # type: ignore[misc]
        codes = iter([*first.invite_code, *second.invite_code])

        def choice(self, letters: str) -> str:
            return next(self.codes, None) or str(super().choice(letters))

    service = replace(lobby.tables, source=Repeats(7))
    third = await service.create(ADA, HIDDEN_PAIRS)
    assert len({first.invite_code, second.invite_code, third.invite_code}) == 3
    await service.join_by_invite_code(BOB, third.invite_code)
    again = replace(lobby.tables, source=Repeats(8))
    Repeats.codes = iter(first.invite_code)
    blocked = await again.clear_seat(ADA.player_id, third.table_id, 1, block=True)
    assert blocked.invite_code not in ("", first.invite_code)


async def test_simultaneous_readiness_opens_once(lobby: Lobby, engine: FakeEngine) -> None:
    table = await lobby.tables.create(ADA, replace(PAIRS, seat_count=5))
    others = [player(number) for number in range(2, 6)]
    for other in others:
        await lobby.tables.join(other, table.table_id)
    await asyncio.gather(*(ready(lobby, table, one) for one in (ADA, *others)))
    assert (await lobby.tables.get(ADA.player_id, table.table_id)).state is TableState.PLAYING
    assert [seat.client_seed for seat in engine.opened[table.table_id]] == [one.name.encode() for one in (ADA, *others)]


@on_both_databases
async def test_pages_of_one_or_all_games_and_states_are_newest_first(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    made = []
    for number in range(7):
        clock.advance(number % 2)
        table = await lobby.tables.create(player(number), replace(PAIRS, game="alone" if number == 3 else "pairs"))
        made.append((table.created_milliseconds, table.table_id))
        if number % 3:
            await ready(lobby, table, player(number))
            await lobby.tables.add_bot(player(number).player_id, table.table_id, "")
    states, seen = (TableState.PLAYING, TableState.FORMING), list[tuple[int, str]]()
    while page := await lobby.tables.list_public("", states, seen[-1] if seen else None, 2):
        seen += [(table.created_milliseconds, table.table_id) for table in page]
    assert seen == sorted(made, reverse=True)
    assert len(await lobby.tables.list_public("alone", FORMING, None, 10)) == 1
    playing = await lobby.tables.list_public("pairs", [TableState.PLAYING], None, 10)
    assert {table.table_id for table in playing} == set(engine.opened)


@on_both_databases
async def test_a_list_shows_changes_since_the_last_one(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    assert await lobby.tables.list_public("", FORMING, None, 10) == [table]
    joined = await lobby.tables.join(BOB, table.table_id)
    assert await lobby.tables.list_public("", FORMING, None, 10) == [joined]


async def test_a_table_is_as_the_engine_prepared_it(lobby: Lobby, engine: FakeEngine) -> None:
    async def prepare(*_: object, **__: object) -> Preparation:
        return Preparation({"rounds": 9}, TimeControl(5, 6, 7), "beef", 2, ((0,), (1,)))

    engine.prepare_table = prepare  # type: ignore[method-assign]
    table = await lobby.tables.create(ADA, PAIRS)
    assert (table.time_control, dict(table.options)) == (TimeControl(5, 6, 7), {"rounds": 9})
    assert (table.seed_commitment, table.rules_version, table.teams) == ("beef", 2, ((0,), (1,)))
    assert await lobby.tables.get(BOB.player_id, table.table_id) == table
