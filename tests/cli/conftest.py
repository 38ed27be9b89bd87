"""The command `croupier`, run in the process of the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from croupier.cli.__main__ import main


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
