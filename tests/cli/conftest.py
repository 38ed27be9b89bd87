"""The command `croupier`, run in the process of the tests, and services that only listen."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from rich.console import Console

from croupier.cli.__main__ import main
from croupier.cli.supervisor import Manner


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    def in_one_line(self) -> str:
        """What was wrong; asserts that it is one line, and nothing else was printed."""
        assert (self.out, self.err.count("\n")) == ("", 1), self
        return self.err


Command: TypeAlias = Callable[..., Ended]


@pytest.fixture
def croupier(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs the command with these arguments; a database of the environment is not used."""
    monkeypatch.delenv("CROUPIER_DATABASE", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str) -> Ended:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code is None or isinstance(ended.value.code, int)
        return Ended(ended.value.code or 0, *capsys.readouterr())

    return run


def printed(show: Callable[[Console], object], **settings: Any) -> str:
    """What a function shows on a terminal that is 100 columns wide."""
    file = StringIO()
    show(Console(file=file, **({"width": 100} | settings)))
    return file.getvalue()


def fakes(notes: list[str] | None = None, **settings: Any) -> Manner:
    """Services that only listen, as `fake_service.py` says."""
    command = (sys.executable, str(Path(__file__).with_name("fake_service.py")))
    return Manner(command=command, note=(notes if notes is not None else []).append, migrates=False, **settings)


def diary(folder: Path) -> list[str]:
    """What became of fake services, one after the other."""
    return (folder / "diary").read_text().splitlines()


def told(folder: Path, instance: str) -> dict[str, str]:
    """What a fake service is told to use."""
    flags: dict[str, str] = json.loads((folder / f"{instance}.told").read_text())
    return flags
