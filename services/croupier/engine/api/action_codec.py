"""The contract's messages of actions and legal actions, and the values of the games.

In the contract card and suit numbers are one higher, since 0 means none.
"""

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from croupier.games import actions
from croupier.games.actions import Action
from croupier.games.cards import CardFace
from croupier.games.choices import ActionChoice
from croupier.games.interface import Legal
from croupier.runtime.errors import MalformedRequest
from croupier.runtime.field_rules import rule_of
from croupier_api.v1 import actions_pb2, cards_pb2, errors_pb2

# Longer words cannot be known, and a refusal that repeats them would be too long to send.
MAX_WORD_CHARACTERS = rule_of(actions_pb2.DeclareAction.DESCRIPTOR, "word").max_length
MAX_CARDS = rule_of(actions_pb2.DeclareAction.DESCRIPTOR, "cards").max_items


def decode_action(message: actions_pb2.Action, deck: tuple[CardFace, ...] = ()) -> Action:
    """Return the action of a message; `deck` is that of the game.

    Raises MalformedRequest for an action without verb, without a required part, or with a card, suit or word that
    cannot exist.
    """
    verb = message.WhichOneof("verb")
    if verb is None:
        raise _invalid("action", "invalid action: expected exactly one verb")
    if verb == "play" and not message.play.suit and (plain := _PLAIN_PLAYS.get(message.play.card)):
        # Nearly all actions of trick-taking games.
        return plain
    if verb in _FIXED:
        return _FIXED[verb]
    return _DECODERS[verb](getattr(message, verb), _Part(f"action.{verb}", _own_numbers(deck)))


@lru_cache(maxsize=16)
def _own_numbers(deck: tuple[CardFace, ...]) -> frozenset[int]:
    return frozenset(face.card + 1 for face in deck)


def _invalid(field: str, message: str) -> MalformedRequest:
    return MalformedRequest(errors_pb2.ERROR_REASON_INVALID_ACTION, message, field=field)


class _Part(NamedTuple):
    """A part of an action by its path, and the numbers of the cards that only its game has."""

    path: str
    own_numbers: frozenset[int]

    def of(self, name: str) -> "_Part":
        return self._replace(path=f"{self.path}.{name}")

    def card(self, number: int) -> int:
        if not 1 <= number <= cards_pb2.CARD_JOKER and number not in self.own_numbers:
            raise _invalid(self.path, f"invalid card {number}: expected the number of a card of this game")
        return number - 1

    def cards(self, numbers: Collection[int], min_cards: int = 0) -> tuple[int, ...]:
        if not min_cards <= len(numbers) <= MAX_CARDS:
            raise _invalid(self.path, f"invalid number of cards {len(numbers)}: expected {min_cards} to {MAX_CARDS}")
        return tuple(map(self.card, numbers))

    def suit(self, number: int) -> int:
        if not 1 <= number <= cards_pb2.SUIT_SPADES:
            raise _invalid(self.path, f"invalid suit {number}: expected 1 to {cards_pb2.SUIT_SPADES}")
        return number - 1

    def word(self, text: str, min_characters: int = 1) -> str:
        if not min_characters <= len(text) <= MAX_WORD_CHARACTERS:
            expected = f"{min_characters} to {MAX_WORD_CHARACTERS} characters"
            raise _invalid(self.path, f"invalid word of {len(text)} characters: expected {expected}")
        return text


def _decode_bid(bid: actions_pb2.BidAction, part: _Part) -> Action:
    match bid.WhichOneof("bid"):
        case "amount":
            return actions.Bid(bid.amount)
        case "contract":
            return actions.Bid(part.of("contract").word(bid.contract))
    raise _invalid(part.path, "invalid bid: expected an amount or a contract")


def _decode_play(play: actions_pb2.PlayAction, part: _Part) -> Action:
    card = part.of("card").card(play.card)
    return actions.Play(card, part.of("suit").suit(play.suit) if play.suit else None)


def _decode_keep_cards(keep: actions_pb2.KeepCardsAction, part: _Part) -> Action:
    return actions.KeepCards(part.of("cards").cards(keep.cards), part.of("trump").suit(keep.trump))


def _decode_draw(draw: actions_pb2.DrawAction, part: _Part) -> Action:
    return actions.Draw(part.of("pile").word(draw.pile) if draw.HasField("pile") else None)


def _decode_call_partner(call: actions_pb2.CallPartnerAction, part: _Part) -> Action:
    match call.WhichOneof("partner"):
        case "card":
            return actions.CallPartner(part.of("card").card(call.card))
        case "unnamed":
            return actions.CallPartner(None)
        case "nobody":
            return actions.CallNobody()
    raise _invalid(part.path, "invalid call_partner: expected a card, unnamed or nobody")


def _decode_lay(lay: actions_pb2.LayAction, part: _Part) -> Action:
    return actions.Lay(
        part.of("cards").cards(lay.cards, min_cards=1),
        part.of("meld").word(lay.meld, min_characters=0),
        part.of("pile").word(lay.pile, min_characters=0),
        lay.owner if lay.HasField("owner") else None,
    )


