"""docs/security.md names every limit, every attack of the load test, and only tests and commands that exist.

docs/gateway.md has the numbers of the limits.

A limit is a setting of a service or the gateway that is a number and has a name of BOUNDS. Times that only pace a
service itself, or that are a default for tables, bound nothing that strangers take: PACES lists them.
"""

import importlib.util
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from croupier.engine.settings import EngineSettings
from croupier.gateway.settings import GatewaySettings
from croupier.lobby.settings import LobbySettings
from croupier.runtime.settings import Settings
from croupier.scoring.settings import ScoringSettings
from croupier_loadtest.players.attackers.attack_process import ATTACKS
from croupier_loadtest.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
MODEL = PAGE.partition("## Threat model")[2].partition("\n## ")[0]
CODE = re.findall(r"`([^`\n]+)`", MODEL)
KINDS: Mapping[str, type[Settings]] = {
    "lobby": LobbySettings,
    "engine": EngineSettings,
    "scoring": ScoringSettings,
    "gateway": GatewaySettings,
}
BOUNDS = re.compile(r"(max|min)_\w+|\w+_(per_second|burst|days|hours|seconds|mebibytes)")
NUMBERS = re.compile(r"(max|min)_(?!\w+_seconds$)\w+|\w+_(per_second|burst)")
"""Those with a number in docs/gateway.md; times are in words there, or in docs/operation.md."""
PACES = {"drain_seconds", "engine_timeout_seconds", "housekeeping_seconds", "action_seconds", "reserve_seconds"}


def limits() -> Iterator[str]:
    for kind in KINDS.values():
        yield from (name for name, field in kind.model_fields.items() if is_limit(name, field.annotation))


def is_limit(name: str, annotation: object) -> bool:
    return annotation is int and BOUNDS.fullmatch(name) is not None and name not in PACES


def shown_by() -> Iterator[str]:
    """Yield the code in the last columns of the tables."""
    for row in re.findall(r"^\|.*\|$", MODEL, re.MULTILINE):
        yield from re.findall(r"`([^`]+)`", row.split("|")[-2])


def test_every_limit_is_in_the_threat_model() -> None:
    assert len(set(limits())) > 40
    assert sorted(set(limits()) - set(CODE)) == []


def test_the_numbers_of_limits_are_the_defaults() -> None:
    page = (ROOT / "docs" / "gateway.md").read_text(encoding="utf-8")
    rows = [row.replace(",", "") for row in re.findall(r"^\|.*`\w+`.*\|$", page, re.MULTILINE)]
    for kind in KINDS.values():
        for name, field in kind.model_fields.items():
            numbers = [re.findall(r"\b\d+\b", row) for row in rows if f"`{name}`" in row]
            if NUMBERS.fullmatch(name) and is_limit(name, field.annotation):
                assert numbers, f"docs/gateway.md has no row for {name}"
                assert all(str(field.default) in row for row in numbers), f"{name} is {field.default}"


def test_the_threat_model_names_no_limit_that_does_not_exist() -> None:
    settings = {name for kind in KINDS.values() for name in kind.model_fields}
    named = {name for name in CODE if BOUNDS.fullmatch(name) and not name.startswith("croupier_")}
    assert sorted(named - settings) == []


def test_every_attack_is_in_the_table_once() -> None:
    attacks = [name for name in shown_by() if re.fullmatch(r"\w+", name)]
    assert sorted(attacks) == sorted(ATTACKS)


@pytest.mark.parametrize("command", sorted({code for code in CODE if re.match(r"make |\.venv/|python ", code)}))
def test_every_command_can_be_run(command: str) -> None:
    program, *words = command.split()
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert words[0] in targets
        assert [word for word in words if word.startswith("SCENARIO=") and word[9:] not in SCENARIOS] == []
        attacks = re.findall(r"--attacks ([\w,]+)", command)
        assert set(",".join(attacks).split(",")) - {""} <= set(ATTACKS)
    elif program == ".venv/bin/pytest":
        assert [path for path in words if not (ROOT / path).is_file()] == []
    else:
        assert (program, words[0]) == (".venv/bin/python", "-m")
        assert importlib.util.find_spec(words[1]) is not None
