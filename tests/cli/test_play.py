"""A scripted person plays a whole game in a real terminal, and in none."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from croupier.cli.background import started_services

DEADLINE_SECONDS = 90.0
PAUSE_SECONDS = 0.1


def start(folder: Path, terminal: int, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    arguments = ["play", "--seats", "2", "--data-dir", str(folder), "--bot-delay", "0", "--name", "Zoë"]
    return subprocess.Popen(
        [sys.executable, "-m", "croupier.cli", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", **environment},
        start_new_session=True,
    )


class Person:
    """Reads the terminal and types; everything that was seen is kept."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._own, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = start(folder, theirs, environment)
        os.close(theirs)
        self.seen = ""
        self._typed_at = 0
        self._deadline = time.monotonic() + DEADLINE_SECONDS

    def type(self, line: str) -> None:
        self._typed_at = len(self.seen)
        os.write(self._own, f"{line}\r".encode())

    def read(self) -> str:
        """What has come since the last call; empty after a pause."""
        assert time.monotonic() < self._deadline, self.seen[-3000:]
        if not select.select([self._own], [], [], PAUSE_SECONDS)[0]:
            return ""
        try:
            text = os.read(self._own, 65536).decode(errors="replace")
        except OSError:  # how a pseudo-terminal tells that the other side is closed
            return ""
        self.seen += text
        return text

    def read_until(self, wanted: str) -> None:
        while wanted not in self.seen:
            self.read()
            assert wanted in self.seen or self.process.poll() is None, self.seen[-3000:]

    def play_to_the_end(self) -> None:
        while self.process.poll() is None:
            self.read()
            if "you may" in self.seen[self._typed_at :] and "over. Ranking:" not in self.seen:
                self.type("1")
        while self.read():
            pass

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(DEADLINE_SECONDS)
        os.close(self._own)


def exported(folder: Path, arguments: list[str]) -> str:
    """What the command that the player was told gives."""
    output = folder / "replay.jsonl"
    command = [sys.executable, "-m", "croupier.cli", *arguments, "--data-dir", str(folder), "--output", str(output)]
    subprocess.run(command, check=True, timeout=DEADLINE_SECONDS)
    return output.read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder in which services run."""
    path = tmp_path_factory.mktemp("data")
    with started_services(path):
        yield path


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1", "PYTHONIOENCODING": "ascii"}, {"TERM": "dumb"}])
def test_a_person_plays_a_whole_game(folder: Path, environment: dict[str, str]) -> None:
    person = Person(folder, environment)
    try:
        person.read_until("you may")
        person.type("/help")
        person.read_until("/react NAME sends a reaction")
        person.type("/react clap")
        person.read_until("reacts: clap")
        person.type("xyzzy")
        person.read_until("xyzzy is not possible now")
        person.play_to_the_end()
        assert person.process.returncode == 0, person.seen[-3000:]
        assert "Score sheet after round 1" in person.seen
        assert "The game is over. Ranking:" in person.seen
        assert ("♠" in person.seen) == ("PYTHONIOENCODING" not in environment)
        assert ("\x1b[31m" in person.seen) == (environment == {})
        export = person.seen.rpartition("Replay: croupier ")[2].split()
        assert exported(folder, export).startswith('{"replay":1,')
    finally:
        person.close()


def test_services_are_started_for_one_who_finds_none_and_he_may_leave(tmp_path: Path) -> None:
    person = Person(tmp_path, {})
    try:
        person.read_until("you may")
        person.type("/quit")
        person.read_until("croupier play --table ")
        person.process.wait(DEADLINE_SECONDS)
        assert person.process.returncode == 0
    finally:
        person.close()
