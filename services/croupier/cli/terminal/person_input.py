"""Input of a person at a table: an action by number, by its cards or in words, or a command."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias

from croupier.cli.terminal.legal import choice_labels, count_text, is_numbered, verb_text
from croupier.cli.terminal.words import JOKER, RANKS, SUITS, SYMBOLS, Words
from croupier_api.v1 import actions_pb2, games_pb2
from croupier_client.cards import CardValue, SuitValue, action_text, card_from_text, suit_from_text
from croupier_client.choices import complete_choice

REACTIONS: Mapping[str, games_pb2.Reaction.ValueType] = MappingProxyType(
    {
        name.removeprefix("REACTION_").lower(): reaction
        for name, reaction in games_pb2.Reaction.items()
        if reaction != games_pb2.REACTION_UNSPECIFIED
    }
)
"""The reactions by the names to type."""
IRREVOCABLE_VERBS = frozenset({"keep_cards", "swap_cards", "throw_down"})
MAX_BID = 1_000_000
"""No game has such a bid; the contract has 32 bits for it."""


class InputFault(ValueError):
    """The input is impossible; the message has what is possible."""


@dataclass(frozen=True, slots=True)
class React:
    """Send a reaction."""

    reaction: games_pb2.Reaction.ValueType


@dataclass(frozen=True, slots=True)
class Sheet:
    """Show the score sheet, or a round of it value by value."""

    round_number: int | None = None


@dataclass(frozen=True, slots=True)
class Statistics:
    """Show the person's statistics in the game."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Show a rule by its id, with an empty one the whole page."""

    rule: str


@dataclass(frozen=True, slots=True)
class Propose:
    """Propose something to all seats; with an empty name, list the proposals of the game."""

    name: str


@dataclass(frozen=True, slots=True)
class Vote:
    """Agree with the open proposal, or refuse it."""

    agree: bool


class Command(StrEnum):
    """Requests without parts, as they are typed: show or sort, leave the seat or return to it, or give it up."""

    SORT = "/sort"
    ACTIONS = "/actions"
    HELP = "/help"
    AWAY = "/away"
    BACK = "/back"
    LEAVE = "/leave"


Lookup: TypeAlias = Sheet | Statistics | Rules
Request: TypeAlias = actions_pb2.Action | Lookup | React | Propose | Vote | Command
PLAIN_WORDS = Words((), symbols=False)
_PUNCTUATION = str.maketrans(",()", "   ")
_RANK_NAMES = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"]
_SUIT_NAMES = ["clubs", "diamonds", "hearts", "spades"]
_SUIT_WORDS: Mapping[str, str] = MappingProxyType(
    {
        form: letter
        for letter, name in zip(SUITS, _SUIT_NAMES, strict=True)
        for form in (letter.lower(), name, name.removesuffix("s"), SYMBOLS[letter])
    }
)
_RANK_WORDS: Mapping[str, str] = MappingProxyType(
    {**dict(zip(_RANK_NAMES, RANKS, strict=True)), **{letter.lower(): letter for letter in RANKS}, "10": "T"}
)


def help_lines(words: Words) -> tuple[str, ...]:
    """Return what a person can type at a table."""
    tr = words.tr
    return (
        tr(
            "Act by the number of an action, by its card (5H, or QH S to order spades), or in words (bid 60, pass). "
            "Where you bid, a number is the bid."
        ),
        tr(
            "For a choice write its verb or number, the cards, and what else is asked for: keep 5H JK AS H, or swap "
            "2C 3D."
        ),
        tr("Or write the cards that you do not choose: keep all but 2C 3D H. With none you choose no card."),
        tr(
            "Cards are rank (2-10 J Q K A) and suit (C D H S), as in 10h, ♣J or jack of clubs, unless the game has its "
            "own; JK is the joker. Names of cards will do as well."
        ),
        tr("propose NAME asks all seats for something that the game knows; agree and refuse answer what is proposed."),
        tr("/react NAME sends a reaction: {names}.", names=", ".join(REACTIONS)),
        tr(
            "/sheet shows the score sheet, /sheet NUMBER one round in detail, /stats your statistics, /rules the "
            "rules, /rules ID one of them, /actions all that you may do, /help this. /sort sorts your hand by rank, "
            "and by suit again."
        ),
        tr("/away lets the computer play for you until you write anything, such as /back."),
        tr("/quit, Ctrl-C and Ctrl-D leave this program; you can come back. /leave gives the table up."),
    )


