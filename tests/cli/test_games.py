"""`croupier games` lists games, options and rules."""

import re
import tomllib
from pathlib import Path
from typing import NoReturn

import pytest
import typer
from rich.console import Console

from croupier.cli.commands.check import show_check
from croupier.cli.commands.games import show_game, show_games
from croupier.cli.commands.rules import show_rules
from croupier.engine.api.game_texts import rules_page, texts_of
from croupier.games.interface import Observation, RandomSource
from croupier.games.registry import OWN_GAMES
from tests.cli.conftest import Command, printed
from tests.conformance.small_game import HIGH_CARD, HighCard
from tests.conformance.wrong_games import WRONG

PROJECT = Path(__file__).parents[2]


def test_the_list_has_every_game_with_its_seats() -> None:
    shown = printed(show_games)
    for game in OWN_GAMES.values():
        assert f"{game.id} - {game.name}, {game.seats.start}" in shown
    assert "Thulla, 2 to 6 seats\n" in shown
    assert "Solo, 4 seats\n" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize("game_id", OWN_GAMES)
def test_a_game_is_shown_with_every_option(game_id: str) -> None:
    shown = printed(lambda console: show_game(console, game_id))
    assert all(len(line) <= 80 for line in shown.splitlines())
    text = " ".join(shown.split())
    for option in OWN_GAMES[game_id].options(OWN_GAMES[game_id].seats.stop - 1):
        default = str(option.default).lower() if isinstance(option.default, bool) else option.default
        assert f"{option.name} - {option.meaning} type {option.type_name} default {default} allowed" in text
    for name, meaning in OWN_GAMES[game_id].proposals.items():
        assert f"{name} {' '.join(meaning.split())}" in text


@pytest.mark.parametrize("game_id", OWN_GAMES)
def test_the_rules_of_a_game_fit_a_terminal(game_id: str) -> None:
    lines = printed(lambda console: show_rules(console, OWN_GAMES[game_id]), width=200).splitlines()
    assert OWN_GAMES[game_id].name in lines[0]
    assert len(lines) > 100
    assert all(len(line) <= 80 and line == line.rstrip() for line in lines)
    terminal = {"force_terminal": True, "color_system": "standard"}
    assert "\x1b[" in printed(lambda console: show_rules(console, OWN_GAMES[game_id]), **terminal)


@pytest.mark.parametrize(("tag", "language"), [("nb_NO.UTF-8", "nb"), ("ru", "ru"), ("xx", "en")])
def test_the_rules_are_in_the_language(tag: str, language: str) -> None:
    shown = printed(lambda console: show_rules(console, OWN_GAMES["thulla"], tag))
    assert shown == printed(lambda console: show_rules(console, OWN_GAMES["thulla"], language))
    heading = rules_page(OWN_GAMES["thulla"], language).markdown.partition("\n")[0].lstrip("# ")
    assert heading in shown.splitlines()[0]
    assert "<a id=" not in shown


def test_the_language_of_the_rules_is_that_of_the_option_or_of_the_environment(
    croupier: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {language: rules_page(OWN_GAMES["thulla"], language).markdown for language in ("en", "nb", "ru")}
    second = {language: page.split("\n\n")[1].split()[:4] for language, page in pages.items()}
    monkeypatch.setenv("LC_ALL", "ru_RU.UTF-8")
    for options, language in ((["--language", "nb"], "nb"), ([], "ru"), (["--language", "en"], "en")):
        assert " ".join(second[language]) in croupier("games", "thulla", "--rules", *options).out


def test_the_check_of_a_game_has_its_laws_and_what_walks_reached() -> None:
    lines = printed(lambda console: show_check(console, HIGH_CARD, 1), width=200).splitlines()
    assert any(re.fullmatch(r" holds  twins +\d+\.\d s", line) for line in lines)
    assert any(line.strip().startswith("action: Play ") for line in lines)
    assert lines[-1] == "Repeat with: croupier games high_card --check --seed 1"


def test_a_check_prints_each_law_before_it_goes_on_to_the_next() -> None:
    class Interrupted(HighCard):
        def determinize(self, observation: Observation, randrange: RandomSource) -> NoReturn:
            raise KeyboardInterrupt

    def check(console: Console) -> None:
        with pytest.raises(KeyboardInterrupt):
            show_check(console, Interrupted(), 1)

    laws = [line.split()[:2] for line in printed(check, width=200).splitlines()]
    assert laws[0] == ["holds", "declaration"]
    assert laws[-1] == ["holds", "results"]


def test_the_check_of_a_wrong_game_fails() -> None:
    def check(console: Console) -> None:
        with pytest.raises(typer.Exit) as failed:
            show_check(console, WRONG["cards"], 1)
        assert failed.value.exit_code == 1

    assert "FAILED  cards" in printed(check, width=200)


def test_the_texts_of_games_are_in_the_wheel() -> None:
    wheel = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["sources"]["services/croupier"] == "croupier"
    packaged = PROJECT / "services" / "croupier"
    assert set(packaged.glob("games/**/*.po")) >= {packaged / "games" / "texts" / "words.ru.po"}
    assert "services/croupier" in wheel["only-include"]
    assert "exclude" not in wheel


def test_a_game_is_described_in_a_language() -> None:
    shown = " ".join(printed(lambda console: show_game(console, "solo", "nb")).split())
    texts = texts_of(OWN_GAMES["solo"], "nb")
    for option in OWN_GAMES["solo"].options(4):
        assert f"{option.name} - {texts.text('option_meaning', option.meaning)} type" in shown
    assert texts.text("summary", OWN_GAMES["solo"].summary) in shown
    assert texts.text("summary", OWN_GAMES["solo"].summary) != OWN_GAMES["solo"].summary
