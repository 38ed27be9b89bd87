"""The words of every game: each that a table shows has a text, each text is used, and phrases fit their arguments.

The tables are all that were recorded and random ones with random options, on which illegal actions are tried.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from string import Formatter
from typing import NamedTuple

import pytest

from croupier import games
from croupier.games import facts
from croupier.games.actions import PLAYS, Action, Bid, Declare, Draw, Lay
from croupier.games.cards import card_names
from croupier.games.facts import SPECTATOR, Contract, Fact, Mark, OwnedPile, Place, RoundScore, View
from croupier.games.interface import (
    Event,
    Game,
    GameOver,
    Legal,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    State,
)
from croupier.games.registry import OWN_GAMES, bots_of
from croupier.games.values import Phrase, Value, WordValue
from croupier.games.words import SHARED_WORDS, WordKind
from tests.games import dispatch
from tests.games.comparison import refusal_by_engine
from tests.games.laws import MAX_TRANSITIONS, attempted_actions
from tests.games.record import recorded_steps
from tests.games.toy import TOY
from tests.games.walk import TRAITS, sample_options, walk

TABLES = 10
"""The number of random tables by number of seats; every other one is steered to rare positions."""
ATTEMPTS = 12
"""The number of random actions that a seat tries in each position, besides its own cards."""
KNOWN_SEED = 1
"""The seed with which the random tables show every word that they can show."""
MOVE_ARGUMENTS = frozenset({"seat", "cards"})
HEADINGS = {WordKind.OPTION, WordKind.OPTION_GROUP}
"""The kinds of words whose texts begin with a capital letter."""

every_game = pytest.mark.parametrize("game", [*OWN_GAMES.values(), TOY], ids=lambda game: game.id)


class Shown(NamedTuple):
    """A word that is shown to players; a phrase has the names of its arguments."""

    kind: WordKind
    word: str
    arguments: frozenset[str] = frozenset()


def in_value(value: Value | None) -> Iterator[Shown]:
    if isinstance(value, WordValue):
        yield Shown(WordKind.VALUE, value.word)


def in_phrase(phrase: Phrase) -> Iterator[Shown]:
    names = [name for name, _ in phrase.parameters]
    assert len(set(names)) == len(names), f"an argument of {phrase} has two values"
    yield Shown(WordKind.PHRASE, phrase.word, frozenset(names))
    for _, value in phrase.parameters:
        yield from in_value(value)


def in_mark(mark: Mark) -> Iterator[Shown]:
    yield Shown(WordKind.MARK, mark.name)
    yield from in_value(mark.value)


def in_score(score: RoundScore) -> Iterator[Shown]:
    for phrase in itertools.chain(score.headline, *score.notes):
        yield from in_phrase(phrase)
    for detail in score.details:
        yield from in_mark(detail)
    for count in score.counts:
        yield Shown(WordKind.COUNT, count.name)


def in_place(place: Place) -> Iterator[Shown]:
    if isinstance(place, str | OwnedPile):
        yield Shown(WordKind.PILE, place.name if isinstance(place, OwnedPile) else place)


def in_contract(contract: Contract) -> Iterator[Shown]:
    if contract.name is not None:
        yield Shown(WordKind.CONTRACT, contract.name)


def in_action(action: Action | None) -> Iterator[Shown]:
    match action:
        case Bid(str() as bid):
            yield Shown(WordKind.CONTRACT, bid)
        case Declare(word):
            yield Shown(WordKind.CALL, word)
        case Draw(str() as pile):
            yield Shown(WordKind.PILE, pile)
        case Lay(_, meld, pile):
            yield from (Shown(kind, word) for kind, word in ((WordKind.MELD, meld), (WordKind.PILE, pile)) if word)


def in_fact(fact: Fact) -> Iterator[Shown]:
    match fact:
        case facts.CardsMoved(source, target, word=word):
            yield from (*in_place(source), *in_place(target))
            if word:
                yield Shown(WordKind.CARD_MOVE, word, MOVE_ARGUMENTS)
        case facts.Called(call):
            yield from in_action(call.action)
        case facts.ContractChanged(changes):
            yield from in_contract(changes)
        case facts.MarkChanged(mark):
            yield from in_mark(mark)
        case facts.TurnChanged(phase):
            yield Shown(WordKind.PHASE, phase)
        case facts.RoundEnded(score):
            yield from in_score(score)
        case facts.GameEnded(_, reason):
            yield Shown(WordKind.REASON, reason)


def in_view(view: View) -> Iterator[Shown]:
    yield Shown(WordKind.PHASE, view.phase)
    yield from in_contract(view.contract)
    for pile in view.piles:
        yield Shown(WordKind.PILE, pile.name)
    for mark in view.marks:
        yield from in_mark(mark)
    for call in view.calls:
        yield from in_action(call.action)


def in_options(game: Game) -> Iterator[Shown]:
    for option in itertools.chain(*map(game.options, game.seats)):
        yield Shown(WordKind.OPTION, option.name)
        if option.group:
            yield Shown(WordKind.OPTION_GROUP, option.group)
        if option.unit:
            yield Shown(WordKind.UNIT, option.unit)
        for value in option.allowed:
            word = f"{option.name}.{value}"
            if isinstance(value, str) and (not value.isdecimal() or text_of(game, WordKind.OPTION_CHOICE, word)):
                yield Shown(WordKind.OPTION_CHOICE, word)


def in_description(game: Game) -> Iterator[Shown]:
    yield from in_options(game)
    named = {
        WordKind.PILE: [pile.name for pile in game.piles],
        WordKind.PRESET: [preset.name for preset in game.presets],
        WordKind.BOT: bots_of(game),
        WordKind.PROPOSAL: game.proposals,
        WordKind.OUTCOME: game.standing.outcomes,
        WordKind.FIGURE: [game.standing.figure],
    }
    yield from (Shown(kind, word) for kind, words in named.items() for word in words)


def in_legal(legal: Legal) -> Iterator[Shown]:
    for action in itertools.chain(legal.actions, (choice.action for choice in legal.choices)):
        yield from in_action(action)


def in_position(game: Game, state: State, random: Random) -> Iterator[Shown]:
    """Yield the words of a view, of legal actions, and of the refusals of random actions and proposals."""
    awaiting, seats = dispatch.awaiting(state), range(len(dispatch.scores(state)))
    acting = awaiting.seats if isinstance(awaiting, SeatsToAct) else ()
    yield from in_view(dispatch.view(state, random.choice([*seats, SPECTATOR])))
    for seat in {*acting[:1], random.choice(seats)}:
        legal = dispatch.legal_actions(state, seat)
        yield from in_legal(legal)
        held = [PLAYS[card] for card in dispatch.view(state, seat).seats[seat].cards if card < len(PLAYS)]
        tried = [*held, *random.sample(attempted_actions(legal, random), ATTEMPTS)]
        yield from in_refusals(state, [SeatActed(seat, action) for action in tried])
    yield from in_refusals(state, map(ProposalAgreed, ("nonsense", *game.proposals)))


def in_refusals(state: State, events: Iterable[Event]) -> Iterator[Shown]:
    yield from (Shown(WordKind.RULE, rule) for event in events if (rule := refusal_by_engine(state, event)))


def in_random_tables(game: Game, random: Random) -> Iterator[Shown]:
    for seats, number in itertools.product(game.seats, range(TABLES)):
        steered = number % 2 == 1
        options = sample_options(game, seats, random)
        if steered:
            options |= TRAITS[game.id].steered_options(seats)
        state = game.new(seats, options)
        yield from in_position(game, state, random)
        for step in itertools.islice(walk(game, state, random, steered=steered), MAX_TRANSITIONS):
            over = isinstance(dispatch.awaiting(step.after), GameOver)
            for fact in step.facts:
                yield from in_fact(fact)
            if over or random.random() < 0.3:
                yield from in_position(game, step.after, random)


@cache
def shown(game: Game, seed: int) -> frozenset[Shown]:
    """Return every word that a game shows."""
    # The views of recorded tables have no other words, since they are the fold of the facts.
    recorded = (one for _, news in recorded_steps(game) for fact in news for one in in_fact(fact))
    return frozenset((*in_description(game), *recorded, *in_random_tables(game, Random(seed)), *in_rules(game)))


def in_rules(game: Game) -> Iterator[Shown]:
    """Yield the rules by which the source refuses actions, also those that random ones seldom break."""
    refused = re.findall(r'IllegalAction\(\s*"([A-Z0-9-]+)"', source_of(game))
    yield from (Shown(WordKind.RULE, rule) for rule in refused)


@cache
def source_of(game: Game) -> str:
    """Return the source of a game's package without its texts; "" for the toy, whose tables show all words."""
    folder = Path(str(games.__file__)).parent / game.id
    return "\n".join(path.read_text() for path in sorted(folder.glob("*.py")) if path.name != "words.py")