def read_input(text: str, legal: actions_pb2.LegalActions, words: Words = PLAIN_WORDS) -> Request:
    """Return the request of a line of input, in notation or in the words of the game; raises InputFault.

    A card, a bid or a word of the game that is not among the legal actions is returned all the same: the engine knows
    the violated rule.
    """
    typed = text.translate(_PUNCTUATION).split()
    command = read_lookup(text) or _command(typed, words)
    if command is not None:
        return command
    if not legal.actions and not legal.choices:
        raise InputFault(words.tr("it is not your turn"))
    if not typed:
        raise InputFault(words.tr("write what you do, or /help"))
    if not words.deck:
        typed = in_notation(typed)
    if is_numbered(legal) and typed[0].isdecimal() and typed[1:] == [] and 1 <= int(typed[0]) <= len(legal.actions):
        return legal.actions[int(typed[0]) - 1]
    matching = _matching(typed, legal.actions, words)
    if len(matching) == 1:
        return matching[0]
    if matching:
        actions = " | ".join(words.action(action) for action in matching[:4])
        raise InputFault(words.tr("that could be: {actions}; write more", actions=actions))
    if legal.choices:
        return _chosen(typed, legal, words)
    if attempt := _attempt(typed, legal, words):
        return attempt
    fault = words.tr("{text} is not possible now: choose one of the actions above, or write /help", text=text.strip())
    raise InputFault(fault)


def is_irrevocable(action: actions_pb2.Action) -> bool:
    """Return whether an action is to be confirmed: it gives up more than the next card or bid."""
    verb = action.WhichOneof("verb")
    return verb in IRREVOCABLE_VERBS or (verb == "name_trump" and action.name_trump.all_tricks)


def _attempt(typed: Sequence[str], legal: actions_pb2.LegalActions, words: Words) -> actions_pb2.Action | None:
    """Return the word, play or bid that a person means although it is not legal; None for anything else."""
    lowered = [word.lower() for word in typed]
    for (kind, word), text in words.words.items():
        if kind == games_pb2.WORD_KIND_CALL and lowered in ([word], text.lower().translate(_PUNCTUATION).split()):
            return actions_pb2.Action(declare_word=actions_pb2.DeclareAction(word=word))
    verb, rest = (typed[0].lower(), typed[1:]) if len(typed) == 2 else ("", typed)
    verbs = {action.WhichOneof("verb") for action in legal.actions}
    plays = ("", "play", words.tr("play {card}", card="").strip())
    bids = ("", "bid", words.tr("bid {bid}", bid="").strip())
    if len(rest) != 1 or verb not in (*plays, *bids):
        return None
    if rest[0].isdecimal() and not is_numbered(legal) and int(rest[0]) <= MAX_BID and verb in bids:
        return actions_pb2.Action(bid=actions_pb2.BidAction(amount=int(rest[0])))
    with suppress(ValueError):
        if "play" in verbs and verb in plays:
            return actions_pb2.Action(play=actions_pb2.PlayAction(card=card_from_text(rest[0], words.deck)))
    return None


def read_lookup(text: str) -> Lookup | None:
    """Return the lookup of a line of input, None for anything else."""
    typed = text.split()
    match [word.lower() for word in typed]:
        case ["/sheet"]:
            return Sheet()
        case ["/sheet", number] if number.isdecimal():
            return Sheet(int(number))
        case ["/stats"]:
            return Statistics()
        case ["/rules", *rule] if len(rule) <= 1:
            return Rules("".join(typed[1:]))
        case _:
            return None


