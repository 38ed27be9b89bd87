"""Every rule of a game's page has a test that carries its id, in its name or as the id of a case."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "rules").glob("*.md"))
RULE = re.compile(r"\b[A-Z0-9]+-(?:[A-Z]+-\d+|D\d+[a-z]?)\b")
DEFINITION = re.compile(rf"\*\*({RULE.pattern})\*\*")


def covered() -> set[str]:
    """Return the rule ids in the names of tests (with _ for -) and in the ids of their cases."""
    found: set[str] = set()
    for path in (ROOT / "tests" / "games").glob("test_*.py"):
        source = path.read_text()
        names = re.findall(r"def test_(\w+)", source) + re.findall(r'\bid="([^"]+)"', source)
        found.update(rule for name in names for rule in RULE.findall(re.sub(r"[_ ]", "-", name) + "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_rule_has_a_test(page: Path) -> None:
    defined = DEFINITION.findall(page.read_text())
    assert defined, f"{page.name} defines no rule: write ids bold where they are defined"
    assert sorted({rule for rule in defined if defined.count(rule) > 1}) == []
    assert sorted(set(defined) - covered()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_names_no_rule_that_the_page_does_not_define(page: Path) -> None:
    defined = set(DEFINITION.findall(page.read_text()))
    prefixes = {rule.partition("-")[0] for rule in defined}
    for path in (ROOT / "services" / "croupier" / "games").rglob("*.py"):
        named = {rule for rule in RULE.findall(path.read_text()) if rule.partition("-")[0] in prefixes}
        assert sorted(named - defined) == [], path
