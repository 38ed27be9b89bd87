"""Actions, logs, options and stream messages come back as they were; nothing malformed gets through."""

import json
from itertools import islice
from random import Random
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.message import DecodeError

from croupier.engine import codec
from croupier.engine.fact_codec import StreamEncoder, encode_accepted, encode_fact, encode_refused, encode_snapshot
from croupier.engine.log import (
    ActedBy,
    ClockConfig,
    Entry,
    LoggedEvent,
    Proposed,
    SeatConfig,
    TimeCredited,
    Voted,
    body_to_json,
    config_from_json,
    config_to_json,
    entry_from_row,
)
from croupier.engine.streams import message_of
from croupier.engine.table import advance, new_table
from croupier.games import actions
from croupier.games.catalogue import GAMES, bots_of
from croupier.games.facts import SPECTATOR, Marked, RoundStarted, SeatOut
from croupier.games.interface import (
    CardChoice,
    CardsShuffled,
    Legal,
    OptionValue,
    ProposalAgreed,
    SeatActed,
    resolve_options,
)
from croupier.runtime.errors import IllegalNow, MalformedRequest
from croupier_api.v1 import engine_pb2, table_pb2
from tests.engine.play import every_game, make_config, parsed, viewers, walk

BARE: tuple[actions.Action, ...] = (
    actions.Pass(),
    actions.Match(),
    actions.Yield(),
    actions.Draw(),
    actions.ThrowDown(),
)
KEPT: tuple[tuple[tuple[int, ...], int | None], ...] = (((), None), ((3, 2, 1), 2), ((), 0))
ACTIONS: tuple[actions.Action, ...] = (
    *(*BARE, *actions.PLAYS),
    *(actions.Play(card, suit) for card in (0, 51, 52) for suit in range(4)),
    *(actions.Bid(bid) for bid in (0, -20, 110, "vip", "")),
    *(actions.Keep(cards, trump) for cards, trump in KEPT),
    *(actions.Swap(cards) for cards in ((), (5, 52))),
    *(actions.Call(card) for card in (None, 0, 51)),
    *(actions.NameTrump(trump, do) for trump, do in ((0, False), (3, True))),
)
SAID: tuple[LoggedEvent, ...] = (
    *(SeatActed(3, action) for action in ACTIONS),
    *(Proposed(2, 'ö"', 7), Voted(1, 5, agree=True), Voted(0, 5, agree=False)),
)
OTHERS: tuple[LoggedEvent, ...] = (
    *(CardsShuffled((51, 0, 52, 7), (3, 0)), CardsShuffled((1,)), CardsShuffled((), (2,))),
    *(TimeCredited(1_500), ProposalAgreed("redeal")),
)
ENTRIES = (
    *(Entry(7, 1_790_000_000_001, 5, event, request_id='é"\n\u2028 x') for event in SAID),
    *(Entry(1, 5, 0, SeatActed(0, actions.Pass()), by) for by in ActedBy),
    *(Entry(1, 5, 0, event) for event in OTHERS),
)


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_every_entry_comes_back_from_its_row(entry: Entry) -> None:
    body = body_to_json(entry)
    again = entry_from_row(entry.sequence, entry.at, entry.deadline, body)
    assert again == entry
    assert again.acted_by is entry.acted_by
    assert type(again.event) is type(entry.event)
    assert "\n" not in body


def test_a_config_comes_back_from_its_text() -> None:
    seats = (SeatConfig("p0", 'Ünï "x"', ""), SeatConfig("", "Computer", "random"))
    config = make_config("thulla", seats=seats, options={"best_of": 3})
    text = config_to_json(config)
    assert config_from_json(config.table_id, config.game, config.rules_version, config.seed, text) == config
    assert config.seed.hex() not in text
    assert isinstance(json.loads(text), dict)


def test_every_action_comes_back_from_its_message() -> None:
    messages = [table_pb2.Action.FromString(codec.encode_action(action).SerializeToString()) for action in ACTIONS]
    assert tuple(map(codec.decode_action, messages)) == ACTIONS
    verbs = {message.WhichOneof("verb") for message in messages}
    assert verbs == {field.name for field in table_pb2.Action.DESCRIPTOR.fields}


MALFORMED: tuple[dict[str, Any], ...] = (
    {},
    {"bid": {}},
    {"bid": {"contract": "x" * 65}},
    {"keep": {"cards": [1] * 107}},
    {"keep": {"cards": [0]}},
    {"keep": {"cards": [54]}},
    {"keep": {"cards": [3], "trump": 5}},
    {"swap": {"cards": [1] * 107}},
    {"swap": {"cards": [54]}},
    *({"play": {"card": card}} for card in (0, 54, -1, 2**31 - 1)),
    *({"play": {"card": 1, "suit": suit}} for suit in (5, -1)),
    {"play": {"suit": 1}},
    *({"call": {"card": card}} for card in (54, -5)),
    *({"name_trump": {"trump": trump}} for trump in (0, 5, -1)),
)


@pytest.mark.parametrize("fields", MALFORMED, ids=str)
def test_what_is_no_action_is_refused_with_its_field(fields: dict[str, Any]) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        codec.decode_action(ParseDict(fields, table_pb2.Action()))
    assert refusal.value.reason == "MALFORMED_ACTION"
    assert refusal.value.field.startswith("action")


def test_random_bytes_are_an_action_or_refused(seed: int) -> None:
    random = Random(seed)
    for _ in range(3000):
        raw = bytes([random.randrange(1, 17) << 3 | 2]) + random.randbytes(random.randrange(8))
        try:
            action = codec.decode_action(table_pb2.Action.FromString(raw))
        except (DecodeError, MalformedRequest):
            continue
        assert codec.decode_action(codec.encode_action(action)) == action


