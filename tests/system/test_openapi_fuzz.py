"""A public fuzzer compares the gateway with its OpenAPI document, by valid and by invalid requests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from croupier.cli.launcher.background import started_services
from tests.gateway.harness import Gateway

pytestmark = [pytest.mark.slow, pytest.mark.gateway]
DOCUMENT = Path(__file__).parents[2] / "protos/croupier_api/v1/openapi.json"
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
SEED = os.environ.get("CROUPIER_TEST_SEED", "1")
"""One seed, so that a finding is that of a change."""
MIN_CASES = 1500
MAX_SECONDS = 1800
UNLIMITED = ("--player-calls-per-second=0", "--network-units-per-second=0")
FLAGS = {
    "lobby": (
        *UNLIMITED,
        "--sign-ins-per-second=0",
        "--max-player-tables=100000",
        "--max-network-tables=100000",
        f"--access-token-seconds={2 * MAX_SECONDS}",
    ),
    "engine": UNLIMITED,
    "scoring": UNLIMITED,
    "gateway": ("--address-requests-per-second=0", "--network-requests-per-second=0"),
}
SECRETS = {"TOKEN": "0123456789abcdef", "TOKEN_TO_DELETE": "fedcba9876543210"}


def signed_in(gateway: Gateway, secret: str) -> str:
    token: str = gateway.ask("POST", "/v1/sign-in", {"device_secret": secret}).json["tokens"]["access_token"]
    return token


def test_no_request_finds_the_gateway_different_from_its_document(tmp_path: Path) -> None:
    with started_services(tmp_path / "data", gateway=[], extra_flags=FLAGS) as services:
        address = services.addresses["gateway"]["listen"]
        gateway = Gateway(address, None, tmp_path)
        tokens = {name: signed_in(gateway, secret) for name, secret in SECRETS.items()}
        report = tmp_path / "report.json"
        fuzzer = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIGURATION), "--no-color", "run"]
        ran = subprocess.run(
            [*fuzzer, str(DOCUMENT), "--seed", SEED, "--url", f"http://{address}", "--report-json-path", str(report)],
            env={"PYTHONPATH": str(Path(__file__).parent), "PATH": "", **tokens},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=MAX_SECONDS,
        )
        still_there = gateway.ask("GET", "/v1/players/me", token=tokens["TOKEN"])
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2000:]
    assert still_there.status == 200, "the calls were refused for their token"
    assert json.loads(report.read_text())["test_cases"]["generated"] >= MIN_CASES