def _command(typed: Sequence[str], words: Words) -> Request | None:
    """Return another request that is no action, None for anything else; raises InputFault."""
    match [word.lower() for word in typed]:
        case ["propose" | "/propose", *name]:
            return Propose("_".join(name))
        case ["agree" | "/agree"]:
            return Vote(agree=True)
        case ["refuse" | "/refuse"]:
            return Vote(agree=False)
        case ["help" | "?"]:
            return Command.HELP
        case [word] if word in tuple(Command):
            return Command(word)
        case ["/react", reaction] if reaction in REACTIONS:
            return React(REACTIONS[reaction])
        case ["/react", *_]:
            raise InputFault(words.tr("/react needs one of {names}", names=", ".join(REACTIONS)))
        case [word, *_] if word.startswith("/"):
            known = ", ".join(["/sheet", "/stats", *Command, "/rules", "/react NAME", "/quit"])
            raise InputFault(words.tr("there is no {command}: there are {known}", command=word, known=known))
        case _:
            return None


def _matching(typed: Sequence[str], actions: Sequence[actions_pb2.Action], words: Words) -> list[actions_pb2.Action]:
    """Return the actions that have all these words; only those that have no others but a verb, if there are any.

    The words are those of the person's language, or English.
    """
    wanted = [word.lower() for word in typed]
    known = [(action, _texts_of(action, words)) for action in actions]
    exact = _distinct([action for action, texts in known if any(wanted in (text, text[1:]) for text in texts)])
    return exact or _distinct(
        [action for action, texts in known if all(_is_in(word, list(chain(*texts))) for word in wanted)]
    )


def _texts_of(action: actions_pb2.Action, words: Words) -> list[list[str]]:
    """Return the words of each text of an action."""
    plain = replace(words, symbols=False)
    shown = (words.action(action), plain.action(action), words.in_english.action(action))
    texts = (action_text(action, words.deck), *shown)
    return [text.lower().translate(_PUNCTUATION).split() for text in dict.fromkeys(texts)]


def _distinct(actions: Sequence[actions_pb2.Action]) -> list[actions_pb2.Action]:
    # Messages cannot be the keys of a dict.
    return [action for number, action in enumerate(actions) if action not in actions[:number]]


def _is_in(word: str, known_words: Sequence[str]) -> bool:
    """Return whether the word is one of these, or the beginning of one that is spelt out."""
    return word in known_words or any(
        known.isalpha() and len(known) > len(JOKER) and known.startswith(word) for known in known_words
    )


def _chosen(typed: Sequence[str], legal: actions_pb2.LegalActions, words: Words) -> actions_pb2.Action:
    labels, english = choice_labels(words, legal), choice_labels(words.in_english, legal)
    for choice, *known in zip(legal.choices, labels, english, strict=True):
        if typed[0].lower() in known:
            return _completed(typed[1:], choice, words)
    if len(labels) > 1:
        raise InputFault(words.tr("begin with one of {labels}", labels=", ".join(labels)))
    return _completed(typed, legal.choices[0], words)


def _completed(typed: Sequence[str], choice: actions_pb2.ActionChoice, words: Words) -> actions_pb2.Action:
    """Return the action of a choice with the typed cards, suit, amount and seat, in this order; raises InputFault."""
    # People count seats from 1.
    rest, number = _without_number(typed, words.tr("seat"), [seat + 1 for seat in choice.seats], words)
    seat = None if number is None else number - 1
    wanted = choice.amount
    is_asked = choice.HasField("amount")
    amounts = range(wanted.min_amount, wanted.max_amount + 1, wanted.step) if is_asked else ()
    rest, amount = _without_number(rest, words.tr("amount"), amounts, words)
    rest, suit = _without_suit(rest, choice, words)
    cards = _cards(rest, choice.cards, words)
    if not choice.cards.min_cards <= len(cards) <= choice.cards.max_cards:
        verb, count = verb_text(words, choice), count_text(choice.cards)
        raise InputFault(
            words.tr("{verb}: expected cards: {count}; found {found}", verb=verb, count=count, found=len(cards))
        )
    return complete_choice(choice, cards=cards, suit=suit, amount=amount, seat=seat)


