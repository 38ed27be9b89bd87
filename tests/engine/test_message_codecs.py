"""Actions, options, times, seats, tables and games as messages, with malformed input."""

import math
from random import Random
from typing import Any

import pytest
from google.protobuf import text_format
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import ParseDict
from google.protobuf.message import DecodeError, Message
from google.protobuf.struct_pb2 import Struct, Value

from croupier.engine.api import table_codec as codec
from croupier.engine.api.action_codec import decode_action, encode_action, encode_legal
from croupier.engine.core.log import AWAY_MILLISECONDS, ClockConfig, SeatConfig
from croupier.games import actions
from croupier.games.actions import UNCHOSEN
from croupier.games.cards import OWN_CARDS, CardFace
from croupier.games.choices import ActionChoice, AmountChoice, CardChoice
from croupier.games.interface import Condition, Legal, Option, OptionValue
from croupier.games.registry import OWN_GAMES, bots_of
from croupier.games.words import WordKind
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1 import actions_pb2, games_pb2, tables_pb2
from tests.engine.play import every_game, make_config
from tests.games.toy import TOY, Toy

DECK = tuple(CardFace(card, f"R{card - 62}", "red", str(card - 62), "") for card in (OWN_CARDS[0], OWN_CARDS[-1]))
"""The first and the last card that a deck may have."""
ACTIONS: tuple[actions.Action, ...] = (
    *(actions.Pass(), actions.MatchBid(), actions.YieldBid(), actions.KeepBid(), actions.StandPat()),
    actions.ThrowDown(),
    *actions.PLAYS,
    *(actions.Play(card, suit) for card in (0, 51, 52) for suit in range(4)),
    *(actions.Play(63), actions.Play(254, 3)),
    *(actions.Bid(bid) for bid in (0, -20, 110, "vip", "x" * 64)),
    *(actions.KeepCards(cards, trump) for cards, trump in (((), 0), ((3, 2, 1), 2), ((254,), 3))),
    *(actions.SwapCards(cards) for cards in ((5,), (5, 52, 5), (63,))),
    *(actions.Draw(), actions.Draw("waste")),
    *(actions.CallPartner(card) for card in (None, 0, 51, 63)),
    actions.CallNobody(),
    *(actions.NameTrump(trump, do) for trump, do in ((0, False), (3, True))),
    *(actions.Lay((0,)), actions.Lay((63, 1), "run", "melds", 0)),
    *(actions.Declare("last_card"), actions.Declare("bet", 0, 0, (0, 63)), actions.Declare("bet", 7, -5)),
)


def test_every_action_is_decoded_from_its_message() -> None:
    messages = [actions_pb2.Action.FromString(encode_action(action).SerializeToString()) for action in ACTIONS]
    assert tuple(decode_action(message, DECK) for message in messages) == ACTIONS
    verbs = {message.WhichOneof("verb") for message in messages}
    assert verbs == {field.name for field in actions_pb2.Action.DESCRIPTOR.fields}


MALFORMED: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "action"),
    ({"bid": {}}, "action.bid"),
    *(({"bid": {"contract": text}}, "action.bid.contract") for text in ("", "x" * 65)),
    ({"keep_cards": {}}, "action.keep_cards.trump"),
    ({"keep_cards": {"cards": [3]}}, "action.keep_cards.trump"),
    *(({"keep_cards": {"cards": [3], "trump": suit}}, "action.keep_cards.trump") for suit in (0, 5, -1)),
    *(({"keep_cards": {"cards": cards, "trump": 1}}, "action.keep_cards.cards") for cards in ([0], [54], [1] * 511)),
    *(({"swap_cards": {"cards": cards}}, "action.swap_cards.cards") for cards in ([], [0], [54], [1] * 511)),
    *(({"draw": {"pile": pile}}, "action.draw.pile") for pile in ("", "x" * 65)),
    ({"play": {}}, "action.play.card"),
    *(({"play": {"card": card}}, "action.play.card") for card in (0, 54, 63, 65, 254, 256, -1, 2**31 - 1)),
    *(({"play": {"card": 1, "suit": suit}}, "action.play.suit") for suit in (5, -1)),
    ({"play": {"suit": 1}}, "action.play.card"),
    ({"call_partner": {}}, "action.call_partner"),
    *(({"call_partner": {"card": card}}, "action.call_partner.card") for card in (0, 54, -5)),
    *(({"name_trump": {"trump": trump}}, "action.name_trump.trump") for trump in (0, 5, -1)),
    ({"name_trump": {"all_tricks": True}}, "action.name_trump.trump"),
    *(({"lay": {"cards": cards}}, "action.lay.cards") for cards in ([], [0], [54], [1] * 511)),
    ({"lay": {"cards": [1], "meld": "x" * 65}}, "action.lay.meld"),
    ({"lay": {"cards": [1], "pile": "x" * 65}}, "action.lay.pile"),
    *(({"declare_word": {"word": text}}, "action.declare_word.word") for text in ("", "x" * 65)),
    *(({"declare_word": {"word": "bet", "cards": cards}}, "action.declare_word.cards") for cards in ([0], [54])),
)


