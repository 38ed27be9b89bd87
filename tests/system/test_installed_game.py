"""A game of another package: installed in two versions, missing, failing and not offered, across restarts."""

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from croupier.cli.launcher.background import started_services
from croupier.cli.services import endpoints_of
from croupier_api.v1 import tables_pb2
from croupier_client import Client, CroupierError, choose_random_action, play_game
from tests.installed_packages import write_metadata
from tests.tables import QUICK_BOTS
from tests.waiting import until

pytestmark = pytest.mark.slow
PACKAGE = "croupier-hearts 1.2.0"
MODULE = """
from croupier.games.thulla.game import Thulla

class Hearts(Thulla):
    id = "hearts"
    name = "Hearts"

class SecondHearts(Hearts):
    rules_version = 2

class FailingHearts(Hearts):
    def legal_actions(self, state, seat, /):
        raise LookupError("the hand is AS KS")

FIRST, BOTH, FAILING = Hearts, (Hearts, SecondHearts), (FailingHearts, SecondHearts)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of packages that the services import from."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]))
    return folder


def install(site: Path, games: str) -> None:
    """Install the package, with these games."""
    (site / "croupier_hearts.py").write_text(MODULE)
    write_metadata(site, "croupier-hearts", "1.2.0", {"croupier.games": {"hearts": f"croupier_hearts:{games}"}})


def uninstall(site: Path) -> None:
    shutil.rmtree(site / "croupier_hearts-1.2.0.dist-info")


@asynccontextmanager
async def served(path: Path) -> AsyncIterator[Client]:
    """Yield a player's client while the services run."""
    with started_services(path) as services:
        async with Client(endpoints_of(services.addresses), "the device of Ada", "Ada") as client:
            yield client


async def opened(client: Client, game: str) -> tables_pb2.Table:
    """Open a table of the player with a bot."""
    created = await client.create_table(game=game, seat_count=2, options={"scoring": "none"}, time_control=QUICK_BOTS)
    table_id = created.table.table_id
    await client.add_bot(table_id=table_id)
    await client.set_ready(table_id=table_id)

    async def is_open() -> bool:
        table = (await client.get_table(table_id=table_id)).table
        return table.state == tables_pb2.TABLE_STATE_PLAYING

    await until(is_open)
    return (await client.get_table(table_id=table_id)).table


async def play(client: Client, table_id: str) -> None:
    """Play a table to its end."""
    async with client.play_table(table_id) as table:
        await play_game(table, lambda seen: choose_random_action(seen, Random(1)))


async def refusal_of(client: Client, table_id: str) -> CroupierError:
    with pytest.raises(CroupierError) as refusal:
        await client.get_view(table_id=table_id)
    return refusal.value


async def offered(client: Client) -> dict[str, int]:
    return {game.game: game.rules_version for game in (await client.list_games()).games}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "croupier.cli", *arguments], capture_output=True, text=True, check=False
    )


async def test_tables_of_an_installed_game_across_restarts(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data"
    install(site, "FIRST")
    async with served(path) as client:
        assert (await offered(client))["hearts"] == 1
        first, usual = await opened(client, "hearts"), await opened(client, "thulla")
        await play(client, (await opened(client, "hearts")).table_id)
    install(site, "BOTH")
    async with served(path) as client:
        assert (await offered(client))["hearts"] == 2
        second = await opened(client, "hearts")
        for table_id, version in ((first.table_id, 1), (second.table_id, 2)):
            view = (await client.get_view(table_id=table_id)).snapshot
            assert view.table.rules_version == version
    checked = run("migrate", "--check-games", f"--data-dir={path}")
    assert (checked.returncode, checked.stderr) == (0, "")
    uninstall(site)
    checked = run("migrate", "--check-games", f"--data-dir={path}")
    assert checked.returncode == 1
    assert sorted(checked.stdout.splitlines()) == sorted(
        f"table {table.table_id}: the rules of hearts, version {version} of {PACKAGE}, are not installed"
        for table, version in ((first, 1), (second, 2))
    )
    assert "2 unfinished tables have rules that are not installed here" in checked.stderr
    async with served(path) as client:
        assert "hearts" not in await offered(client)
        missing = await refusal_of(client, first.table_id)
        assert missing.reason_name == "RULES_MISSING"
        assert missing.metadata == {"game": "hearts", "rules_version": "1", "package": PACKAGE}
        await play(client, usual.table_id)
    install(site, "FAILING")
    async with served(path) as client:
        failing = await refusal_of(client, first.table_id)
        assert failing.reason_name == "RULES_FAILED"
        assert failing.metadata == {"game": "hearts", "package": PACKAGE}
        await play(client, second.table_id)
    install(site, "BOTH")
    monkeypatch.setenv("CROUPIER_GAMES", "thulla,solo")
    async with served(path) as client:
        assert list(await offered(client)) == ["thulla", "solo"]
        with pytest.raises(CroupierError) as refusal:
            await client.create_table(game="hearts", seat_count=2)
        assert refusal.value.reason_name == "UNKNOWN_GAME"
        await play(client, first.table_id)
    assert "AS KS" not in (path / "logs" / "engine.log").read_text()


def test_games_that_cannot_be_used_end_a_program_with_one_line(site: Path, tmp_path: Path) -> None:
    install(site, "NOTHING")
    fault = f"the game 'hearts' of {PACKAGE} cannot be used: AttributeError"
    ended = run("games")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert fault in ended.stderr
    ended = run("up", f"--data-dir={tmp_path / 'data'}", "--no-gateway", "--port=0")
    assert ended.returncode == 2
    assert fault in ended.stderr
    assert "Traceback" not in ended.stderr
