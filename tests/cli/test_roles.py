"""Each service has a role of PostgreSQL with the rights that it needs."""

import asyncio
import secrets
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from sqlalchemy.exc import DBAPIError

from croupier.cli.bot_player import BotPlayer
from croupier.cli.commands.migrate import migrate_shared
from croupier.cli.commands.serve import SERVICES
from croupier.cli.launcher.background import started_services
from croupier.cli.services import endpoints_of
from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.schema_versions import check_schema
from croupier.runtime.server.program import SettingsError
from croupier_client.aio import Client
from croupier_loadtest.demo.players import play_seat
from croupier_loadtest.postgres import PostgresServer, postgres_server
from tests.cli.conftest import Command
from tests.databases import execute
from tests.tables import QUICK_BOTS, has_result, opened_table
from tests.waiting import until

pytestmark = pytest.mark.postgres
DATABASE = "croupier"
ROLES = {service: f"croupier {service}" for service in SERVICES}
PASSWORD = secrets.token_hex(8)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Start a server with three roles, whose tables belong to a fourth."""
    with postgres_server() as started:
        started.create_database(DATABASE)
        for role in ROLES.values():
            started.run_sql(DATABASE, f"CREATE ROLE \"{role}\" LOGIN PASSWORD '{PASSWORD}'")
        asyncio.run(migrate_shared(started.url(DATABASE), SERVICES, lambda _: None, roles=ROLES))
        yield started


def url_of(server: PostgresServer, service: str) -> str:
    return f"postgresql://{ROLES[service].replace(' ', '%20')}:{PASSWORD}@127.0.0.1:{server.port}/{DATABASE}"


@pytest.mark.slow
async def test_a_whole_game_is_played_with_three_roles(server: PostgresServer, tmp_path: Path) -> None:
    flags = {service: [f"--database={url_of(server, service)}"] for service in SERVICES}
    with started_services(tmp_path, database=server.url(DATABASE), extra_flags=flags) as services:
        async with Client(endpoints_of(services.addresses), "the secret of a device") as client:
            async with client.play_table(await opened_table(client, time_control=QUICK_BOTS)) as table:
                await play_seat(table, BotPlayer(table.table, Random(1)))
            await until(lambda: has_result(client))


async def refused(database: Database, statement: str) -> bool:
    with pytest.raises(DBAPIError) as raised:
        await execute(database, statement)
    return "permission denied" in str(raised.value)


@pytest.mark.parametrize("service", SERVICES)
async def test_a_role_may_do_no_more_than_its_service_needs(server: PostgresServer, service: str) -> None:
    database = open_database(url_of(server, service))
    await check_schema(database, f"croupier.{service}")
    own = {"lobby": "lobby_players", "engine": "tables", "scoring": "results"}
    foreign = [table for other, table in own.items() if other != service]
    for statement in (
        *(f"SELECT * FROM {table}" for table in foreign),  # noqa: S608 - names of tables
        *(f"DELETE FROM {table}" for table in foreign),  # noqa: S608
        "CREATE TABLE more (number int)",
        f"TRUNCATE {own[service]}",
        f"CREATE TRIGGER t AFTER INSERT ON {own[service]} EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        f"DELETE FROM {service}_schema_version",  # noqa: S608
    ):
        assert await refused(database, statement), statement
    for other in SERVICES:
        if other != service:
            with pytest.raises(SettingsError):
                await check_schema(database, f"croupier.{other}")
    await database.close()


def test_faults_of_grants(server: PostgresServer, croupier: Command, tmp_path: Path) -> None:
    url = server.url(DATABASE)
    migrate = ("migrate", "--database", url)
    assert 'role "nobody" does not exist' in croupier(*migrate, "--grant-to", "lobby=nobody").error_line()
    assert "write SERVICE=ROLE" in croupier(*migrate, "--grant-to", "lobby").error_line()
    assert "no service 'gateway'" in croupier(*migrate, "--grant-to", "gateway=x").error_line()
    assert "changes nothing" in croupier(*migrate, "--wait=1", "--grant-to", "lobby=x").error_line()
    other = (*migrate, "--service", "lobby", "--grant-to", "engine=x")
    assert "--grant-to engine=x has no effect: --service leaves engine out" in croupier(*other).error_line()
    sqlite = ("migrate", "--database", f"sqlite:///{tmp_path}/x.db", "--grant-to", "lobby=x")
    assert "has no roles" in croupier(*sqlite).error_line()
    assert "--database" in croupier("migrate", "--data-dir", str(tmp_path), "--grant-to", "lobby=x").error_line()