def text_of(game: Game, kind: WordKind, word: str) -> str | None:
    return game.words.get(kind, {}).get(word, SHARED_WORDS.get(kind, {}).get(word))


@every_game
def test_every_word_that_is_shown_has_a_text_whose_placeholders_are_its_arguments(game: Game, seed: int) -> None:
    texts = {one: text_of(game, one.kind, one.word) for one in shown(game, seed)}
    assert sorted(f"{one.kind.name} {one.word}" for one, text in texts.items() if text is None) == []
    wrong = [one for one, text in texts.items() if placeholders(text or "") != sorted(one.arguments)]
    assert wrong == []


def placeholders(text: str) -> list[str]:
    """Return the names in braces, each as often as it occurs."""
    return sorted(name for _, name, *_ in Formatter().parse(text) if name is not None)


@every_game
def test_no_text_is_left_over(game: Game) -> None:
    used = {(one.kind, one.word) for one in shown(game, KNOWN_SEED)}
    words = {(kind, word) for kind, texts in game.words.items() for word in texts}
    assert sorted(f"{kind.name} {word}" for kind, word in words - used if not is_named(game, kind, word)) == []


def is_named(game: Game, kind: WordKind, word: str) -> bool:
    """Return whether a word that no table has shown can occur all the same."""
    if kind == WordKind.TERM:
        return word in SHARED_WORDS[kind]
    if kind == WordKind.CARD:
        return word in card_names(game.deck).cards
    return f'"{word}"' in source_of(game)


