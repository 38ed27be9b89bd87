"""The gateway refuses JSON that the contract does not describe, and names the methods of a path."""

from typing import Any

import grpc
import pytest

from croupier.gateway.bindings import Binding, allowed_methods, json_bindings
from tests.gateway.conftest import GatewayDeployment
from tests.gateway.harness import Answer, Gateway, refused

pytestmark = pytest.mark.gateway
JSON = {"content-type": "application/json"}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")
CREATE, ACT = "/v1/tables", "/v1/tables/a/actions"
CARDS = "action.keep_cards.cards"


@pytest.fixture
def gateway(deployment: GatewayDeployment) -> Gateway:
    return deployment.gateway


def send(gateway: Gateway, path: str, body: str, method: str = "POST") -> Answer:
    return gateway.ask(method, path, body.encode(), token=gateway.token(), headers=JSON)


def refused_for(answer: Answer, field: str, sentence: str) -> None:
    """Assert that the gateway refuses a field of a body."""
    refused(answer, 400, grpc.StatusCode.INVALID_ARGUMENT, f"invalid request: {sentence}")
    info, bad = answer.json["details"]
    assert (info["reason"], info["metadata"]) == ("MALFORMED_REQUEST", {"source": "gateway"})
    assert [violation["field"] for violation in bad["field_violations"]] == [field]


def path_of(binding: Binding) -> str:
    return binding.path.replace("{", "").replace("}", "")


@pytest.mark.parametrize(
    "binding", [one for one in json_bindings() if one.has_body], ids=lambda one: f"{one.verb} {one.path}"
)
def test_each_call_refuses_an_unknown_field(gateway: Gateway, binding: Binding) -> None:
    answer = send(gateway, path_of(binding), '{"no_such_field": 1}', binding.verb)
    refused_for(answer, "no_such_field", "unknown field 'no_such_field'")


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (CREATE, '{"game": "thulla", "option": {"best_of": 2}}', "option"),
        (CREATE, '{"option": "\\"}", "game": "thulla"}', "option"),
        (CREATE, '{"options": {}, "time_control": {"action": "5s"}}', "time_control.action"),
        (CREATE, '{"Game": "solo"}', "Game"),
        (CREATE, '{"a b\x7f": 1}', "a?b?"),
        (ACT, '{"action": {"play": {"card": 3, "kard": 3}}}', "action.play.kard"),
        (ACT, '{"action": {"play": {"card": 3}}, "x": 1}', "x"),
        (ACT, '{"action": {"call_partner": {"unnamed": {"x": []}}}}', "action.call_partner.unnamed.x"),
    ],
)
def test_unknown_fields_are_named_with_their_path(gateway: Gateway, path: str, body: str, field: str) -> None:
    refused_for(send(gateway, path, body), field, f"unknown field '{field}'")


@pytest.mark.parametrize(
    "body", ["{'option': 1}", "{option: 1}", '{"opt\\u0069on": 1}', '{"game" "option": 1}', "{1: 2}"]
)
def test_names_have_double_quotes_and_no_escapes(gateway: Gateway, body: str) -> None:
    refused_for(send(gateway, CREATE, body), "", "expected the name of a field in double quotes")


@pytest.mark.parametrize(
    ("path", "body", "field", "expected"),
    [
        (CREATE, '{"game": null}', "game", "a string"),
        (CREATE, '{"game": {}}', "game", "a string"),
        (CREATE, '{"seat_count": "2"}', "seat_count", "a number"),
        (CREATE, '{"options": []}', "options", "an object"),
        (CREATE, '{"time_control": {"action_time": 5}}', "time_control.action_time", "a string"),
        (CREATE, '{"access": {"visibility": null}}', "access.visibility", "a number or a string"),
        (ACT, '{"expected_sequence": true}', "expected_sequence", "a number or a string"),
        (ACT, '{"action": {"keep_cards": {"cards": 3}}}', CARDS, "a list"),
        (ACT, '{"action": {"keep_cards": {"cards": [3, [4]]}}}', CARDS, "a number or a string"),
        ("/v1/tables/a:away", '{"is_away": "true"}', "is_away", "true or false"),
    ],
)
def test_values_of_another_type_are_refused(gateway: Gateway, path: str, body: str, field: str, expected: str) -> None:
    refused_for(send(gateway, path, body), field, f"invalid {field}: expected {expected}")


def answered_by_a_service(answer: Answer) -> Any:
    assert "source" not in answer.json["details"][0]["metadata"], answer
    return answer.json["details"][0]["reason"]


@pytest.mark.parametrize(
    "body",
    [
        '{"request_id":"1","action":{"keep_cards":{"cards":[3,"CARD_JOKER"],"trump":"SUIT_CLUBS"}},"expectedSequence":4}',
        ' {\n"request_id" : "a \\"}{ \\\\" ,\t"expected_sequence" : "4", "action":{"pass_turn":{}}}\n',
        '{"table_id": "a", "requestId": "1", "action": {"bid": {"amount": -1}}, "expected_sequence": 4}',
    ],
)
def test_fields_have_both_of_their_names_and_enums_numbers(gateway: Gateway, body: str) -> None:
    assert answered_by_a_service(send(gateway, "/v1/tables/a/actions", body)) == "UNKNOWN_TABLE"


def test_options_have_any_names_and_values(gateway: Gateway) -> None:
    body = '{"game": "thulla", "seat_count": 2, "options": {"a": {"b": [null, {"c": true}, 1.5, "d"]}}}'
    assert answered_by_a_service(send(gateway, "/v1/tables", body)) == "INVALID_OPTION"


def test_a_body_of_the_greatest_size_is_read(gateway: Gateway) -> None:
    body = f'{{"options": {{"a": {"[" * 20_000 + "]" * 20_000}}}, "option": 1}}'
    refused_for(send(gateway, "/v1/tables", body), "option", "unknown field 'option'")


@pytest.mark.parametrize("binding", json_bindings(), ids=lambda one: f"{one.verb} {one.path}")
def test_another_method_of_a_known_path_is_answered_with_those_that_it_has(gateway: Gateway, binding: Binding) -> None:
    allowed = allowed_methods()[binding.pattern]
    assert binding.verb in allowed
    for method in set(METHODS) - set(allowed):
        answer = gateway.ask(method, path_of(binding), token=gateway.token())
        assert (answer.status, answer.headers["allow"]) == (405, ", ".join(allowed)), method
        if method != "HEAD":
            refused(answer, 405, grpc.StatusCode.UNIMPLEMENTED, "this path has other methods")


def test_a_path_with_and_one_without_a_field_have_the_methods_of_both() -> None:
    for pattern, methods in allowed_methods().items():
        assert len(set(methods)) == len(methods), pattern
    assert allowed_methods()["/v1/tables"] == ["GET", "POST"]
