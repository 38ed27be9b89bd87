"""Actions, options and stream messages to the contract's messages and back; nothing malformed gets through."""

from random import Random

import pytest
from google.protobuf.message import DecodeError

from croupier.engine.codec import (
    decode_action,
    decode_clock,
    decode_options,
    decode_seat,
    encode_action,
    encode_clock,
    encode_game,
    encode_legal,
    encode_options,
    encode_seat,
    option_text,
    read_option,
)
from croupier.engine.fact_codec import StreamEncoder, encode_accepted, encode_fact, encode_refused, encode_snapshot
from croupier.engine.log import ClockConfig, SeatConfig
from croupier.engine.streams import message_of
from croupier.engine.table import advance, new_table
from croupier.games.actions import Action, Keep, Swap
from croupier.games.catalogue import GAMES, bots_of
from croupier.games.facts import SPECTATOR, Marked, RoundStarted, SeatOut
from croupier.games.interface import CardChoice, Legal, OptionValue, resolve_options
from croupier.runtime.errors import IllegalNow, MalformedRequest
from croupier_api.v1 import cards_pb2, engine_pb2, table_pb2
from tests.engine.play import every_game, make_config, parsed, viewers, walk
from tests.engine.test_log import EVERY_ACTION


def over_the_wire(message: table_pb2.Action) -> table_pb2.Action:
    return table_pb2.Action.FromString(message.SerializeToString())


@pytest.mark.parametrize("action", EVERY_ACTION, ids=repr)
def test_every_action_comes_back_from_its_message(action: Action) -> None:
    assert decode_action(over_the_wire(encode_action(action))) == action


def test_every_verb_of_the_contract_is_an_action() -> None:
    verbs = {encode_action(action).WhichOneof("verb") for action in EVERY_ACTION}
    assert verbs == {field.name for field in table_pb2.Action.DESCRIPTOR.fields}


def raw_action(verb_number: int, *fields: int) -> table_pb2.Action:
    """A message from raw bytes: a verb whose fields are varints, number by number."""
    inner = b"".join(bytes([at << 3]) + _varint(value) for at, value in enumerate(fields, start=1))
    return table_pb2.Action.FromString(bytes([verb_number << 3 | 2, len(inner)]) + inner)


def _varint(value: int) -> bytes:
    value %= 2**64
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


BID, KEEP, SWAP, PLAY, CALL, NAME_TRUMP = 1, 5, 6, 8, 9, 10
MALFORMED = {
    "no verb": table_pb2.Action(),
    "an unknown verb": table_pb2.Action.FromString(b"\x7a\x00"),
    "unknown bytes": table_pb2.Action.FromString(b"\xf8\x01\x05"),
    "an empty bid": raw_action(BID),
    "a bid beyond all words": table_pb2.Action(bid=table_pb2.BidAction(contract="x" * 65)),
    "more cards than there are": table_pb2.Action(keep=table_pb2.KeepAction(cards=[cards_pb2.CARD_2C] * 107)),
    "more cards to swap than there are": table_pb2.Action(swap=table_pb2.SwapAction(cards=[cards_pb2.CARD_2C] * 107)),
    "play no card": raw_action(PLAY),
    "play card 0": raw_action(PLAY, 0),
    "play card 54": raw_action(PLAY, 54),
    "play card -1": raw_action(PLAY, -1),
    "play card 2147483647": raw_action(PLAY, 2**31 - 1),
    "play suit 5": raw_action(PLAY, 1, 5),
    "play suit -1": raw_action(PLAY, 1, -1),
    "play a suit only": raw_action(PLAY, 0, 1),
    "keep card 0": raw_action(KEEP, 0),
    "keep card 54": raw_action(KEEP, 54),
    "keep suit 5": raw_action(KEEP, 3, 5),
    "swap card 54": raw_action(SWAP, 54),
    "swap card 0": raw_action(SWAP, 0),
    "call card 54": raw_action(CALL, 54),
    "call card -5": raw_action(CALL, -5),
    "no trump": raw_action(NAME_TRUMP),
    "trump 5": raw_action(NAME_TRUMP, 5),
    "trump -1": raw_action(NAME_TRUMP, -1),
}


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_action_is_refused_with_its_field(message: table_pb2.Action) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        decode_action(message)
    assert refusal.value.reason == "MALFORMED_ACTION"
    assert refusal.value.field.startswith("action")


