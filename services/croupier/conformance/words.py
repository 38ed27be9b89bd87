"""The words that a game shows: in its description, facts, views, legal actions and refusals."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from croupier.conformance.law import require
from croupier.games import facts
from croupier.games.actions import Action, Bid, Declare, Draw, Lay
from croupier.games.facts import Contract, Fact, Mark, OwnedPile, Place, RoundScore, View
from croupier.games.interface import Game, Legal
from croupier.games.registry import bots_of
from croupier.games.values import Phrase, Value, WordValue
from croupier.games.words import SHARED_WORDS, WordKind

MOVE_ARGUMENTS = frozenset({"seat", "cards"})


class Shown(NamedTuple):
    """A word that is shown to players; a phrase has the names of its arguments."""

    kind: WordKind
    word: str
    arguments: frozenset[str] = frozenset()


def text_of(game: Game, kind: WordKind, word: str) -> str | None:
    """Return the text of a word, None without one."""
    return game.words.get(kind, {}).get(word, SHARED_WORDS.get(kind, {}).get(word))


def in_value(value: Value | None) -> Iterator[Shown]:
    """Yield the word of a value."""
    if isinstance(value, WordValue):
        yield Shown(WordKind.VALUE, value.word)


def in_phrase(phrase: Phrase) -> Iterator[Shown]:
    """Yield the word of a phrase and those of its arguments."""
    names = [name for name, _ in phrase.parameters]
    require(len(set(names)) == len(names), f"an argument of {phrase} has two values")
    yield Shown(WordKind.PHRASE, phrase.word, frozenset(names))
    for _, value in phrase.parameters:
        yield from in_value(value)


def in_mark(mark: Mark) -> Iterator[Shown]:
    """Yield the words of a mark or a detail."""
    yield Shown(WordKind.MARK, mark.name)
    yield from in_value(mark.value)


def in_score(score: RoundScore) -> Iterator[Shown]:
    """Yield the words of a score sheet."""
    for phrase in itertools.chain(score.headline, *score.notes):
        yield from in_phrase(phrase)
    for detail in score.details:
        yield from in_mark(detail)
    for count in score.counts:
        yield Shown(WordKind.COUNT, count.name)


def in_place(place: Place) -> Iterator[Shown]:
    """Yield the name of a pile."""
    if isinstance(place, str | OwnedPile):
        yield Shown(WordKind.PILE, place.name if isinstance(place, OwnedPile) else place)


def in_contract(contract: Contract) -> Iterator[Shown]:
    """Yield the name of a contract."""
    if contract.name is not None:
        yield Shown(WordKind.CONTRACT, contract.name)


def in_action(action: Action | None) -> Iterator[Shown]:
    """Yield the words of an action."""
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
    """Yield the words of a fact."""
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
    """Yield the words of a view."""
    yield Shown(WordKind.PHASE, view.phase)
    yield from in_contract(view.contract)
    for pile in view.piles:
        yield Shown(WordKind.PILE, pile.name)
    for mark in view.marks:
        yield from in_mark(mark)
    for call in view.calls:
        yield from in_action(call.action)


def in_legal(legal: Legal) -> Iterator[Shown]:
    """Yield the words of legal actions."""
    for action in itertools.chain(legal.actions, (choice.action for choice in legal.choices)):
        yield from in_action(action)


def in_options(game: Game) -> Iterator[Shown]:
    """Yield the words of options and their values."""
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
    """Yield the words with which a game is described."""
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
