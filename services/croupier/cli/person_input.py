"""What a person types at a table: an action by number, by its cards or in words, or a command."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from croupier.cli.screen import verb_text
from croupier_api.v1 import table_pb2 as pb
from croupier_api.v1.cards_pb2 import SUIT_UNSPECIFIED
from croupier_client.cards import (
    CardValue,
    SuitValue,
    action_text,
    card_from_text,
    card_text,
    cards_text,
    suit_from_text,
    suit_text,
)

REACTIONS = ("thumbs_up", "thumbs_down", "laugh", "cry", "wow", "angry", "clap", "heart", "think", "sleep")
HELP = (
    "Act by the number of an action, by its card (5H, or 8H S to order spades), or in words (bid 60, pass).",
    "For a choice of cards write the cards, and the suit if one is named: 5H JK AS H.",
    "Cards are rank (2-9 T J Q K A) and suit (C D H S); JK is the joker.",
    f"/react NAME sends a reaction: {', '.join(REACTIONS)}.",
    "/help shows this, /quit leaves; you can come back.",
)


class InputFault(ValueError):
    """What was typed cannot be done; the message says what can."""


@dataclass(frozen=True, slots=True)
class React:
    """Send a reaction."""

    reaction: str


@dataclass(frozen=True, slots=True)
class Help:
    """Show what can be typed."""


@dataclass(frozen=True, slots=True)
class Quit:
    """Leave."""


Wish: TypeAlias = pb.Action | React | Help | Quit


def read_input(text: str, legal: pb.LegalActions) -> Wish:
    """What a line of input asks for; raises InputFault."""
    words = text.replace(",", " ").split()
    if text.startswith("/"):
        return _command(words)
    if not legal.actions and not legal.choices:
        raise InputFault("it is not your turn")
    if not words:
        raise InputFault("write what you do, or /help")
    if len(words) == 1 and words[0].isdecimal() and 1 <= int(words[0]) <= len(legal.actions):
        return legal.actions[int(words[0]) - 1]
    matching = _matching(words, legal.actions)
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InputFault(f"that could be {' or '.join(action_text(action) for action in matching[:4])}: write more")
    if legal.choices:
        return _chosen(words, legal.choices)
    raise InputFault(f"{text.strip()} is not possible now: choose one of the numbered actions, or write /help")


def _command(words: Sequence[str]) -> Wish:
    match words:
        case ["/help"]:
            return Help()
        case ["/quit"]:
            return Quit()
        case ["/react", reaction] if reaction in REACTIONS:
            return React(reaction)
        case ["/react", *_]:
            raise InputFault(f"/react needs one of {', '.join(REACTIONS)}")
        case _:
            raise InputFault(f"there is no {words[0]}: there are /help, /react NAME and /quit")


def _matching(words: Sequence[str], actions: Sequence[pb.Action]) -> list[pb.Action]:
    """The actions that have all these words; only the one that has no others, but perhaps a verb, if there is one."""
    wanted = [word.lower() for word in words]
    has = [(action, action_text(action).lower().replace(",", " ").split()) for action in actions]
    exact = [action for action, known in has if wanted in (known, known[1:])]
    return exact or [action for action, known in has if all(_is_in(word, known) for word in wanted)]


def _is_in(word: str, words: Sequence[str]) -> bool:
    """Whether the word is one of these, or the beginning of one that is spelt out."""
    return word in words or any(
        known.isalpha() and len(known) > len("jk") and known.startswith(word) for known in words
    )


def _chosen(words: Sequence[str], choices: Sequence[pb.CardChoice]) -> pb.Action:
    verb = words[0].lower()
    named = [choice for choice in choices if verb_text(choice) == verb]
    if named:
        return _from_choice(words[1:], named[0])
    if len(choices) > 1:
        raise InputFault(f"begin with {' or '.join(verb_text(choice) for choice in choices)}")
    return _from_choice(words, choices[0])


def _from_choice(words: Sequence[str], choice: pb.CardChoice) -> pb.Action:
    cards, suit = _cards_and_suit(words, choice)
    left = list(choice.cards)
    for card in cards:
        if card not in left:
            raise InputFault(
                f"{card_text(card)} is not there to choose, or not so often: {cards_text(choice.cards)} are"
            )
        left.remove(card)
    if not choice.min_cards <= len(cards) <= choice.max_cards:
        count = (
            str(choice.min_cards)
            if choice.min_cards == choice.max_cards
            else (f"{choice.min_cards} to {choice.max_cards}")
        )
        raise InputFault(f"{verb_text(choice)} {count} cards, not {len(cards)}")
    if choice.verb == pb.CARD_CHOICE_VERB_SWAP:
        return pb.Action(swap=pb.SwapAction(cards=cards))
    return pb.Action(keep=pb.KeepAction(cards=cards, trump=suit))


def _cards_and_suit(words: Sequence[str], choice: pb.CardChoice) -> tuple[list[CardValue], SuitValue]:
    words, suit = list(words), SUIT_UNSPECIFIED
    if choice.suits:
        suits = ", ".join(map(suit_text, choice.suits))
        try:
            suit = suit_from_text(words.pop() if words else "")
        except ValueError:
            raise InputFault(f"end with the suit: one of {suits}") from None
        if suit not in choice.suits:
            raise InputFault(f"{suit_text(suit)} cannot be named now: one of {suits} can") from None
    try:
        return [card_from_text(word) for word in words], suit
    except ValueError as fault:
        raise InputFault(str(fault)) from None
