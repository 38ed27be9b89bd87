"""Between the contract's messages and plain values: actions, options, clocks, tables."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from croupier.engine.log import ClockConfig, SeatConfig, TableConfig
from croupier.games import actions
from croupier.games.actions import Action
from croupier.games.catalogue import bots_of
from croupier.games.interface import CardChoice, Game, Legal, Option, OptionValue
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1 import cards_pb2, engine_pb2, table_pb2

HIGHEST_CARD = cards_pb2.CARD_JK
# What is longer can be nothing known, and would make a refusal that repeats it too long to be sent.
LONGEST_WORD_CHARACTERS = 64
MOST_CARDS = 2 * HIGHEST_CARD


def malformed(field: str, message: str) -> MalformedRequest:
    return MalformedRequest("MALFORMED_ACTION", message, field=field)


# Actions. In the contract card and suit numbers are one higher, since 0 means none.


def decode_action(message: table_pb2.Action) -> Action:
    """The action of a message; raises MalformedRequest for none, or one with impossible cards or suits."""
    verb = message.WhichOneof("verb")
    if verb is None:
        raise malformed("action", "the action has no verb that is known here: set exactly one")
    return _DECODERS[verb](getattr(message, verb))


def _card(number: int) -> int:
    if not 1 <= number <= HIGHEST_CARD:
        raise malformed("action.card", f"{number} is not the number of a card: 1 to {HIGHEST_CARD} is")
    return number - 1


def _cards(numbers: Collection[int]) -> tuple[int, ...]:
    if len(numbers) > MOST_CARDS:
        raise malformed("action.cards", f"{len(numbers)} cards are more than any hand: {MOST_CARDS} at most")
    return tuple(map(_card, numbers))


def _suit(number: int) -> int:
    if not 1 <= number <= cards_pb2.SUIT_SPADES:
        raise malformed("action.suit", f"{number} is not the number of a suit: 1 to {cards_pb2.SUIT_SPADES} is")
    return number - 1


def _decode_bid(bid: table_pb2.BidAction) -> Action:
    kind = bid.WhichOneof("bid")
    if kind is None:
        raise malformed("action.bid", "the bid has neither an amount nor a contract")
    if len(bid.contract) > LONGEST_WORD_CHARACTERS:
        raise malformed("action.bid.contract", f"a contract has {LONGEST_WORD_CHARACTERS} characters at most")
    return actions.Bid(bid.amount if kind == "amount" else bid.contract)


def _decode_play(play: table_pb2.PlayAction) -> Action:
    if play.suit:
        return actions.Play(_card(play.card), _suit(play.suit))
    return actions.PLAYS[_card(play.card)]


def _decode_keep(keep: table_pb2.KeepAction) -> Action:
    return actions.Keep(_cards(keep.cards), _suit(keep.trump) if keep.trump else None)


_DECODERS: dict[str, Callable[[Any], Action]] = {
    "bid": _decode_bid,
    "pass": lambda _: actions.Pass(),
    "match": lambda _: actions.Match(),
    "yield": lambda _: actions.Yield(),
    "keep": _decode_keep,
    "swap": lambda swap: actions.Swap(_cards(swap.cards)),
    "draw": lambda _: actions.Draw(),
    "play": _decode_play,
    "call": lambda call: actions.Call(_card(call.card) if call.card else None),
    "name_trump": lambda named: actions.NameTrump(_suit(named.trump), named.do),
    "throw_down": lambda _: actions.ThrowDown(),
}


@lru_cache(maxsize=4096)
def encode_action(action: Action) -> table_pb2.Action:
    """The message of an action; shared, not to be changed."""
    match action:
        case actions.Play(card, suit):
            play = table_pb2.PlayAction(card=encode_card(card), suit=encode_suit(suit))
            return table_pb2.Action(play=play)
        case actions.Bid(bid):
            made = table_pb2.BidAction(amount=bid) if isinstance(bid, int) else table_pb2.BidAction(contract=bid)
            return table_pb2.Action(bid=made)
        case actions.Keep(kept, trump):
            keep = table_pb2.KeepAction(cards=encode_cards(kept), trump=encode_suit(trump))
            return table_pb2.Action(keep=keep)
        case actions.Swap(given):
            return table_pb2.Action(swap=table_pb2.SwapAction(cards=encode_cards(given)))
        case actions.Call(called):
            card = cards_pb2.CARD_UNSPECIFIED if called is None else encode_card(called)
            return table_pb2.Action(call=table_pb2.CallAction(card=card))
        case actions.NameTrump(trump, do):
            named = table_pb2.NameTrumpAction(trump=encode_suit(trump), do=do)
            return table_pb2.Action(name_trump=named)
        case _:
            return _bare_action(action)


def _bare_action(action: Action) -> table_pb2.Action:
    message = table_pb2.Action()
    getattr(message, _BARE_VERBS[type(action)]).SetInParent()
    return message


_BARE_VERBS: dict[type[Action], str] = {
    actions.Pass: "pass",
    actions.Match: "match",
    actions.Yield: "yield",
    actions.Draw: "draw",
    actions.ThrowDown: "throw_down",
}


def encode_card(card: int) -> cards_pb2.Card.ValueType:
    """The contract's number of a card."""
    return cards_pb2.Card.ValueType(card + 1)


