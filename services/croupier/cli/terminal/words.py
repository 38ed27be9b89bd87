"""Cards, values and actions in words for a terminal: with suit symbols where it can write them, else in notation."""

import locale
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import MappingProxyType

from croupier.cli.terminal.texts import Texts
from croupier.runtime.printed_text import escaped
from croupier_api.v1 import actions_pb2, cards_pb2, facts_pb2, games_pb2, scoring_pb2
from croupier_client.cards import CardValue, SuitValue, card_text

SYMBOLS: Mapping[str, str] = MappingProxyType({"C": "♣", "D": "♦", "H": "♥", "S": "♠"})
RANKS = "23456789TJQKA"
SUITS = "CDHS"
JOKER = "JK"
NOTHING = "–"
"""Stands for an empty list."""
FEW_CARDS = 4
"""Fewer cards of a suit in a row are no suit of their own, but for example trumps of other suits."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def can_write_symbols(encoding: str | None) -> bool:
    """Return whether the suits' symbols exist in an encoding; None means that of the locale."""
    try:
        "".join(SYMBOLS.values()).encode(encoding or locale.getpreferredencoding(False))
    except (UnicodeEncodeError, LookupError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Words:
    """The words for a table: the names of its seats, symbols or letters for suits, and the texts of the game.

    `texts` are those of the terminal; `words` those of the game by kind and word. `deck` are the cards of the game's
    own deck, if it has one. `standing` is how its results count, `piles` describes its piles, by role.
    """

    names: tuple[str, ...]
    symbols: bool
    texts: Texts = field(default_factory=Texts)
    words: Mapping[tuple[int, str], str] = field(default_factory=dict)
    deck: Sequence[cards_pb2.CardFace] = ()
    standing: games_pb2.Standing = field(default_factory=games_pb2.Standing)
    piles: Sequence[games_pb2.PileDescription] = ()
    has_tricks: bool = False

    @property
    def in_english(self) -> "Words":
        """The same words with the texts of the terminal in English, which a person may type in every language."""
        return replace(self, texts=Texts())

    def tr(self, english: str, /, **values: object) -> str:
        """Return a text of the terminal in its language."""
        return self.texts.tr(english, **values)

    def name(self, seat: int) -> str:
        """Return the name of a seat."""
        return self.names[seat] if seat < len(self.names) else self.tr("seat {number}", number=seat + 1)

    def notation(self, card: CardValue) -> str:
        """Return a card in notation, for example 5H."""
        return escaped(card_text(card, self.deck))

    def card(self, card: CardValue) -> str:
        """Return a card, for example 5♥ or 5H."""
        return self._symbol(self.notation(card))

    def card_and_name(self, card: CardValue) -> str:
        """Return a card with its name, if it has one."""
        notation = self.notation(card)
        name = self.card_name(notation)
        return self._symbol(notation) + (f" ({name})" if name else "")

    def card_name(self, notation: str) -> str:
        """Return the name of a card, for example "the Old"; empty for one without."""
        return next((name for card, name in self.card_names() if card == notation), "")

    def card_names(self) -> Iterable[tuple[str, str]]:
        """Yield each card that has a name, in notation, and its name."""
        for face in self.deck:
            yield face.notation, escaped(face.label)
        for (kind, word), text in self.words.items():
            if kind == games_pb2.WORD_KIND_CARD:
                yield word, text

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
        if not suit:
            return self.tr("no trump")
        return self._symbol(SUITS[suit - 1]) if suit <= len(SUITS) else self.tr("unknown")

    def word(self, kind: games_pb2.WordKind.ValueType, word: str) -> str:
        """Return the text of a word of the game; one that the game does not describe as it is."""
        return self.words.get((kind, word)) or escaped(word.replace("_", " "))

    @property
    def round(self) -> str:
        """The word for a round, for example "hand"."""
        return self.word(games_pb2.WORD_KIND_TERM, "round")

    def pile(self, name: str, owner: int | None) -> str:
        """Return a pile, for example "melds of Ada"."""
        pile = self.word(games_pb2.WORD_KIND_PILE, name)
        return pile if owner is None else self.tr("{pile} ({seat})", pile=pile, seat=self.name(owner))

    def mark(self, mark: facts_pb2.Mark) -> str:
        """Return a mark or a detail without its seat, for example "trump: ♥"."""
        return f"{self.word(games_pb2.WORD_KIND_MARK, mark.name)}: {self.value(mark.value)}"

    def value(self, value: facts_pb2.Value) -> str:
        """Return a value by its kind."""
        match value.WhichOneof("value"):
            case "number":
                return str(value.number)
            case "word":
                return self.word(games_pb2.WORD_KIND_VALUE, value.word)
            case "seat":
                return self.name(value.seat)
            case "seats":
                return ", ".join(map(self.name, value.seats.seats)) or NOTHING
            case "suit":
                return self.suit(value.suit) if value.suit else NOTHING
            case "cards":
                return self.cards(value.cards.cards) or NOTHING
            case "points":
                return ", ".join(f"{self.name(seat)} {points}" for seat, points in enumerate(value.points.points))
        return self.tr("unknown")

    def phrases(self, phrases: Iterable[facts_pb2.Phrase]) -> str:
        """Return phrases, such as those of a headline, joined by commas."""
        return ", ".join(map(self._phrase, phrases))

    def _phrase(self, phrase: facts_pb2.Phrase) -> str:
        values = {parameter.name: self.value(parameter.value) for parameter in phrase.parameters}
        text = self.words.get((games_pb2.WORD_KIND_PHRASE, phrase.word))
        if text is None:
            return " ".join([escaped(phrase.word.replace("_", " ")), *values.values()])
        return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)

    def move(self, word: str, seat: str, cards: str) -> str:
        """Return a move that the game has a word for; empty if it does not describe the word."""
        text = self.words.get((games_pb2.WORD_KIND_CARD_MOVE, word), "")
        return _PLACEHOLDER.sub(lambda found: {"seat": seat, "cards": cards}.get(found[1], found[0]), text)

    def rule(self, rule: str) -> str:
        """Return the refusal by a rule; empty for one that the game does not describe."""
        return self.words.get((games_pb2.WORD_KIND_RULE, rule), "")

    def action(self, action: actions_pb2.Action) -> str:
        """Return an action, for example "play 5♥"; its verb is the first word."""
        return self.action_with(action, self.cards(cards_of(action)))

    def action_with(self, action: actions_pb2.Action, cards: str) -> str:
        """Return an action with a text in place of its list of cards; parts that are not chosen yet are left out."""
        match action.WhichOneof("verb"):
            case "bid":
                return self.tr("bid {bid}", bid=self._bid(action.bid)).rstrip()
            case "keep_cards":
                trump = action.keep_cards.trump
                return self._listed(self.tr("keep {cards}", cards=cards or self.tr("none")), self._trump(trump))
            case "swap_cards":
                return self.tr("swap {cards}", cards=cards).rstrip()
            case "draw":
                if not action.draw.HasField("pile"):
                    return self.tr("draw")
                return self.tr("draw from {pile}", pile=self.pile(action.draw.pile, None))
            case "play":
                suit = self.tr("order {suit}", suit=self.suit(action.play.suit)) if action.play.suit else ""
                return self._listed(self.tr("play {card}", card=self.card_and_name(action.play.card)), suit)
            case "call_partner":
                called = action.call_partner
                unnamed = "nobody" if called.HasField("nobody") else "unknown"
                word = self.word(games_pb2.WORD_KIND_VALUE, unnamed)
                return self.tr("call {card}", card=self.card_and_name(called.card) if called.card else word)
            case "name_trump":
                named = action.name_trump
                suit = self.suit(named.trump) if named.trump else ""
                all_tricks = self.tr("all tricks") if named.all_tricks else ""
                return self._listed(self.tr("name trump {suit}", suit=suit).rstrip(), all_tricks)
            case "lay":
                return self._lay(action.lay, cards)
            case "declare_word":
                return self._declaration(action.declare_word, cards)
            case verb:
                return self._verb(verb)

    def _verb(self, verb: str | None) -> str:
        """Return an action without parts."""
        match verb:
            case "pass_turn":
                return self.tr("pass")
            case "match_bid":
                return self.tr("match")
            case "yield_bid":
                return self.tr("yield")
            case "keep_bid":
                return self.tr("keep the bid")
            case "stand_pat":
                return self.tr("swap none")
            case "throw_down":
                return self.tr("throw down")
        return self.tr("unknown")

    def _bid(self, bid: actions_pb2.BidAction) -> str:
        return str(bid.amount) if bid.HasField("amount") else self.word(games_pb2.WORD_KIND_CONTRACT, bid.contract)

    def _lay(self, lay: actions_pb2.LayAction, cards: str) -> str:
        meld = self.word(games_pb2.WORD_KIND_MELD, lay.meld) if lay.meld else ""
        pile = self.pile(lay.pile, lay.owner if lay.HasField("owner") else None)
        target = self.tr("on {pile}", pile=pile) if lay.pile else ""
        return self._listed(self.tr("lay {cards}", cards=cards).rstrip(), meld, target)

    def _declaration(self, declared: actions_pb2.DeclareAction, cards: str) -> str:
        amount = str(declared.amount) if declared.HasField("amount") else ""
        seat = self.name(declared.seat) if declared.HasField("seat") else ""
        word = self.word(games_pb2.WORD_KIND_CALL, declared.word)
        return self._listed(word, cards, amount, seat)

    def _trump(self, suit: SuitValue) -> str:
        return self.tr("trump {suit}", suit=self.suit(suit)) if suit else ""

    def contract(self, contract: facts_pb2.Contract) -> str:
        """Return what is known of a contract; empty if nothing is."""
        declarer = self.word(games_pb2.WORD_KIND_TERM, "declarer")
        partner = self.word(games_pb2.WORD_KIND_TERM, "partner")
        name = self.word(games_pb2.WORD_KIND_CONTRACT, contract.name) if contract.HasField("name") else ""
        amount = str(contract.amount) if contract.HasField("amount") else ""
        return self._listed(
            ": ".join(filter(None, (name, amount))),
            self.tr("trump {suit}", suit=self.suit(contract.trump)) if contract.trump else "",
            self.tr("no trump") if contract.HasField("trump") and not contract.trump else "",
            f"{declarer}: {self.name(contract.declarer)}" if contract.HasField("declarer") else "",
            f"{partner}: {self.name(contract.partner)}" if contract.HasField("partner") else "",
        )

    def call(self, call: facts_pb2.Call) -> str:
        """Return a call as its seat says it: a bid without its verb; or that it is secret."""
        if not call.HasField("action"):
            return self.tr("has decided")
        return self._bid(call.action.bid) if call.action.HasField("bid") else self.action(call.action)

    def ranking(self, groups: Iterable[facts_pb2.RankGroup]) -> list[str]:
        """Return the final places, a line for each group; tied seats share one."""
        lines, place = [], 1
        for group in groups:
            lines.append(f"{place}. {', '.join(map(self.name, group.seats))}")
            place += len(group.seats)
        return lines

    def games(self, statistics: scoring_pb2.GameStatistics) -> list[str]:
        """Return the games of a player in parts, for example "games: 4" and "won: 3 (75%)".

        Then come those that they left, and their average place, if that counts on the leaderboard.
        """
        order = self.standing.leaderboard
        # An engine of an earlier version describes no standing.
        counted, tie_breakers = order.counted or "won", order.tie_breakers or ["average_place"]
        number = statistics.outcomes.get(counted, statistics.games_won)
        share = statistics.figure.value if order.of else statistics.win_rate
        outcome = self.word(games_pb2.WORD_KIND_OUTCOME, counted)
        parts = [self.tr("games: {count}", count=statistics.games_finished), f"{outcome}: {number} ({share:.0%})"]
        parts += [self.tr("left: {count}", count=statistics.games_left)] if statistics.games_left else []
        place = f"{statistics.average_place:.1f}"
        has_place = statistics.games_finished and "average_place" in tie_breakers
        parts += [self.tr("average place: {place}", place=place)] if has_place else []
        return parts

    def is_card(self, text: str) -> bool:
        """Return whether a text is a card in notation."""
        return _is_standard(text) or any(text == face.notation for face in self.deck)

    def _listed(self, *parts: str) -> str:
        return ", ".join(filter(None, parts))

    def _symbol(self, text: str) -> str:
        """Return a card or a suit in notation as the terminal can show it."""
        has_symbol = self.symbols and (text in SYMBOLS or (_is_standard(text) and text != JOKER))
        return text[:-1] + SYMBOLS[text[-1]] if has_symbol else text


