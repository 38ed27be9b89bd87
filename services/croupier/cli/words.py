"""Cards, actions and facts in words for a terminal: with suit symbols where it can write them, else in notation."""

import locale
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from croupier_api.v1 import table_pb2 as pb
from croupier_client.cards import CardValue, SuitValue, action_text, card_text

SYMBOLS: Mapping[str, str] = MappingProxyType({"C": "♣", "D": "♦", "H": "♥", "S": "♠"})
RANKS = "23456789TJQKA"
SUITS = "CDHS"
JOKER = "JK"


def can_write_symbols(encoding: str | None) -> bool:
    """Whether the suits' symbols exist in an encoding; None means that of the locale."""
    try:
        "".join(SYMBOLS.values()).encode(encoding or locale.getpreferredencoding(False))
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def printable(text: str) -> str:
    """A text of somebody else's making, without anything that a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


@dataclass(frozen=True, slots=True)
class Words:
    """How a table is told: by the names of its seats, with symbols or without, and in the game's own words.

    `terms` are a game's names: from a card in notation, a suit, a contract or another word to what players call it.
    """

    names: tuple[str, ...]
    symbols: bool
    terms: Mapping[str, str] = field(default_factory=dict)

    def name(self, seat: int) -> str:
        """The name of a seat."""
        return self.names[seat] if seat < len(self.names) else f"seat {seat}"

    def card(self, card: CardValue) -> str:
        """A card, for example 5♥ or 5H."""
        return self._symbol(card_text(card))

    def card_and_name(self, card: CardValue) -> str:
        """A card with what players call it, if they do."""
        return self._card_and_name(card_text(card))

    def cards(self, cards: Iterable[CardValue]) -> str:
        """Cards in their order."""
        return " ".join(map(self.card_and_name, cards))

    def suit(self, suit: SuitValue) -> str:
        """A suit's symbol, or its letter."""
        return self._symbol(SUITS[suit - 1]) if suit else "-"

    def term(self, word: str) -> str:
        """A word of the game, such as a contract, a phase or a pile, as players say it."""
        return self.terms.get(word) or word.replace("_", " ")

    def value(self, text: str) -> str:
        """The value of a mark: a number, a word, a suit or a card."""
        return self._symbol(text) if is_card(text) or text in tuple(SUITS) else self.term(text)

    def prose(self, text: str) -> str:
        """A text of the rules' making, such as a headline or a note, with symbols for its cards."""
        return _with_cards(text, self._symbol)

    def action(self, action: pb.Action) -> str:
        """An action, for example "play 5♥"."""
        if action.bid.contract:
            return f"bid {self.term(action.bid.contract)}"
        if action.HasField("call") and not action.call.card:
            return f"call {self.term('unknown')}"
        return _with_cards(action_text(action), self._card_and_name)

    def _symbol(self, text: str) -> str:
        """A card or a suit in notation as the terminal can show it."""
        return text if not self.symbols or text == JOKER else text[:-1] + SYMBOLS.get(text[-1], text[-1])

    def _card_and_name(self, text: str) -> str:
        name = self.terms.get(text)
        return self._symbol(text) + (f" ({name})" if name else "")

    def facts(self, facts: Sequence[pb.Fact]) -> list[str]:
        """What became known, a line for each fact that is worth one."""
        lines = []
        for fact in facts:
            kind = fact.WhichOneof("fact")
            tell = _TELL.get(kind or "")
            line = tell(self, getattr(fact, kind)) if tell and kind else ""
            if line:
                lines.append(line)
        return lines

    def ranking(self, groups: Iterable[pb.RankGroup]) -> list[str]:
        """The final places, a line for each group; tied seats share one."""
        lines, place = [], 1
        for group in groups:
            lines.append(f"{place}. {', '.join(map(self.name, group.seats))}")
            place += len(group.seats)
        return lines


def _with_cards(text: str, write: Callable[[str], str]) -> str:
    """A text whose cards are written otherwise; punctuation that follows them stays."""
    words = [(word.rstrip(",.;:)"), word) for word in text.split(" ")]
    return " ".join(write(bare) + word[len(bare) :] if is_card(bare) else word for bare, word in words)


