"""A host changes a forming table: the engine prepares a revision, which all others see before they get ready again."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.tables.engine_port import Preparation
from croupier.lobby.tables.forming_table import FREE_SEAT, Table, TableState
from croupier.lobby.tables.new_table import TableSpec
from croupier.lobby.tables.revision import MAX_WITHDRAWN_VERSIONS, withdrawn
from croupier.lobby.tables.table_changes import IDLE_MILLISECONDS
from croupier.lobby.tables.table_service import FORMING
from croupier.runtime.errors import NotFound, ServiceError, Unavailable, invalid_field
from croupier.runtime.table_access import OPEN, SEATED
from tests.databases import on_both_databases
from tests.lobby.fakes import PAIRS, FakeClock, FakeEngine, LobbyDeployment, commitment_of, forming_table, player
from tests.lobby.matches import ADA, BOB, EVE, next_message, ready

FIVE = replace(PAIRS, seat_count=5)
CHANGED = replace(PAIRS, seat_count=3, options={"rounds": 5})
HIDDEN = replace(PAIRS, access=SEATED)


class RevisingEngine(FakeEngine):
    """An engine that refuses or does something while it prepares a revision."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], Awaitable[object]] | None = None
        self.refusal: ServiceError | None = None

    async def prepare_table(self, *given: object, revision: int = 0, validate_only: bool = False) -> Preparation:
        if revision and self.meanwhile:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        if revision and self.refusal:
            raise self.refusal
        return await super().prepare_table(*given, revision=revision, validate_only=validate_only)  # type: ignore[arg-type]


@pytest.fixture
def engine() -> RevisingEngine:
    return RevisingEngine()


async def update(lobby: Lobby, table: Table, spec: TableSpec, host: str = ADA.player_id) -> Table:
    return await lobby.tables.update(host, table.table_id, spec)


async def stored(lobby: Lobby, table: Table) -> Table:
    return await lobby.tables.get(ADA.player_id, table.table_id)


@on_both_databases
async def test_the_others_get_ready_again_for_a_table_with_a_new_commitment(lobby: Lobby, engine: FakeEngine) -> None:
    table = await lobby.tables.create(ADA, FIVE)
    await lobby.tables.join(BOB, table.table_id)
    await ready(lobby, table, ADA, BOB)
    changed = await update(lobby, table, CHANGED)
    assert [(seat.player_id, seat.is_ready, seat.client_seed) for seat in changed.seats] == [
        (ADA.player_id, True, b""),
        (BOB.player_id, False, b""),
        ("", False, b""),
    ]
    assert (dict(changed.options), changed.invite_code) == ({"rounds": 5}, table.invite_code)
    assert changed.seed_commitment == commitment_of(table.table_id, 1) != table.seed_commitment
    assert await stored(lobby, table) == changed
    await lobby.tables.add_bot(ADA.player_id, table.table_id, "")
    await ready(lobby, table, BOB)
    opened = engine.opened_as[table.table_id]
    assert (opened.revision, opened.seed_commitment, dict(opened.options)) == (
        1,
        changed.seed_commitment,
        {"rounds": 5},
    )


async def test_a_repeated_change_has_no_effect(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, FIVE)
    assert await update(lobby, table, FIVE) == table
    changed = await update(lobby, table, CHANGED)
    assert await update(lobby, table, CHANGED) == changed == await stored(lobby, table)
    assert changed.version == table.version + 1


async def test_a_table_opens_if_only_the_seats_that_are_ready_remain(lobby: Lobby, engine: FakeEngine) -> None:
    table = await lobby.tables.create(ADA, FIVE)
    await lobby.tables.add_bot(ADA.player_id, table.table_id, "", 4)
    await ready(lobby, table, ADA)
    assert (await update(lobby, table, PAIRS)).state is TableState.PLAYING
    assert [seat.name for seat in engine.opened[table.table_id]] == ["Player 1", "Bot 2"]


