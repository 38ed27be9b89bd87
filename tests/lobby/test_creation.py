"""Tables that are created in one call: with bots and a ready host, once by their request id, or only checked."""

import asyncio
from dataclasses import replace

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.storage.table_store import CreateRequest
from croupier.lobby.tables.forming_table import Table, TableState
from croupier.lobby.tables.new_table import TableSpec
from croupier.lobby.tables.table_service import CODE_LENGTH, FORMING
from croupier.runtime.errors import AlreadyExists, LimitReached, MalformedRequest, NotFound
from croupier_api.v1 import lobby_pb2 as pb
from croupier_api.v1 import tables_pb2
from tests.calls import call_of
from tests.databases import on_both_databases
from tests.lobby.fakes import ALONE, ENGINE_UNAVAILABLE, HIDDEN_PAIRS, PAIRS, FakeEngine, LobbyDeployment
from tests.lobby.matches import ADA, BOB, ready
from tests.lobby.test_replicas import lobbies, outcomes

AGAINST_BOTS = replace(PAIRS, seat_count=3, bots=("random", ""), is_ready=True)
FIRST = CreateRequest("first", "a hash")


async def create(lobby: Lobby, spec: TableSpec = PAIRS, request: CreateRequest = FIRST, host: object = ADA) -> Table:
    return await lobby.tables.create(host, spec, "", request)  # type: ignore[arg-type]


async def test_a_table_against_bots_opens_at_once(lobby: Lobby, engine: FakeEngine) -> None:
    table = await lobby.tables.create(ADA, AGAINST_BOTS)
    assert table.state is TableState.PLAYING
    assert [(seat.name, seat.bot, seat.client_seed) for seat in engine.opened[table.table_id]] == [
        ("Player 1", "", b""),
        ("Bot 2", "random", b""),
        ("Bot 3", "clever", b""),
    ]


async def test_bots_and_readiness_are_as_if_called_for_one_by_one(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, replace(AGAINST_BOTS, seat_count=4))
    assert (table.state, [seat.is_ready for seat in table.seats]) == (TableState.FORMING, [True, True, True, False])
    unready = await lobby.tables.create(ADA, replace(AGAINST_BOTS, is_ready=False))
    assert (unready.state, unready.seats[0].is_ready) == (TableState.FORMING, False)
    assert (await ready(lobby, unready, ADA)).state is TableState.PLAYING


async def test_a_table_that_the_engine_cannot_open_now_is_opened_later(
    lobby: Lobby, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_table: Table) -> None:
        raise ENGINE_UNAVAILABLE

    with monkeypatch.context() as patched:
        patched.setattr(engine, "open_table", fails)
        table = await create(lobby, AGAINST_BOTS)
        assert table.state is TableState.OPENING
    opened = await create(lobby, AGAINST_BOTS)
    assert (opened.table_id, opened.state) == (table.table_id, TableState.PLAYING)


@pytest.mark.parametrize(
    ("changes", "reason", "field"),
    [
        ({"bots": ("random",) * 3}, "INVALID_FIELD", "bots"),
        ({"bots": ("random", "genius")}, "UNKNOWN_BOT", "bots"),
        ({"seat_count": 0}, "INVALID_FIELD", "seat_count"),
        ({"seat_count": 6}, "INVALID_FIELD", "seat_count"),
        ({"game": "alone"}, "UNKNOWN_BOT", "bots"),
        ({"game": "whist"}, "UNKNOWN_GAME", "game"),
    ],
)
async def test_bots_that_a_table_cannot_have_are_refused_by_their_field(
    lobby: Lobby, engine: FakeEngine, changes: dict[str, object], reason: str, field: str
) -> None:
    spec = replace(AGAINST_BOTS, **changes)  # type: ignore[arg-type]
    for refused in (lobby.tables.create(ADA, spec), lobby.tables.check(ADA, spec)):
        with pytest.raises(MalformedRequest) as refusal:
            await refused
        assert (refusal.value.reason_name, refusal.value.field) == (reason, field)
    assert engine.prepared == {}


