"""Lobby and scoring say in one line what is wrong with their configuration."""

import asyncio

import pytest

from croupier.lobby.__main__ import main as lobby
from croupier.runtime.schema_versions import migrate_database
from croupier.scoring.__main__ import main as scoring
from tests.scoring.house import Keys

pytestmark = pytest.mark.usefixtures("logs_as_before")

PROGRAMS = {"lobby": lobby, "scoring": scoring}
OF_BOTH = [
    ("--database=nonsense", "is not the URL of a database"),
    ("--database=sqlite://", "croupier migrate --service {service} --database sqlite://"),
    ("--listen=127.0.0.1:99999", "127.0.0.1:99999"),
    ("--metrics-listen=127.0.0.1:x", "127.0.0.1:x cannot be listened on"),
    ("--log-level=loud", "log_level"),
    ("--ready-file=/nowhere/at/all/ready.json", "/nowhere/at/all/ready.partial"),
]
OF_ONE = [
    ("lobby", "--engine-control=nowhere", "is not an address"),
    ("lobby", "--signing-key=/nowhere/key.pem", "cannot be read as an Ed25519 private key"),
    ("scoring", "--lobby-public-key=/nowhere/lobby.pub", "/nowhere/lobby.pub"),
    ("scoring", f"--engine-public-key={__file__}", __file__),
    ("scoring", "--control-listen=nonsense", "cannot be listened on"),
]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Flags with which each of the programs would start."""
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
    ("service", "flag", "said"), [*((service, *fault) for service in PROGRAMS for fault in OF_BOTH), *OF_ONE]
)
def test_a_fault_of_configuration_is_one_line_and_code_2(
    given: dict[str, list[str]], service: str, flag: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert PROGRAMS[service]([*given[service], flag]) == 2
    errors = capfd.readouterr().err.splitlines()
    (line,) = [line for line in errors if line.startswith(f"croupier serve {service}: ")]
    assert said.format(service=service) in line
