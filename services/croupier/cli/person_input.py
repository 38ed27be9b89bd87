"""What a person types at a table: an action by number, by its cards or in words, or a command."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from croupier.cli.legal import count_text, verb_text
from croupier.cli.words import JOKER, Words, is_card
from croupier_api.v1 import table_pb2 as pb
from croupier_api.v1.cards_pb2 import SUIT_UNSPECIFIED
from croupier_client.cards import (
    CardValue,
    SuitValue,
    action_text,
    card_from_text,
    suit_from_text,
    suit_text,
)

REACTIONS = ("thumbs_up", "thumbs_down", "laugh", "cry", "wow", "angry", "clap", "heart", "think", "sleep")
HELP = (
    "Act by the number of an action, by its card (5H, or QH S to order spades), or in words (bid 60, pass).",
    "For a choice of cards write the cards, and the suit if one is named: keep 5H JK AS H, or swap 2C 3D.",
    "Or write what is not among them: keep all but 2C 3D H. With none you choose no card.",
    "Cards are rank (2-9 T J Q K A) and suit (C D H S); JK is the joker. Names of cards will do as well.",
    "propose NAME asks all seats for something that the game knows; agree and refuse answer what is proposed.",
    f"/react NAME sends a reaction: {', '.join(REACTIONS)}.",
    "/sheet shows the score sheet, /help this, /quit leaves; you can come back.",
)


class InputFault(ValueError):
    """What was typed cannot be done; the message says what can."""


@dataclass(frozen=True, slots=True)
class React:
    """Send a reaction."""

    reaction: str


@dataclass(frozen=True, slots=True)
class Propose:
    """Propose something to all seats; an empty name asks what can be proposed."""

    name: str


@dataclass(frozen=True, slots=True)
class Vote:
    """Agree with what is proposed, or refuse it."""

    agree: bool


@dataclass(frozen=True, slots=True)
class ShowSheet:
    """Show the score sheet."""


@dataclass(frozen=True, slots=True)
class Help:
    """Show what can be typed."""


@dataclass(frozen=True, slots=True)
class Quit:
    """Leave."""


Wish: TypeAlias = pb.Action | React | Propose | Vote | ShowSheet | Help | Quit
PLAIN_WORDS = Words((), symbols=False)


def read_input(text: str, legal: pb.LegalActions, words: Words = PLAIN_WORDS) -> Wish:
    """What a line of input asks for, in notation or in the words of the game; raises InputFault."""
    typed = text.replace(",", " ").split()
    command = _command(typed)
    if command is not None:
        return command
    if not legal.actions and not legal.choices:
        raise InputFault("it is not your turn")
    if not typed:
        raise InputFault("write what you do, or /help")
    if len(typed) == 1 and typed[0].isdecimal() and 1 <= int(typed[0]) <= len(legal.actions):
        return legal.actions[int(typed[0]) - 1]
    matching = _matching(typed, legal.actions, words)
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InputFault(f"that could be {' or '.join(words.action(action) for action in matching[:4])}: write more")
    if legal.choices:
        return _chosen(typed, legal.choices, words)
    raise InputFault(f"{text.strip()} is not possible now: choose one of the numbered actions, or write /help")


def _command(typed: Sequence[str]) -> Wish | None:
    """What is asked for that is no action, None for anything else; raises InputFault."""
    match [word.lower() for word in typed]:
        case ["propose" | "/propose", *name]:
            return Propose("_".join(name))
        case ["agree" | "/agree"]:
            return Vote(agree=True)
        case ["refuse" | "/refuse"]:
            return Vote(agree=False)
        case ["/sheet"]:
            return ShowSheet()
        case ["/help"]:
            return Help()
        case ["/quit"]:
            return Quit()
        case ["/react", reaction] if reaction in REACTIONS:
            return React(reaction)
        case ["/react", *_]:
            raise InputFault(f"/react needs one of {', '.join(REACTIONS)}")
        case [word, *_] if word.startswith("/"):
            raise InputFault(f"there is no {word}: there are /sheet, /react NAME, /help and /quit")
        case _:
            return None


def _matching(typed: Sequence[str], actions: Sequence[pb.Action], words: Words) -> list[pb.Action]:
    """The actions that have all these words; only the one that has no others, but perhaps a verb, if there is one."""
    wanted = [word.lower() for word in typed]
    has = [
        (action, _words_of(text))
        for action in actions
        for text in dict.fromkeys((action_text(action), words.action(action)))
    ]
    exact = _distinct(action for action, known in has if wanted in (known, known[1:]))
    return exact or _distinct(action for action, known in has if all(_is_in(word, known) for word in wanted))


def _words_of(text: str) -> list[str]:
    return text.lower().translate(_PUNCTUATION).split()


_PUNCTUATION = str.maketrans(",()", "   ")


def _distinct(actions: Iterable[pb.Action]) -> list[pb.Action]:
    found: list[pb.Action] = []
    for action in actions:
        if action not in found:
            found.append(action)
    return found


def _is_in(word: str, known_words: Sequence[str]) -> bool:
    """Whether the word is one of these, or the beginning of one that is spelt out."""
    return word in known_words or any(
        known.isalpha() and len(known) > len(JOKER) and known.startswith(word) for known in known_words
    )


def _chosen(typed: Sequence[str], choices: Sequence[pb.CardChoice], words: Words) -> pb.Action:
    verb = typed[0].lower()
    named = [choice for choice in choices if verb_text(choice) == verb]
    if named:
        return _from_choice(typed[1:], named[0], words)
    if len(choices) > 1:
        raise InputFault(f"begin with {' or '.join(verb_text(choice) for choice in choices)}")
    return _from_choice(typed, choices[0], words)


def _from_choice(typed: Sequence[str], choice: pb.CardChoice, words: Words) -> pb.Action:
    rest, suit = _without_suit(typed, choice)
    cards = _cards(rest, choice, words)
    if not choice.min_cards <= len(cards) <= choice.max_cards:
        raise InputFault(f"{verb_text(choice)} {count_text(choice)} cards, not {len(cards)}")
    if choice.verb == pb.CARD_CHOICE_VERB_SWAP:
        return pb.Action(swap=pb.SwapAction(cards=cards))
    return pb.Action(keep=pb.KeepAction(cards=cards, trump=suit))


def _without_suit(typed: Sequence[str], choice: pb.CardChoice) -> tuple[Sequence[str], SuitValue]:
    """The words before the suit that has to end them, if one is to be named."""
    if not choice.suits:
        return typed, SUIT_UNSPECIFIED
    suits = ", ".join(map(suit_text, choice.suits))
    try:
        suit = suit_from_text(typed[-1] if typed else "")
    except ValueError:
        wanted = f"{verb_text(choice)} {count_text(choice)} cards"
        raise InputFault(f"{wanted}, and end with the suit: one of {suits}") from None
    if suit not in choice.suits:
        raise InputFault(f"{suit_text(suit)} cannot be named now: one of {suits} can")
    return typed[:-1], suit


def _cards(typed: Sequence[str], choice: pb.CardChoice, words: Words) -> list[CardValue]:
    """The cards that are named, or all but those; raises InputFault for one that is not there, or not so often."""
    lowered = [word.lower() for word in typed]
    all_but = lowered[:2] == ["all", "but"]
    named = [] if lowered == ["none"] else [_card(word, words) for word in typed[2 * all_but :]]
    left = list(choice.cards)
    for card in named:
        if card not in left:
            there = words.cards(choice.cards)
            raise InputFault(f"{words.card(card)} is not there to choose, or not so often: {there} are")
        left.remove(card)
    return left if all_but else named


def _card(word: str, words: Words) -> CardValue:
    """The card of a word, which may be the last word of its name."""
    named = [text for text, name in words.terms.items() if is_card(text) and name.lower().split()[-1] == word.lower()]
    try:
        return card_from_text(named[0] if named else word)
    except ValueError as fault:
        raise InputFault(str(fault)) from None