async def test_every_table_has_an_invite_code(lobby: Lobby) -> None:
    for spec in (PAIRS, HIDDEN_PAIRS):
        table = await lobby.tables.create(ADA, spec)
        assert len(table.invite_code) == CODE_LENGTH
        assert await lobby.tables.get_by_invite_code(BOB.player_id, f" {table.invite_code.lower()}") == table
        assert (await lobby.tables.join_by_invite_code(BOB, table.invite_code, seat=1)).seat_of(BOB.player_id) == 1


@on_both_databases
async def test_a_repeated_request_gets_its_table_as_it_is_now(deployment: LobbyDeployment, engine: FakeEngine) -> None:
    async with deployment.lobby(max_player_tables=1) as one, deployment.lobby(max_player_tables=1) as other:
        table = await create(one)
        joined = await one.tables.join(BOB, table.table_id)
        # Also beyond the limit of tables, and if the host is another player.
        assert await create(other) == joined
        handed_over = await one.tables.updater.update(
            table.table_id, lambda current: replace(current, host_player_id=BOB.player_id)
        )
        assert await create(one) == handed_over
        with pytest.raises(LimitReached):
            await create(one, PAIRS, CreateRequest("second", "a hash"))
    assert list(engine.prepared) == [table.table_id]


@on_both_databases
async def test_the_id_of_another_request_is_refused_and_those_of_other_players_are_their_own(lobby: Lobby) -> None:
    await create(lobby)
    with pytest.raises(AlreadyExists) as refusal:
        await create(lobby, ALONE, CreateRequest("first", "another hash"))
    assert refusal.value.reason_name == "REQUEST_ID_REUSED"
    assert (await create(lobby, host=BOB)).host_player_id == BOB.player_id
    assert len(await lobby.tables.list_public("", FORMING, None, 10)) == 2


@on_both_databases
async def test_repeats_at_once_create_one_table(deployment: LobbyDeployment, engine: FakeEngine) -> None:
    async with lobbies(deployment) as replicas:
        found = await outcomes(*(create(lobby) for lobby in replicas * 3))
        assert len({table.table_id for table in found if isinstance(table, Table)}) == 1
        assert all(isinstance(table, Table) for table in found)
        await asyncio.gather(*(lobby.housekeeper.updater.send_discarded() for lobby in replicas))
    assert len(engine.prepared) == 1


async def test_a_repeat_of_a_player_who_left_a_hidden_table_finds_none(lobby: Lobby) -> None:
    table = await create(lobby, HIDDEN_PAIRS)
    await lobby.tables.join_by_invite_code(BOB, table.invite_code)
    await lobby.tables.leave(ADA.player_id, table.table_id)
    with pytest.raises(NotFound):
        await create(lobby, HIDDEN_PAIRS)


async def test_a_table_is_checked_without_effect(deployment: LobbyDeployment, engine: FakeEngine) -> None:
    async with deployment.lobby(max_player_tables=1) as lobby:
        shown = await lobby.tables.check(ADA, AGAINST_BOTS)
        assert (shown.table_id, shown.invite_code, shown.seed_commitment) == ("", "", "")
        assert ([seat.name for seat in shown.seats], dict(shown.options)) == (
            ["Player 1", "Bot 2", "Bot 3"],
            {"rounds": 3},
        )
        assert (engine.prepared, await lobby.tables.list_public("", FORMING, None, 10)) == ({}, [])
        await lobby.tables.create(ADA, PAIRS)
        with pytest.raises(LimitReached):
            await lobby.tables.check(ADA, PAIRS)


async def test_the_content_of_a_request_is_all_but_its_id(lobby: Lobby) -> None:
    ada, _, _ = await lobby.auth.sign_in("a device secret of Ada", ADA.name)

    async def created(**changes: object) -> tables_pb2.Table:
        request = pb.CreateTableRequest(**({"game": "pairs", "seat_count": 2, "request_id": "r"} | changes))  # type: ignore[arg-type]
        return (await lobby.servicer.CreateTable(request, call_of(ada.player_id))).table

    table = await created()
    assert await created() == table
    others: tuple[dict[str, object], ...] = (
        {"seat_count": 3},
        {"is_ready": True},
        {"bots": ["random"]},
        {"time_control": tables_pb2.TimeControl()},
    )
    for changes in others:
        with pytest.raises(AlreadyExists):
            await created(**changes)
    # What is only checked has no id.
    assert (await created(seat_count=3, validate_only=True)).table_id == ""
    assert (await created(request_id="s")).table_id != table.table_id
