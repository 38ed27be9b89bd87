"""Laws of the description of a game: teams, deck, options, presets, piles, texts and the rules page."""

import itertools
import re
from collections.abc import Iterable
from string import Formatter

from croupier.conformance.law import Law, LawBroken, require, require_equal
from croupier.conformance.source import named_by
from croupier.conformance.words import Shown, in_description, text_of
from croupier.engine.api.game_texts import rules_page
from croupier.games.interface import Game, InvalidOption, Option, OptionValues, resolve_options
from croupier.games.registration import check_interface
from croupier.games.words import SHARED_WORDS, WordKind
from croupier.runtime.translations import ENGLISH

RULE = re.compile(r"\b[A-Z0-9]+-(?:[A-Z]+-\d+|D\d+[a-z]?)\b")
_DEFINITION = re.compile(rf"\*\*({RULE.pattern})\*\*")
HEADINGS = frozenset({WordKind.OPTION, WordKind.OPTION_GROUP})
"""The kinds of words whose texts begin with a capital letter."""
TEXTS_REMEDY = (
    "Give every word that is shown a text in `words`: a phrase, for a rule a sentence, with a placeholder for each "
    "argument."
)


def check_declaration(game: Game) -> None:
    """Check what services need, the order of teams, and the names of piles and presets."""
    try:
        check_interface(game)
    except ValueError as fault:
        raise LawBroken(str(fault)) from fault
    for seats in game.seats:
        teams = game.teams(seats)
        require(all(team == tuple(sorted(team)) for team in teams), f"the seats of a team are not ascending: {teams}")
    for what, names in (("pile", [pile.name for pile in game.piles]), ("preset", [one.name for one in game.presets])):
        require(len(set(names)) == len(names), f"a {what} is declared twice: {names}")


def check_options(game: Game) -> None:
    """Check defaults, refusals, groups and conditions of options, and those that presets name."""
    for seats in game.seats:
        options = {option.name: option for option in game.options(seats)}
        require_equal("the number of option names", len(options), len(game.options(seats)))
        defaults = {name: option.default for name, option in options.items()}
        require_equal(f"the resolved options for {seats} seats", resolve_options(game, seats, {}), defaults)
        groups = [group for group, _ in itertools.groupby(option.group for option in options.values()) if group]
        require(len(set(groups)) == len(groups), f"the options of a group do not follow each other: {groups}")
        for option in options.values():
            option.check(option.default)
            _check_option(game, seats, option)
            if option.condition is not None:
                other, values = option.condition
                is_valid = other != option.name and other in options and set(values) < set(options[other].allowed)
                require(is_valid, f"invalid condition of {option.name}: {option.condition}")


def _check_option(game: Game, seats: int, option: Option) -> None:
    require(option.earlier is None or option.earlier in option.allowed, f"{option.name} has an invalid earlier value")
    for wrong in (None, "nonsense", -1):
        if wrong not in option.allowed:
            _check_refusal(game, seats, {option.name: wrong}, option.name)  # type: ignore[dict-item]
    _check_refusal(game, seats, {"nonsense": 1}, "nonsense")


def _check_refusal(game: Game, seats: int, given: OptionValues, name: str) -> None:
    try:
        resolve_options(game, seats, given)
    except InvalidOption as refusal:
        require_equal("the option that a refusal names", refusal.option, name)
    else:
        raise LawBroken(f"the options {given} are accepted")


def check_texts(game: Game) -> None:
    """Check the texts of words: each that the description shows has one, and all are phrases or sentences."""
    check_shown(game, in_description(game))
    for kind, texts in (*game.words.items(), *SHARED_WORDS.items()):
        for word, text in texts.items():
            where = f"the text of {kind.name} {word}, {text!r},"
            require(text == " ".join(text.split()) != "", f"{where} has blanks at an end or in a row, or is empty")
            require("_" not in re.sub(r"\{\w+\}", "", text), f"{where} has an underscore")
            is_rule, is_heading = kind == WordKind.RULE, kind in HEADINGS | {WordKind.RULE}
            require(text.endswith(".") == is_rule, f"{where} is {'no' if is_rule else 'a'} sentence")
            require(not is_heading or text[0].isupper(), f"{where} does not begin with a capital letter")


def check_shown(game: Game, shown: Iterable[Shown]) -> None:
    """Check that words that are shown have texts, whose placeholders are their arguments."""
    texts = {one: text_of(game, one.kind, one.word) for one in shown}
    missing = sorted(f"{one.kind.name} {one.word}" for one, text in texts.items() if text is None)
    require(not missing, f"words without a text: {', '.join(missing)}", TEXTS_REMEDY)
    wrong = [_wrong_text(one, text or "") for one, text in texts.items() if not _has_arguments(one, text or "")]
    require(not wrong, "; ".join(wrong), TEXTS_REMEDY)


def _has_arguments(one: Shown, text: str) -> bool:
    """Return whether the placeholders of a text are the arguments of its word; a move need not name its cards."""
    found, wanted = placeholders(text), sorted(one.arguments)
    return found == wanted or (one.kind == WordKind.CARD_MOVE and found == ["seat"])


def _wrong_text(one: Shown, text: str) -> str:
    found, wanted = (", ".join(names) or "none" for names in (placeholders(text), sorted(one.arguments)))
    return f"the text of {one.kind.name} {one.word}, {text!r}, has the placeholders {found}: expected {wanted}"


def placeholders(text: str) -> list[str]:
    """Return the names in braces, each as often as it occurs."""
    return sorted(name for _, name, *_ in Formatter().parse(text) if name is not None)


def check_page(game: Game) -> None:
    """Check that the rules page defines each rule that the code names, once, and has every option with its default."""
    page = rules_page(game, ENGLISH).markdown
    require(page, "there is no rules page texts/rules.en.md beside the module of the game")
    defined = _DEFINITION.findall(page)
    twice = sorted({rule for rule in defined if defined.count(rule) > 1})
    require(not twice, f"the page defines rules twice: {', '.join(twice)}")
    unknown = sorted(named_by(type(game)).rules(game.rule_prefix) - set(defined))
    require(not unknown, f"the page does not define rules that the code names: {', '.join(unknown)}")
    foreign = sorted(rule for rule in defined if not rule.startswith(f"{game.rule_prefix}-"))
    require(not foreign, f"the page defines rules without the prefix {game.rule_prefix}: {', '.join(foreign)}")
    for option in game.options(game.seats[-1]):
        row = next((line for line in page.splitlines() if line.startswith(f"| `{option.name}`")), None)
        is_there = row is not None and str(option.default).lower() in row.lower()
        require(is_there, f"the page has no row of a table that begins with `{option.name}` and has its default")


def defined_rules(game: Game) -> frozenset[str]:
    """Return the ids of the rules that the page of a game defines."""
    return frozenset(_DEFINITION.findall(rules_page(game, ENGLISH).markdown))


DESCRIPTION_LAWS: tuple[Law[Game], ...] = (
    Law(
        "declaration", "Declare what the interface asks for, each name once, each seat in one team.", check_declaration
    ),
    Law("options", "Declare options whose defaults are allowed together, group by group.", check_options),
    Law("texts", TEXTS_REMEDY, check_texts),
    Law(
        "rules page",
        "Define every rule that the code names on the page texts/rules.en.md, once and in bold, and every option in a "
        "row of a table.",
        check_page,
    ),
)
