"""Each law of the conformance kit finds the game that is wrong in its point, and none finds fault with a right one."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from croupier.conformance import check_game
from croupier.conformance.check import COVERAGE, ERROR_REMEDY, TABLE_LAWS, failure_of
from croupier.conformance.coverage import covered
from croupier.conformance.description_laws import DESCRIPTION_LAWS, check_shown
from croupier.conformance.hidden_cards import called
from croupier.conformance.judged_laws import judged_laws
from croupier.conformance.law import Law, LawBroken, first_difference
from croupier.conformance.tables import SampledTable, tables
from croupier.conformance.twins import TWINS_LAW
from croupier.conformance.words import MOVE_ARGUMENTS, Shown
from croupier.games.actions import Declare, Play
from croupier.games.facts import SPECTATOR, Call, Called, CardsMoved, MoveReason, only
from croupier.games.interface import Game
from croupier.games.words import WordKind
from croupier_loadtest.judge.rules.interface import JudgeTable
from tests.conformance.leaking_games import LEAKS
from tests.conformance.small_game import HIGH_CARD, HighCard
from tests.conformance.small_judge import HighCardTable
from tests.conformance.wrong_games import MISJUDGED, WRONG, RuleThatThePageLacks, WordThatIsNeverShown

TABLES, LEAK_TABLES = 10, 60
DESCRIPTION = {law.name: law for law in DESCRIPTION_LAWS}
OF_TABLES = {law.name: law for law in TABLE_LAWS}


def check_tables(law: Law[SampledTable], game: Game, seed: int, count: int = TABLES) -> None:
    for table in tables(game, game.seats[-1], seed, count):
        law.check(table)


def test_every_law_has_a_wrong_game() -> None:
    assert [*DESCRIPTION, *OF_TABLES, COVERAGE] == list(WRONG)
    assert [law.name for law in judged_laws(HighCardTable)] == list(MISJUDGED)


def test_a_right_game_obeys_all_laws(seed: int) -> None:
    report = check_game(HIGH_CARD, HighCardTable, seed)
    assert report.failures == ()
    assert report.coverage is not None
    assert report.coverage.reached["action Play"] > report.coverage.tables


@pytest.mark.parametrize("name", DESCRIPTION)
def test_a_wrong_description_is_found(name: str) -> None:
    DESCRIPTION[name].check(HIGH_CARD)
    with pytest.raises((LawBroken, ValueError)):
        DESCRIPTION[name].check(WRONG[name])


@pytest.mark.parametrize("name", OF_TABLES)
def test_a_wrong_game_is_found(name: str, seed: int) -> None:
    assert failure_of(name, "", lambda: check_tables(OF_TABLES[name], WRONG[name], seed))


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_that_begins_late_is_found(name: str, seed: int) -> None:
    failure = failure_of(name, "", lambda: check_tables(TWINS_LAW, LEAKS[name], seed, LEAK_TABLES))
    assert failure is not None
    assert "depends on cards that they do not see" in failure.found


def test_an_error_of_rules_is_found_where_they_called_a_library() -> None:
    failure = failure_of("twins", "", lambda: replace("no dataclass"))  # type: ignore[type-var]
    assert failure is not None
    assert failure.remedy == ERROR_REMEDY
    assert __file__ in failure.found


def test_the_first_difference_of_values_is_named() -> None:
    one = CardsMoved(0, "trick", (3, 4), 2, MoveReason.PLAY)
    assert first_difference([one], [one._replace(cards=(3, 5))]) == ("[0].cards[1]", 4, 5)
    assert first_difference((1,), (1, 2)) == ("", (1,), (1, 2))


def test_a_text_of_a_move_need_not_name_its_cards() -> None:
    move = Shown(WordKind.CARD_MOVE, "cut", MOVE_ARGUMENTS)
    game = HighCard()
    game.words = MappingProxyType({WordKind.CARD_MOVE: {"cut": "{seat} cuts"}})
    check_shown(game, [move])
    game.words = MappingProxyType({WordKind.CARD_MOVE: {"cut": "somebody cuts {cards}"}})
    with pytest.raises(LawBroken, match=r"has the placeholders cards: expected cards, seat"):
        check_shown(game, [move])


def test_a_declared_card_may_be_known() -> None:
    declared, played = (Called(Call(0, action)) for action in (Declare("ask", cards=(7,)), Play(7)))
    assert called(declared, SPECTATOR) == {7}
    assert called(declared._replace(audience=only(1)), 1) == called(played, SPECTATOR) == set()


@pytest.mark.parametrize(("name", "wrong"), MISJUDGED.items(), ids=MISJUDGED)
def test_a_wrong_judge_is_found(name: str, wrong: tuple[Game, type[JudgeTable]], seed: int) -> None:
    game, judge = wrong
    law = next(law for law in judged_laws(judge) if law.name == name)
    with pytest.raises(LawBroken):
        check_tables(law, game, seed)


def test_what_no_walk_reaches_is_named() -> None:
    assert covered(WRONG[COVERAGE], 1).missing == ("pile attic",)


@pytest.mark.parametrize(
    ("wrong", "found"),
    [(WordThatIsNeverShown(), "never shown: MARK moon"), (RuleThatThePageLacks(), "does not define: .*HIGH-DEAL-9")],
)
def test_words_that_are_left_over_and_rules_without_a_page_are_found(wrong: Game, found: str) -> None:
    with pytest.raises(LawBroken, match=found):
        covered(wrong, 1)


def test_a_report_says_what_was_found_at_which_table_and_what_to_change() -> None:
    lines = list(check_game(WRONG["views"], seed=1, count=2).lines())
    at = lines.index("FAILED  views")
    assert any(line.startswith("        at a table with 2 seats, played ") for line in lines[at:])
    assert any(line.startswith("        To mend it: Let `view` return exactly") for line in lines[at:])
    assert lines[-1] == "Repeat with: croupier games high_card --check --seed 1"
    assert "The rules were not compared with a second implementation." in lines


def test_equal_seeds_give_equal_reports() -> None:
    assert check_game(WRONG["twins"], seed=5, count=2) == check_game(WRONG["twins"], seed=5, count=2)