@pytest.mark.parametrize(("fields", "field"), MALFORMED, ids=str)
def test_a_malformed_action_is_refused_with_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        decode_action(ParseDict(fields, actions_pb2.Action()), DECK)
    assert (refusal.value.reason_name, refusal.value.field) == ("INVALID_ACTION", field)
    assert refusal.value.message.startswith("invalid ")


@pytest.mark.parametrize("number", [64, 255])
def test_cards_of_a_custom_deck_belong_to_its_game_alone(number: int) -> None:
    message = ParseDict({"play": {"card": number}}, actions_pb2.Action())
    assert decode_action(message, DECK) == actions.Play(number - 1)
    with pytest.raises(MalformedRequest):
        decode_action(message)


def test_random_bytes_are_an_action_or_refused(seed: int) -> None:
    random = Random(seed)
    for _ in range(3000):
        raw = bytes([random.randrange(1, 17) << 3 | 2]) + random.randbytes(random.randrange(8))
        try:
            action = decode_action(actions_pb2.Action.FromString(raw), DECK)
        except (DecodeError, MalformedRequest):
            continue
        assert decode_action(encode_action(action), DECK) == action


def test_choices_have_an_action_without_its_open_parts() -> None:
    keep = ActionChoice(actions.KeepCards((), UNCHOSEN), CardChoice((0, 0, 52), 1, 2), (0, 3))
    bid = ActionChoice(actions.Bid(UNCHOSEN), amount=AmountChoice(-5, 60, 5))
    bet = ActionChoice(actions.Declare("bet"), CardChoice((63,), 0, 1), amount=AmountChoice(0, 2), seats=(0, 2))
    encoded = encode_legal(Legal((), (keep, bid, bet)))
    text = """
        choices { action { keep_cards { } } cards { cards: [1, 1, 53] min_cards: 1 max_cards: 2 } suits: [1, 4] }
        choices { action { bid { } } amount { min_amount: -5 max_amount: 60 step: 5 } }
        choices {
            action { declare_word { word: "bet" } }
            cards { cards: 64 max_cards: 1 }
            amount { max_amount: 2 step: 1 }
            seats: [0, 2]
        }"""
    assert encoded == text_format.Parse(text, actions_pb2.LegalActions())
    assert encode_action(actions.Bid(UNCHOSEN)).bid.HasField("amount")


@pytest.mark.parametrize("value", [True, False, 0, 3, -7, 100_000, 2**53, "word", "two words", "", "3", "x" * 64])
def test_an_option_is_decoded_with_its_type(value: OptionValue) -> None:
    message = Struct.FromString(codec.encode_options({"a": value}).SerializeToString())
    (decoded,) = codec.decode_options(message).values()
    assert (decoded, type(decoded)) == (value, type(value))


@pytest.mark.parametrize(
    "value",
    [Value(), None, 0.5, math.inf, -math.inf, math.nan, "x" * 65, [], [1], {}, {"a": 1}],
    ids=lambda value: repr(value)[:20],
)
def test_an_invalid_value_of_an_option_is_refused_with_its_name(value: Any) -> None:
    name = "odd" * 100
    message = Struct(fields={name: value}) if isinstance(value, Value) else ParseDict({name: value}, Struct())
    message.update({"fine": 1})
    with pytest.raises(MalformedRequest) as refusal:
        codec.decode_options(message)
    assert (refusal.value.reason_name, refusal.value.field) == ("INVALID_OPTION", f"options.{name[:64]}")


