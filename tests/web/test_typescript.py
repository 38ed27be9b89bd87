"""The TypeScript client plays games over gRPC-Web and WebSocket."""

import json
import secrets
import subprocess
import time
from pathlib import Path
from typing import IO, Any

import pytest

from clients.typescript.build import CLIENT, NODE, TABLE, environment, npm
from croupier_loadtest.monitor.monitor import Scrape, scrape
from tests.ports import reserved_port
from tests.web.conftest import WebDeployment
from tests.web.recorded_legal import recorded_legal
from tests.web.recorded_views import recorded_views
from tests.web.written_replays import written_replays

pytestmark = [pytest.mark.gateway, pytest.mark.slow]
GAME_SECONDS = 60.0
SEATS = 3
ACTIONS_BEFORE = 3
"""The number of acknowledged actions before a process is killed."""
TRANSPORTS = pytest.mark.parametrize("transport", [(), ("--websocket",)], ids=["grpc-web", "websocket"])


def run(
    program: str, *arguments: str, stdin: IO[str] | None = None, **variables: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(NODE), str(CLIENT / "dist" / "programs" / program), *arguments],
        env=environment(**variables),
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=GAME_SECONDS,
    )


@TRANSPORTS
def test_a_game_from_node(deployment: WebDeployment, transport: tuple[str, ...]) -> None:
    seed = str(secrets.randbelow(2**32))
    arguments = (deployment.address, "thulla", str(SEATS), seed, *transport)
    before = calls(deployment, "SubmitAction")
    print(f"node clients/typescript/client/dist/programs/play.js {' '.join(arguments)}")
    done = run("play.js", *arguments, NODE_EXTRA_CA_CERTS=str(deployment.authority))
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert sorted(seat for group in result["ranking"] for seat in group) == list(range(SEATS))
    assert result["names"][0] == "Typed"
    assert result["actions"] > 0
    assert result["streams"] == 1
    # Over WebSocket all actions travel in the stream.
    assert (calls(deployment, "SubmitAction") == before) == bool(transport)


@TRANSPORTS
@pytest.mark.parametrize("instance", ["engine", "gateway"])
def test_a_game_continues_after_a_process_was_killed(
    deployment: WebDeployment, instance: str, transport: tuple[str, ...]
) -> None:
    """The client resumes its stream after the last message, and sends an unanswered action again."""
    command = [str(NODE), str(CLIENT / "dist" / "programs" / "play.js"), deployment.address, "one_oh_one"]
    command += [str(SEATS), "1", *transport]
    variables = environment(NODE_EXTRA_CA_CERTS=str(deployment.authority))
    pipe, before = subprocess.PIPE, actions(deployment)
    with subprocess.Popen(command, env=variables, stdout=pipe, stderr=pipe, text=True) as playing:
        try:
            deadline = time.monotonic() + GAME_SECONDS
            while actions(deployment) < before + ACTIONS_BEFORE:
                assert playing.poll() is None, playing.communicate()[1]
                assert time.monotonic() < deadline
                time.sleep(0.01)
            deployment.services.kill(instance)
            output, errors = playing.communicate(timeout=GAME_SECONDS)
        finally:
            playing.kill()
    assert playing.returncode == 0, errors
    result: dict[str, Any] = json.loads(output)
    assert sorted(seat for group in result["ranking"] for seat in group) == list(range(SEATS))
    assert result["streams"] > 1
    assert result["snapshots"] == 1, "all streams but the first resume after the last message"


def actions(deployment: WebDeployment) -> float:
    """Return the number of actions that the engine has stored, by its metrics."""
    return counted(deployment, "croupier_actions_accepted_total")


def calls(deployment: WebDeployment, method: str) -> float:
    """Return the number of calls of a method that the engine has answered."""
    return counted(deployment, "croupier_rpc_calls_total", method)


def counted(deployment: WebDeployment, metric: str, label: str = "") -> float:
    """Return the sum of a metric of the engine over its labels, of which one contains a text."""
    read = scrape(deployment.services.addresses["engine"]["metrics"], 0)
    assert isinstance(read, Scrape)
    return sum(value for (name, labels), value in read.samples.items() if name == metric and label in str(labels))


def test_node_does_not_trust_an_unknown_authority(deployment: WebDeployment) -> None:
    done = run("play.js", deployment.address)
    assert done.returncode != 0
    assert "certificate" in done.stderr
    assert done.stderr.count("\n") == 1


def test_node_reports_in_one_line_and_soon_that_nothing_listens() -> None:
    with reserved_port() as port:
        address = f"http://127.0.0.1:{port}"
        done = run("play.js", address)
    assert done.returncode != 0
    assert done.stderr.startswith(f"no game at {address}: ")
    assert done.stderr.count("\n") == 1


def test_folded_facts_yield_the_view_of_the_engine(tmp_path: Path) -> None:
    seed = secrets.token_hex(4)
    print(f"the seed is {seed}; put it in place of secrets.token_hex to repeat it")
    recorded = tmp_path / "views.json"
    recorded.write_text(recorded_views(seed))
    npm(CLIENT, "test", "--", "view", CROUPIER_RECORDED_VIEWS=str(recorded))


def test_each_action_of_the_engine_can_be_chosen_and_nothing_else(tmp_path: Path) -> None:
    seed = secrets.token_hex(4)
    print(f"the seed is {seed}; put it in place of secrets.token_hex to repeat it")
    recorded = tmp_path / "legal.json"
    recorded.write_text(recorded_legal(seed))
    npm(CLIENT, "test", "--", "selection", CROUPIER_RECORDED_LEGAL=str(recorded))


def test_the_deals_of_all_games_are_proved(tmp_path: Path) -> None:
    seed = secrets.token_hex(4)
    print(f"the seed is {seed}; put it in place of secrets.token_hex to repeat it")
    written = tmp_path / "replays.json"
    written.write_text(written_replays(seed))
    npm(CLIENT, "test", "--", "verify", CROUPIER_WRITTEN_REPLAYS=str(written))


def test_recorded_facts_and_views_are_shown_line_by_line(tmp_path: Path) -> None:
    words = [{"kind": "WORD_KIND_PHASE", "word": "play", "text": "игра"}]
    table = {"description": {"words": words}, "names": ["Ada", "Bo"], "language": "ru-RU"}
    detail = {"name": "first_lead", "value": {"seat": 1}}
    facts = [
        {"trickTaken": {"seat": 1}},
        {"roundEnded": {"score": {"round": 1, "points": [2, 0], "details": [detail]}}},
    ]
    view = {"round": 1, "phase": "play", "piles": [{"name": "stock", "count": 4, "faceDown": True}], "marks": [detail]}
    recorded = tmp_path / "recorded.jsonl"
    recorded.write_text("\n".join(map(json.dumps, [table, {"facts": facts}, {"view": view}])))
    with recorded.open() as lines:
        done = run("shown.js", stdin=lines)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {
            "facts": ["Bo: берёт взятку", "round 1; Ada 2, Bo 0"],
            "rounds": [{"text": "round 1; Ada 2, Bo 0", "more": ["first lead: Bo"]}],
        },
        {
            "round": "round 1, игра",
            "piles": [{"text": "stock, карты: 4, рубашкой вверх", "more": []}],
            "contract": "",
            "calls": [],
            "marks": ["first lead: Bo"],
        },
    ]


@pytest.mark.parametrize("package", [CLIENT, TABLE], ids=lambda folder: folder.name)
def test_a_package_by_itself(package: Path) -> None:
    """Its own tests pass, with services in memory."""
    npm(package, "test")
