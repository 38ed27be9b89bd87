"""Lobby and scoring report an invalid setting in one line."""

import asyncio

import pytest

from croupier.lobby.__main__ import main as lobby
from croupier.runtime.database.schema_versions import migrate_database
from croupier.scoring.__main__ import main as scoring
from tests.scoring.deployment import Keys

pytestmark = pytest.mark.usefixtures("logs_as_before")

PROGRAMS = {"lobby": lobby, "scoring": scoring}
FAULTS_OF_BOTH = [
    ("--database=nonsense", "invalid --database (CROUPIER_DATABASE): expected sqlite:////"),
    ("--database=sqlite://", "croupier migrate --service {service} --database sqlite://"),
]
FAULTS_OF_ONE = [
    ("lobby", "--engine-control=nowhere", "expected host:port"),
    ("lobby", "--signing-key=/nowhere/key.pem", "cannot be read as an Ed25519 private key"),
    ("scoring", "--lobby-public-key=/nowhere/lobby.pub", "/nowhere/lobby.pub"),
    ("scoring", f"--engine-public-key={__file__}", __file__),
    ("scoring", "--control-listen=192.0.2.1:0", "192.0.2.1:0 cannot be listened on"),
]


@pytest.fixture(scope="module")
def valid_flags(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return flags with which each program starts."""
    folder = Keys.new(tmp_path_factory.mktemp("configured")).folder
    database = f"sqlite:///{folder}/both.db"
    asyncio.run(migrate_database(database, ["croupier.lobby", "croupier.scoring"]))
    both = [f"--database={database}", "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0"]
    keys = [f"--lobby-public-key={folder}/lobby.pub", f"--engine-public-key={folder}/engine.pub"]
    return {
        "lobby": [*both, f"--signing-key={folder}/lobby.pem", "--engine-control=127.0.0.1:1"],
        "scoring": [*both, *keys, "--control-listen=127.0.0.1:0"],
    }


@pytest.mark.parametrize(
    ("service", "flag", "expected"),
    [*((service, *fault) for service in PROGRAMS for fault in FAULTS_OF_BOTH), *FAULTS_OF_ONE],
)
def test_an_invalid_setting_is_reported_in_one_line_and_exits_with_2(
    valid_flags: dict[str, list[str]], service: str, flag: str, expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert PROGRAMS[service]([*valid_flags[service], flag]) == 2
    errors = capfd.readouterr().err.splitlines()
    (line,) = [line for line in errors if line.startswith(f"croupier serve {service}: ")]
    assert expected.format(service=service) in line
