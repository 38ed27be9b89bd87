"""Guests who never acted in a game are deleted a day after they were last seen, and no other player is."""

from dataclasses import replace
from typing import Any

import pytest

from croupier.lobby import housekeeping
from croupier.lobby.assembly import Lobby
from croupier.lobby.storage import player_store
from croupier.lobby.storage.player_store import PlayerStore
from croupier.lobby.storage.store import Store
from croupier.lobby.tables.forming_table import TableState
from croupier.runtime.database.database import Database
from croupier.runtime.errors import Unauthenticated
from tests.databases import execute, on_both_databases
from tests.lobby.fakes import ALONE, ENGINE_UNAVAILABLE, FakeClock, FakeEngine, LobbyDeployment
from tests.lobby.matches import waiting

SECRET = "a secret of sixteen or more"
DAY = 86_400


async def rows(database: Database) -> list[int]:
    """Return the numbers of players and of their sign-ins."""
    counts = "SELECT (SELECT count(*) FROM lobby_players), (SELECT count(*) FROM lobby_sign_ins)"
    return list((await execute(database, counts))[0])


async def guests_after(lobby: Lobby, clock: FakeClock, seconds: float, database: Database) -> list[int]:
    clock.advance(seconds)
    await lobby.housekeeper.delete_unplayed_guests()
    return await rows(database)


@on_both_databases
async def test_a_guest_is_deleted_a_day_after_the_last_sign_in_or_refresh(
    lobby: Lobby, clock: FakeClock, database: Database
) -> None:
    guest, tokens, _ = await lobby.auth.sign_in(SECRET, "Ada")
    clock.advance(DAY)
    _, tokens = await lobby.auth.refresh(tokens.refresh_token)
    clock.advance(DAY)
    await lobby.auth.sign_in(SECRET, "Ada")
    assert await guests_after(lobby, clock, DAY, database) == [1, 2]
    assert await guests_after(lobby, clock, 1, database) == [0, 0]
    with pytest.raises(Unauthenticated):
        await lobby.auth.refresh(tokens.refresh_token)
    again, _, is_new = await lobby.auth.sign_in(SECRET, "Ada")
    assert (is_new, again.player_id == guest.player_id) == (True, False)
    deleted = lobby.housekeeper.metrics.registry.get_sample_value("croupier_guests_deleted_total")
    assert deleted == 1


@on_both_databases
@pytest.mark.parametrize("has_acted", [True, False])
async def test_a_player_is_kept_while_a_game_is_played_and_after_it_only_one_who_has_acted(
    lobby: Lobby, clock: FakeClock, database: Database, engine: FakeEngine, has_acted: bool
) -> None:
    player, _, _ = await lobby.auth.sign_in(SECRET, "Ada")
    table = await lobby.tables.create(player, ALONE)
    await lobby.tables.set_ready(player.player_id, table.table_id, True, b"")
    assert await guests_after(lobby, clock, 2 * DAY, database) == [1, 1]
    if not has_acted:
        engine.idle.add(player.player_id)
    engine.finished.add(table.table_id)
    await lobby.housekeeper.finish_tables()
    assert await guests_after(lobby, clock, 0, database) == ([1, 1] if has_acted else [0, 0])


@on_both_databases
async def test_a_guest_with_a_ticket_is_kept(lobby: Lobby, clock: FakeClock, database: Database) -> None:
    guest, _, _ = await lobby.auth.sign_in(SECRET, "Ada")
    (stream,) = await waiting(lobby, guest)
    assert await guests_after(lobby, clock, 2 * DAY, database) == [1, 1]
    await stream.aclose()
    await lobby.matchmaker.tick()
    clock.advance(31)
    await lobby.housekeeper.delete_expired()
    assert await guests_after(lobby, clock, 0, database) == [0, 0]


@pytest.mark.parametrize("is_ready", [True, False])
async def test_a_guest_with_a_seat_at_a_table_that_is_not_open_is_kept(
    lobby: Lobby, clock: FakeClock, database: Database, engine: FakeEngine, is_ready: bool
) -> None:
    """Tables are not open if the engine was away for long, or housekeeping has not closed them yet."""
    guest, _, _ = await lobby.auth.sign_in(SECRET, "Ada")
    clock.advance(600)
    table = await lobby.tables.create(guest, ALONE)
    engine.failure = ENGINE_UNAVAILABLE
    await lobby.tables.set_ready(guest.player_id, table.table_id, is_ready, b"")
    assert await guests_after(lobby, clock, 2 * DAY, database) == [1, 1]
    engine.failure = None
    await lobby.housekeeper.open_tables()
    await lobby.housekeeper.close_idle_tables()
    (seen,) = await lobby.housekeeper.tables.list_by_ids([table.table_id])
    assert seen.state is (TableState.PLAYING if is_ready else TableState.CLOSED)
    assert await guests_after(lobby, clock, 0, database) == ([1, 1] if is_ready else [0, 0])


KEEPING = [({"access_token_seconds": 3 * DAY}, 3, 0), ({"unplayed_guest_hours": 0}, 100, 1)]


@pytest.mark.parametrize(("settings", "days", "is_kept"), KEEPING)
async def test_a_guest_is_kept_as_long_as_their_token_is_valid_and_for_ever_if_the_operator_says_so(
    deployment: LobbyDeployment, clock: FakeClock, database: Database, settings: dict[str, Any], days: int, is_kept: int
) -> None:
    async with deployment.lobby(**settings) as lobby:
        await lobby.auth.sign_in(SECRET, "Ada")
        assert await guests_after(lobby, clock, days * DAY, database) == [1, 1]
        assert await guests_after(lobby, clock, 1, database) == [is_kept, is_kept]


@on_both_databases
async def test_a_guest_who_is_deleted_during_a_sign_in_is_a_new_player(
    lobby: Lobby, store: Store, database: Database
) -> None:
    guest, _, _ = await lobby.auth.sign_in(SECRET, "Ada")

    class Deletes(PlayerStore):
        has_deleted = False

        async def add_sign_in(self, *sign_in: object) -> bool:
            if not self.has_deleted:
                self.has_deleted = await self.delete_unplayed(1 << 60) == 1
            return await super().add_sign_in(*sign_in)  # type: ignore[arg-type]

    again, tokens, is_new = await replace(lobby.auth, store=Deletes(store)).sign_in(SECRET, "Ada")
    assert (is_new, again.player_id == guest.player_id) == (True, False)
    await lobby.auth.refresh(tokens.refresh_token)
    assert await rows(database) == [1, 1]


async def test_guests_beyond_one_batch_are_deleted_too(
    lobby: Lobby, clock: FakeClock, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (player_store, housekeeping):
        monkeypatch.setattr(module, "MAX_DELETED", 2)
    for number in range(5):
        await lobby.auth.sign_in(f"{SECRET} {number}", "Ada")
    assert await guests_after(lobby, clock, DAY + 1, database) == [0, 0]