def is_card(text: str) -> bool:
    """Whether this is a card in notation."""
    return text == JOKER or (len(text) == len("5H") and text[0] in RANKS and text[1] in SUITS)


def _round_started(words: Words, fact: pb.RoundStarted) -> str:
    dealer = f", {words.name(fact.dealer)} deals" if fact.HasField("dealer") else ""
    return f"-- {words.term('round')} {fact.round}{dealer} --"


_MOVES: Mapping[int, str] = MappingProxyType(
    {
        pb.MOVE_REASON_PLAY: "{who} plays {cards}",
        pb.MOVE_REASON_PICK_UP: "{who} picks up {cards}",
        pb.MOVE_REASON_DRAW: "{who} draws {cards}",
        pb.MOVE_REASON_PENALTY: "{who} takes {cards} as a penalty",
        pb.MOVE_REASON_SWAP: "{who} exchanges {cards}",
        pb.MOVE_REASON_KEEP: "{who} puts away {cards}",
    }
)
"""Moves that are a seat's own doing; the others are to be seen on the table."""


def _cards_moved(words: Words, fact: pb.CardsMoved) -> str:
    form = _MOVES.get(fact.reason)
    hand = next((place.hand for place in (fact.source, fact.target) if place.HasField("hand")), None)
    if form is None or hand is None:
        return ""
    cards = words.cards(fact.cards) or f"{fact.count} card{'s' * (fact.count != 1)}"
    return form.format(who=words.name(hand), cards=cards)


def _called(words: Words, fact: pb.Called) -> str:
    return f"{words.name(fact.seat)}: {words.action(fact.action) if fact.HasField('action') else 'has decided'}"


def _contract_changed(words: Words, fact: pb.ContractChanged) -> str:
    return f"contract: {contract_text(words, fact)}"


def contract_text(words: Words, contract: pb.ContractChanged) -> str:
    """What is known of a contract, in one line."""
    parts = [
        words.term(contract.name) if contract.HasField("name") else "",
        str(contract.amount) if contract.HasField("amount") else "",
        f"trump {words.suit(contract.trump)}" if contract.HasField("trump") else "",
        f"by {words.name(contract.declarer)}" if contract.HasField("declarer") else "",
        f"with {words.name(contract.partner)}" if contract.HasField("partner") else "",
    ]
    return ", ".join(part for part in parts if part)


def _trick_taken(words: Words, fact: pb.TrickTaken) -> str:
    return f"{words.name(fact.seat)} takes the trick"


def _seat_out(words: Words, fact: pb.SeatOut) -> str:
    return f"{words.name(fact.seat)} is out{f', place {fact.place}' if fact.place else ''}"


def _hand_revealed(words: Words, fact: pb.HandRevealed) -> str:
    return f"{words.name(fact.seat)} shows {words.cards(fact.cards)}" if fact.cards else ""


def _round_ended(words: Words, fact: pb.RoundEnded) -> str:
    headline, round_ = words.prose(fact.headline), f"{words.term('round')} {fact.round}"
    return headline if not headline or headline.startswith(round_) else f"{round_}: {headline}"


def _marked(words: Words, fact: pb.Marked) -> str:
    """Numbers are to be seen on the table."""
    mark = fact.mark
    if not mark.value or mark.value.removeprefix("-").isdecimal():
        return ""
    whose = f"{words.name(mark.seat)}: " if mark.HasField("seat") else ""
    return f"{whose}{words.term(mark.name)} {words.value(mark.value)}"


def _game_ended(words: Words, fact: pb.GameEnded) -> str:
    return f"the game is over: {words.term(fact.reason)}" if fact.reason else "the game is over"


_Tell: TypeAlias = Callable[[Words, Any], str]
_TELL: Mapping[str, _Tell] = MappingProxyType(
    {
        "round_started": _round_started,
        "cards_moved": _cards_moved,
        "called": _called,
        "contract_changed": _contract_changed,
        "trick_taken": _trick_taken,
        "seat_out": _seat_out,
        "hand_revealed": _hand_revealed,
        "marked": _marked,
        "round_ended": _round_ended,
        "game_ended": _game_ended,
    }
)
