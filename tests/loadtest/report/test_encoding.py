"""Results as JSON, and what is none."""

import json
from dataclasses import replace
from math import inf, isnan, nan
from typing import Any

import pytest

from loadtest.report.encoding import from_json, to_json
from loadtest.report.result import FORMAT_VERSION, Result
from tests.loadtest.report.sample import EMPTY, GREEN, RED, hostile


@pytest.mark.parametrize("result", [GREEN, RED, EMPTY, hostile()], ids=["green", "red", "empty", "hostile"])
def test_a_result_is_the_same_after_being_written_and_read(result: Result) -> None:
    assert from_json(to_json(result)) == result


def test_the_text_is_json_for_everybody_even_where_a_figure_is_no_number() -> None:
    text = to_json(replace(GREEN, bytes_per_table=nan, bytes_per_stream=inf))
    body = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert body["bytes_per_table"] is body["bytes_per_stream"] is None
    assert isnan(from_json(text).bytes_per_table)


def test_fields_of_later_versions_are_passed_over_and_those_with_a_default_may_be_missing() -> None:
    body = json.loads(to_json(GREEN))
    body["weather"] = "fine"
    del body["steps"], body["services"][0]["streams_last"]
    read = from_json(json.dumps(body))
    assert read.services[0].streams_last == 0
    assert replace(read, services=GREEN.services) == GREEN


def changed(**changes: Any) -> str:
    return json.dumps({**json.loads(to_json(GREEN)), **changes})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("\x00", "no JSON"),
        ("[]", 'an object with "format" is expected'),
        ('{"table": 1}', 'an object with "format" is expected'),
        (changed(format=FORMAT_VERSION + 1), f"format {FORMAT_VERSION + 1}: this version reads format 1"),
        (changed(format="1"), "format '1': this version reads format 1"),
        (json.dumps({"format": FORMAT_VERSION}), "result has no 'conditions'"),
        (changed(actions="many"), "result.actions cannot be str"),
        (changed(actions=True), "result.actions cannot be bool"),
        (changed(generator_cpu=10**400), "result.generator_cpu is too large"),
        (changed(games=["thulla"]), "result.games cannot be list"),
        (changed(games={"thulla": "1"}), "result.games.thulla cannot be str"),
        (changed(moments=[3]), r"result.moments\[0\] cannot be int"),
        (changed(knee="last"), "result.knee cannot be str"),
    ],
)
def test_what_is_no_result_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as refusal:
        from_json(text)
    assert "\n" not in str(refusal.value)
