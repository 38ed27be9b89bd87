"""A scripted person plays a whole game in a real terminal, and in none."""

import fcntl
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyte
import pytest

from croupier.cli.launcher.background import started_services

DEADLINE_SECONDS = 90.0
PAUSE_SECONDS = 0.1
AGAIN_SECONDS = 2.0
CONFIRM = "write yes to confirm"

CHOICE = re.compile(r"you may: (keep|swap) (\d+)")
NAMED_SUIT = {"keep": " s", "swap": ""}


def answer(table: str) -> str:
    """Return a line for the first legal action; of a choice, with as few cards as allowed."""
    asked = CHOICE.findall(table)
    if not asked:
        # A bid is its own number.
        bids = re.findall(r"you may(?: bid:|: bid) (\d+)", table)
        return bids[-1] if bids and table.rpartition("you may")[2].lstrip(": ").startswith("bid") else "1"
    verb, count = asked[-1]
    hand = table.rpartition("your hand: ")[2].partition("you may")[0]
    cards = re.findall(r"[2-9TJQKA][CDHS]|JK", hand)
    return f"{verb} {' '.join(cards[: int(count)])}{NAMED_SUIT[verb]}"


class Person:
    """Reads a terminal and types; all output is kept."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], columns: int = 80, rows: int = 24
    ) -> None:
        self.terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "croupier.cli", *command],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self.output = ""
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000)
        self._stream = pyte.Stream(self._screen)
        self._is_plain = environment.get("TERM") == "dumb"
        self._answered, self._typed_at, self._answer_at = "", 0, 0.0
        self._deadline = time.monotonic() + DEADLINE_SECONDS

    @property
    def seen(self) -> str:
        """Return all lines that the terminal has shown and shows."""
        if self._is_plain:
            return self.output
        above = (
            "".join(line[column].data for column in range(self._screen.columns)) for line in self._screen.history.top
        )
        return "\n".join(line.rstrip() for line in (*above, *self._screen.display))

    @property
    def shown(self) -> str:
        """Return what the person looks at: the screen, or in a plain terminal the lines since they typed."""
        return self.output[self._typed_at :] if self._is_plain else "\n".join(map(str.rstrip, self._screen.display))

    def press(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def type(self, line: str) -> None:
        self._typed_at = len(self.output)
        self.press(f"{line}\r")

    def read(self) -> str:
        """Return the output since the last call; empty after a pause."""
        assert time.monotonic() < self._deadline, self.seen[-3000:]
        if not select.select([self.terminal], [], [], PAUSE_SECONDS)[0]:
            return ""
        try:
            text = os.read(self.terminal, 65536).decode(errors="replace")
        except OSError:  # The other side of the pseudo-terminal is closed.
            return ""
        self.output += text
        self._stream.feed(text)
        return text

    def read_until(self, wanted: str) -> None:
        """Read until the terminal has shown a text."""
        while wanted not in " ".join(self.seen.split()):
            self.read()
            assert wanted in " ".join(self.seen.split()) or self.process.poll() is None, self.seen[-3000:]

    def read_to_the_end(self) -> int:
        """Read until the program has ended; returns its exit code."""
        while self.read() or self.process.poll() is None:
            pass
        return self.process.wait()

    def play_until(self, wanted: str) -> None:
        """Play until the terminal has shown a text or the program has ended."""
        while self.process.poll() is None and wanted not in self.seen:
            self.read()
            table = "\n".join(
                line for line in self.shown.split("\n") if not line.startswith(">") and "left" not in line
            )
            # An answer may come too late: then the table stays as it was, and the person tries again.
            is_new = table != self._answered or time.monotonic() > self._answer_at + AGAIN_SECONDS
            if ("you may" in table or CONFIRM in table) and is_new:
                self.type("yes" if CONFIRM in table else answer(table))
                self._answered, self._answer_at = table, time.monotonic()

    def play_to_the_end(self) -> None:
        """Play the game to its end, and read the result."""
        self.play_until("over. Ranking:")
        assert self.read_to_the_end() == 0, self.seen[-3000:]
        assert "The game is over. Ranking:" in self.seen


@contextmanager
def person_in(
    folder: Path,
    environment: Mapping[str, str],
    table: Sequence[str] = ("--game", "thulla", "--seats", "2"),
    columns: int = 80,
    rows: int = 24,
) -> Iterator[Person]:
    """Run `croupier play` for a person until the end of the block."""
    command = ["play", *table, "--data-dir", str(folder), "--bot-delay", "0", "--name", "Zoë"]
    person = Person(command, environment, columns, rows)
    try:
        yield person
    finally:
        person.process.terminate()
        person.process.wait(DEADLINE_SECONDS)
        os.close(person.terminal)


def exported(command: str) -> str:
    """Return the replay that a printed command exports."""
    # As a person pastes it.
    shell = ["sh", "-c", f"{command} --output -"]
    ended = subprocess.run(shell, check=True, timeout=DEADLINE_SECONDS, capture_output=True, text=True)
    return ended.stdout


def exported_by_another_player(folder: Path, table_id: str) -> str:
    """Return the replay that a person with another device exports by the printed link."""
    command = [sys.executable, "-m", "croupier.cli", "replay", "link", table_id, "--data-dir", str(folder)]
    printed = subprocess.run(command, check=True, timeout=DEADLINE_SECONDS, capture_output=True, text=True).stdout
    secret = folder / "player.secret"
    own = secret.read_text()
    secret.unlink()
    of_folder = f"--data-dir {shlex.quote(str(folder))}"
    try:
        with pytest.raises(subprocess.CalledProcessError):
            exported(f"{shlex.join(command[:3])} replay export {table_id} {of_folder}")
        return exported(f"{printed.partition(': ')[2].strip()} {of_folder}")
    finally:
        secret.write_text(own)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a data folder in which services run."""
    path = tmp_path_factory.mktemp("data")
    with started_services(path):
        yield path


