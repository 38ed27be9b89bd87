"""The package of the TypeScript client, as an app installs it, and every sample of its README."""

import json
import re
import subprocess
import tarfile
from random import Random

import pytest

from clients.typescript.build import CLIENT, alone, npm
from croupier_client import choose_random_action, play_game_blocking
from tests.web.conftest import SECONDS, App, samples

pytestmark = [pytest.mark.gateway, pytest.mark.slow]
SAMPLES = samples(CLIENT / "README.md")


def test_the_package_has_code_readme_and_licence_only(app: App) -> None:
    with tarfile.open(app.tarball) as packed:
        names = {name.removeprefix("package/") for name in packed.getnames()}
    assert {"package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts", "dist/contract.js"} <= names
    others = {name for name in names if not name.startswith("dist/")}
    assert others == {"package.json", "README.md", "LICENSE"}
    assert not [name for name in names if re.search(r"programs|test|fake", name)]


@pytest.mark.parametrize(("module", "resolution"), [("nodenext", "nodenext"), ("esnext", "bundler")])
def test_the_samples_compile(app: App, module: str, resolution: str) -> None:
    assert {"play.ts", "join.ts", "use_table.ts", "turn.ts", "watch.ts"} == SAMPLES.keys()
    app.compile(module, resolution)


def test_a_game_against_bots(app: App) -> None:
    assert sorted(" ".join(app.run("play.ts")).replace("Bot ", "Bot").split()) == ["Ada", "Bot2", "Bot3"]


def test_a_friends_table(app: App) -> None:
    with app.player() as host:
        table = host.create_table(game="thulla", seat_count=2).table
        command = app.command("join.ts", table.invite_code)
        with subprocess.Popen(command, env=app.variables(), stdout=subprocess.PIPE, text=True) as joining:
            try:
                changes = host.watch_tables(table_id=table.table_id)
                next(change for change in changes if [bool(seat.name) for seat in change.table.seats] == [True, True])
                host.set_ready(table_id=table.table_id)
                output, _ = joining.communicate(timeout=SECONDS)
            finally:
                joining.kill()
    assert output.splitlines() == ["thulla with Native and a free seat", "dealt 26 cards"]


def test_a_hook_renders_a_table(app: App) -> None:
    result = json.loads(app.run("render_table.ts")[-1])
    assert (result["text"], result["first"]) == ("over", "opening undefined")
    assert result["count"] > result["sequence"] / 2


def test_whose_turn_it_is(app: App) -> None:
    with app.player() as host:
        table_id = host.create_table(game="thulla", seat_count=2, bots=[""], is_ready=True).table.table_id
        command = app.command("turn.ts", table_id)
        with subprocess.Popen(command, env=app.variables(), stdout=subprocess.PIPE, text=True) as watching:
            try:
                assert watching.stdout is not None
                first = watching.stdout.readline()
                with host.play_table(table_id) as table:
                    play_game_blocking(table, lambda seen: choose_random_action(seen, Random()))
                    output, _ = watching.communicate(timeout=SECONDS)
            finally:
                watching.kill()
    assert re.fullmatch(r"live: .*(Native|Bot 2).*\d+ s.*\n", first), first
    assert output.splitlines()[-1].startswith("1. ")


def test_a_spectator_and_a_replay(app: App) -> None:
    places, replay = app.run("watch.ts")
    assert re.fullmatch(r"\d places for spectator true", places)
    assert re.fullmatch(r"\d{2,} lines of replay", replay)


def test_every_export_is_documented() -> None:
    with alone():
        npm(CLIENT, "run", "docs")
