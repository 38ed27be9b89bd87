"""Texts of a hostile server, player or file do not control the terminal."""

import json
from contextlib import AbstractContextManager
from io import StringIO
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from croupier.cli.faults import CommandFault
from croupier.cli.terminal.safe_console import SafeConsole
from tests.cli.conftest import Command
from tests.cli.hostile_server import EVIL, HostileServer, assert_harmless
from tests.cli.person import Person, person_in

PLAIN = {"TERM": "dumb", "NO_COLOR": "1"}


def play(folder: Path, environment: dict[str, str], server: HostileServer) -> AbstractContextManager[Person]:
    return person_in(folder, environment, ["--server", server.address, "--table", "t1"])


def test_a_console_escapes_texts_and_keeps_styles() -> None:
    file = StringIO()
    table = Table("head", box=None)
    table.add_row(EVIL)
    SafeConsole(file=file).print(EVIL, Text(EVIL, style="bold"), table)
    assert "\x1b" not in file.getvalue()
    assert file.getvalue().count("\\x9b31m") == 3
    assert "[red]evil[/red]" in file.getvalue()


def test_each_detail_of_a_fault_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        CommandFault(EVIL, details=["one", EVIL]).end("croupier")
    first, one, evil = capsys.readouterr().err.splitlines()
    assert (one, first) == ("one", f"croupier: {evil}")
    assert "\x1b" not in evil


@pytest.mark.parametrize("command", ["play --table t1", "replay export t1", "replay link t1"])
def test_a_refusal_is_one_harmless_line(croupier: Command, tmp_path: Path, command: str) -> None:
    with HostileServer(refuses=True) as server:
        ended = croupier(*command.split(), "--server", server.address, "--data-dir", str(tmp_path))
    assert ended.code == 1
    assert_harmless(ended.error_line())


def test_a_person_sees_the_texts_of_a_table(tmp_path: Path) -> None:
    with HostileServer() as server, play(tmp_path, PLAIN, server) as person:
        # The reaction: an emoji with its text in brackets.
        person.read_until("(\\x1b]0;owned")
        person.type("1")
        person.read_until("(/rules \\x1b]0;owned")
        for typed, shown in (
            ("/sheet", "+1 1"),
            ("/sheet 1", "round 1"),
            ("/stats", "You so far:"),
            ("/rules R-A-1", "R-A-1 \\x1b]0;owned"),
            ("/sort", "your hand:"),
        ):
            person.type(typed)
            person.read_until(shown)
        person.type("/quit")
        assert person.read_to_the_end() == 0
    assert_harmless(lines_of(person))


def test_a_person_sees_the_texts_of_a_result(tmp_path: Path) -> None:
    with HostileServer(ends=True) as server, play(tmp_path, PLAIN, server) as person:
        person.read_until("Write again to play again")
        person.type("/quit")
        assert person.read_to_the_end() == 0, person.seen
    assert "You so far:" in person.seen
    assert_harmless(lines_of(person))


def test_a_live_screen_has_only_its_own_controls(tmp_path: Path) -> None:
    with HostileServer() as server, play(tmp_path, {}, server) as person:
        person.read_until("(\\x1b]0;owned")
        person.type("/quit")
        person.read_to_the_end()
    assert "evil" in person.output
    assert not {"\x1b]0;", "\x07", "\x9b", "\u202e", "\u2066"} & set(person.output)
    assert "\x1b]0;owned" not in person.output


def test_a_replay_file_is_refused_in_one_harmless_line(croupier: Command, tmp_path: Path) -> None:
    file = tmp_path / "evil.jsonl"
    file.write_text(json.dumps({"type": "table", "game": EVIL, "format": EVIL, EVIL: EVIL}) + "\n")
    ended = croupier("replay", "verify", str(file))
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.count("\n") == 1
    assert "\x1b" not in ended.out


def lines_of(person: Person) -> str:
    """Return the output of a plain terminal, whose line ends the pseudo-terminal changes."""
    return person.output.replace("\r\n", "\n")
