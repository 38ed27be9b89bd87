"""The ids of rules that stand on the games' pages."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

PAGES = Path(__file__).parents[3] / "docs" / "rules"
_RULE = re.compile(r"\*\*([A-Z0-9]+(?:-[A-Z0-9]+)+)\*\*")


@lru_cache(maxsize=1)
def rule_ids() -> Mapping[str, frozenset[str]]:
    """By game the ids on its page; a game without a page here, outside of a checkout perhaps, is left out."""
    pages = {page.stem: page.read_text(encoding="utf-8") for page in PAGES.glob("*.md")} if PAGES.is_dir() else {}
    return MappingProxyType({game: frozenset(_RULE.findall(text)) for game, text in pages.items()})


def is_known_rule(game: str, rule: str) -> bool:
    """Whether a rule stands on the game's page; True where there is no page to look at."""
    ids = rule_ids().get(game)
    return ids is None or rule in ids
