"""The language of a person in the terminal: where it comes from, what it changes, and what they may type."""

from collections.abc import Mapping

import grpc
import pytest

from croupier.cli.launcher.background import BackgroundServices
from croupier.cli.terminal.legal import legal_lines
from croupier.cli.terminal.person_input import InputFault, read_input
from croupier.cli.terminal.refusals import REFUSALS, refusal_text
from croupier.cli.terminal.texts import Texts, language_of_environment, texts_in
from croupier.cli.terminal.words import Words
from croupier_api.v1 import actions_pb2 as act
from croupier_api.v1 import errors_pb2
from croupier_api.v1.cards_pb2 import SUIT_HEARTS, SUIT_SPADES
from croupier_client.cards import card_from_text as card
from croupier_client.errors import FailedPrecondition
from tests.cli.person import person_in

NORWEGIAN = Texts(
    "nb",
    {
        ("", english): text
        for english, text in (
            ("play {card}", "spille {card}"),
            ("order {suit}", "bestille {suit}"),
            ("bid {bid}", "melde {bid}"),
            ("pass", "passe"),
            ("keep {cards}", "beholde {cards}"),
            ("swap {cards}", "bytte {cards}"),
            ("your hand", "hånden din"),
            ("you may", "du kan"),
            ("write {ways} (for example {example} for {cards})", "skriv {ways} ({cards}: {example})"),
            ("CARDS", "KORT"),
            ("SUIT", "FARGE"),
            ("end with the suit: one of {suits}", "avslutt med fargen: {suits}"),
            ("the game is over", "spillet er over"),
        )
    },
)
WORDS = Words(("Ada", "Ben"), symbols=True, texts=NORWEGIAN)


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "nb_NO.UTF-8"}, "nb"),
        ({"LC_MESSAGES": "ru_RU.UTF-8", "LANG": "nb_NO.UTF-8"}, "ru"),
        ({"LC_ALL": "no", "LC_MESSAGES": "ru_RU.UTF-8", "LANG": "en_GB.UTF-8"}, "nb"),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "nn_NO"}, "nb"),
        # A variable that counts more and names no language of the terminal is English, as the person asked.
        ({"LC_ALL": "C", "LANG": "ru-RU"}, "en"),
        ({"LC_ALL": "xx_XX", "LANG": "ru_RU.UTF-8"}, "en"),
        ({"LC_CTYPE": "ru_RU.UTF-8", "LANGUAGE": "ru"}, "en"),
    ],
)
def test_the_language_of_the_environment_is_that_of_the_first_variable(
    environment: Mapping[str, str], language: str
) -> None:
    assert texts_in(language_of_environment(environment)).language == language


def test_a_text_without_translation_is_english_and_values_are_put_in_as_they_are() -> None:
    assert NORWEGIAN.tr("pass") == "passe"
    assert NORWEGIAN.tr("{seat} leads", seat="{card} %s") == "{card} %s leads"
    assert NORWEGIAN.tr("play {card}", card="{0.__class__}") == "spille {0.__class__}"
    assert texts_in("xx").tr("pass") == texts_in("en").tr("pass") == "pass"
    assert texts_in("xx").language == "en"


PLAYS = act.LegalActions(
    actions=[
        act.Action(play=act.PlayAction(card=card("5H"))),
        act.Action(play=act.PlayAction(card=card("QH"), suit=SUIT_SPADES)),
        act.Action(pass_turn=act.PassAction()),
    ]
)
HELD = act.CardChoice(cards=[card("6C"), card("AS")], min_cards=1, max_cards=2)
CHOICES = act.LegalActions(
    choices=[
        act.ActionChoice(
            action=act.Action(keep_cards=act.KeepCardsAction()), cards=HELD, suits=[SUIT_HEARTS, SUIT_SPADES]
        ),
        act.ActionChoice(action=act.Action(swap_cards=act.SwapCardsAction()), cards=HELD),
    ]
)
KEPT = act.Action(keep_cards=act.KeepCardsAction(cards=[card("AS")], trump=SUIT_HEARTS))
SWAPPED = act.Action(swap_cards=act.SwapCardsAction(cards=[card("6C")]))


