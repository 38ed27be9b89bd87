"""The rules page of Gin Rummy: each of its rules has a test, and programs find their presets, marks and details."""

import re
from pathlib import Path

from croupier.games.words import WordKind
from croupier_gin_rummy import game
from gin_table import GIN_RUMMY

TEXT = (Path(game.__file__).parent / "texts" / "rules.en.md").read_text()
RULE = r"GIN-(?:[A-Z]+-\d+|D\d+)\b"


def test_every_rule_has_its_id_in_the_name_or_in_a_case_of_a_test_and_no_other_id_is_there() -> None:
    sources = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    names = re.findall(r"def test_\w+|\bid=\"[^\"]+", sources)
    tested = {rule for name in names for rule in re.findall(RULE, re.sub(r"[_ ]", "-", name))}
    assert tested == set(re.findall(rf"\*\*({RULE})\*\*", TEXT))


def test_the_page_has_every_preset_mark_and_detail() -> None:
    for preset in GIN_RUMMY.presets:
        assert f"`{preset.name}`" in TEXT
        assert all(f"`{name}` {value}" in " ".join(TEXT.split()) for name, value in preset.options.items())
    for mark in GIN_RUMMY.words[WordKind.MARK]:
        assert f"| `{mark}` |" in TEXT