def _without_number(
    typed: Sequence[str], part: str, allowed: Sequence[int], words: Words
) -> tuple[Sequence[str], int | None]:
    """Return the words before the number that has to end them, and the number, if one is to be chosen."""
    if not allowed:
        return typed, None
    last = typed[-1] if typed else ""
    number = int(last) if last.removeprefix("-").isdecimal() else None
    if number is None or number not in allowed:
        known = f"{allowed[0]}-{allowed[-1]}" if isinstance(allowed, range) else ", ".join(map(str, allowed))
        raise InputFault(words.tr("invalid {part} '{text}': expected {known}", part=part, text=last, known=known))
    return typed[:-1], number


def _without_suit(
    typed: Sequence[str], choice: actions_pb2.ActionChoice, words: Words
) -> tuple[Sequence[str], SuitValue | None]:
    """Return the words before the suit that has to end them, and the suit, if one is to be chosen."""
    if not choice.suits:
        return typed, None
    suits = ", ".join(map(words.suit, choice.suits))
    letter = _SUIT_WORDS.get(typed[-1].lower()) if typed else None
    if letter is None:
        raise InputFault(words.tr("end with the suit: one of {suits}", suits=suits))
    suit = suit_from_text(letter)
    if suit not in choice.suits:
        raise InputFault(words.tr("invalid suit {suit}: expected one of {suits}", suit=words.suit(suit), suits=suits))
    return typed[:-1], suit


def _cards(typed: Sequence[str], choice: actions_pb2.CardChoice, words: Words) -> list[CardValue]:
    """Return the typed cards, or all but those; raises InputFault for one that is not there, or not so often."""
    lowered = [word.lower() for word in typed]
    all_but = lowered[:2] == ["all", "but"]
    named, left = list[CardValue](), list(choice.cards)
    for word in [] if lowered == ["none"] else typed[2 * all_but :]:
        card = _card(word, words)
        if card is None or card not in left:
            fault = words.tr(
                "invalid card {card}: expected cards of {cards}, each as often as it is there",
                card=word if card is None else words.card(card),
                cards=words.cards(choice.cards),
            )
            raise InputFault(fault)
        left.remove(card)
        named.append(card)
    return left if all_but else named


def _card(word: str, words: Words) -> CardValue | None:
    """Return the card of a word: its notation, or the last word of its name; None for any other word."""
    lowered = word.lower()
    named = [text for text, name in words.card_names() if name.lower().split()[-1:] == [lowered]]
    with suppress(ValueError):
        return card_from_text(named[0] if len(named) == 1 else word, words.deck)
    return None


def in_notation(typed: Sequence[str]) -> list[str]:
    """Return typed words with each card, such as 10h, ♣J or jack of clubs, in the notation of the contract: TH, JC."""
    words, at = [], 0
    while at < len(typed):
        card, length = _card_at([word.lower() for word in typed[at : at + 3]])
        words.append(card or typed[at])
        at += length
    return words


def _card_at(words: Sequence[str]) -> tuple[str, int]:
    """Return the card that the first words name, and how many they are; an empty card and 1 for none."""
    rank = _RANK_WORDS.get(words[0], "")
    if rank and words[1:2] == ["of"] and words[2:] and words[2] in _SUIT_WORDS:
        return rank + _SUIT_WORDS[words[2]], 3
    # "q s" may be two words: only a rank that is spelled out is joined to a suit.
    if rank and words[0] in _RANK_NAMES and len(words) > 1 and words[1] in _SUIT_WORDS:
        return rank + _SUIT_WORDS[words[1]], 2
    return _one_word(words[0]), 1


def _one_word(word: str) -> str:
    if word == "joker":
        return JOKER
    for rank, suit in ((word[:-1], word[-1:]), (word[1:], word[:1])):
        if rank in _RANK_WORDS and rank not in _RANK_NAMES and suit in _SUIT_WORDS:
            return _RANK_WORDS[rank] + _SUIT_WORDS[suit]
    return ""
