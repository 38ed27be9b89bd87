"""A bot of a game on the side of a client: it decides by the view that the client folded."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

from croupier.cli.options import game_named
from croupier.engine.api.action_codec import decode_action, encode_action
from croupier.engine.api.table_codec import decode_options
from croupier.games.actions import UNCHOSEN, Action, Bid, Play
from croupier.games.cards import Card, CardFace
from croupier.games.choices import ActionChoice, AmountChoice, CardChoice
from croupier.games.facts import Call, Contract, Mark, Pile, PileCard, SeatView, View
from croupier.games.interface import Bot, Legal, Observation, completed_options
from croupier.games.values import (
    CardsValue,
    NumberValue,
    PointsValue,
    SeatsValue,
    SeatValue,
    SuitValue,
    Value,
    WordValue,
)
from croupier_api.v1 import actions_pb2, facts_pb2, tables_pb2
from croupier_client.cards import CardValue
from croupier_client.choices import complete_choice
from croupier_client.table import FollowedTable


class BotPlayer:
    """Plays one seat of one table as the first bot of the game does, with a random source of its own."""

    def __init__(self, table: tables_pb2.PlayedTable, random: Random) -> None:
        game = game_named(table.game)
        self._bot: Bot = next(iter(game.bots.values()))
        self._deck = game.deck
        # An engine that does not know all options yet names those that it knows.
        self._options = completed_options(game, len(table.seats), decode_options(table.options))
        self._random = random

    def decide(self, table: FollowedTable) -> actions_pb2.Action:
        """Return an action; raises ValueError if there is nothing to decide."""
        if table.seat is None:
            raise ValueError("a spectator has nothing to decide")
        view, legal = decode_view(table.view, self._deck), decode_legal(table.legal_actions, self._deck)
        observation = Observation(table.seat, self._options, view, legal)
        return encode_action(self._bot(observation, self._random.randrange))


def decode_view(view: facts_pb2.TableView, deck: tuple[CardFace, ...] = ()) -> View:
    """Return a view as the rules have it; `deck` is that of the game."""
    return View(
        round_number=view.round,
        phase=view.phase,
        dealer=view.dealer if view.HasField("dealer") else None,
        seats=tuple(map(_decode_seat, view.seats)),
        piles=tuple(map(_decode_pile, view.piles)),
        calls=tuple(_decode_call(call, deck) for call in view.calls),
        contract=_decode_contract(view.contract),
        marks=tuple(map(_decode_mark, view.marks)),
        card_order=_decode_cards(view.card_order),
        seats_to_act=tuple(view.seats_to_act),
        ranking=tuple(tuple(group.seats) for group in view.ranking),
    )


def decode_legal(legal: actions_pb2.LegalActions, deck: tuple[CardFace, ...] = ()) -> Legal:
    """Return legal actions as the rules have them; `deck` is that of the game."""
    actions = tuple(decode_action(action, deck) for action in legal.actions)
    return Legal(actions, tuple(_decode_choice(choice, deck) for choice in legal.choices))


def _decode_choice(choice: actions_pb2.ActionChoice, deck: tuple[CardFace, ...]) -> ActionChoice:
    """Decode a choice by any action that completes it, without the chosen parts of that."""
    cards, amount = choice.cards, choice.amount
    example = complete_choice(
        choice,
        cards=cards.cards[: cards.max_cards],
        suit=choice.suits[0] if choice.suits else None,
        amount=amount.min_amount if choice.HasField("amount") else None,
        seat=choice.seats[0] if choice.seats else None,
    )
    return ActionChoice(
        _without_chosen_parts(decode_action(example, deck), choice),
        CardChoice(_decode_cards(cards.cards), cards.min_cards, cards.max_cards) if choice.HasField("cards") else None,
        tuple(suit - 1 for suit in choice.suits),
        AmountChoice(amount.min_amount, amount.max_amount, amount.step) if choice.HasField("amount") else None,
        tuple(choice.seats),
    )


def _without_chosen_parts(action: Action, choice: actions_pb2.ActionChoice) -> Action:
    unchosen: dict[str, Any] = {}
    if choice.HasField("cards"):
        unchosen["cards"] = ()
    if choice.suits:
        unchosen |= {"suit": None} if isinstance(action, Play) else {"trump": UNCHOSEN}
    if choice.HasField("amount"):
        unchosen |= {"bid": UNCHOSEN} if isinstance(action, Bid) else {"amount": None}
    if choice.seats:
        unchosen["seat"] = None
    return replace(action, **unchosen)


def _decode_cards(cards: Iterable[CardValue]) -> tuple[Card, ...]:
    """Return cards as the rules number them: in the contract cards and suits count from 1."""
    return tuple(card - 1 for card in cards)


def _decode_seat(seat: facts_pb2.SeatView) -> SeatView:
    place = seat.place if seat.HasField("place") else None
    cards, known = _decode_cards(seat.cards), _decode_cards(seat.known_cards)
    return SeatView(seat.card_count, cards, seat.score, seat.tricks_taken, seat.is_out, place, known)


def _decode_pile(pile: facts_pb2.Pile) -> Pile:
    cards = tuple(PileCard(laid.card - 1, laid.seat if laid.HasField("seat") else None) for laid in pile.cards)
    return Pile(pile.name, pile.count, cards, pile.owner if pile.HasField("owner") else None, pile.face_down)


def _decode_call(call: facts_pb2.Call, deck: tuple[CardFace, ...]) -> Call:
    return Call(call.seat, decode_action(call.action, deck) if call.HasField("action") else None)


def _decode_mark(mark: facts_pb2.Mark) -> Mark:
    value = _decode_value(mark.value) if mark.value.WhichOneof("value") else None
    return Mark(mark.name, mark.seat if mark.HasField("seat") else None, value)


def _decode_value(value: facts_pb2.Value) -> Value:
    match value.WhichOneof("value"):
        case "number":
            return NumberValue(value.number)
        case "word":
            return WordValue(value.word)
        case "seat":
            return SeatValue(value.seat)
        case "seats":
            return SeatsValue(tuple(value.seats.seats))
        case "suit":
            return SuitValue(value.suit - 1)
        case "cards":
            return CardsValue(_decode_cards(value.cards.cards))
        case _:
            return PointsValue(tuple(value.points.points))


def _decode_contract(contract: facts_pb2.Contract) -> Contract:
    return Contract(
        declarer=contract.declarer if contract.HasField("declarer") else None,
        partner=contract.partner if contract.HasField("partner") else None,
        name=contract.name if contract.HasField("name") else None,
        amount=contract.amount if contract.HasField("amount") else None,
        trump=contract.trump - 1 if contract.HasField("trump") else None,
    )
