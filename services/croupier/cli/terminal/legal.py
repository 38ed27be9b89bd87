"""Legal actions of a viewer, as lines with the way to type them."""

from collections import Counter
from collections.abc import Sequence

from rich.text import Text

from croupier.cli.terminal.lines import USUAL_WIDTH, folded, listed
from croupier.cli.terminal.words import Words, hand_text
from croupier_api.v1 import actions_pb2
from croupier_client.cards import CardValue

MAX_POSSIBLE = 6
"""The number of actions that a refusal names."""


def legal_lines(
    words: Words,
    legal: actions_pb2.LegalActions,
    hand: Sequence[CardValue] = (),
    order: Sequence[CardValue] = (),
    width: int = USUAL_WIDTH,
) -> list[Text]:
    """Return the legal actions, with the numbers to type unless they are bids.

    `hand` is the viewer's, `order` as TableView.card_order, `width` in columns.
    """
    texts = [words.action(action) for action in legal.actions]
    verbs = {text.partition(" ")[0] for text in texts}
    # If all actions have the same verb, as when a card is to be played, it is shown once.
    verb = f" {verbs.pop()}" if len(verbs) == 1 and len(texts) > 1 else ""
    shown = [text.removeprefix(verb[1:]).strip() for text in texts]
    if is_numbered(legal):
        shown = [f"{number} {text}" for number, text in enumerate(shown, start=1)]
    lines = [listed(f"{words.tr('you may')}{verb}: ", shown, "   ", width)] if shown else []
    for label, choice in zip(choice_labels(words, legal), legal.choices, strict=True):
        text = choice_text(words, choice, hand, order)
        number = f"{label} " if label.isdecimal() else ""
        lines += [folded(f"{words.tr('you may')}: ", number + text, width), _how_to_write(words, label, choice, width)]
    return lines


def possible_text(words: Words, legal: actions_pb2.LegalActions) -> str:
    """Return the first legal actions, for example "you may: play 5♠, 8♠"."""
    texts = [words.action(action) for action in legal.actions]
    verbs = {text.partition(" ")[0] for text in texts}
    # One verb is written once, as in "play 5♠ or 8♠".
    rest = [text.partition(" ")[2] for text in texts[1:]] if len(verbs) == 1 else texts[1:]
    named = [*texts[:1], *rest][:MAX_POSSIBLE]
    return f"{words.tr('you may')}: {', '.join([*named, *(['...'] if len(named) < len(texts) else [])])}"


def is_numbered(legal: actions_pb2.LegalActions) -> bool:
    """Return whether actions have numbers to type: not where a number is a bid."""
    return not any(action.bid.HasField("amount") for action in legal.actions)


def choice_labels(words: Words, legal: actions_pb2.LegalActions) -> list[str]:
    """Return the first word to type for each choice: its verb, or its number where choices have the same verb."""
    verbs = [verb_text(words, choice) for choice in legal.choices]
    times = Counter(verbs)
    return [
        verb if times[verb] == 1 else str(number) for number, verb in enumerate(verbs, start=len(legal.actions) + 1)
    ]


def verb_text(words: Words, choice: actions_pb2.ActionChoice) -> str:
    """Return the verb of a choice: the first word of its action."""
    return words.action(choice.action).partition(" ")[0].rstrip(",")


def choice_text(
    words: Words, choice: actions_pb2.ActionChoice, hand: Sequence[CardValue], order: Sequence[CardValue]
) -> str:
    """Return a choice as half a sentence, for example "keep 5 of: your hand, a suit of ♣ ♥"."""
    cards = ""
    if choice.HasField("cards"):
        is_whole_hand = sorted(choice.cards.cards) == sorted(hand)
        cards = words.tr("your hand") if is_whole_hand else hand_text(words, choice.cards.cards, order)
        cards = words.tr("{count} of: {cards}", count=count_text(choice.cards), cards=cards)
    parts = [words.action_with(choice.action, cards)]
    if choice.suits:
        parts.append(words.tr("a suit of {suits}", suits=" ".join(map(words.suit, choice.suits))))
    if choice.HasField("amount"):
        amount = choice.amount
        parts.append(words.tr("an amount from {least} to {most}", least=amount.min_amount, most=amount.max_amount))
        parts += [words.tr("in steps of {step}", step=amount.step)] if amount.step > 1 else []
    if choice.seats:
        seats = ", ".join(f"{seat + 1} ({words.name(seat)})" for seat in choice.seats)
        parts.append(words.tr("a seat of {seats}", seats=seats))
    return ", ".join(parts)


def count_text(choice: actions_pb2.CardChoice) -> str:
    """Return the number of cards that a choice takes."""
    least, most = choice.min_cards, choice.max_cards
    return f"{least}" if least == most else f"{least}-{most}"


def _how_to_write(words: Words, label: str, choice: actions_pb2.ActionChoice, width: int) -> Text:
    suit, amount, seat, cards = words.tr("SUIT"), words.tr("AMOUNT"), words.tr("SEAT"), words.tr("CARDS")
    asked = {suit: bool(choice.suits), amount: choice.HasField("amount"), seat: bool(choice.seats)}
    rest = "".join(f" {part}" for part, is_asked in asked.items() if is_asked)
    if not choice.HasField("cards"):
        way = label + rest
        return folded("  ", words.tr("write {way}", way=way), width, style="dim")
    most = choice.cards.max_cards
    ways = [f"{label} {cards}{rest}"]
    ways += [f"{label} all but {cards}{rest}"] if most > 1 else []
    ways += [f"{label} none{rest}"] if not choice.cards.min_cards else []
    example = " ".join(map(words.notation, choice.cards.cards[: min(most, 2)]))
    text = words.tr(
        "write {ways} (for example {example} for {cards})", ways=" | ".join(ways), example=example, cards=cards
    )
    return folded("  ", text, width, style="dim")
