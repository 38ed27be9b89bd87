"""The command `croupier` of an environment that has the wheel, as `.ci/wheel` makes it outside of this checkout."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.person import DEADLINE_SECONDS, Person
from tests.programs import missing

VARIABLE = "CROUPIER_TEST_COMMAND"
LAST_LINE = "Ctrl-C stops it"
IDA = ("--player", "ida", "--game", "thulla", "--seats", "2")
"""A person and their table."""


@dataclass(frozen=True, slots=True)
class Installed:
    """The command at a path, which runs in an empty folder."""

    program: str
    folder: Path

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run a command to its end, and return exit code and output."""
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout

    @contextmanager
    def up(self, data: Path) -> Iterator[str]:
        """Run `croupier up` in a data folder until the end of the block; yields what it prints before it serves."""
        command = [self.program, "up", "--port", "0", "--data-dir", str(data)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            try:
                assert process.stdout is not None
                printed = ""
                while LAST_LINE not in printed:
                    line = process.stdout.readline()
                    assert line, printed
                    printed += line
                yield printed
            finally:
                process.send_signal(signal.SIGINT)
                rest, _ = process.communicate(timeout=DEADLINE_SECONDS)
        assert process.returncode == 0, rest


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    """Return the command of the environment."""
    program = os.environ.get(VARIABLE) or missing(f"{VARIABLE} names no command: .ci/wheel FOLDER")
    return Installed(program, tmp_path)


def play_a_card_and_leave(person: Person) -> None:
    """Let a person play a card at a table of Thulla, see it on the table, and end the program."""
    person.read_until("you may")
    person.type("1")
    person.read_until("ida plays")
    person.type("/quit")
    assert person.read_to_the_end() == 0, person.seen[-3000:]
