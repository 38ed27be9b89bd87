"""A client in TypeScript, generated from the contract, plays a game over gRPC-Web."""

import json
import secrets
import subprocess
from typing import Any

from tests.web.built_client import FOLDER, Node
from tests.web.conftest import House

GAME_SECONDS = 60.0
SEATS = 3


def run(node: Node, program: str, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(node.program), str(FOLDER / "dist" / program), *arguments],
        env=node.environment(**environment),
        capture_output=True,
        text=True,
        timeout=GAME_SECONDS,
    )


def test_a_game_from_node(house: House, node: Node) -> None:
    seed = str(secrets.randbelow(2**32))
    arguments = (house.address, "thulla", str(SEATS), seed)
    print(f"node clients/typescript/dist/main.mjs {' '.join(arguments)}")
    done = run(node, "main.mjs", *arguments, NODE_EXTRA_CA_CERTS=str(house.authority))
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert sorted(seat for group in result["ranking"] for seat in group) == list(range(SEATS))
    assert result["names"][0] == "Typed"
    assert result["actions"] > 0
    assert result["streams"] == 1


def test_node_does_not_trust_whom_it_was_not_told_to(house: House, node: Node) -> None:
    done = run(node, "main.mjs", house.address)
    assert done.returncode != 0
    assert "certificate" in done.stderr
    assert done.stderr.count("\n") == 1


def test_broken_streams_and_lost_answers(node: Node) -> None:
    """What TypeScript itself has to say of it, with an engine in memory."""
    done = run(node, "table.test.mjs")
    assert done.returncode == 0, done.stdout
