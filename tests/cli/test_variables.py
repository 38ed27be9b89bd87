"""A CROUPIER_* variable that no program reads is a warning with the name that was probably meant."""

import re
from pathlib import Path

import pytest

from croupier.cli.variables import known_variables, warnings_of
from tests.cli.conftest import Command

ROOT = Path(__file__).parents[2]
SECRET = "correct-horse"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("CROUPIER_LISTN", "is it CROUPIER_LISTEN?"),
        ("CROUPIER_DATABSE", "is it CROUPIER_DATABASE?"),
        ("CROUPIER_MAX_STREAM", "is it CROUPIER_MAX_STREAMS?"),
        ("CROUPIER_TLS_CERTIFCATE", "is it CROUPIER_TLS_CERTIFICATE?"),
        ("CROUPIER_XYZZY", "croupier serve PROGRAM --help names those of a program"),
        ("CROUPIER_LISTEN_PORT", "is it CROUPIER_LISTEN?"),
    ],
)
def test_an_unknown_variable_is_named_without_its_value(name: str, hint: str) -> None:
    assert list(warnings_of({name: SECRET})) == [f"unknown variable {name}, which has no effect: {hint}"]


def test_variables_of_all_programs_are_known() -> None:
    settings = ("LISTEN", "DATABASE", "MAX_STREAMS", "ENGINE_CONTROL", "RESULT_DAYS", "ACCESS_LOG", "WORKERS")
    assert list(warnings_of({f"CROUPIER_{name}": "x" for name in settings})) == []


def test_variables_of_tests_kubernetes_and_other_programs_are_left_alone() -> None:
    foreign = {
        "CROUPIER_TEST_SEED": "1",
        "PATH": "/bin",
        "_CROUPIER_COMPLETE": "bash_source",
        "CROUPIER_SERVICE_HOST": "10.0.0.1",
        "CROUPIER_PORT": "tcp://10.0.0.1:7700",
        "CROUPIER_LOBBY_SERVICE_HOST": "10.0.0.1",
        "CROUPIER_LOBBY_SERVICE_PORT": "7710",
        "CROUPIER_LOBBY_SERVICE_PORT_GRPC": "7710",
        "CROUPIER_LOBBY_PORT": "tcp://[fd00::1]:7710",
        "CROUPIER_LOBBY_PORT_7710_TCP": "tcp://10.0.0.1:7710",
        "CROUPIER_LOBBY_PORT_7710_TCP_PROTO": "tcp",
        "CROUPIER_LOBBY_PORT_7710_TCP_PORT": "7710",
        "CROUPIER_LOBBY_PORT_7710_TCP_ADDR": "10.0.0.1",
    }
    assert list(warnings_of(foreign)) == []


def test_the_command_warns_and_continues(croupier: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROUPIER_LISTN", SECRET)
    ended = croupier("games")
    assert ended.code == 0
    assert ended.err == "croupier: unknown variable CROUPIER_LISTN, which has no effect: is it CROUPIER_LISTEN?\n"


def test_the_manifests_set_known_variables_only() -> None:
    named = {
        name
        for file in (ROOT / "k8s").rglob("*.yaml")
        for name in re.findall(r"\bname: (CROUPIER_[A-Z_]+)", file.read_text())
    }
    assert len(named) > 10
    assert named <= known_variables()
