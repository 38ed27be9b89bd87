"""The package of the TypeScript client, as an app installs it, and every sample of its README."""

import json
import re
import secrets
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from clients.typescript.build import CLIENT, FOLDER, NODE, alone, environment, npm
from croupier_client import BlockingClient, Endpoints, Tls, choose_random_action, play_game_blocking
from tests.web.conftest import WebDeployment

pytestmark = [pytest.mark.gateway, pytest.mark.slow]
SECONDS = 120.0
README_ADDRESS = "http://127.0.0.1:7700"
SAMPLES = dict(re.findall(r"^```ts (\S+)\n(.*?)^```$", (CLIENT / "README.md").read_text(), re.DOTALL | re.MULTILINE))
TOOLS = ("typescript", "@types/node", "react", "@types/react", "react-test-renderer", "@types/react-test-renderer")


@dataclass(frozen=True, slots=True)
class App:
    """A folder in which the package is installed, and the services at which its samples play."""

    folder: Path
    tarball: Path
    deployment: WebDeployment

    def command(self, program: str, *arguments: str) -> list[str]:
        return [str(NODE), str(self.folder / program), *arguments]

    def variables(self) -> dict[str, str]:
        return environment(NODE_EXTRA_CA_CERTS=str(self.deployment.authority))

    def run(self, program: str, *arguments: str) -> list[str]:
        """Return the lines that a sample writes."""
        done = subprocess.run(
            self.command(program, *arguments),
            env=self.variables(),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def player(self) -> BlockingClient:
        endpoints = Endpoints.single(f"localhost:{self.deployment.port}", Tls(self.deployment.authority.read_bytes()))
        return BlockingClient(endpoints, secrets.token_urlsafe(), "Native")


@pytest.fixture(scope="module")
def app(deployment: WebDeployment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("app")
    with alone():
        npm(CLIENT, "pack", "--pack-destination", str(folder))
    (tarball,) = folder.glob("*.tgz")
    (folder / "package.json").write_text('{"type": "module", "private": true}')
    versions = {
        name: version
        for package in (FOLDER, CLIENT)
        for name, version in json.loads((package / "package.json").read_text())["devDependencies"].items()
    }
    tools = [f"{name}@{versions[name]}" for name in TOOLS]
    npm(folder, "install", str(tarball), *tools, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
    programs = {**SAMPLES, "render_table.ts": (Path(__file__).parent / "render_table.ts").read_text()}
    for name, code in programs.items():
        (folder / name).write_text(code.replace(README_ADDRESS, deployment.address))
    yield App(folder, tarball, deployment)
    shutil.rmtree(folder)


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
    options = {"strict": True, "noEmit": True, "target": "es2022", "allowImportingTsExtensions": True}
    options |= {"exactOptionalPropertyTypes": True, "noUncheckedIndexedAccess": True, "types": ["node"]}
    options |= {"module": module, "moduleResolution": resolution, "lib": ["es2022", "dom", "dom.iterable"]}
    (app.folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["*.ts"]}))
    done = subprocess.run(
        [str(NODE), "node_modules/typescript/bin/tsc"],
        cwd=app.folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout


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
