"""The games whose rules the judge knows."""

from collections.abc import Mapping
from types import MappingProxyType

from croupier_loadtest.judge.rules.interface import JudgeTable, Standing
from croupier_loadtest.judge.rules.jossing import JossingTable
from croupier_loadtest.judge.rules.one_oh_one import OneOhOneTable
from croupier_loadtest.judge.rules.one_ten.table import OneTenTable
from croupier_loadtest.judge.rules.solo.table import SoloTable
from croupier_loadtest.judge.rules.thulla import ThullaTable

RULES: Mapping[str, type[JudgeTable]] = MappingProxyType(
    {
        "thulla": ThullaTable,
        "one_ten": OneTenTable,
        "jossing": JossingTable,
        "one_oh_one": OneOhOneTable,
        "solo": SoloTable,
    }
)
"""The tables by game id, to be made with the number of seats and all options."""
RULES_VERSION = 1
"""The version of all games' rules that the judge knows."""


def standing_of(game: str) -> Standing:
    """Return how finished games of a game count."""
    return RULES[game].standing if game in RULES else Standing()
