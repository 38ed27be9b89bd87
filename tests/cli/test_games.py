"""`croupier games` lists games, options and rules."""

import tomllib
from pathlib import Path

import pytest

from croupier.cli.commands import rules
from croupier.cli.commands.games import show_game, show_games
from croupier.cli.commands.rules import rules_text, show_rules
from croupier.cli.faults import CommandFault
from croupier.games.registry import GAMES
from tests.cli.conftest import printed

PROJECT = Path(__file__).parents[2]


def test_the_list_has_every_game_with_its_seats() -> None:
    shown = printed(show_games)
    for game in GAMES.values():
        assert f"{game.id} - {game.name}, {game.seats.start}" in shown
    assert "Thulla, 2 to 6 seats\n" in shown
    assert "Solo, 4 seats\n" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize("game_id", GAMES)
def test_a_game_is_shown_with_every_option(game_id: str) -> None:
    shown = printed(lambda console: show_game(console, game_id))
    assert all(len(line) <= 80 for line in shown.splitlines())
    text = " ".join(shown.split())
    for option in GAMES[game_id].options(GAMES[game_id].seats.stop - 1):
        default = str(option.default).lower() if isinstance(option.default, bool) else option.default
        assert f"{option.name} - {option.meaning} type {option.type_name} default {default} allowed" in text
    for name, meaning in {**GAMES[game_id].names, **GAMES[game_id].proposals}.items():
        assert f"{name} {' '.join(meaning.split())}" in text


@pytest.mark.parametrize("game_id", GAMES)
def test_the_rules_of_a_game_fit_a_terminal(game_id: str) -> None:
    lines = printed(lambda console: show_rules(console, GAMES[game_id]), width=200).splitlines()
    assert GAMES[game_id].name in lines[0]
    assert len(lines) > 100
    assert all(len(line) <= 80 and line == line.rstrip() for line in lines)
    terminal = {"force_terminal": True, "color_system": "standard"}
    assert "\x1b[" in printed(lambda console: show_rules(console, GAMES[game_id]), **terminal)


def test_the_pages_are_found_where_a_wheel_puts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert "docs/rules" in wheel["only-include"]
    assert wheel["sources"]["docs/rules"] == "croupier/rules"
    in_package, in_project = rules.FOLDERS
    assert (in_package, in_project) == (PROJECT / "services" / "croupier" / "rules", PROJECT / "docs" / "rules")
    (tmp_path / "thulla.md").write_text("# The page of the wheel")
    monkeypatch.setattr(rules, "FOLDERS", (tmp_path, in_project))
    assert rules_text(GAMES["thulla"]) == "# The page of the wheel"
    monkeypatch.setattr(rules, "FOLDERS", (tmp_path / "nowhere",))
    with pytest.raises(CommandFault, match="no rules page of Thulla in this installation"):
        rules_text(GAMES["thulla"])
