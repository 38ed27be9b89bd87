"""A scripted person plays a whole game in a real terminal, and in none."""

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from croupier.cli.launcher.background import BackgroundServices
from tests.cli.person import DEADLINE_SECONDS, Person, person_in


def exported(command: str) -> str:
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


@pytest.fixture
def folder(services: BackgroundServices) -> Path:
    return services.folder.path


def test_a_person_plays_a_whole_game(folder: Path) -> None:
    with person_in(folder, {}) as person:
        person.read_until("you may")
        for typed, shown in (
            ("/help", "/react NAME sends a reaction"),
            # Lines are edited, and remembered.
            ("/rexyz\x7f\x7f\x7fact clap", "👏 (applause)"),
            ("\x1b[A\x01\x1b[3~\x05x", "react clapx is not possible now"),
            ("xyzzy", "xyzzy is not possible now"),
            ("joker", "joker: Play a card of your own hand. (/rules THU-PLAY-2); you may: play "),
            ("/rules THU-PLAY-3", "THU-PLAY-3 "),
            ("/rules THU-PLAY-99", "there is no rule THU-PLAY-99"),
            ("/stats", "You so far: games: "),
            ("/sheet 99", "no score sheet"),
        ):
            person.type(typed)
            person.read_until(shown)
        person.play_to_the_end()
        assert "Score sheet" in person.seen
        assert all(sign in person.output for sign in ("♠", "\x1b[31m"))
        export = re.search(r"Replay: (.*)\r", person.output)
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
    with person_in(folder, WITHOUT_SYMBOLS, ["--game", game, "--name", "Zoë", *TABLES[game]]) as person:
        person.play_to_the_end()
        assert ("Score sheet, section 1" in person.seen) == (game == "jossing")
        assert re.search(r"You so far: games: \d+, \w+: \d+ \(\d+%\)", " ".join(person.seen.split()))
        assert not any(sign in person.seen for sign in ("♠", "\x1b[31m"))
        # The command is one line, so that it can be pasted.
        lines = [line for line in person.seen.splitlines() if not line.startswith("Replay: ")]
        assert not [line for line in lines if len(line) > 80]


@pytest.mark.slow
def test_a_person_proposes_and_plays_a_hand_of_solo(folder: Path) -> None:
    with person_in(folder, WITHOUT_SYMBOLS, ["--game", "solo", "--name", "Zoë"]) as person:
        person.read_until("you may")
        for typed, shown in (
            ("agree", "no proposal waits for votes"),
            ("propose", "propose one of restart_new, restart_same"),
            ("propose restart same", "restart with the same cards: all agree"),
        ):
            person.type(typed)
            person.read_until(shown)
        person.play_until("Score sheet")
        assert "Score sheet" in person.seen, person.seen[-3000:]
        assert "Zo? proposes: restart with the same cards. Play this hand again" in " ".join(person.seen.split())


def way_back(person: Person) -> Sequence[str]:
    """Return the arguments of the printed command by which a person comes back."""
    assert person.read_to_the_end() == 0, person.seen
    printed = re.search(r"Come back with: (.*)\r", person.output)
    assert printed is not None, person.seen
    words = shlex.split(printed[1])
    return words[words.index("play") + 1 : words.index("--data-dir")]


@pytest.mark.parametrize(
    ("keys", "environment"),
    [
        pytest.param("/quit\r", {}, id="quit"),
        pytest.param("/quit\r", WITHOUT_SYMBOLS, id="quit, plain", marks=pytest.mark.slow),
        pytest.param("\x03", {}, id="Ctrl-C", marks=pytest.mark.slow),
        pytest.param("\x03", WITHOUT_SYMBOLS, id="Ctrl-C, plain"),
        pytest.param("\x04", {}, id="Ctrl-D"),
        pytest.param("\x04", WITHOUT_SYMBOLS, id="Ctrl-D, plain", marks=pytest.mark.slow),
    ],
)
def test_a_person_leaves_in_any_way_and_comes_back(folder: Path, keys: str, environment: dict[str, str]) -> None:
    with person_in(folder, environment) as person:
        person.read_until("you may")
        person.press(keys)
        back = way_back(person)
    assert back[0] == "--table"
    with person_in(folder, environment, back) as again:
        again.read_until("you may")
        again.process.terminate()
        assert way_back(again) == back


def test_a_person_confirms_that_they_give_a_table_up(tmp_path: Path, folder: Path) -> None:
    with person_in(folder, {}, ["--seats", "2", "--player", "eva"]) as person:
        person.read_until("you may")
        for typed, shown in (("/leave", "leave the table for good"), ("1", "eva plays"), ("/leave", "for good")):
            person.type(typed)
            person.read_until(shown)
        person.type("yes")
        assert person.read_to_the_end() == 0
        assert "Come back" not in person.seen


