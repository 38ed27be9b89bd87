"""Cards, actions and facts in words for a terminal: with suit symbols where it can write them, else in notation."""

import locale
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType

from croupier.runtime.printed_text import escaped
from croupier_api.v1 import actions_pb2, cards_pb2, facts_pb2, games_pb2, scoring_pb2
from croupier_client.cards import CardValue, SuitValue, card_text, suit_text

SYMBOLS: Mapping[str, str] = MappingProxyType({"C": "♣", "D": "♦", "H": "♥", "S": "♠"})
RANKS = "23456789TJQKA"
SUITS = "CDHS"
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
JOKER = "JK"
FEW_CARDS = 4
"""Fewer cards of a suit in a row are no suit of their own, but for example trumps of other suits."""


def can_write_symbols(encoding: str | None) -> bool:
    """Return whether the suits' symbols exist in an encoding; None means that of the locale."""
    try:
        "".join(SYMBOLS.values()).encode(encoding or locale.getpreferredencoding(False))
    except (UnicodeEncodeError, LookupError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Words:
    """The words for a table: the names of its seats, symbols or letters for suits, and the game's own terms.

    `terms` are the display names of a game: from a card in notation, a suit, a contract or another word to the term of
    its players. `deck` are the cards of the game's own deck, if it has one. `standing` is how its results count.
    """

    names: tuple[str, ...]
    symbols: bool
    terms: Mapping[str, str] = field(default_factory=dict)
    deck: Sequence[cards_pb2.CardFace] = ()
    standing: games_pb2.Standing = field(default_factory=games_pb2.Standing)

    def name(self, seat: int) -> str:
        """Return the name of a seat."""
        return self.names[seat] if seat < len(self.names) else f"seat {seat + 1}"

    def notation(self, card: CardValue) -> str:
        """Return a card in notation, for example 5H."""
        return escaped(card_text(card, self.deck))

    def card(self, card: CardValue) -> str:
        """Return a card, for example 5♥ or 5H."""
        return self._symbol(self.notation(card))

    def card_and_name(self, card: CardValue) -> str:
        """Return a card with its term, if it has one."""
        notation = self.notation(card)
        name = self.terms.get(notation)
        return self._symbol(notation) + (f" ({name})" if name else "")

    def cards(self, cards: Iterable[CardValue]) -> str:
        """Return cards in their order."""
        return " ".join(map(self.card_and_name, cards))

    def suit_of(self, card: CardValue) -> str:
        """Return the suit of a card, for comparison only."""
        for face in self.deck:
            if face.number == card:
                return face.suit
        text = self.notation(card)
        return text if text == JOKER else text[-1]

    def suit(self, suit: SuitValue) -> str:
        """Return a suit's symbol, or its letter."""
        return self._symbol(SUITS[suit - 1]) if suit else "-"

    def term(self, word: str) -> str:
        """Return a word of the game, such as a contract, a phase or a pile, as players say it."""
        return self.terms.get(word) or escaped(word.replace("_", " "))

    def pile(self, name: str, owner: int | None) -> str:
        """Return a pile, for example "melds of Ada"."""
        return self.term(name) if owner is None else f"{self.term(name)} of {self.name(owner)}"

    def value(self, text: str) -> str:
        """Return the value of a mark: a number, a word, a suit or a card."""
        return self._symbol(text) if self.is_card(text) or text in tuple(SUITS) else self.term(text)

    def prose(self, text: str) -> str:
        """Return a text of the rules, such as a headline or a note, with symbols for its cards."""
        words = [(word.rstrip(",.;:)"), word) for word in escaped(text).split(" ")]
        return " ".join(self._symbol(card) + word[len(card) :] if self.is_card(card) else word for card, word in words)

    def action(self, action: actions_pb2.Action) -> str:
        """Return an action, for example "play 5♥"; its verb is the first word."""
        return self.action_with(action, self.cards(cards_of(action)))

    def action_with(self, action: actions_pb2.Action, cards: str) -> str:
        """Return an action with a text in place of its list of cards; parts that are not chosen yet are left out."""
        match action.WhichOneof("verb"):
            case "bid":
                bid = action.bid
                return f"bid {bid.amount if bid.HasField('amount') else self.term(bid.contract)}".rstrip()
            case "keep_cards":
                suit = f", {suit_text(action.keep_cards.trump)} trump" if action.keep_cards.trump else ""
                return f"keep {cards or 'none'}{suit}"
            case "swap_cards":
                return f"swap {cards}"
            case "draw":
                return "draw" + (f" from {self.term(action.draw.pile)}" if action.draw.HasField("pile") else "")
            case "play":
                suit = f", {suit_text(action.play.suit)} ordered" if action.play.suit else ""
                return f"play {self.card_and_name(action.play.card)}{suit}"
            case "call_partner":
                called = action.call_partner
                unnamed = self.term("nobody" if called.HasField("nobody") else "unknown")
                return f"call {self.card_and_name(called.card) if called.card else unnamed}"
            case "name_trump":
                named = action.name_trump
                suit = f"{suit_text(named.trump)} " if named.trump else ""
                return f"name {suit}trump" + (" and all tricks" if named.all_tricks else "")
            case "lay":
                lay = action.lay
                meld = f" as {self.term(lay.meld)}" if lay.meld else ""
                pile = f" on {self.pile(lay.pile, lay.owner if lay.HasField('owner') else None)}" if lay.pile else ""
                return f"lay {cards}{meld}{pile}"
            case "declare_word":
                declared = action.declare_word
                amount = str(declared.amount) if declared.HasField("amount") else ""
                seat = self.name(declared.seat) if declared.HasField("seat") else ""
                return ", ".join(filter(None, (f"declare {self.term(declared.word)}", cards, amount, seat)))
            case verb:
                return _FIXED_VERBS.get(verb or "", "do nothing")

    def contract(self, contract: facts_pb2.Contract) -> str:
        """Return what is known of a contract; empty if nothing is."""
        amount = str(contract.amount) if contract.HasField("amount") else ""
        bid = " for ".join(filter(None, (self.term(contract.name) if contract.HasField("name") else "", amount)))
        suit = SUIT_NAMES[contract.trump - 1] if contract.trump else ""
        parts = [
            bid,
            f"{suit} trump" if suit and not bid else suit,
            f"by {self.name(contract.declarer)}" if contract.HasField("declarer") else "",
            f"with {self.name(contract.partner)}" if contract.HasField("partner") else "",
        ]
        return ", ".join(filter(None, parts))

    def call(self, call: facts_pb2.Call) -> str:
        """Return the action of a call, or that it is secret."""
        return self.action(call.action) if call.HasField("action") else "has decided"

    def ranking(self, groups: Iterable[facts_pb2.RankGroup]) -> list[str]:
        """Return the final places, a line for each group; tied seats share one."""
        lines, place = [], 1
        for group in groups:
            lines.append(f"{place}. {', '.join(map(self.name, group.seats))}")
            place += len(group.seats)
        return lines

    def games(self, statistics: scoring_pb2.GameStatistics) -> list[str]:
        """Return the games of a player in parts, for example "won 1 of 3", or "escaped 3 of 4 (75%)" for a share.

        Then come those that they left, and their average place, if that counts on the leaderboard.
        """
        order = self.standing.leaderboard
        # An engine of an earlier version describes no standing.
        counted, tie_breakers = order.counted or "won", order.tie_breakers or ["average_place"]
        number = statistics.outcomes.get(counted, statistics.games_won)
        share = f" ({statistics.figure.value:.0%})" if order.of else ""
        parts = [f"{self.term(counted)} {number} of {statistics.games_finished}{share}"]
        parts += [f"left {statistics.games_left}"] if statistics.games_left else []
        parts += [f"average place {statistics.average_place:.1f}"] if "average_place" in tie_breakers else []
        return parts

    def is_card(self, text: str) -> bool:
        """Return whether a text is a card in notation."""
        return _is_standard(text) or any(text == face.notation for face in self.deck)

    def _symbol(self, text: str) -> str:
        """Return a card or a suit in notation as the terminal can show it."""
        has_symbol = self.symbols and (text in SYMBOLS or (_is_standard(text) and text != JOKER))
        return text[:-1] + SYMBOLS[text[-1]] if has_symbol else text


def hand_text(words: Words, cards: Iterable[CardValue], order: Sequence[CardValue] = ()) -> str:
    """Return a hand as players hold it, for example "2♣ K♣   5♥   JK"; `order` as TableView.card_order."""
    return "   ".join(words.cards(group) for group in _grouped(words, cards, order))


def _grouped(words: Words, cards: Iterable[CardValue], order: Sequence[CardValue]) -> list[list[CardValue]]:
    """Return the cards in the given order, in groups that belong together; cards that it lacks are last, by suit."""
    groups = _groups_of(words, order)
    places = {card: (number, at) for number, group in enumerate(groups) for at, card in enumerate(group)}

    def place(card: CardValue) -> tuple[int, int]:
        # The numbers of cards ascend suit by suit.
        return places.get(card) or (len(groups), card)

    def group_of(card: CardValue) -> tuple[int, str]:
        return place(card)[0], "" if card in places else words.suit_of(card)

    return [list(group) for _, group in groupby(sorted(cards, key=place), group_of)]


def _groups_of(words: Words, order: Sequence[CardValue]) -> list[list[CardValue]]:
    """Return an order as suits; a few cards before a suit belong to it if one does, as 5S JK AH to AS KS QS TS."""
    groups: list[list[CardValue]] = []
    before: list[CardValue] = []
    for suit, run in groupby(order, words.suit_of):
        cards = list(run)
        if len(cards) < FEW_CARDS:
            before += cards
            continue
        belong = any(words.suit_of(card) == suit for card in before)
        groups += [before + cards] if belong else [before, cards]
        before = []
    return [group for group in (*groups, before) if group]


def words_of(game: games_pb2.GameDescription, names: Sequence[str], symbols: bool) -> Words:
    """Return the words for a table of a game."""
    terms = {face.notation: face.label for face in game.deck if face.label} | dict(game.display_names)
    safe_terms = {word: escaped(term) for word, term in terms.items()}
    return Words(tuple(map(escaped, names)), symbols, safe_terms, game.deck, game.standing)


def cards_of(action: actions_pb2.Action) -> Sequence[CardValue]:
    """Return the list of cards of an action; empty for one without."""
    verb = action.WhichOneof("verb")
    return getattr(action, verb).cards if verb in ("keep_cards", "swap_cards", "lay", "declare_word") else ()


def _is_standard(text: str) -> bool:
    return text == JOKER or (len(text) == len("5H") and text[0] in RANKS and text[1] in SUITS)


_FIXED_VERBS: Mapping[str, str] = MappingProxyType(
    {
        "pass_turn": "pass",
        "match_bid": "match",
        "yield_bid": "yield",
        "keep_bid": "keep the bid",
        "stand_pat": "swap none",
        "throw_down": "throw down",
    }
)
"""The verbs without parts."""
