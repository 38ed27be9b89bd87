"""The lobby's migrations create the schema that the code expects, and keep what is stored."""

import json

import pytest
import structlog
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from croupier.lobby.accounts.players import Player
from croupier.lobby.migrations import METADATA, VERSION_TABLE
from croupier.lobby.storage.player_store import PlayerStore
from croupier.lobby.storage.schema import SEATS
from croupier.lobby.storage.seat_store import TableLimits
from croupier.lobby.storage.store import Store
from croupier.lobby.storage.table_store import TableStore
from croupier.runtime.database.database import open_database
from croupier.runtime.table_access import OPEN, SEATED
from tests.databases import execute
from tests.migrations import differences, migrate_to, migrated_from, up_to_date

TABLES_OF_0001 = text(
    "INSERT INTO lobby_tables (table_id, version, state, game, rules_version, options, time_control, seats, teams,"
    " host_player_id, is_private, invite_code, seed_commitment, created_milliseconds, updated_milliseconds)"
    " VALUES (:table_id, 1, 'FORMING', 'solo', 1, '{}', :time_control, '[{}]', '[]', 'h', :is_private, :code, '', 1, 1)"
)


async def test_migrations_create_the_schema_of_the_code(empty_url: str) -> None:
    async with up_to_date(empty_url, "croupier.lobby") as database:
        assert await database.read(differences, METADATA, VERSION_TABLE) == []


async def test_stored_players_count_as_such_who_have_played(empty_url: str) -> None:
    statement = text("INSERT INTO lobby_players VALUES (:player_id, :player_id, 'Ada', 1)")
    async with migrated_from(empty_url, "croupier.lobby", "0002", statement, [{"player_id": "a"}]) as database:
        players = PlayerStore(Store(database, structlog.get_logger()))
        assert await players.delete_unplayed(seen_before=1 << 60) == 0
        assert await players.get_by_device("a") == Player("a", "Ada")


async def test_the_device_and_the_sign_ins_of_each_player_are_kept(empty_url: str) -> None:
    """Also of those with several sign-ins: in SQLite the tables are replaced."""
    players = text(
        "INSERT INTO lobby_players (player_id, device_hash, name, created_milliseconds, seen_milliseconds,"
        " played_milliseconds) VALUES (:player_id, :device_hash, :name, 1, 2, 3)"
    )
    rows = [{"player_id": name[0], "device_hash": f"{name} device", "name": name} for name in ("Ada", "Bob")]
    sign_ins = text("INSERT INTO lobby_sign_ins VALUES (:family, :player_id, 'hash', 1000)")
    old = open_database(empty_url)
    await migrate_to(old, "croupier.lobby", "0010")
    await execute(old, players, rows)
    await execute(
        old, sign_ins, [{"family": f"{name} {number}", "player_id": name} for name in "AB" for number in "12"]
    )
    await old.close()
    async with up_to_date(empty_url, "croupier.lobby") as database:
        store = PlayerStore(Store(database, structlog.get_logger()))
        assert await store.get_by_device("Ada device") == await store.get("A") == Player("A", "Ada")
        devices = await execute(database, "SELECT family, player_id, device_hash FROM lobby_sign_ins ORDER BY family")
        assert [tuple(row) for row in devices] == [
            (f"{name[0]} {number}", name[0], f"{name} device") for name in ("Ada", "Bob") for number in "12"
        ]
        assert await store.rotate_token("B 2", "hash", "new", 2000, now=10) == "B"
        assert await store.delete_unplayed(1 << 60) == 0
        with pytest.raises(IntegrityError):
            await execute(database, "DELETE FROM lobby_players")


async def test_private_tables_become_those_of_their_players_and_others_stay_public(empty_url: str) -> None:
    control = json.dumps({"action_seconds": 30, "reserve_seconds": 60, "bot_delay_milliseconds": 0})
    rows = [
        {"table_id": "private", "time_control": control, "is_private": True, "code": "ABCD2345"},
        {"table_id": "public", "time_control": control, "is_private": False, "code": None},
    ]
    async with migrated_from(empty_url, "croupier.lobby", "0001", TABLES_OF_0001, rows) as database:
        tables = [
            await TableStore(Store(database, structlog.get_logger()), TableLimits(20, 500)).get(table_id)
            for table_id in ("private", "public")
        ]
    assert [(table.access, table.invite_code) for table in tables if table] == [(SEATED, "ABCD2345"), (OPEN, "")]


async def test_the_seats_of_running_tables_are_known_with_the_networks_of_their_hosts(empty_url: str) -> None:
    statement = text(
        "INSERT INTO lobby_tables (table_id, version, state, game, rules_version, options, time_control, seats, teams,"
        " host_player_id, network, seed_commitment, created_milliseconds, updated_milliseconds)"
        " VALUES (:table_id, 1, :state, 'solo', 1, '{}', '{}', :seats, '[]', 'host', 'n', '', 1, 1)"
    )
    seats = json.dumps([{"player_id": "host"}, {}, {"bot": "random"}, {"player_id": "guest"}])
    rows = [{"table_id": state[0], "state": state, "seats": seats} for state in ("PLAYING", "FINISHED")]
    async with migrated_from(empty_url, "croupier.lobby", "0006", statement, rows) as database:
        stored = await execute(database, select(SEATS).order_by(SEATS.c.player_id))
    assert [tuple(row) for row in stored] == [("P", "guest", None, None), ("P", "host", "n", None)]
