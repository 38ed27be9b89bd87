"""The command `croupier`, run in the process of the tests, and fake services."""

import asyncio
import json
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from rich.console import Console

from croupier.cli.__main__ import main
from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier.cli.launcher.supervisor import SupervisorSettings
from croupier.cli.terminal.console import Picture
from croupier.cli.terminal.texts import Texts


@dataclass(frozen=True, slots=True)
class Ended:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    def error_line(self) -> str:
        """Return the error; asserts that it is one line and nothing else was printed."""
        assert (self.out, self.err.count("\n")) == ("", 1), self
        return self.err


Command: TypeAlias = Callable[..., Ended]
FOREIGN = "AWS_SECRET_ACCESS_KEY"
"""A variable of another program."""
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what other machines reach is what these tests are about


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackgroundServices]:
    """Run services with a gateway for other machines, started without an umask and with a foreign variable."""
    path, umask = tmp_path_factory.mktemp("shared") / "data", os.umask(0)
    with ExitStack() as stack:
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv(FOREIGN, "x")
                gateway = [f"--listen={EVERYWHERE}", "--tls"]
                running = stack.enter_context(started_services(path, gateway=gateway))
        finally:
            os.umask(umask)
        yield running


@pytest.fixture
def croupier(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return a function that runs the command with arguments, without CROUPIER_DATABASE."""
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
    """Return the output of a function on a terminal of 100 columns."""
    file = StringIO()
    show(Console(file=file, **({"width": 100} | settings)))
    return file.getvalue()


class FakeScreen:
    """A screen that keeps the messages, on which lines were typed; without any, nobody types and the input is open."""

    width = 80
    texts = Texts()

    def __init__(self, *lines: str) -> None:
        self.messages: list[str] = []
        self._lines = deque[str | None]((*lines, None) if lines else ())

    def say(self, *lines: object) -> None:
        """Show nothing."""

    def draw(self, picture: Picture, *, is_news: bool) -> None:
        self.messages += [message.plain for message in picture.messages]

    async def read(self) -> str | None:
        if not self._lines:
            await asyncio.Event().wait()
        return self._lines.popleft()


def fake_services(notes: list[str] | None = None, **settings: Any) -> SupervisorSettings:
    """Return settings of the supervisor that start `fake_service.py` in place of services."""
    command = (sys.executable, str(Path(__file__).with_name("fake_service.py")))
    settings = {"database": "postgresql://user:secret@127.0.0.1/shared", **settings}
    return SupervisorSettings(command=command, note=(notes if notes is not None else []).append, **settings)


def events(folder: Path) -> list[str]:
    return (folder / "events").read_text().splitlines()


def received_flags(folder: Path, instance: str) -> dict[str, str]:
    flags: dict[str, str] = json.loads((folder / f"{instance}.flags").read_text())
    return flags
