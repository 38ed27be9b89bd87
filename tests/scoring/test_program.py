"""The program tells in one line what is wrong with its settings."""

import dataclasses
from pathlib import Path

import pytest

from croupier.scoring.__main__ import main
from tests.scoring.house import Keys

pytestmark = pytest.mark.usefixtures("logs_as_before")


def flags(keys: Keys, database_url: str, **changes: str) -> list[str]:
    settings = keys.settings(database_url)
    given = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    given = {name: str(value) for name, value in given.items() if isinstance(value, str | Path) and value}
    return [part for name, value in (given | changes).items() for part in (f"--{name.replace('_', '-')}", value)]


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("database", "nonsense", "--database"),
        ("database", "sqlite://", "croupier migrate --service scoring --database sqlite://"),
        ("lobby_public_key", "/nowhere/lobby.pub", "/nowhere/lobby.pub"),
        ("engine_public_key", __file__, __file__),
        ("listen", "127.0.0.1:99999", "127.0.0.1:99999"),
        ("metrics_listen", "127.0.0.1:x", "127.0.0.1:x"),
        ("log_level", "loud", "loud"),
        ("ready_file", "/nowhere/at/all/ready.json", "/nowhere/at/all/ready.partial"),
    ],
)
def test_settings_that_cannot_be_used(
    keys: Keys, database_url: str, capfd: pytest.CaptureFixture[str], name: str, value: str, word: str
) -> None:
    assert main(flags(keys, database_url, **{name: value})) == 2
    own_lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("croupier serve scoring: ")]
    assert len(own_lines) == 1
    assert word in own_lines[0]
