"""What a viewer may do, as lines that tell how to write it."""

from collections.abc import Sequence

from rich.text import Text

from croupier.cli.hands import hand_text
from croupier.cli.lines import folded, listed
from croupier.cli.words import Words
from croupier_api.v1 import table_pb2 as pb
from croupier_client.cards import CardValue


def legal_lines(
    words: Words, legal: pb.LegalActions, hand: Sequence[CardValue] = (), order: Sequence[CardValue] = ()
) -> list[Text]:
    """What the viewer may do, numbered as he may name it; `hand` is what he holds, `order` how it is sorted."""
    told = [words.action(action) for action in legal.actions]
    verbs = {text.partition(" ")[0] for text in told}
    # Where all do the same, as when a card is to be played, the verb is said once.
    verb = f" {verbs.pop()}" if len(verbs) == 1 and len(told) > 1 else ""
    numbered = [f"{number} {text.removeprefix(verb[1:]).strip()}" for number, text in enumerate(told, start=1)]
    lines = [listed(f"you may{verb}: ", numbered, "   ")] if numbered else []
    for choice in legal.choices:
        lines += [folded("you may: ", choice_text(words, choice, hand, order)), _how_to_write(choice)]
    return lines


def choice_text(words: Words, choice: pb.CardChoice, hand: Sequence[CardValue], order: Sequence[CardValue]) -> str:
    """A choice of cards as a half sentence."""
    suits = f", and name a suit of {' '.join(map(words.suit, choice.suits))}" if choice.suits else ""
    whole_hand = sorted(choice.cards) == sorted(hand)
    cards = "the cards of your hand" if whole_hand else hand_text(words, choice.cards, order)
    return f"{verb_text(choice)} {count_text(choice)} of {cards}{suits}"


def count_text(choice: pb.CardChoice) -> str:
    """How many cards a choice takes."""
    few, many = choice.min_cards, choice.max_cards
    return f"{few}" if few == many else f"{few} to {many}"


def verb_text(choice: pb.CardChoice) -> str:
    """The verb of a choice, as one writes it."""
    return pb.CardChoiceVerb.Name(choice.verb).removeprefix("CARD_CHOICE_VERB_").lower()


def _how_to_write(choice: pb.CardChoice) -> Text:
    verb, suit = verb_text(choice), " SUIT" if choice.suits else ""
    ways = [f"{verb} CARDS{suit}", f"{verb} all but CARDS{suit}"]
    ways += [f"{verb} none"] if not choice.min_cards else []
    return Text(f"  write for example 5H TS for CARDS: {', or '.join(ways)}", style="dim")
