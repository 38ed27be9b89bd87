"""The load test through a front door with TLS: every refusal is judged rightly, also those that are the door's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from croupier.cli.background import started_services
from croupier.door.envoy import find_envoy
from tests.loadtest.matrix import PATIENT, SMALL
from tests.loadtest.running import run_load_test
from tests.loadtest.test_clean_services import assert_green

UNLIMITED = ("--address-requests-per-second=0",)


@pytest.fixture(scope="module")
def way_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The flags for the load test by which it comes through a door with TLS: its address, whom to trust."""
    try:
        find_envoy()
    except ValueError as fault:
        pytest.skip(str(fault))
    folder = tmp_path_factory.mktemp("house")
    with started_services(folder, door=["--tls"], mutual_tls=True, extra_flags={"door": UNLIMITED}) as services:
        port = services.addresses["door"]["listen"].rpartition(":")[2]
        yield f"--host=localhost:{port}", f"--ca-file={services.folder.path / 'keys' / 'door.authority.pem'}"


@pytest.mark.parametrize("more", [(), ("--plain",)], ids=["swarm", "plain"])
async def test_abuse_is_refused_as_it_should_be(way_in: tuple[str, str], more: tuple[str, ...], tmp_path: Path) -> None:
    outcome = await run_load_test(["abuse", *SMALL, PATIENT, "--manners=cheat", *way_in, *more], tmp_path)
    assert_green(outcome, "abuse")
    attempts = outcome.result["probes"]
    assert attempts["oversized"] > 0, "what the door refuses itself was not tried"
    assert attempts["malformed"] > 0


async def test_a_door_that_nobody_vouches_for_is_not_put_under_load(way_in: tuple[str, str], tmp_path: Path) -> None:
    outcome = await run_load_test(["smoke", way_in[0], "--tls"], tmp_path)
    assert (outcome.code, outcome.result) == (2, {})
    assert "the services did not answer" in outcome.complained
