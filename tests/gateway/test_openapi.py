"""The OpenAPI document covers each call that has a path, with the comments of the contract."""

import json
import re
from typing import Any

import pytest
from typer.testing import CliRunner

from croupier.cli.__main__ import app
from croupier.gateway.bindings import SERVICES
from openapi_document import bindings


@pytest.fixture(scope="module")
def document() -> Any:
    """Return the output of the command."""
    ran = CliRunner().invoke(app, ["gateway", "openapi"])
    assert ran.exit_code == 0
    return json.loads(ran.stdout)


def operations(document: Any) -> dict[tuple[str, str], Any]:
    return {(verb, path): one for path, verbs in document["paths"].items() for verb, one in verbs.items()}


def test_each_binding_of_a_call_has_a_name_of_its_own(document: Any) -> None:
    found = operations(document)
    assert found.keys() == {(binding.verb, binding.path) for binding in bindings(SERVICES)}
    names = {one["operationId"] for one in found.values()}
    further = {"GetPlayerWithoutPlayerId", "GetTableWithoutTableId", "JoinTableWithoutTableId"}
    assert names == further | {binding.method.name for binding in bindings(SERVICES)}
    assert len(names) == len(found)


def test_everything_is_described_and_every_reference_resolves(document: Any) -> None:
    for (_, path), operation in operations(document).items():
        in_path = [one["name"] for one in operation["parameters"] if one["in"] == "path"]
        assert in_path == re.findall(r"{(\w+)}", path)
        assert len({one["name"] for one in operation["parameters"]}) == len(operation["parameters"])
        assert operation["summary"]
        assert all(one["description"] for one in operation["parameters"])
    for name, schema in document["components"]["schemas"].items():
        assert schema["description"], name
        assert all(described["description"] for described in schema.get("properties", {}).values()), name
    named = set(re.findall(r'"#/components/schemas/([\w.]+)"', json.dumps(document)))
    assert named == document["components"]["schemas"].keys()


def test_only_signing_in_and_out_needs_no_token(document: Any) -> None:
    open_to_all = {path for (_, path), one in operations(document).items() if one.get("security") == []}
    assert open_to_all == {"/v1/sign-in", "/v1/tokens:refresh", "/v1/sign-out"}


def test_schemas_by_example(document: Any) -> None:
    schemas = document["components"]["schemas"]
    assert schemas["WatchTableResponse"]["properties"]["error"]["$ref"] == "#/components/schemas/Refusal"
    assert schemas["SubmitActionResponse"]["properties"]["sequence"]["type"] == "string"
    assert schemas["GameStatistics"]["properties"]["counts"]["additionalProperties"]["format"] == "uint64"
    assert schemas["CreateTableRequest"]["properties"]["options"]["type"] == "object"
    assert schemas["Table"]["properties"]["create_time"]["format"] == "date-time"
    assert re.fullmatch(schemas["TimeControl"]["properties"]["bot_delay"]["pattern"], "0.5s")
    assert schemas["SetReadyBody"]["properties"]["client_seed"]["contentEncoding"] == "base64"
    assert schemas["TurnChanged"]["properties"]["seats_to_act"]["items"] == {
        "type": "integer",
        "format": "uint32",
        "minimum": 0,
        "maximum": 2**32 - 1,
    }


@pytest.mark.parametrize("path", ["/v1/tables/{table_id}", "/v1/invites/{invite_code}"])
def test_a_path_that_sets_a_field_of_a_choice_leaves_none_to_the_query(document: Any, path: str) -> None:
    assert [(one["name"], one["in"]) for one in document["paths"][path]["get"]["parameters"]] == [
        (path[path.index("{") + 1 : -1], "path")
    ]