def hand_text(
    words: Words, cards: Iterable[CardValue], order: Sequence[CardValue] = (), *, by_rank: bool = False
) -> str:
    """Return a hand as players hold it, for example "2♣ K♣   5♥   JK"; `order` as TableView.card_order.

    With `by_rank` cards of one rank stand together, for example "5♣ 5♥   K♣".
    """
    groups = _grouped(words, cards, order)
    if by_rank:
        ranked = sorted(cards, key=lambda card: (_rank(words, card), card))
        groups = [list(run) for _, run in groupby(ranked, lambda card: _rank(words, card))]
    return "   ".join(words.cards(group) for group in groups)


def _rank(words: Words, card: CardValue) -> int:
    """Return the place of a card's rank among all ranks; that of a game's own deck by its first card of the rank."""
    faces = [face.rank for face in words.deck]
    own = next((face.rank for face in words.deck if face.number == card), None)
    if own is not None:
        return faces.index(own)
    rank = words.notation(card)[0]
    return len(RANKS) if words.notation(card) == JOKER else RANKS.find(rank)


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


def words_of(game: games_pb2.GameDescription, names: Sequence[str], symbols: bool, texts: Texts | None = None) -> Words:
    """Return the words for a table of a game, in the language of `texts`, by default English."""
    return Words(
        tuple(map(escaped, names)),
        symbols,
        texts or Texts(),
        {(word.kind, word.word): escaped(word.text) for word in game.words},
        game.deck,
        game.standing,
        game.piles,
        game.has_tricks,
    )


def cards_of(action: actions_pb2.Action) -> Sequence[CardValue]:
    """Return the list of cards of an action; empty for one without."""
    verb = action.WhichOneof("verb")
    return getattr(action, verb).cards if verb in ("keep_cards", "swap_cards", "lay", "declare_word") else ()


def _is_standard(text: str) -> bool:
    return text == JOKER or (len(text) == len("5H") and text[0] in RANKS and text[1] in SUITS)
