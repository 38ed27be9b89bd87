"""What cannot be tested is told in one line, with exit code 2, and is never green."""

import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import grpc
import pytest

from tests.loadtest.matrix import SMALL
from tests.loadtest.running import Outcome, run_load_test, run_with

NOBODY = "--host=127.0.0.1:9"


@pytest.fixture
async def stranger() -> AsyncIterator[str]:
    """A server that speaks gRPC, but none of our calls."""
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"--host=127.0.0.1:{port}"
    await server.stop(0)


def assert_refused(outcome: Outcome, line: str) -> None:
    assert outcome.code == 2, str(outcome)
    assert outcome.complained.startswith("loadtest: "), str(outcome)
    assert line in outcome.complained
    assert outcome.complained.count("\n") == 1
    assert not outcome.said
    assert not outcome.result


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nothing"], "there is no scenario 'nothing'"),
        (["smoke", "--mix=solo=0"], "'0' is no weight of solo"),
        (["smoke", "--mix=whist"], "'whist' is not played here"),
        (["smoke", "--manners=rude"], "nobody plays in the manner 'rude'"),
        (["smoke", NOBODY], "the services did not answer within"),
    ],
)
async def test_one_line_tells_what_is_wrong(arguments: Sequence[str], line: str, tmp_path: Path) -> None:
    assert_refused(await run_load_test(arguments, tmp_path), line)


async def test_a_server_that_speaks_something_else_is_no_backend(stranger: str, tmp_path: Path) -> None:
    outcome = await run_load_test(["smoke", stranger], tmp_path)
    assert_refused(outcome, "the lobby does not speak croupier_api.v1: it is another version, or another program")


async def test_other_versions_of_the_rules_are_not_judged(tmp_path: Path) -> None:
    outcome = await run_with("offer-later-rules", ["smoke", *SMALL, "--mix=solo"], tmp_path)
    assert_refused(outcome, "the engine plays version 2 of solo, the referee knows version 1")


async def test_results_that_have_no_place_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file is in the way")
    assert_refused(await run_load_test(["smoke", NOBODY], tmp_path), "results cannot be written to")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this machine has no disk that is always full")  # noqa: PTH110
async def test_results_in_a_place_that_is_no_folder_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "results").symlink_to("/dev/full")
    assert_refused(await run_load_test(["smoke", NOBODY], tmp_path), "results cannot be written to")
