"""A client in TypeScript, generated from the contract, plays a game over gRPC-Web."""

import json
import secrets
import subprocess
import time
from typing import Any

import pytest

from loadtest.watch.scrape import Scrape, scrape
from tests.web.built_client import FOLDER, NODE, environment
from tests.web.conftest import House

pytestmark = [pytest.mark.gateway, pytest.mark.slow]
GAME_SECONDS = 60.0
SEATS = 3
ACTIONS_BEFORE = 3
"""So many are acknowledged before anything is killed."""


def run(program: str, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(NODE), str(FOLDER / "dist" / program), *arguments],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=GAME_SECONDS,
    )


def test_a_game_from_node(house: House) -> None:
    seed = str(secrets.randbelow(2**32))
    arguments = (house.address, "thulla", str(SEATS), seed)
    print(f"node clients/typescript/dist/main.mjs {' '.join(arguments)}")
    done = run("main.mjs", *arguments, NODE_EXTRA_CA_CERTS=str(house.authority))
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert sorted(seat for group in result["ranking"] for seat in group) == list(range(SEATS))
    assert result["names"][0] == "Typed"
    assert result["actions"] > 0
    assert result["streams"] == 1


@pytest.mark.parametrize("instance", ["engine", "door"])
def test_a_game_goes_on_when_a_process_was_killed(house: House, instance: str) -> None:
    """Over gRPC-Web the stream is opened again after what was seen, and an action without an answer is sent again."""
    command = [str(NODE), str(FOLDER / "dist" / "main.mjs"), house.address, "one_oh_one", str(SEATS), "1"]
    variables = environment(NODE_EXTRA_CA_CERTS=str(house.authority))
    pipe, before = subprocess.PIPE, actions(house)
    with subprocess.Popen(command, env=variables, stdout=pipe, stderr=pipe, text=True) as playing:
        try:
            deadline = time.monotonic() + GAME_SECONDS
            while actions(house) < before + ACTIONS_BEFORE:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            house.services.kill(instance)
            said, complaint = playing.communicate(timeout=GAME_SECONDS)
        finally:
            playing.kill()
    assert playing.returncode == 0, complaint
    result: dict[str, Any] = json.loads(said)
    assert sorted(seat for group in result["ranking"] for seat in group) == list(range(SEATS))
    assert result["streams"] > 1
    assert result["snapshots"] == 1, "all streams but the first go on after what was seen"


def actions(house: House) -> float:
    """How many actions the engine has answered, by its metrics."""
    read = scrape(house.services.addresses["engine"]["metrics"], 0)
    assert isinstance(read, Scrape)
    calls = ((labels, value) for (name, labels), value in read.samples.items() if name == "croupier_rpc_calls_total")
    return sum(value for labels, value in calls if "SubmitAction" in str(labels))


def test_node_does_not_trust_whom_it_was_not_told_to(house: House) -> None:
    done = run("main.mjs", house.address)
    assert done.returncode != 0
    assert "certificate" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("program", sorted(path.stem for path in FOLDER.glob("src/*.test.ts")))
def test_broken_streams_lost_answers_and_tokens(program: str) -> None:
    """What TypeScript itself has to say of it, with services in memory."""
    done = run(f"{program}.mjs")
    assert done.returncode == 0, done.stdout