@every_game
def test_every_option_of_a_game_is_described_with_its_kind_and_default(game: str) -> None:
    rules, described = OWN_GAMES[game], codec.encode_game(OWN_GAMES[game])
    min_seats, max_seats = rules.seats[0], rules.seats[-1]
    assert (described.game, described.min_seats, described.max_seats) == (game, min_seats, max_seats)
    assert list(described.bots) == list(bots_of(rules))
    assert {each.name: each.meaning for each in described.proposals} == rules.proposals
    for option, shown in zip(rules.options(max_seats), described.options, strict=True):
        assert (shown.name, shown.meaning) == (option.name, option.meaning)
        allowed = sorted(option.allowed) if shown.HasField("flag") else option.allowed
        assert described_values(shown) == (option.default, tuple(allowed))


def described_values(option: games_pb2.OptionDescription) -> tuple[Any, tuple[Any, ...]]:
    match option.WhichOneof("values"):
        case "flag":
            return option.flag.default_value, (False, True)
        case "integer_range":
            whole = option.integer_range
            return whole.default_value, tuple(range(whole.min_value, whole.max_value + 1))
        case _:
            default, *values = map(decoded, (option.choice.default_value, *option.choice.values))
            return default, tuple(values)


def decoded(value: Value) -> OptionValue:
    return codec.decode_options(Struct(fields={"a": value}))["a"]


def test_a_game_is_described_with_its_deck_and_its_teams() -> None:
    described = codec.encode_game(TOY)
    first = described.deck[0]
    assert (first.number, first.notation, first.suit, first.rank, first.label) == (64, "R1", "red", "1", "red 1")
    assert [face.number for face in described.deck] == list(range(64, 88))
    (layout,) = described.team_layouts
    assert (layout.seat_count, [list(team.seats) for team in layout.teams]) == (4, [[0, 2], [1, 3]])
    assert not codec.encode_game(OWN_GAMES["thulla"]).deck


def test_words_are_those_of_the_game_and_then_the_shared_ones_ordered_by_kind() -> None:
    words = codec.encode_game(TOY).words
    assert [word.kind for word in words] == sorted(word.kind for word in words)
    texts = {(word.kind, word.word): word.text for word in words}
    assert len(texts) == len(words)
    assert texts[games_pb2.WORD_KIND_MARK, "turns"] == TOY.words[WordKind.MARK]["turns"]
    assert texts[games_pb2.WORD_KIND_TERM, "round"] == "round"
    # The own word of a game comes before the shared one.
    thulla = {(word.kind, word.word): word.text for word in codec.encode_game(OWN_GAMES["thulla"]).words}
    assert thulla[games_pb2.WORD_KIND_TERM, "round"] == "game"
    assert {kind.name: int(kind) for kind in WordKind} == {
        name.removeprefix("WORD_KIND_"): number for name, number in games_pb2.WordKind.items() if number
    }


def test_piles_are_described_by_role_and_options_by_group_unit_and_condition() -> None:
    piles = codec.encode_game(TOY).piles
    assert [(pile.name, pile.role, pile.display) for pile in piles] == [
        ("stock", games_pb2.PILE_ROLE_STOCK, games_pb2.PILE_DISPLAY_COUNT),
        ("waste", games_pb2.PILE_ROLE_WASTE, games_pb2.PILE_DISPLAY_TOP),
        ("melds", games_pb2.PILE_ROLE_MELD, games_pb2.PILE_DISPLAY_ALL),
        ("reserve", games_pb2.PILE_ROLE_RESERVE, games_pb2.PILE_DISPLAY_ALL),
    ]
    game = _GameWithAnOption()
    (option,) = codec.encode_game(game).options
    assert (option.group, option.unit) == ("end", "rounds")
    assert option.condition.option == "match"
    assert [decoded(value) for value in option.condition.values] == [True, "long"]
    assert list(codec.encode_game(game).recommended_seats) == [2, 3]
    assert not codec.encode_game(TOY).recommended_seats
    assert codec.encode_game(OWN_GAMES["thulla"]).has_tricks is OWN_GAMES["thulla"].has_tricks


