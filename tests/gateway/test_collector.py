"""The configuration of the collector beside Envoy is checked without running it: no registry has the program."""

import re
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml

from croupier.cli.__main__ import app
from croupier.gateway.configuration import collector_configuration, configuration_files
from croupier.gateway.settings import GatewaySettings, RunSettings
from croupier.runtime.identity.tokens import write_new_key_pair
from tests.collector import OF_ENVOY

ALLOWED = {"http.response.status_code", "rpc.response.status_code", "envoy.response_flags"}
"""All that spans of the gateway may report."""
KINDS = ("receivers", "processors", "exporters")
STATUS_CODE = 'span.attributes["rpc.response.status_code"]'


@pytest.fixture
def configuration() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(collector_configuration())
    return read


@pytest.fixture
def statements(configuration: dict[str, Any]) -> list[str]:
    found: list[str] = configuration["processors"]["transform/allowed"]["trace_statements"]
    return found


def test_it_takes_spans_of_calls_on_loopback_only_and_drops_them_on_an_error(configuration: dict[str, Any]) -> None:
    service, processors = configuration["service"], configuration["processors"]
    assert configuration["receivers"] == {"otlp": {"protocols": {"grpc": {"endpoint": "127.0.0.1:4317"}}}}
    assert service["telemetry"] == {"metrics": {"level": "none"}}
    assert list(service["pipelines"]) == ["traces"]
    pipeline = service["pipelines"]["traces"]
    for kind in KINDS:
        assert set(pipeline[kind]) == configuration[kind].keys()
    assert set(service["extensions"]) == configuration["extensions"].keys()
    assert pipeline["processors"][-2:] == ["filter/calls", "transform/allowed"]
    assert [processors[name]["error_mode"] for name in pipeline["processors"][-2:]] == ["propagate"] * 2
    assert processors["filter/calls"]["trace_conditions"] == [
        'not IsMatch(span.name, "/")',
        'IsMatch(spanevent.name, ".*")',
    ]


def test_attributes_on_the_list_are_kept_after_all_else_was_written(statements: list[str]) -> None:
    (keep,) = [each for each in statements if each.startswith("keep_keys(span.attributes")]
    assert set(re.findall(r'"([^"]+)"', keep)) == ALLOWED
    written = [each for each in statements if re.match(r"(set|replace_match)\(span\.attributes", each)]
    assert statements[: len(written) + 1] == [*written, keep]
    assert 'keep_keys(resource.attributes, ["service.name"])' in statements
    assert {'set(span.status.message, "")', 'set(span.trace_state, "")'} <= set(statements)


def test_attributes_get_the_names_that_services_use(statements: list[str]) -> None:
    matches = [
        re.fullmatch(r'set\(span\.attributes\["(.+)"\], span\.attributes\["(.+)"\]\)', each) for each in statements
    ]
    renamed = {match[2]: match[1] for match in matches if match}
    assert renamed.keys() == OF_ENVOY.keys()
    assert set(renamed.values()) == ALLOWED


def test_each_code_gets_its_name(statements: list[str]) -> None:
    matches = [
        re.fullmatch(rf'replace_match\({re.escape(STATUS_CODE)}, "(\d+)", "([A-Z_]+)"\)', each) for each in statements
    ]
    named = {match[1]: match[2] for match in matches if match}
    assert named == {str(code.value[0]): code.name for code in grpc.StatusCode}
    begins = next(place for place, each in enumerate(statements) if each.startswith(f"set({STATUS_CODE}"))
    assert all(statements.index(each) > begins for each in statements if each.startswith("replace_match"))


def test_the_variable_that_names_the_services_collector_is_not_the_gateways() -> None:
    assert "traces_endpoint" not in RunSettings.model_fields


@pytest.mark.parametrize("collector", ["", "127.0.0.1:4317"])
def test_it_is_written_beside_envoys_where_calls_are_traced(tmp_path: Path, collector: str) -> None:
    write_new_key_pair(tmp_path / "lobby.private.pem", tmp_path / "lobby.public.pem")
    settings = GatewaySettings(lobby_public_key=tmp_path / "lobby.public.pem", traces_collector=collector)
    files = configuration_files(settings)
    assert files.get("collector.yaml") == (collector_configuration().encode() if collector else None)


def test_a_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    app(["gateway", "collector"], standalone_mode=False)
    assert capsys.readouterr().out == collector_configuration()