@pytest.mark.parametrize(
    ("prepare", "caller", "spec", "reason"),
    [
        ("join", BOB, CHANGED, "NOT_HOST"),
        ("join", EVE, CHANGED, "NOT_HOST"),
        ("hide", EVE, CHANGED, "UNKNOWN_TABLE"),
        ("join", ADA, replace(PAIRS, seat_count=1), "TABLE_FULL"),
        ("open", ADA, CHANGED, "TABLE_STARTED"),
        ("close", ADA, CHANGED, "TABLE_CLOSED"),
        ("refuse", ADA, CHANGED, "INVALID_FIELD"),
    ],
)
async def test_a_refused_change_has_no_effect(
    lobby: Lobby, engine: RevisingEngine, prepare: str, caller: object, spec: TableSpec, reason: str
) -> None:
    table = await lobby.tables.create(ADA, HIDDEN if prepare == "hide" else PAIRS)
    if prepare == "join":
        await lobby.tables.join(BOB, table.table_id)
    elif prepare == "open":
        await ready(lobby, table, ADA)
        await lobby.tables.add_bot(ADA.player_id, table.table_id, "")
    elif prepare == "close":
        await lobby.tables.leave(ADA.player_id, table.table_id)
    elif prepare == "refuse":
        engine.refusal = invalid_field("options.rounds", "invalid rounds")
    before = await lobby.tables.store.get(table.table_id)
    host = ADA.player_id
    if prepare == "close":
        await lobby.tables.updater.update(table.table_id, lambda closed: replace(closed, host_player_id=host))
        before = await lobby.tables.store.get(table.table_id)
    for validate_only in (True, False):
        with pytest.raises(ServiceError) as refusal:
            await lobby.tables.update(
                caller.player_id,  # type: ignore[attr-defined]
                table.table_id,
                spec,
                validate_only=validate_only,
            )
        assert refusal.value.reason_name == reason
    assert await lobby.tables.store.get(table.table_id) == before


async def test_a_change_is_checked_without_effect(lobby: Lobby, engine: FakeEngine) -> None:
    table = await lobby.tables.create(ADA, FIVE)
    shown = await lobby.tables.update(ADA.player_id, table.table_id, CHANGED, validate_only=True)
    assert (len(shown.seats), dict(shown.options), shown.seed_commitment) == (3, {"rounds": 5}, "")
    assert await stored(lobby, table) == table
    assert engine.prepared == {table.table_id: ("pairs", 5)}


@on_both_databases
async def test_a_player_who_joins_meanwhile_sees_the_change_and_gets_ready_again(
    lobby: Lobby, engine: RevisingEngine
) -> None:
    table = await lobby.tables.create(ADA, FIVE)

    async def join() -> None:
        await lobby.tables.join(BOB, table.table_id)
        await ready(lobby, table, BOB)

    engine.meanwhile = join
    changed = await update(lobby, table, CHANGED)
    assert [(seat.player_id, seat.is_ready) for seat in changed.seats[:2]] == [
        (ADA.player_id, False),
        (BOB.player_id, False),
    ]


@on_both_databases
async def test_the_commitment_of_a_change_that_was_overtaken_is_never_shown(
    lobby: Lobby, engine: RevisingEngine
) -> None:
    table = await lobby.tables.create(ADA, FIVE)

    async def overtake() -> None:
        await update(lobby, table, replace(FIVE, options={"rounds": 7}))
        await ready(lobby, table, ADA)

    engine.meanwhile = overtake
    with pytest.raises(Unavailable) as refusal:
        await update(lobby, table, CHANGED)
    assert refusal.value.reason_name == "TABLE_BUSY"
    assert dict((await stored(lobby, table)).options) == {"rounds": 7}
    changed = await update(lobby, table, replace(CHANGED, seat_count=2))
    assert (changed.revision, changed.seed_commitment) == (2, commitment_of(table.table_id, 2))


async def test_a_table_that_begins_meanwhile_is_opened_as_it_was_shown(lobby: Lobby, engine: RevisingEngine) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    await ready(lobby, table, ADA)

    async def begin() -> None:
        await lobby.tables.add_bot(ADA.player_id, table.table_id, "")

    engine.meanwhile = begin
    with pytest.raises(ServiceError) as refusal:
        await update(lobby, table, CHANGED)
    assert refusal.value.reason_name == "TABLE_STARTED"
    opened = engine.opened_as[table.table_id]
    assert (opened.revision, opened.seed_commitment) == (0, table.seed_commitment)


@on_both_databases
async def test_changes_of_replicas_at_once_leave_one_commitment(
    deployment: LobbyDeployment, engine: FakeEngine
) -> None:
    async with deployment.lobby() as one, deployment.lobby() as other:
        table = await one.tables.create(ADA, PAIRS)
        await one.tables.join(BOB, table.table_id)
        specs = [replace(PAIRS, options={"rounds": number}) for number in range(4, 10)]
        lobbies = (one, other) * 3
        found = await asyncio.gather(
            *(update(lobby, table, spec) for lobby, spec in zip(lobbies, specs, strict=True)), return_exceptions=True
        )
        assert {type(each) for each in found} <= {Table, Unavailable}
        await ready(one, table, ADA, BOB)
    opened = engine.opened_as[table.table_id]
    assert opened.seed_commitment == commitment_of(table.table_id, opened.revision)
    assert opened.options in [spec.options for spec in specs]