@pytest.mark.parametrize("value", [True, False, 0, 3, -7, 100_000, "word", "two words", ""])
def test_an_option_comes_back_from_its_text(value: OptionValue) -> None:
    text = codec.option_text(value)
    assert codec.read_option(text, type(value)) == value
    assert type(codec.read_option(text, type(value))) is type(value)


def test_options_are_written_as_json_writes_them_and_words_bare() -> None:
    assert dict(codec.encode_options({"a": True, "b": 3, "c": "word"}).values) == {"a": "true", "b": "3", "c": "word"}


def test_a_text_of_another_type_stays_a_word_for_the_rules_to_refuse() -> None:
    for text in ("True", "1", "yes", ""):
        assert codec.read_option(text, bool) == text
    for text in ("", "-", "--1", "1.0", "1e3", " 1", "+1", "٣", "true", "9" * 40):
        assert codec.read_option(text, int) == text


@every_game
def test_every_default_of_a_game_is_understood_from_its_description(game: str) -> None:
    rules, described = GAMES[game], codec.encode_game(GAMES[game])
    fewest, most = rules.seats[0], rules.seats[-1]
    assert (described.game, described.min_seats, described.max_seats) == (game, fewest, most)
    message = table_pb2.GameOptions(values={option.name: option.default_value for option in described.options})
    decoded = codec.decode_options(message, rules.options(most))
    assert resolve_options(rules, most, decoded) == resolve_options(rules, most, {})
    for option in described.options:
        assert option.type in ("boolean", "integer", "word")
        assert option.meaning
        assert option.allowed_values
    assert list(described.bots) == list(bots_of(rules))


def test_clocks_and_seats_come_back() -> None:
    clock = ClockConfig(30_000, 60_000, 700)
    assert codec.decode_clock(codec.encode_clock(clock)) == clock
    for seat in (SeatConfig("p", "Name"), SeatConfig("", "Computer", "random")):
        assert codec.decode_seat(codec.encode_seat(seat)) == seat
    assert codec.decode_seat(table_pb2.SeatInfo(player_id="p", name="C", bot="random")) == SeatConfig("", "C", "random")


def test_choices_say_their_verb_cards_counts_and_suits() -> None:
    legal = Legal((), (CardChoice(actions.Keep, (0, 0, 52), 1, 2, (0, 3)), CardChoice(actions.Swap, (1,), 0, 1)))
    keep, swap = codec.encode_legal(legal).choices
    assert (keep.verb, swap.verb) == (table_pb2.CARD_CHOICE_VERB_KEEP, table_pb2.CARD_CHOICE_VERB_SWAP)
    assert list(keep.cards) == [1, 1, 53]
    assert (keep.min_cards, keep.max_cards) == (1, 2)
    assert list(keep.suits) == [1, 4]
    assert not swap.suits


def test_facts_of_different_kinds_that_are_equal_as_tuples_stay_different() -> None:
    same = (RoundStarted(1, 2), SeatOut(1, 2))
    assert tuple(same[0]) == tuple(same[1])
    config = make_config()
    (made,) = advance(config, new_table(config), 0, None)
    for _ in range(2):  # The second time from what is kept.
        update = parsed(StreamEncoder().update(config, made, same)).update
        assert [fact.WhichOneof("fact") for fact in update.facts] == ["round_started", "seat_out"]
    assert encode_fact(Marked("x", 0, "1")).marked.mark.HasField("seat")
    assert not encode_fact(Marked("x", None, "1")).marked.mark.HasField("seat")


@every_game
def test_joined_bytes_are_the_message_built_whole(game: str, seed: int) -> None:
    config = make_config(game)
    encoder = StreamEncoder()
    for made in walk(config, Random(seed)):
        for viewer in viewers(config):
            raw = message_of(encoder, config, made, viewer)
            joined = parsed(raw + encode_accepted("r", 7))
            facts = [fact for fact in made.facts if fact.audience >> viewer & 1]
            whole = parsed(encoder.update(config, made, facts))
            whole.answer.CopyFrom(engine_pb2.ActionAnswer(request_id="r", sequence=7))
            if viewer in made.after.seats_to_act:
                whole.legal_actions.CopyFrom(codec.encode_legal(made.after.game.legal_actions(viewer)))
            assert joined == whole
            watched = engine_pb2.WatchTableResponse.FromString(raw)
            assert (watched.update, watched.legal_actions) == (joined.update, joined.legal_actions)


@every_game
def test_a_snapshot_in_a_stream_is_the_one_of_get_view(game: str, seed: int) -> None:
    config = make_config(game)
    *_, made = islice(walk(config, Random(seed)), 10)
    for viewer in viewers(config):
        message = parsed(StreamEncoder().snapshot(config, made.after, viewer))
        assert message.snapshot == encode_snapshot(config, made.after, viewer)
        assert message.snapshot.HasField("viewer_seat") == (viewer != SPECTATOR)


def test_answers_tell_code_reason_rule_and_text() -> None:
    error = IllegalNow("ILLEGAL_ACTION", "not now", metadata={"rule": "THU-PLAY-1"})
    answer = parsed(encode_refused("r", error)).answer
    assert (answer.request_id, answer.refusal.code, answer.refusal.reason) == ("r", 9, "ILLEGAL_ACTION")
    assert (answer.refusal.rule, answer.refusal.message) == ("THU-PLAY-1", "not now")
    assert parsed(encode_accepted("r", 5)).answer.sequence == 5