def test_a_person_leaves_their_seat_to_the_computer_and_returns(folder: Path) -> None:
    with person_in(folder, {}, ["--seats", "2", "--player", "ida"]) as person:
        person.read_until("you may")
        for typed, shown in (("/away", "ida leaves the seat to the computer"), ("/back", "ida is back")):
            person.type(typed)
            person.read_until(shown)
        person.type("1")
        person.read_until("ida plays")


def test_a_persons_own_tables_are_offered(folder: Path) -> None:
    of_finn = ["--player", "finn"]
    for _ in range(2):
        with person_in(folder, {}, [*of_finn, "--seats", "2"]) as person:
            person.read_until("you may")
            person.press("\x03")
            assert way_back(person)[0] == "--table"
    with person_in(folder, {}, of_finn) as person:
        person.read_until("2 Thulla, with Bot 2: your turn, 5 min left")
        person.type("7")
        person.read_until("invalid answer '7'")
        person.type("/leave 2")
        while "2 Thulla, with" in person.shown:
            person.read()
        person.type("1")
        person.read_until("finn (you)")
        person.press("\x03")
        assert way_back(person)[0] == "--table"
    with person_in(folder, {}, of_finn) as person:
        person.read_until("the computer plays for you")
        person.type("new")
        person.read_until("4 Bot 4 (bot)")


def test_a_person_who_has_played_before_is_asked_for_the_table(folder: Path) -> None:
    of_jan = ["--player", "jan"]
    with person_in(folder, {}, of_jan) as person:
        person.read_until("4 Bot 4 (bot)")
        person.type("/leave")
        person.read_until("for good")
        person.type("yes")
        assert person.read_to_the_end() == 0
    with person_in(folder, {}, of_jan) as person:
        for typed, shown in (
            ("", "/help lists more"),
            ("/help", "/sign-out ends the sign-in of this device"),
            ("/name Jan Erik", "your name is Jan Erik now"),
        ):
            if typed:
                person.type(typed)
            person.read_until(shown)
    with person_in(folder, {}, of_jan) as person:
        person.read_until("/help lists more")
        person.type("new")
        # The name of the command line would undo the renaming.
        person.read_until("1 Jan Erik (you)")


def test_a_player_moves_to_a_second_device_and_is_deleted_there(folder: Path) -> None:
    """The other person of the machine stands for the other device."""
    with person_in(folder, {}, ["--invite", "--player", "kari"]) as person:
        person.read_until("--join")
        person.press("\x03")
        way_back(person)
    with person_in(folder, {}, ["--player", "kari"]) as person:
        person.read_until("1 Thulla, with nobody yet: not begun")
        person.type("/device")
        person.read_until("at the other device")
        [code] = set(re.findall(r"type (\w{12}) at", person.seen))
    with person_in(folder, {}, ["--seats", "2", "--player", "maria"]) as person:
        person.read_until("you may")
        person.press("\x03")
        way_back(person)
    with person_in(folder, {}, ["--player", "maria", "--device-code", code]) as person:
        assert person.read_to_the_end() == 2
        assert "--device-code: this machine has a player already" in " ".join(person.seen.split())
    with person_in(folder, {}, ["--player", "kari-2", "--device-code", code]) as person:
        for typed, shown in (
            ("", "1 Thulla, with nobody yet: not begun"),
            ("/delete", "if you write its name: kari"),
            ("Kari", "nothing is deleted"),
            ("/delete", "if you write its name: kari"),
            ("kari", "your player is deleted"),
        ):
            if typed:
                person.type(typed)
            person.read_until(shown)
        assert person.read_to_the_end() == 0
        assert "Come back" not in person.seen


def test_a_person_signs_out(folder: Path) -> None:
    with person_in(folder, {}, ["--seats", "2", "--player", "lars"]) as person:
        person.read_until("you may")
    for typed, shown in (("/sign-out", "signed out: croupier"), ("/sign-out all", "signed out on all devices")):
        with person_in(folder, {}, ["--player", "lars"]) as person:
            person.read_until("1 Thulla, with Bot 2")
            person.type(typed)
            person.read_until(shown)
            assert person.read_to_the_end() == 0


@pytest.mark.parametrize(("columns", "rows"), [(40, 20), (80, 24), (200, 60)])
def test_choices_and_the_prompt_fit_the_terminal(folder: Path, columns: int, rows: int) -> None:
    with person_in(folder, {}, ["--game", "one_ten", "--seats", "8"], columns, rows) as person:
        person.read_until("you may")
        shown = person.shown.rstrip().split("\n")
        assert shown[-1] == ">"
        assert any("you may" in line for line in shown)
        assert person.shown.count("110, round 1") == 1