@every_game
def test_texts_are_phrases_but_for_headings_and_rules_which_are_sentences(game: Game) -> None:
    for kind, texts in (*game.words.items(), *SHARED_WORDS.items()):
        for word, text in texts.items():
            assert text == " ".join(text.split()) != "", (kind, word)
            assert "_" not in re.sub(r"\{\w+\}", "", text), (kind, word)
            assert text.endswith(".") == (kind == WordKind.RULE), (kind, word)
            assert text[0].isupper() or kind not in HEADINGS | {WordKind.RULE}, (kind, word)


@every_game
def test_piles_have_kinds_of_their_own(game: Game) -> None:
    names = [pile.name for pile in game.piles]
    assert len(set(names)) == len(names)
    assert {one.word for one in shown(game, KNOWN_SEED) if one.kind == WordKind.PILE} == set(names)


@every_game
def test_options_of_a_group_follow_each_other_and_depend_on_others_that_exist(game: Game) -> None:
    for seats in game.seats:
        options = {option.name: option for option in game.options(seats)}
        groups = [group for group, _ in itertools.groupby(option.group for option in options.values()) if group]
        assert len(set(groups)) == len(groups)
        for option in options.values():
            if option.condition is not None:
                assert option.condition.other != option.name
                assert set(option.condition.values) < set(options[option.condition.other].allowed)