@on_both_databases
async def test_a_table_that_is_public_no_more_leaves_lists_and_streams_without_a_trace(
    deployment: LobbyDeployment, engine: FakeEngine, clock: FakeClock
) -> None:
    async with deployment.lobby() as one, deployment.lobby() as other:
        table = await one.tables.create(ADA, FIVE)
        streams = [lobby.tables.watch_public(EVE.player_id, "") for lobby in (one, other)]
        for stream in streams:
            assert (await next_message(stream)).table == table
            await next_message(stream)
        await asyncio.gather(*(lobby.catch_up_worker.catch_up() for lobby in (one, other)))
        own = one.tables.watch_table(EVE.player_id, table.table_id)
        for _ in range(2):
            await next_message(own)
        hidden = await update(one, table, replace(HIDDEN, seat_count=4, options={"rounds": 9}))
        await one.tables.join_by_invite_code(BOB, hidden.invite_code)
        newest = await one.tables.create(BOB, PAIRS)
        await other.catch_up_worker.catch_up()
        for stream in streams:
            async with aclosing(stream):
                gone = (await next_message(stream)).table
                assert gone == withdrawn(hidden)
                assert gone is not None
                assert (gone.state, gone.seats, gone.options, gone.seed_commitment) == (TableState.CLOSED, (), {}, "")
                # Nothing that happens there afterwards.
                assert (await next_message(stream)).table == newest
        with pytest.raises(NotFound):
            await next_message(own)
        assert await other.tables.list_public("", FORMING, None, 10) == [newest]
        with pytest.raises(NotFound):
            await other.tables.get(EVE.player_id, table.table_id)


async def test_a_table_that_becomes_public_comes_again(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    async with aclosing(lobby.tables.watch_public(EVE.player_id, "")) as stream:
        for _ in range(2):
            await next_message(stream)
        for spec in (HIDDEN, PAIRS):
            changed = await update(lobby, table, spec)
            shown = (await next_message(stream)).table
            assert shown == (changed if spec is PAIRS else withdrawn(changed))


def test_only_a_table_that_was_public_a_moment_ago_is_withdrawn() -> None:
    hidden = forming_table(access=SEATED, hidden_version=7, version=7)
    assert withdrawn(hidden) is not None
    assert withdrawn(replace(hidden, version=7 + MAX_WITHDRAWN_VERSIONS)) is not None
    assert withdrawn(replace(hidden, version=8 + MAX_WITHDRAWN_VERSIONS)) is None
    assert withdrawn(replace(hidden, hidden_version=0)) is None


async def test_players_have_all_their_time_to_get_ready_once_a_table_is_public(lobby: Lobby, clock: FakeClock) -> None:
    table = await lobby.tables.create(ADA, replace(HIDDEN, seat_count=3))
    await lobby.tables.join_by_invite_code(BOB, table.invite_code)
    clock.advance(600)
    await update(lobby, table, FIVE)
    await lobby.housekeeper.free_idle_seats()
    assert (await stored(lobby, table)).seat_of(BOB.player_id) == 1
    clock.advance(IDLE_MILLISECONDS / 1000)
    await lobby.housekeeper.free_idle_seats()
    assert (await stored(lobby, table)).seats[1] == FREE_SEAT


async def test_a_public_table_of_an_earlier_version_gets_an_invite_code(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    await lobby.tables.updater.update(table.table_id, lambda current: replace(current, invite_code=""))
    changed = await update(lobby, table, HIDDEN)
    assert (await lobby.tables.join_by_invite_code(BOB, changed.invite_code)).seat_of(BOB.player_id) == 1


async def test_blocked_players_stay_blocked(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    await lobby.tables.join(BOB, table.table_id)
    await lobby.tables.clear_seat(ADA.player_id, table.table_id, 1, block=True)
    changed = await update(lobby, table, CHANGED)
    assert changed.access == replace(OPEN, removed_players=(BOB.player_id,))
    with pytest.raises(NotFound):
        await lobby.tables.join(player(2), table.table_id)