def encode_cards(cards: Iterable[int]) -> list[cards_pb2.Card.ValueType]:
    """The contract's numbers of cards."""
    return [cards_pb2.Card.ValueType(card + 1) for card in cards]


def encode_suit(suit: int | None) -> cards_pb2.Suit.ValueType:
    """The contract's number of a suit, unspecified for None."""
    return cards_pb2.Suit.ValueType(0 if suit is None else suit + 1)


def encode_legal(legal: Legal) -> table_pb2.LegalActions:
    """What a seat may do."""
    listed = [encode_action(action) for action in legal.actions]
    return table_pb2.LegalActions(actions=listed, choices=[_encode_choice(choice) for choice in legal.choices])


def _encode_choice(choice: CardChoice) -> table_pb2.CardChoice:
    verb = table_pb2.CARD_CHOICE_VERB_KEEP if choice.verb is actions.Keep else table_pb2.CARD_CHOICE_VERB_SWAP
    return table_pb2.CardChoice(
        verb=verb,
        cards=encode_cards(choice.cards),
        min_cards=choice.fewest,
        max_cards=choice.most,
        suits=[encode_suit(suit) for suit in choice.suits],
    )


# Options, clocks, seats


def option_text(value: OptionValue) -> str:
    """An option's value as GameOptions writes it: true, 3, or a bare word."""
    return value if isinstance(value, str) else json.dumps(value)


def encode_options(options: Mapping[str, OptionValue]) -> table_pb2.GameOptions:
    """Options by name."""
    return table_pb2.GameOptions(values={name: option_text(value) for name, value in options.items()})


def decode_options(message: table_pb2.GameOptions, known: Iterable[Option]) -> dict[str, OptionValue]:
    """Options by name, read by the type of each; values of another type stay words, for the rules to refuse.

    Raises MalformedRequest for names and values beyond 64 characters.
    """
    if any(max(len(name), len(text)) > LONGEST_WORD_CHARACTERS for name, text in message.values.items()):
        raise MalformedRequest(
            "OPTION", f"names and values of options have {LONGEST_WORD_CHARACTERS} characters at most", field="options"
        )
    types = {option.name: type(option.default) for option in known}
    return {name: read_option(text, types.get(name, str)) for name, text in message.values.items()}


def read_option(text: str, kind: type[OptionValue]) -> OptionValue:
    """A value of this type if the text is one, else the text itself."""
    if kind is bool and text in ("true", "false"):
        return text == "true"
    if kind is int and (text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()) and len(text) < 10:
        return int(text)
    return text


def decode_clock(message: table_pb2.Clock) -> ClockConfig:
    """A clock in milliseconds."""
    return ClockConfig(message.action_seconds * 1000, message.reserve_seconds * 1000, message.bot_delay_milliseconds)


def encode_clock(clock: ClockConfig) -> table_pb2.Clock:
    """A clock as the contract has it."""
    return table_pb2.Clock(
        action_seconds=clock.action_milliseconds // 1000,
        reserve_seconds=clock.reserve_milliseconds // 1000,
        bot_delay_milliseconds=clock.bot_delay_milliseconds,
    )


def encode_seat(seat: SeatConfig) -> table_pb2.SeatInfo:
    """A seat as everybody knows it."""
    return table_pb2.SeatInfo(player_id=seat.player_id, name=seat.name, bot=seat.bot)


def decode_seat(message: table_pb2.SeatInfo) -> SeatConfig:
    """A seat of a table to open."""
    return SeatConfig("" if message.bot else message.player_id, message.name, message.bot)


def encode_table_info(config: TableConfig) -> table_pb2.TableInfo:
    """What is fixed about a table."""
    return table_pb2.TableInfo(
        table_id=config.table_id,
        game=config.game,
        rules_version=config.rules_version,
        options=encode_options(config.options),
        seats=[encode_seat(seat) for seat in config.seats],
        clock=encode_clock(config.clock),
        commitment=config.commitment,
    )


def encode_game(game: Game) -> engine_pb2.GameDescription:
    """A game as a lobby shows it; options as they are for the most seats."""
    return engine_pb2.GameDescription(
        game=game.id,
        name=game.name,
        summary=game.summary,
        min_seats=game.seats.start,
        max_seats=game.seats.stop - 1,
        rules_version=game.rules_version,
        options=[_encode_option(option) for option in game.options(game.seats.stop - 1)],
        bots=list(bots_of(game)),
        names=game.names,
        proposals=game.proposals,
    )


def _encode_option(option: Option) -> engine_pb2.OptionDescription:
    if isinstance(option.allowed, range):
        allowed = [f"{option.allowed.start}..{option.allowed.stop - 1}"]
    else:
        allowed = [option_text(value) for value in option.allowed]
    return engine_pb2.OptionDescription(
        name=option.name,
        type=option.type_name,
        default_value=option_text(option.default),
        allowed_values=allowed,
        meaning=option.meaning,
    )
