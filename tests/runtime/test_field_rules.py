"""Requests are checked by the rules that the contract has for their fields, each call of players at its first field."""

from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from croupier.gateway.bindings import calls
from croupier.runtime.errors import MalformedRequest
from croupier.runtime.field_rules import check_fields, rule_of
from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2
from croupier_api.v1.actions_pb2 import Action, CallPartnerAction, PassAction, SwapCardsAction
from croupier_api.v1.tables_pb2 import TABLE_STATE_CLOSED, TableState

REQUESTS = {call.name: call.input_type for call in calls() if not call.client_streaming}
ACTION = Action(pass_turn=PassAction())
VALID: tuple[Message, ...] = (
    lobby_pb2.SignInRequest(id_token="t" * 16_384),
    lobby_pb2.SignInRequest(device_secret="é" * 256, name="\N{GRINNING FACE}" * 128),
    lobby_pb2.ListTablesRequest(),
    lobby_pb2.ListTablesRequest(game="a b~", state=TABLE_STATE_CLOSED, page_size=100, page_token="a" * 1024),
    lobby_pb2.JoinTableRequest(table_id="t" * 64),
    lobby_pb2.JoinTableRequest(invite_code="c"),
    lobby_pb2.GetTableRequest(invite_code="c"),
    lobby_pb2.GetPlayerRequest(player_id="me"),
    lobby_pb2.CreateTableRequest(game="g"),
    lobby_pb2.CreateTableRequest(game="g", request_id="r" * 64, bots=["", *("b" * 64 for _ in range(28))]),
    lobby_pb2.SetReadyRequest(table_id="t", client_seed=b"\0" * 64),
    engine_pb2.SubmitActionRequest(request_id="r", action=ACTION),
    engine_pb2.CastVoteRequest(table_id="t", request_id="r", vote=engine_pb2.VOTE_DECLINE),
    engine_pb2.SetAwayRequest(table_id="t", request_id="r", is_away=False),
    scoring_pb2.GetPlayerStatisticsRequest(),
)
SECRET = "expected at most 256 characters"
ID = "expected 1 to 64 printable ASCII characters"
OPTIONAL_ID = "expected at most 64 printable ASCII characters"
STATES = " or ".join(TableState.keys())
INVALID: tuple[tuple[Message, str, str], ...] = (
    (lobby_pb2.SignInRequest(id_token="t" * 16_385), "id_token", "invalid id_token: expected at most 16384 characters"),
    (lobby_pb2.SignInRequest(device_secret="s" * 257), "device_secret", f"invalid device_secret: {SECRET}"),
    (lobby_pb2.UpdateTableRequest(), "table_id", f"invalid table_id: {ID}"),
    (lobby_pb2.UpdateTableRequest(table_id="t" * 65), "table_id", f"invalid table_id: {ID}"),
    (lobby_pb2.UpdateTableRequest(table_id="é"), "table_id", f"invalid table_id: {ID}"),
    (lobby_pb2.UpdateTableRequest(table_id="\0"), "table_id", f"invalid table_id: {ID}"),
    (lobby_pb2.ListTablesRequest(game="\n"), "game", f"invalid game: {OPTIONAL_ID}"),
    (lobby_pb2.ListTablesRequest(page_size=101), "page_size", "invalid page_size 101: expected at most 100"),
    (lobby_pb2.ListMyTablesRequest(state=9), "state", f"invalid state 9: expected {STATES}"),  # type: ignore[arg-type]
    (lobby_pb2.SignOutRequest(), "refresh_token", "invalid refresh_token: expected 1 to 128 characters"),
    (lobby_pb2.SignInRequest(name="y" * 129), "name", "invalid name: expected at most 128 characters"),
    (lobby_pb2.UpdatePlayerRequest(), "name", "invalid name: expected 1 to 128 characters"),
    (lobby_pb2.CreateTableRequest(game="g", bots=["b"] * 30), "bots", "invalid bots: expected at most 29 items"),
    (lobby_pb2.CreateTableRequest(game="g", bots=["", "é"]), "bots", f"invalid bots: {OPTIONAL_ID}"),
    (lobby_pb2.GetTableRequest(), "target", "invalid target: expected table_id or invite_code"),
    (lobby_pb2.JoinTableRequest(), "target", "invalid target: expected table_id or invite_code"),
    (lobby_pb2.JoinTableRequest(table_id=""), "table_id", f"invalid table_id: {ID}"),
    (
        lobby_pb2.SetReadyRequest(table_id="t", client_seed=b"\0" * 65),
        "client_seed",
        "invalid client_seed: expected at most 64 bytes",
    ),
    (
        engine_pb2.CastVoteRequest(table_id="t", request_id="r"),
        "vote",
        "invalid vote 0: expected VOTE_AGREE or VOTE_DECLINE",
    ),
    (
        engine_pb2.CreateLinkRequest(table_id="t", purpose=engine_pb2.LinkPurpose.ValueType(9)),
        "purpose",
        "invalid purpose 9: expected LINK_PURPOSE_WATCH or LINK_PURPOSE_REPLAY",
    ),
    (engine_pb2.SetAwayRequest(table_id="t", request_id="r"), "is_away", "invalid is_away: expected a value"),
)


@pytest.mark.parametrize("request_", VALID, ids=lambda one: one.DESCRIPTOR.name)
def test_a_request_within_its_rules_is_accepted(request_: Message) -> None:
    check_fields(request_)


@pytest.mark.parametrize(("request_", "field", "message"), INVALID)
def test_a_field_outside_of_its_rule_is_named_with_the_expected_form(
    request_: Message, field: str, message: str
) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        check_fields(request_)
    assert (refusal.value.reason_name, refusal.value.field, refusal.value.message) == ("INVALID_FIELD", field, message)


def test_the_oneof_and_the_items_of_a_list_are_rules_too() -> None:
    with pytest.raises(MalformedRequest, match="invalid partner: expected card or unnamed or nobody"):
        check_fields(CallPartnerAction())
    assert rule_of(SwapCardsAction.DESCRIPTOR, "cards").max_items == 510
    with pytest.raises(MalformedRequest, match="invalid cards: expected 1 to 510 items"):
        check_fields(SwapCardsAction())


def _texts(message: Any) -> list[FieldDescriptor]:
    return [field for field in message.fields if field.cpp_type == FieldDescriptor.CPPTYPE_STRING]


@pytest.mark.parametrize("call", [name for name, message in REQUESTS.items() if _texts(message)])
def test_each_text_of_each_call_has_a_greatest_length(call: str) -> None:
    """A call that is new in the contract, too: its fields have rules instead of checks of the service."""
    message = REQUESTS[call]
    for field in _texts(message):
        rule = rule_of(message, field.name)
        assert rule.max_length, f"{call}: {field.name} has no rule"
        assert rule.max_items or not field.is_repeated, f"{call}: {field.name} has any number of items"


@pytest.mark.parametrize("call", [name for name, message in REQUESTS.items() if "page_size" in message.fields_by_name])
def test_each_listing_has_pages_of_at_most_a_hundred(call: str) -> None:
    assert rule_of(REQUESTS[call], "page_size").max_value == 100