def test_unknown_fields_beside_a_known_verb_change_nothing() -> None:
    message = table_pb2.Action.FromString(encode_action(EVERY_ACTION[0]).SerializeToString() + b"\xf8\x01\x05")
    assert decode_action(message) == EVERY_ACTION[0]


def test_of_two_verbs_the_last_counts_as_protobuf_says() -> None:
    raw = encode_action(EVERY_ACTION[-1]).SerializeToString() + encode_action(EVERY_ACTION[0]).SerializeToString()
    assert decode_action(table_pb2.Action.FromString(raw)) == EVERY_ACTION[0]


def test_random_bytes_are_an_action_or_refused(seed: int) -> None:
    random = Random(seed)
    for _ in range(3000):
        raw = bytes([random.randrange(1, 12) << 3 | 2]) + random.randbytes(random.randrange(8))
        try:
            message = table_pb2.Action.FromString(raw)
        except DecodeError:
            continue
        try:
            action = decode_action(message)
        except MalformedRequest:
            continue
        assert decode_action(encode_action(action)) == action


@pytest.mark.parametrize("value", [True, False, 0, 3, -7, 100_000, "word", "two words", ""])
def test_an_option_comes_back_from_its_text(value: OptionValue) -> None:
    text = option_text(value)
    assert read_option(text, type(value)) == value
    assert type(read_option(text, type(value))) is type(value)


def test_options_are_written_as_json_writes_them_and_words_bare() -> None:
    assert dict(encode_options({"a": True, "b": 3, "c": "word"}).values) == {"a": "true", "b": "3", "c": "word"}


WRONG_TEXTS: list[tuple[str, type[OptionValue]]] = [
    *((text, bool) for text in ("True", "1", "yes", "")),
    *((text, int) for text in ("", "-", "--1", "1.0", "1e3", " 1", "+1", "٣", "true", "9" * 40)),
]


@pytest.mark.parametrize(("text", "kind"), WRONG_TEXTS)
def test_a_text_of_another_type_stays_a_word_for_the_rules_to_refuse(text: str, kind: type[OptionValue]) -> None:
    assert read_option(text, kind) == text


@every_game
def test_every_default_of_a_game_is_understood_from_its_description(game: str) -> None:
    described = encode_game(GAMES[game])
    assert (described.game, described.min_seats) == (game, GAMES[game].seats.start)
    assert described.max_seats == GAMES[game].seats[-1]
    seats = GAMES[game].seats[-1]
    message = table_pb2.GameOptions(values={option.name: option.default_value for option in described.options})
    decoded = decode_options(message, GAMES[game].options(seats))
    assert resolve_options(GAMES[game], seats, decoded) == resolve_options(GAMES[game], seats, {})
    for option in described.options:
        assert option.type in ("boolean", "integer", "word")
        assert option.meaning
        assert option.allowed_values
    assert list(described.bots) == list(bots_of(GAMES[game]))


def test_clocks_and_seats_come_back() -> None:
    clock = ClockConfig(30_000, 60_000, 700)
    assert decode_clock(encode_clock(clock)) == clock
    for seat in (SeatConfig("p", "Name"), SeatConfig("", "Computer", "random")):
        assert decode_seat(encode_seat(seat)) == seat
    assert decode_seat(table_pb2.SeatInfo(player_id="p", name="C", bot="random")) == SeatConfig("", "C", "random")


def test_choices_say_their_verb_cards_counts_and_suits() -> None:
    legal = Legal((), (CardChoice(Keep, (0, 0, 52), 1, 2, (0, 3)), CardChoice(Swap, (1,), 0, 1)))
    keep, swap = encode_legal(legal).choices
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
                whole.legal_actions.CopyFrom(encode_legal(made.after.game.legal_actions(viewer)))
            assert joined == whole
            watched = engine_pb2.WatchTableResponse.FromString(raw)
            assert (watched.update, watched.legal_actions) == (joined.update, joined.legal_actions)


@every_game
def test_a_snapshot_in_a_stream_is_the_one_of_get_view(game: str, seed: int) -> None:
    config = make_config(game)
    made = list(walk(config, Random(seed), most=10))[-1]
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