def test_two_friends_and_a_bot_play_at_one_table_after_another_has_left_it(folder: Path) -> None:
    with person_in(folder, {}, ["--invite", "--seats", "4", "--player", "ada"]) as host:
        host.read_until("--join")
        [code] = set(re.findall(r"--join (\w+)", host.output))
        with person_in(folder, {}, ["--join", code, "--player", "gus", "--seats", "2"]) as misused:
            assert misused.read_to_the_end() == 2
        with person_in(folder, {}, ["--join", code, "--player", "gus"]) as leaving:
            leaving.read_until("Write yes to take a seat, or no")
            leaving.type("yes")
            leaving.read_until("(you)")
            leaving.type("/leave")
            assert leaving.read_to_the_end() == 0, leaving.seen[-3000:]
            assert "Come back" not in leaving.seen
        with person_in(folder, {}, ["--join", code.lower(), "--player", "ben", "--name", "Ben"]) as guest:
            guest.read_until("time to act: 1 min; in reserve: 5 min")
            guest.read_until("1 ada (host)")
            assert "2 Ben" not in host.seen
            guest.type("yes")
            guest.read_until("4 free")
            host.read_until("2 Ben")
            guest.type("/start")
            guest.read_until("only the host")
            for typed, shown in (
                (
                    "/set seats=3 time=90 best_of=3",
                    "free seats: 1 time to act: 90 s; in reserve: 5 min; Games in a match: 3",
                ),
                ("/set seats", "invalid setting 'seats': expected NAME=VALUE"),
                ("/set colour=red", "colour"),
                ("/seat 3", "3 ada (you) (host)"),
            ):
                host.type(typed)
                host.read_until(shown)
            guest.read_until("3 ada (host)")
            host.type("/start")
            for person in (host, guest):
                person.read_until("(bot)")
            guest.type("/react clap")
            host.read_until("Ben: 👏 (applause)")
        with person_in(folder, {}, ["--join", code, "--player", "ben"]) as again:
            again.read_until("You have a seat there: another person of this machine adds --player NAME.")
            again.read_until("2 Ben (you)")


def test_two_friends_play_again_at_the_next_table(folder: Path) -> None:
    with person_in(folder, {}, ["--invite", "--seats", "2", "--player", "mia"]) as host:
        host.read_until("--join")
        [code] = set(re.findall(r"--join (\w+)", host.output))
        with person_in(folder, {}, ["--join", code, "--player", "nils"]) as guest:
            guest.type("yes")
            play_together(host, guest)
            for person in (host, guest):
                person.read_until("Write again to play again")
            host.type("xyzzy")
            host.read_until("invalid answer 'xyzzy'")
            host.type("/sheet 1")
            host.read_until("end of the game: one player")
            host.type("/sheet 99")
            host.read_until("there is no game 99")
            host.type("again")
            guest.read_until("mia plays again, and a seat is kept for you")
            guest.type("again")
            # Seats move on by one.
            for person in (host, guest):
                person.read_until("1 nils")


def play_together(*persons: Person) -> None:
    """Let persons at one table act in turn until the game is over."""
    while not all("over. Ranking:" in person.seen for person in persons):
        for person in persons:
            person.act()


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        (["--join", "ABCDEFGH"], "croupier: there is no table with the code ABCDEFGH: ask your friend for it again"),
        (["--table", "t1"], "croupier: there is no table t1 with a seat of yours"),
        (["--table", "t1", "--invite"], "croupier: --table and --invite exclude each other: name one of them"),
        (["--player", "a b"], "croupier: --player 'a b': expected at most 32 letters, digits, - and _"),
    ],
)
def test_a_table_that_is_not_there_is_reported_in_one_line(folder: Path, table: list[str], fault: str) -> None:
    with person_in(folder, WITHOUT_SYMBOLS, table) as person:
        assert person.read_to_the_end() > 0
        assert person.seen.strip() == fault


def test_a_lost_connection_is_shown_until_it_is_back_or_the_person_leaves(services: BackgroundServices) -> None:
    with person_in(services.folder.path, {}) as person:
        person.read_until("you may")
        services.kill("engine", signal.SIGSTOP)
        try:
            person.read_until("The connection is lost: trying")
            person.type("1")
            person.read_until("to come back to the table, and to send your")
        finally:
            services.kill("engine", signal.SIGCONT)
        person.read_until("connected again")
        person.read_until("plays")
        services.kill("engine", signal.SIGSTOP)
        try:
            while "The connection is lost: trying" not in person.shown:
                person.read()
            person.type("/quit")
            assert way_back(person)[0] == "--table"
        finally:
            services.kill("engine", signal.SIGCONT)


@pytest.mark.slow
def test_services_are_started_if_none_run_and_the_player_may_leave(tmp_path: Path) -> None:
    with person_in(tmp_path, {}) as person:
        person.read_until("you may")
        person.type("/quit")
        assert way_back(person)[0] == "--table"


@pytest.mark.slow
def test_without_thulla_the_first_game_is_played(tmp_path: Path) -> None:
    with person_in(tmp_path, {"CROUPIER_GAMES": "solo,one_oh_one"}, []) as person:
        person.read_until("Solo, hand 1")
