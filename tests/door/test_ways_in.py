"""A person with the native client, one with curl and one in a browser come in by the same door."""

import asyncio
import base64
import json
import os
import re
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from croupier.cli.faults import CommandFault
from croupier.cli.reach import front_door, signed_in_client, trust
from croupier.door.bindings import call_path
from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_api.v1.table_pb2 import Clock
from croupier_client import Client, play_game, random_legal
from tests.door.conftest import House, another_door
from tests.door.doors import Door
from tests.programs import program
from tests.tables import opened_table

pytestmark = pytest.mark.gateway
README = Path(__file__).parents[2] / "README.md"
DEADLINE_SECONDS = 60.0


async def test_a_client_whose_token_ends_early_gets_a_new_one(house: House) -> None:
    """The door refuses a token in other words than the lobby does: the client must understand both."""
    async with asyncio.timeout(DEADLINE_SECONDS), Client(house.endpoints, "expiring, with a secret", "Cy") as client:
        await client.list_games()
        tokens = client.session.tokens
        assert tokens is not None
        tokens.access_token = house.door.token(age_seconds=3600)
        assert (await client.list_games()).games
        assert client.session.tokens is not tokens


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
def test_the_lines_of_the_readme_with_curl(house: House, tmp_path: Path, shell: str) -> None:
    lines = "".join(re.findall(r"```sh curl\n(.*?)```", README.read_text(), re.DOTALL))
    program("curl", install="apt-get install curl")
    found = program(shell, install=f"apt-get install {shell}")
    done = subprocess.run(
        [found, "-euc", lines.replace("http://127.0.0.1:7700", f"https://localhost:{house.door.port}")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "CURL_CA_BUNDLE": str(house.door.authority), "TOKEN": ""},
        timeout=DEADLINE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    heard = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    answer = json.loads((tmp_path / "answer.json").read_text())
    # The stream may have begun after the card was played.
    told = [heard[0]["snapshot"]["sequence"], *(line["update"]["sequence"] for line in heard if "update" in line)]
    assert max(map(int, told)) >= int(answer["sequence"])


@pytest.mark.slow
def test_the_lines_of_the_readme_in_python(house: House) -> None:
    [lines] = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert "127.0.0.1:7700" in lines
    with_tls = f'"localhost:{house.door.port}", Tls(open("{house.door.authority}", "rb").read())'
    script = "from croupier_client import Tls\n" + lines.replace('"127.0.0.1:7700"', with_tls)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(("), "a ranking is one group of seats after the other"


async def test_a_command_trusts_the_authority_that_it_is_given(house: House, tmp_path: Path) -> None:
    server = front_door(house.endpoints.lobby, trust(False, house.door.authority))
    async with signed_in_client(server, "a command, with a secret", "Eve") as client:
        assert client.player is not None
    with pytest.raises(CommandFault, match=f"--ca-file {tmp_path}/missing cannot be read"):
        trust(True, tmp_path / "missing")


def signed_in(door: Door, secret: str) -> str:
    return str(door.ask("POST", "/v1/sign-in", {"device_secret": secret}).json["tokens"]["access_token"])


def test_a_table_by_json_from_first_to_last(house: House) -> None:
    """What a person without gRPC needs for a whole game, and what he is told when he breaks a rule."""
    door = house.door
    token = signed_in(door, "json, with a secret of its own")
    seats = {"game": "thulla", "seats": 2}
    path = f"/v1/tables/{door.ask('POST', '/v1/tables', seats, token=token).json['table']['table_id']}"
    assert door.ask("POST", path + "/bots", {}, token=token).status == 200
    assert door.ask("POST", path + ":ready", {"ready": True}, token=token).status == 200
    asked = 0
    while not (now := door.ask("GET", path + "/view", token=token).json["snapshot"])["view"]["ranking"]:
        actions = (now.get("legal_actions") or {}).get("actions")
        if actions:
            body = {"request_id": f"action {asked}", "action": actions[0]}
            asked += 1
            first, again = (door.ask("POST", path + "/actions", body, token=token) for _ in range(2))
            assert (first.status, first.body) == (again.status, again.body)
            assert first.status == 200, first.body
    refused = door.ask("POST", path + "/actions", {"request_id": "late", "action": {"pass": {}}}, token=token)
    assert (refused.status, refused.json["code"]) == (400, 9)
    assert door.ask("GET", "/v1/games/thulla/leaderboard?page_size=1", token=token).status == 200
    assert door.ask("GET", "/v1/players/me/statistics", token=token).json["player_id"]


@pytest.mark.slow
def test_a_stream_of_json_may_last_longer_than_a_call(house: House, tmp_path: Path) -> None:
    with another_door(house, tmp_path, "--request-seconds=1") as door:
        token = signed_in(door, "follows for long, with a secret")
        table_id = door.ask("POST", "/v1/tables", {"game": "thulla", "seats": 2}, token=token).json["table"]["table_id"]
        connection = door.connection()
        connection.request("GET", f"/v1/tables:watch?table_id={table_id}", headers={"authorization": f"Bearer {token}"})
        with closing(connection), connection.getresponse() as answer:
            assert taken_seats(answer.readline()) == 1
            # As long as the longest request, twice: neither ends before the door has waited for the rest of it.
            for _ in range(2):
                assert getattr(door.say(UNFINISHED), "status", 408) == 408
            assert door.ask("POST", f"/v1/tables/{table_id}/bots", {}, token=token).status == 200
            assert taken_seats(answer.readline()) == 2


UNFINISHED = b"POST /v1/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"


def taken_seats(line: bytes) -> int:
    return sum("occupant" in seat for seat in json.loads(line)["table"]["seats"])


def framed(message: bytes) -> bytes:
    return struct.pack(">BI", 0, len(message)) + message


def frames(body: bytes) -> list[tuple[int, bytes]]:
    """The messages, and last the trailers, of an answer in gRPC-Web."""
    found = []
    while body:
        kind, length = struct.unpack(">BI", body[:5])
        found.append((kind, body[5 : 5 + length]))
        body = body[5 + length :]
    return found


@pytest.mark.parametrize("text", [False, True], ids=["binary", "base64"])
def test_a_browser_asks_by_grpc_web(house: House, text: bool) -> None:
    path = call_path(lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"].methods_by_name["ListGames"])
    kind = "application/grpc-web-text+proto" if text else "application/grpc-web+proto"
    body = base64.b64encode(framed(b"")) if text else framed(b"")
    answer = house.door.ask(
        "POST", path, body, token=house.door.token(), headers={"content-type": kind, "accept": kind}
    )
    assert (answer.status, answer.headers["content-type"]) == (200, kind)
    said = b"".join(base64.b64decode(part + b"=" * (-len(part) % 4)) for part in re.findall(rb"[^=]+", answer.body))
    (message_kind, message), (trailers_kind, trailers) = frames(said if text else answer.body)
    assert (message_kind, trailers_kind) == (0, 0x80)
    assert lobby_pb2.ListGamesResponse.FromString(message).games
    assert b"grpc-status:0" in trailers.replace(b" ", b"")


async def test_a_native_client_plays_a_game_that_a_browser_follows(house: House) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS), Client(house.endpoints, "host, with a secret", "Di") as client:
        table_id = await opened_table(client, clock=Clock(bot_delay_milliseconds=1))
        heard = asyncio.create_task(asyncio.to_thread(follow, house.door, table_id))
        async with client.play(table_id) as table:
            await play_game(table, lambda seen: random_legal(seen, Random(2)))
            assert table.ranking
            last = table.sequence
        assert (await client.get_replay(table_id=table_id)).replay
        await client.get_leaderboard(game="thulla")
        events = await heard
    assert events[0].HasField("snapshot")
    seen = [event.update.sequence for event in events if event.HasField("update")]
    assert max([events[0].snapshot.sequence, *seen]) == last


def follow(door: Door, table_id: str) -> list[engine_pb2.WatchTableResponse]:
    """Every message of a table's stream, to its end."""
    path = call_path(engine_pb2.DESCRIPTOR.services_by_name["EngineService"].methods_by_name["WatchTable"])
    request = framed(engine_pb2.WatchTableRequest(table_id=table_id).SerializeToString())
    headers = {"content-type": "application/grpc-web+proto", "x-table-id": table_id}
    answer = door.ask("POST", path, request, token=door.token(), headers=headers)
    return [engine_pb2.WatchTableResponse.FromString(message) for kind, message in frames(answer.body) if kind == 0]