def _decode_declare(declare: actions_pb2.DeclareAction, part: _Part) -> Action:
    return actions.Declare(
        part.of("word").word(declare.word),
        declare.seat if declare.HasField("seat") else None,
        declare.amount if declare.HasField("amount") else None,
        part.of("cards").cards(declare.cards),
    )


_FIXED: dict[str, Action] = {
    "pass_turn": actions.Pass(),
    "match_bid": actions.MatchBid(),
    "yield_bid": actions.YieldBid(),
    "keep_bid": actions.KeepBid(),
    "stand_pat": actions.StandPat(),
    "throw_down": actions.ThrowDown(),
}
"""The actions without parts, by verb."""
_PLAIN_PLAYS = dict(enumerate(actions.PLAYS, 1))
"""The plays without suit, by the number of the card."""
_FIXED_VERBS = {type(action): verb for verb, action in _FIXED.items()}
_DECODERS: dict[str, Callable[[Any, _Part], Action]] = {
    "bid": _decode_bid,
    "keep_cards": _decode_keep_cards,
    "swap_cards": lambda swap, part: actions.SwapCards(part.of("cards").cards(swap.cards, min_cards=1)),
    "draw": _decode_draw,
    "play": _decode_play,
    "call_partner": _decode_call_partner,
    "name_trump": lambda named, part: actions.NameTrump(part.of("trump").suit(named.trump), named.all_tricks),
    "lay": _decode_lay,
    "declare_word": _decode_declare,
}


@lru_cache(maxsize=4096)
def encode_action(action: Action) -> actions_pb2.Action:
    """Return the message of an action; it is shared and must not be changed."""
    message = actions_pb2.Action()
    match action:
        case actions.Play(card, suit):
            message.play.CopyFrom(actions_pb2.PlayAction(card=encode_card(card), suit=encode_suit(suit)))
        case actions.Bid(int(amount)):
            message.bid.amount = amount
        case actions.Bid(str(contract)):
            message.bid.contract = contract
        case actions.KeepCards(cards, trump):
            message.keep_cards.CopyFrom(
                actions_pb2.KeepCardsAction(cards=encode_cards(cards), trump=encode_suit(trump))
            )
        case actions.SwapCards(cards):
            message.swap_cards.CopyFrom(actions_pb2.SwapCardsAction(cards=encode_cards(cards)))
        case actions.Draw(pile):
            message.draw.CopyFrom(actions_pb2.DrawAction(pile=pile))
        case actions.CallPartner() | actions.CallNobody():
            message.call_partner.CopyFrom(_encode_call_partner(action))
        case actions.NameTrump(trump, all_tricks):
            message.name_trump.CopyFrom(actions_pb2.NameTrumpAction(trump=encode_suit(trump), all_tricks=all_tricks))
        case actions.Lay(cards, meld, pile, owner):
            message.lay.CopyFrom(actions_pb2.LayAction(cards=encode_cards(cards), meld=meld, pile=pile, owner=owner))
        case actions.Declare(word, seat, amount, cards):
            declared = actions_pb2.DeclareAction(word=word, seat=seat, amount=amount, cards=encode_cards(cards))
            message.declare_word.CopyFrom(declared)
        case _:
            getattr(message, _FIXED_VERBS[type(action)]).SetInParent()
    return message


def _encode_call_partner(call: actions.CallPartner | actions.CallNobody) -> actions_pb2.CallPartnerAction:
    message = actions_pb2.CallPartnerAction
    if isinstance(call, actions.CallNobody):
        return message(nobody=message.Nobody())
    if call.card is None:
        return message(unnamed=message.Unnamed())
    return message(card=encode_card(call.card))


def encode_card(card: int) -> cards_pb2.Card.ValueType:
    """Return the contract's number of a card."""
    return cards_pb2.Card.ValueType(card + 1)


def encode_cards(cards: Iterable[int]) -> list[cards_pb2.Card.ValueType]:
    """Return the contract's numbers of cards."""
    return [cards_pb2.Card.ValueType(card + 1) for card in cards]


def encode_suit(suit: int | None) -> cards_pb2.Suit.ValueType:
    """Return the contract's number of a suit; SUIT_UNSPECIFIED for None, UNCHOSEN and NO_TRUMP."""
    return cards_pb2.Suit.ValueType(0 if suit is None else suit + 1)


def encode_legal(legal: Legal) -> actions_pb2.LegalActions:
    """Return the message of legal actions."""
    listed = [encode_action(action) for action in legal.actions]
    return actions_pb2.LegalActions(actions=listed, choices=[_encode_choice(choice) for choice in legal.choices])


def _encode_choice(choice: ActionChoice) -> actions_pb2.ActionChoice:
    message = actions_pb2.ActionChoice(
        action=encode_action(choice.action), suits=map(encode_suit, choice.suits), seats=choice.seats
    )
    if choice.cards is not None:
        cards, min_cards, max_cards = choice.cards
        message.cards.CopyFrom(
            actions_pb2.CardChoice(cards=encode_cards(cards), min_cards=min_cards, max_cards=max_cards)
        )
    if choice.amount is not None:
        min_amount, max_amount, step = choice.amount
        message.amount.CopyFrom(actions_pb2.AmountChoice(min_amount=min_amount, max_amount=max_amount, step=step))
        if isinstance(choice.action, actions.Bid):
            message.action.bid.ClearField("bid")
    return message
