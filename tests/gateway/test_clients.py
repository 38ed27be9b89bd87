"""The samples of the documentation, a command, JSON and gRPC-Web use the same gateway; tests/web has browsers."""

import base64
import json
import os
import re
import struct
import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from croupier.cli.faults import CommandFault
from croupier.cli.services import gateway, signed_in_client, trust
from croupier.gateway.bindings import call_path
from croupier_api.v1 import actions_pb2, engine_pb2, lobby_pb2, tables_pb2
from croupier_api.v1.cards_pb2 import CARD_JOKER
from croupier_api.v1.errors_pb2 import ERROR_REASON_UNKNOWN_TABLE
from croupier_client import BlockingClient, IllegalAction, NotFound, choose_random_action, play_game_blocking
from croupier_client.sockets import WEBSOCKET
from tests.gateway.conftest import GatewayDeployment
from tests.ports import reserved_port
from tests.programs import program

pytestmark = pytest.mark.gateway
ROOT = Path(__file__).parents[2]
DEADLINE_SECONDS = 60.0
SESSION_SECONDS = 300.0
"""Of a whole game, one call at a time."""


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
def test_the_lines_of_the_clients_page_with_curl(deployment: GatewayDeployment, tmp_path: Path, shell: str) -> None:
    lines = "".join(re.findall(r"```sh curl\n(.*?)```", (ROOT / "docs/clients.md").read_text(), re.DOTALL))
    program("curl", install="apt-get install curl")
    found = program(shell, install=f"apt-get install {shell}")
    done = subprocess.run(
        [found, "-euc", lines.replace("http://127.0.0.1:7700", f"https://localhost:{deployment.gateway.port}")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "CURL_CA_BUNDLE": str(deployment.gateway.authority), "TOKEN": ""},
        timeout=SESSION_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    received = [json.loads(line)["table_event"] for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    answer = json.loads((tmp_path / "answer.json").read_text())
    # The stream may have begun after the card was played.
    sequences = [
        received[0]["snapshot"]["sequence"],
        *(event["update"]["sequence"] for event in received if "update" in event),
    ]
    assert max(map(int, sequences)) >= int(answer["sequence"])

    def read(name: str) -> Any:
        return json.loads((tmp_path / name).read_text())

    [mine] = read("mine.json")["tables"]
    assert (mine["table"]["state"], mine["my_seat"]["seat"]) == ("TABLE_STATE_PLAYING", 0)
    listed = [json.loads(line) for line in (tmp_path / "tables.jsonl").read_text().splitlines()]
    assert listed[0]["table"]["table_id"] == mine["table"]["table_id"]
    assert [message.get("is_list_complete", False) for message in listed[:2]] == [False, True]
    assert int(read("left.json")["sequence"]) < int(read("back.json")["sequence"])
    parts = [json.loads(line)["table_events"] for line in (tmp_path / "replay.jsonl").read_text().splitlines()]
    assert parts[0][0]["snapshot"]["sequence"] == "0"
    assert parts[-1][-1]["update"]["revealed_seed"]
    again = read("ready.json")["table"]
    assert again["previous_table_id"] == mine["table"]["table_id"]
    assert again["table_id"] == (tmp_path / "next.txt").read_text().strip()
    assert [seat["name"] for seat in again["seats"]] == ["Bot 1", "Ada"]
    assert [seat["name"] for seat in read("look.json")["table"]["seats"]] == ["Ada", ""]
    assert [seat["name"] for seat in read("joined.json")["table"]["seats"]] == ["Ada", "Ben"]
    player = read("player.json")["player"]
    assert (player["name"], player["device_count"]) == ("Kari", 2)


@pytest.mark.slow
def test_the_lines_of_the_readme_in_python(deployment: GatewayDeployment) -> None:
    [lines] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert "127.0.0.1:7700" in lines
    with_tls = f'"localhost:{deployment.gateway.port}", Tls(open("{deployment.gateway.authority}", "rb").read())'
    script = "from croupier_client import Tls\n" + lines.replace('"127.0.0.1:7700"', with_tls)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("place 1: ")
    assert "Kari" in done.stdout


def test_a_blocking_client_plays_and_is_watched_by_websocket(deployment: GatewayDeployment) -> None:
    """The asyncio client plays so in test_failures.py."""
    with ExitStack() as stack:
        player, guest = (
            stack.enter_context(
                BlockingClient(deployment.endpoints, f"the secret of {name}", name, transport=WEBSOCKET)
            )
            for name in ("a player", "a guest")
        )
        access = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_LINK)
        table_id = player.create_table(
            game="thulla", seat_count=2, bots=["random"], is_ready=True, access=access
        ).table.table_id
        with pytest.raises(NotFound) as refused, guest.watch_table(table_id):
            pytest.fail("a table opened that its guest may not see")
        assert refused.value.reason == ERROR_REASON_UNKNOWN_TABLE
        link = player.create_link(table_id=table_id, purpose=engine_pb2.LINK_PURPOSE_WATCH).link
        with player.play_table(table_id) as played, guest.watch_table(table_id, link) as watched:
            with pytest.raises(IllegalAction):
                played.submit_action(actions_pb2.Action(play=actions_pb2.PlayAction(card=CARD_JOKER)))
            play_game_blocking(played, partial(choose_random_action, random=Random(1)))
            watched.wait_for_change(after=played.sequence, timeout_seconds=DEADLINE_SECONDS)
            assert watched.view.ranking == played.view.ranking
            assert (watched.seat, watched.sequence) == (None, played.sequence)


def test_samples_report_in_one_line_and_soon_that_nothing_listens(tmp_path: Path) -> None:
    [python] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    curl = "".join(re.findall(r"```sh curl\n(.*?)```", (ROOT / "docs/clients.md").read_text(), re.DOTALL))
    program("curl", install="apt-get install curl")
    for command, text in (([sys.executable, "-c"], python), (["bash", "-euc"], f"TOKEN=; {curl}")):
        with reserved_port() as port:
            address = f"127.0.0.1:{port}"
            sample = [*command, text.replace("127.0.0.1:7700", address)]
            done = subprocess.run(sample, capture_output=True, text=True, cwd=tmp_path, timeout=DEADLINE_SECONDS)
        assert done.returncode != 0
        (line,) = done.stderr.splitlines()
        assert address in line or address.replace(":", " port ") in line


async def test_a_command_trusts_the_authority_of_its_flag(deployment: GatewayDeployment, tmp_path: Path) -> None:
    server = gateway(deployment.endpoints.lobby, trust(False, deployment.gateway.authority))
    async with signed_in_client(server, "a command, with a secret", "Eve") as client:
        assert client.player is not None
    with pytest.raises(CommandFault, match=f"--ca-file {tmp_path}/missing cannot be read"):
        trust(True, tmp_path / "missing")


def test_a_whole_game_by_json(deployment: GatewayDeployment) -> None:
    """A person without gRPC plays a whole game, and gets the rule of a refused action."""
    gateway = deployment.gateway
    signed_in = gateway.ask("POST", "/v1/sign-in", {"device_secret": "json, with a secret of its own"})
    token = signed_in.json["tokens"]["access_token"]
    seats = {"game": "thulla", "seat_count": 2}
    path = f"/v1/tables/{gateway.ask('POST', '/v1/tables', seats, token=token).json['table']['table_id']}"
    assert gateway.ask("POST", path + "/bots", {}, token=token).status == 200
    assert gateway.ask("POST", path + ":ready", {}, token=token).status == 200
    asked = 0
    while not (now := gateway.ask("GET", path + "/view", token=token).json["snapshot"])["view"]["ranking"]:
        actions = (now.get("legal_actions") or {}).get("actions")
        if actions:
            body = {"request_id": f"action {asked}", "action": actions[0]}
            asked += 1
            first, again = (gateway.ask("POST", path + "/actions", body, token=token) for _ in range(2))
            assert (first.status, first.body) == (again.status, again.body)
            assert first.status == 200, first.body
    refused = gateway.ask("POST", path + "/actions", {"request_id": "late", "action": {"pass_turn": {}}}, token=token)
    assert (refused.status, refused.json["code"]) == (400, 9)
    assert gateway.ask("GET", "/v1/games/thulla/leaderboard?page_size=1", token=token).status == 200
    assert gateway.ask("GET", "/v1/players/me/statistics", token=token).json["player_id"]


def frames(body: bytes) -> list[tuple[int, bytes]]:
    """Return the messages, and last the trailers, of an answer in gRPC-Web."""
    found = []
    while body:
        kind, length = struct.unpack(">BI", body[:5])
        found.append((kind, body[5 : 5 + length]))
        body = body[5 + length :]
    return found


def from_base64(body: bytes) -> bytes:
    """Return the bytes of a body, each part of which is padded by itself."""
    return b"".join(base64.b64decode(part + b"=" * (-len(part) % 4)) for part in re.findall(rb"[^=]+", body))


def test_grpc_web_in_base64(deployment: GatewayDeployment) -> None:
    path = call_path(lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"].methods_by_name["ListGames"])
    kind = "application/grpc-web-text+proto"
    headers = {"content-type": kind, "accept": kind}
    body = base64.b64encode(struct.pack(">BI", 0, 0))
    answer = deployment.gateway.ask("POST", path, body, token=deployment.gateway.token(), headers=headers)
    assert (answer.status, answer.headers["content-type"]) == (200, kind)
    (message_kind, message), (trailers_kind, trailers) = frames(from_base64(answer.body))
    assert (message_kind, trailers_kind) == (0, 0x80)
    assert lobby_pb2.ListGamesResponse.FromString(message).games
    assert b"grpc-status:0" in trailers.replace(b" ", b"")
