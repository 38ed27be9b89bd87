"""The ids of rules on the games' pages."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

PAGES = Path(__file__).parents[3] / "docs" / "rules"
_RULE = re.compile(r"\*\*([A-Z0-9]+(?:-[A-Z0-9]+)+)\*\*")


@lru_cache(maxsize=1)
def rule_ids() -> Mapping[str, frozenset[str]]:
    """Return the rule ids by game; outside of a checkout there are none."""
    pages = {page.stem: page.read_text(encoding="utf-8") for page in PAGES.glob("*.md")} if PAGES.is_dir() else {}
    return MappingProxyType({game: frozenset(_RULE.findall(text)) for game, text in pages.items()})


def is_known_rule(game: str, rule: str) -> bool:
    """Return whether a rule is on the game's page; True without a page."""
    ids = rule_ids().get(game)
    return ids is None or rule in ids