@pytest.mark.parametrize(
    ("typed", "legal", "expected"),
    [
        *((typed, PLAYS, PLAYS.actions[0]) for typed in ("spille 5H", "play 5h", "5♥", "1")),
        *((typed, PLAYS, PLAYS.actions[1]) for typed in ("spille QH bestille ♠", "QH spades", "play QH S")),
        *((typed, PLAYS, PLAYS.actions[2]) for typed in ("passe", "pass")),
        *((typed, CHOICES, KEPT) for typed in ("beholde AS ♥", "keep as h", "beholde all but 6c hearts")),
        *((typed, CHOICES, SWAPPED) for typed in ("bytte 6C", "swap 6c")),
        *((typed, PLAYS, act.Action(play=act.PlayAction(card=card("2C")))) for typed in ("spille 2C", "play 2C")),
    ],
)
def test_verbs_are_typed_in_the_language_or_in_english(
    typed: str, legal: act.LegalActions, expected: act.Action
) -> None:
    assert read_input(typed, legal, WORDS) == expected


def test_what_can_be_typed_is_shown_in_the_language() -> None:
    hand = [card("6C"), card("AS")]
    assert [line.plain for line in legal_lines(WORDS, PLAYS)] == [
        "du kan: 1 spille 5♥   2 spille Q♥, bestille ♠   3 passe"
    ]
    assert [line.plain for line in legal_lines(WORDS, CHOICES, hand)][:2] == [
        "du kan: beholde 1-2 of: hånden din, a suit of ♥ ♠",
        "  skriv beholde KORT FARGE | beholde all but KORT FARGE (KORT: 6C AS)",
    ]
    with pytest.raises(InputFault, match="avslutt med fargen: ♥, ♠"):
        read_input("beholde AS", CHOICES, WORDS)


def test_the_verb_of_a_choice_is_its_first_word_without_what_follows() -> None:
    lay = act.ActionChoice(action=act.Action(lay=act.LayAction(meld="row")), cards=HELD)
    legal = act.LegalActions(choices=[lay, CHOICES.choices[1]])
    laid = act.Action(lay=act.LayAction(meld="row", cards=[card("AS")]))
    assert read_input("lay AS", legal, WORDS) == laid
    assert "write lay CARDS" in legal_lines(Words((), symbols=True), legal)[1].plain


def refusal(reason: str, message: str = "the game of table t1 is over", **metadata: str) -> FailedPrecondition:
    return FailedPrecondition(grpc.StatusCode.FAILED_PRECONDITION, message, newer_reason=reason, metadata=metadata)


def test_a_refusal_has_the_text_of_its_reason_and_the_message_of_the_service_in_english_or_without_a_text() -> None:
    over = refusal("TABLE_FINISHED")
    assert refusal_text(NORWEGIAN, over) == "spillet er over"
    assert refusal_text(Texts(), over) == "the game of table t1 is over"
    assert refusal_text(NORWEGIAN, refusal("NEWEST_REASON", "no")) == "no"


@pytest.mark.parametrize(("package", "named"), [("croupier-hearts 1.2.0", "croupier-hearts 1.2.0"), ("", "croupier")])
def test_a_refusal_by_rules_names_their_package(package: str, named: str) -> None:
    failed = refusal("RULES_FAILED", package=package)
    start = f"reglene til spillet har feilet ({named}): "
    assert refusal_text(texts_in("nb"), failed).startswith(start)


def test_texts_of_refusals_are_for_reasons_of_the_contract() -> None:
    assert {f"ERROR_REASON_{reason}" for reason in REFUSALS} <= set(errors_pb2.ErrorReason.keys())


@pytest.mark.parametrize(
    ("options", "environment", "language"),
    [
        (["--language", "ru"], {"LC_ALL": "nb_NO.UTF-8"}, "ru"),
        ([], {"LC_ALL": "nb_NO.UTF-8"}, "nb"),
        (["--language", "xx"], {"LC_ALL": "nb_NO.UTF-8"}, "en"),
    ],
)
def test_a_person_plays_in_the_language_of_the_option_or_of_the_environment(
    services: BackgroundServices, options: list[str], environment: dict[str, str], language: str
) -> None:
    texts = texts_in(language)
    with person_in(
        services.folder.path, {**environment, "PYTHONUTF8": "1"}, ["--game", "thulla", "--seats", "2", *options]
    ) as person:
        person.read_until(texts.tr("you may"))
        for typed, shown in (
            ("/react clap", "👏 ("),
            ("/sort", texts.tr("your hand")),
            ("/stats", texts.tr("You so far")),
            ("/rules THU-PLAY-99", texts.tr("there is no rule {rule}", rule="THU-PLAY-99")),
        ):
            person.type(typed)
            person.read_until(shown)
        person.type("/quit")
        assert person.read_to_the_end() == 0
        assert texts.tr("Come back with: {command}", command="") in person.seen


def test_every_refusal_with_a_text_is_a_reason_of_the_contract() -> None:
    assert {f"ERROR_REASON_{name}" for name in REFUSALS} <= set(errors_pb2.ErrorReason.keys())
