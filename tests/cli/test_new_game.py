"""`croupier new-game`: the package that it writes passes its own check, and bad names change nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from croupier.cli.__main__ import main
from croupier.cli.commands.new_game import new_game
from tests.cli.new_package import croupier, install, with_path


@pytest.mark.parametrize("name", ["hearts", "two_words"])
def test_the_package_passes_its_own_check_and_its_game_is_played(tmp_path: Path, name: str) -> None:
    new_game(name, tmp_path)
    folder = tmp_path / name
    install(folder, name)
    assert "Repeat with" in croupier(folder, "games", name, "--check", "--seed", "1")
    played = croupier(folder, "demo", "--game", name, "--quiet", "--seed", "1")
    assert f"no violation, rules not judged of {name}" in played
    tests = [sys.executable, "-m", "pytest", "-q", "tests"]
    assert subprocess.run(tests, cwd=folder, env=with_path(folder), check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Hearts", "invalid name 'Hearts': expected lower case words"),
        ("hearts-2", "invalid name 'hearts-2'"),
        ("solo", "croupier has a game 'solo' already"),
        ("x" * 33, "at most 32 characters"),
    ],
)
def test_a_bad_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, fault: str) -> None:
    with pytest.raises(SystemExit):
        main(["new-game", name, "--into", str(tmp_path)])
    assert fault in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_exists_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "hearts").mkdir()
    with pytest.raises(SystemExit):
        main(["new-game", "hearts", "--into", str(tmp_path)])
    assert "hearts exists already" in capsys.readouterr().err
    assert not list((tmp_path / "hearts").iterdir())
