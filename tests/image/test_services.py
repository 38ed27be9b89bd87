"""The three services run from the image: migration, start, a game from outside, stop and restart."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from croupier.cli.launcher.addresses import Addresses, addresses_from, service_flags
from croupier.cli.launcher.data_folder import DataFolder
from croupier.cli.launcher.replicas import START_ORDER
from croupier.cli.services import endpoints_of
from croupier.games.registry import OWN_GAMES
from croupier_api.v1 import scoring_pb2
from croupier_client.aio import Client
from croupier_loadtest.demo.demo import play_all
from croupier_loadtest.demo.players import DemoPlan
from tests.image.container import Container, Image

pytestmark = pytest.mark.built

INSIDE = DataFolder(Path("/data/croupier"))
"""The default data folder of the image's user."""
PLAN = DemoPlan(game="thulla", seats=3, tables=1, options={}, seed="image")
READY_SECONDS = 60.0
POLL_SECONDS = 0.02


@contextmanager
def running(image: Image) -> Iterator[tuple[Mapping[str, Addresses], Mapping[str, Container]]]:
    """Run the services on free ports; those that still run at the end of the block are killed."""
    addresses, containers = addresses_from(0), {}
    with ExitStack() as stack:
        for service in START_ORDER:
            outside(image, INSIDE.ready_file(service)).unlink(missing_ok=True)
            output = stack.enter_context(outside(image, INSIDE.log_file(service)).open("ab"))
            flags = [*service_flags(service, INSIDE, addresses), "--health-listen=127.0.0.1:0"]
            environment = {"CROUPIER_DATABASE": INSIDE.database_url(service)}
            container = image.start(["serve", service, *flags], output, environment)
            stack.callback(container.process.wait)
            stack.callback(container.process.kill)
            containers[service] = container
            addresses[service] = ready(image, service, container)
        yield addresses, containers


def outside(image: Image, path: Path) -> Path:
    """Return the path on this machine of a file in the image's /data."""
    return image.data / path.relative_to("/data")


def ready(image: Image, service: str, container: Container) -> Addresses:
    """Wait until a service is ready, and return its addresses."""
    deadline = time.monotonic() + READY_SECONDS
    file = outside(image, INSIDE.ready_file(service))
    while not file.exists():
        log = outside(image, INSIDE.log_file(service)).read_text()
        assert container.process.poll() is None, log
        assert time.monotonic() < deadline, log
        time.sleep(POLL_SECONDS)
    addresses: Addresses = json.loads(file.read_text())
    return addresses


@pytest.fixture(scope="module")
def migrated(image: Image) -> Image:
    """Let the image make databases and keys in its data folder."""
    code, output = image.run("migrate")
    assert (code, output.splitlines()) == (
        0,
        [f"{name}: brought up to date" for name in ("lobby", "engine", "scoring")],
    )
    return image


async def test_a_game_is_played_from_outside_and_kept_over_a_restart(
    migrated: Image, games_of_packages: Mapping[str, str]
) -> None:
    with running(migrated) as (addresses, containers):
        played = await play_all(PLAN, endpoints_of(addresses), lambda tables, update: None)
        assert played.violations == ()
        for service in START_ORDER:
            for name in ("", "live"):
                assert migrated.run("health", addresses[service]["health"], "--service", name) == (0, "")
        codes = {service: containers[service].terminate() for service in reversed(START_ORDER)}
    assert codes == dict.fromkeys(START_ORDER, 0)
    assert migrated.run("health", addresses["lobby"]["health"], "--service", "live")[0] == 1
    (record,) = played.records
    with running(migrated) as (addresses, _):
        async with Client(endpoints_of(addresses), PLAN.device_secret(1, 0), PLAN.player_name(1, 0)) as client:
            await client.sign_in()
            offered = {game.game for game in (await client.list_games()).games}
            assert offered == {*OWN_GAMES, *games_of_packages}
            assert (await client.get_replay(table_id=record.table_id)).replay == record.replays[0]
            sheet = await client.get_score_sheet(table_id=record.table_id)
    assert sheet == scoring_pb2.GetScoreSheetResponse.FromString(record.sheet or b"")


def test_a_service_that_cannot_run_reports_the_fault_in_one_line(image: Image) -> None:
    code, output = image.run("serve", "lobby", "--database=sqlite:////nowhere/lobby.db", "--engine-control=x:1")
    assert code == 2
    assert output.startswith("croupier serve lobby: missing --signing-key (CROUPIER_SIGNING_KEY)")