def test_a_person_plays_a_whole_game(folder: Path) -> None:
    with person_in(folder, {}) as person:
        person.read_until("you may")
        for typed, shown in (
            ("/help", "/react NAME sends a reaction"),
            ("/react clap", "reacts: clap"),
            ("xyzzy", "xyzzy is not possible now"),
            ("joker", "joker: play a card of your own hand (THU-PLAY-2); you may play "),
            ("/rules", "THU-PLAY-2"),
        ):
            person.type(typed)
            person.read_until(shown)
        person.play_to_the_end()
        assert "Score sheet" in person.seen
        assert all(sign in person.output for sign in ("♠", "\x1b[31m"))
        # The command is one line, so that it can be pasted.
        export = re.search(r"^Replay: (.*)\r$", person.output, re.MULTILINE)
        assert export is not None
        assert exported(export[1]).startswith('{"replay":1,')
        assert exported_by_another_player(folder, export[1].split()[5]).startswith('{"replay":1,')


TABLES = {
    "one_ten": ["--seats", "3", "-o", "max_rounds=1", "-o", "hand_size=5"],
    "jossing": ["--seats", "8"],
    "one_oh_one": ["--seats", "4", "-o", "max_rounds=1"],
    "thulla": ["--seats", "6", "-o", "scoring=points"],
}
"""Tables of every game that end within seconds."""
WITHOUT_SYMBOLS = {"TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "ascii"}


@pytest.mark.slow
@pytest.mark.parametrize("game", TABLES)
def test_every_game_can_be_played_by_a_person(folder: Path, game: str) -> None:
    with person_in(folder, WITHOUT_SYMBOLS, ["--game", game, *TABLES[game]]) as person:
        person.play_to_the_end()
        assert ("Score sheet after section 1" in person.seen) == (game == "jossing")
        assert "You so far: won " in " ".join(person.seen.split())
        assert not any(sign in person.seen for sign in ("♠", "\x1b[31m"))
        # The command is one line, so that it can be pasted.
        lines = [line for line in person.seen.splitlines() if not line.startswith("Replay: ")]
        assert not [line for line in lines if len(line) > 80]


@pytest.mark.slow
def test_a_person_proposes_and_plays_a_hand_of_solo(folder: Path) -> None:
    with person_in(folder, WITHOUT_SYMBOLS, ["--game", "solo"]) as person:
        person.read_until("you may")
        for typed, shown in (
            ("agree", "no proposal waits for votes"),
            ("propose", "propose one of restart_new, restart_same"),
            ("propose restart same", "restart same is agreed on"),
        ):
            person.type(typed)
            person.read_until(shown)
        person.play_until("Score sheet")
        assert "Score sheet" in person.seen, person.seen[-3000:]
        assert "Zo? proposes restart same: Play this hand again" in person.seen


@pytest.mark.slow
def test_services_are_started_if_none_run_and_the_player_may_leave(tmp_path: Path) -> None:
    with person_in(tmp_path, {}) as person:
        person.read_until("you may")
        person.type("/quit")
        person.read_until(" play --table ")
        person.process.wait(DEADLINE_SECONDS)
        assert person.process.returncode == 0
