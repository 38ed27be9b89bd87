"""The OpenAPI document covers each call that has a path, and says in words what the contract says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from croupier.cli.__main__ import app
from croupier.door.bindings import bindings
from croupier.door.comments import comments
from croupier.door.openapi import openapi


@pytest.fixture(scope="module")
def document() -> Any:
    """What the command prints."""
    ran = CliRunner().invoke(app, ["door", "openapi"])
    assert ran.exit_code == 0
    return json.loads(ran.stdout)


def operations(document: Any) -> dict[tuple[str, str], Any]:
    return {(verb, path): one for path, verbs in document["paths"].items() for verb, one in verbs.items()}


def test_each_way_to_make_a_call_is_in_it_under_a_name_of_its_own(document: Any) -> None:
    found = operations(document)
    assert found.keys() == {(binding.verb.lower(), binding.path) for binding in bindings()}
    names = {one["operationId"] for one in found.values()}
    further = {"JoinTableWithoutTableId", "GetPlayerStatisticsWithoutPlayerId"}
    assert names == further | {binding.method.name for binding in bindings()}
    assert len(names) == len(found)


def test_every_reference_leads_somewhere(document: Any) -> None:
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert named == document["components"]["schemas"].keys()


def test_every_parameter_of_a_path_is_described(document: Any) -> None:
    for (_, path), operation in operations(document).items():
        in_path = [one["name"] for one in operation["parameters"] if one["in"] == "path"]
        assert in_path == re.findall(r"{(\w+)}", path)
        assert operation["summary"]
        assert all(one["description"] for one in operation["parameters"])


def test_everything_has_words(document: Any) -> None:
    for name, schema in document["components"]["schemas"].items():
        assert schema["description"], name
        for field, described in schema.get("properties", {}).items():
            assert described["description"], f"{name}.{field}"


def test_only_signing_in_needs_no_token(document: Any) -> None:
    open_to_all = {path for (_, path), one in operations(document).items() if one.get("security") == []}
    assert open_to_all == {"/v1/sign-in", "/v1/tokens:refresh"}


def test_schemas_by_example() -> None:
    schemas = openapi()["components"]["schemas"]
    assert schemas["SubmitActionResponse"]["properties"]["sequence"]["type"] == "string"
    assert schemas["GameOptions"]["properties"]["values"]["additionalProperties"] == {"type": "string"}
    assert schemas["SetReadyRequest"]["properties"]["client_seed"]["contentEncoding"] == "base64"
    assert schemas["TurnChanged"]["properties"]["seats_to_act"]["items"] == {"type": "integer", "format": "uint32"}


def test_comments_of_what_is_in_a_oneof_belong_to_the_message() -> None:
    assert comments("engine.proto")["PlayRequest.watch"] == "Which table, and from where on."


def test_the_page_to_read_is_up_to_date() -> None:
    ran = CliRunner().invoke(app, ["door", "openapi", "--page"])
    written = Path(__file__).parents[2] / "docs" / "http-calls.md"
    assert ran.stdout == written.read_text(), "`make proto` brings it up to date"
