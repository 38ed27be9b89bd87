"""The programs of docs/build-an-app.md, and those of examples/, which need no library of this project."""

import json
import re
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from clients.typescript.build import NODE
from croupier.cli.launcher.background import started_services
from tests.programs import program
from tests.web.conftest import GUIDE, SECONDS, App, samples

pytestmark = [pytest.mark.gateway, pytest.mark.slow]
EXAMPLES = Path(__file__).parents[2] / "examples"
RANKING = r"place 1: (Ada|Bot 2)\nplace 2: (Ada|Bot 2)\n"


@pytest.mark.parametrize("game", ["thulla", "one_ten"])
def test_the_plain_app_plays_a_game(app: App, game: str) -> None:
    """110 has choices of cards, Thulla has listed actions only."""
    lines = app.run("playing.ts", game)
    assert [line for line in lines if line.startswith("> ")]
    assert lines[-1].startswith("1. ")


def test_a_component_of_react_plays_a_game(app: App) -> None:
    app.compile("nodenext", "nodenext", noEmit=False, rewriteRelativeImportExtensions=True, outDir="built")
    assert int(app.run("render_game.ts", "thulla", "./built/game_table.js")[-1]) > 0


def test_a_replay_is_seen_step_by_step(app: App) -> None:
    lines = app.run("replaying.ts")
    assert re.fullmatch(r"step \d+ of \d+: round in round 1, \d+ cards", lines[0])
    assert len(lines) == 3


def test_every_program_of_the_page_is_known() -> None:
    known = {"connecting.ts", "choosing.ts", "playing.ts", "game_table.tsx", "refusing.ts", "replaying.ts"}
    assert samples(GUIDE).keys() == known


@pytest.fixture(scope="module")
def plain_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with started_services(tmp_path_factory.mktemp("plain"), gateway=[]) as services:
        yield f"http://{services.addresses['gateway']['listen']}"


def played(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_node_plays_without_the_library(plain_address: str) -> None:
    output = played([str(NODE), "play.mjs", plain_address], EXAMPLES / "websocket")
    assert re.fullmatch(RANKING, output)


def test_godot_plays(plain_address: str) -> None:
    godot = program("godot3-server", install="apt-get install godot3-server")
    output = played([str(godot), "-s", "play.gd", f"--address={plain_address}"], EXAMPLES / "godot")
    assert re.search(RANKING, output)


def asked(address: str, path: str, body: object, token: str = "") -> Any:
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    request = Request(f"{address}/v1{path}", json.dumps(body).encode(), headers)  # noqa: S310 - our own gateway
    with build_opener(ProxyHandler({})).open(request, timeout=SECONDS) as answer:
        return json.load(answer)


def test_the_socket_for_unity_plays(plain_address: str, tmp_path: Path) -> None:
    """In Mono, whose WebSockets Unity has outside of browsers; Unity itself is not here."""
    mcs, mono = (str(program(name, install="apt-get install mono-mcs mono-runtime")) for name in ("mcs", "mono"))
    built = tmp_path / "play.exe"
    sources = [str(EXAMPLES / "unity" / "TableSocket.cs"), str(Path(__file__).parent / "PlayTable.cs")]
    subprocess.run([mcs, "-langversion:7", f"-out:{built}", *sources], check=True, timeout=SECONDS)
    token = asked(plain_address, "/sign-in", {"device_secret": secrets.token_urlsafe()})["tokens"]["access_token"]
    request = {"game": "thulla", "seat_count": 2, "bots": [""], "is_ready": True, "request_id": "1"}
    table_id = asked(plain_address, "/tables", request, token)["table"]["table_id"]
    assert played([mono, str(built), plain_address, table_id, token], tmp_path) == "1000\n"