class _GameWithAnOption(Toy):
    recommended_seats = range(2, 4)

    def options(self, seats: int) -> tuple[Option, ...]:
        condition = Condition("match", (True, "long"))
        return (Option("rounds", 1, range(1, 9), "how many", group="end", unit="rounds", condition=condition),)


def test_times_and_seats_are_decoded() -> None:
    for clock in (
        ClockConfig(30_000, 60_000, 700, away_milliseconds=9_000),
        ClockConfig(5_000, 0, 0),
        ClockConfig(86_400_000, 1_000, 9_999, away_milliseconds=86_400_000),
    ):
        message = codec.encode_time_control(clock)
        assert all(message.HasField(name) for name in ("action_time", "reserve_time", "bot_delay", "away_time"))
        assert codec.decode_time_control(message) == clock
    message.ClearField("away_time")
    assert codec.decode_time_control(message).away_milliseconds == AWAY_MILLISECONDS
    for seat in (SeatConfig("p", "Name"), SeatConfig("", "Computer", "random")):
        assert codec.decode_seat(codec.encode_seat(seat)) == seat
    assert codec.decode_seat(tables_pb2.PlayedSeat(player_id="p", name="C", bot="random")) == SeatConfig(
        "", "C", "random"
    )


@pytest.mark.parametrize(
    ("name", "duration"),
    [
        *((name, None) for name in ("action_time", "reserve_time", "bot_delay")),
        ("action_time", Duration(nanos=500_000_000)),
        ("action_time", Duration(seconds=30, nanos=1_000_000)),
        ("action_time", Duration(seconds=30, nanos=1)),
        ("reserve_time", Duration(seconds=30, nanos=-1)),
        ("bot_delay", Duration(nanos=1)),
        ("bot_delay", Duration(nanos=1_500_000)),
        ("away_time", Duration(seconds=3, nanos=1_000_000)),
    ],
)
def test_a_time_that_is_missing_or_finer_than_its_unit_is_refused(name: str, duration: Duration | None) -> None:
    given = {"action_time": "30s", "reserve_time": "60s", "bot_delay": "0.7s"}
    message = ParseDict(given, tables_pb2.TimeControl())
    message.ClearField(name)  # type: ignore[arg-type]
    if duration is not None:
        getattr(message, name).CopyFrom(duration)
    with pytest.raises(MalformedRequest) as refusal:
        codec.decode_time_control(message)
    assert (refusal.value.reason_name, refusal.value.field) == ("INVALID_FIELD", f"time_control.{name}")


def test_the_message_of_a_table() -> None:
    seats = (SeatConfig("p0", "Ann"), SeatConfig("", "Bot 2", "random"))
    table = codec.encode_table(make_config("thulla", seats=seats, options={"best_of": 3}), is_over=False)
    assert [(seat.player_id, seat.name, seat.bot) for seat in table.seats] == [
        ("p0", "Ann", ""),
        ("", "Bot 2", "random"),
    ]
    assert table.state == tables_pb2.TABLE_STATE_PLAYING
    assert (table.options["best_of"], table.options["scoring"]) == (3, "none")
    assert codec.encode_table(make_config(), is_over=True).state == tables_pb2.TABLE_STATE_FINISHED


def test_the_engine_knows_every_field_of_a_played_table_and_of_its_seats() -> None:
    config = make_config("solo", seats=[SeatConfig("p", "Ann", "random")] * 4)
    table = codec.encode_table(config, is_over=False)
    table.teams.add(seats=[0, 2])  # No game has teams.
    for message in (table, table.seats[0]):
        assert {field.name for field, _ in message.ListFields()} == set(message.DESCRIPTOR.fields_by_name)


@pytest.mark.parametrize(
    ("played", "of_the_lobby"),
    [(tables_pb2.PlayedTable, tables_pb2.Table), (tables_pb2.PlayedSeat, tables_pb2.Seat)],
    ids=["table", "seat"],
)
def test_fields_of_a_played_table_have_the_names_and_numbers_of_those_of_the_lobby(
    played: type[Message], of_the_lobby: type[Message]
) -> None:
    numbers = {field.name: field.number for field in of_the_lobby.DESCRIPTOR.fields}
    assert {(field.name, field.number) for field in played.DESCRIPTOR.fields} <= set(numbers.items())
