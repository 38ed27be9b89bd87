"""What is written as YAML is read as what it was."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from croupier.door.yaml import as_yaml

yaml = pytest.importorskip("yaml")

VALUES: Any = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**53), 2**53) | some.text(max_size=20),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(some.dictionaries(some.text(max_size=8), VALUES, min_size=1, max_size=4))
def test_any_content(content: dict[str, Any]) -> None:
    assert yaml.safe_load(as_yaml(content)) == content


@pytest.mark.parametrize("word", ["on", "null", "1", "0.1s", "a: b", "- x", "#", "@type", "", "é\n\u2028\x7f", "y"])
def test_words_that_yaml_could_take_for_something_else(word: str) -> None:
    content = {"list": [word, {word: [[word], []]}], "empty": {}}
    assert yaml.safe_load(as_yaml(content)) == content


def test_it_is_easy_to_read() -> None:
    content = {"static": {"number": 1}, "routes": [{"domains": ["*"], "max_tries": 2}, "x"], "@type": None, "on": []}
    assert as_yaml(content).splitlines() == [
        *("static:", "  number: 1", "routes:", "  - domains:", '      - "*"', "    max_tries: 2", '  - "x"'),
        *('"@type": null', '"on": []'),
    ]
