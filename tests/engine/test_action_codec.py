"""Actions and legal actions as messages, with malformed input."""

from random import Random
from typing import Any

import pytest
from google.protobuf import text_format
from google.protobuf.json_format import ParseDict
from google.protobuf.message import DecodeError

from croupier.engine.api.action_codec import decode_action, encode_action, encode_legal
from croupier.games import actions
from croupier.games.actions import UNCHOSEN
from croupier.games.choices import ActionChoice, AmountChoice, CardChoice
from croupier.games.interface import Legal
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1 import actions_pb2
from tests.engine.samples import ACTIONS, DECK


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
