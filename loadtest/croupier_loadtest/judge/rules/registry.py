"""The registry of judges: croupier's own, and those of installed packages.

A package declares a second implementation of a game's rules as an entry point of the group `croupier.judges`: its name
is the id of the game, its value a subclass of `JudgeTable`, or a tuple of them for several versions of the rules.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import TypeAlias

from croupier_loadtest.judge.rules.interface import JudgeTable, Standing
from croupier_loadtest.judge.rules.jossing import JossingTable
from croupier_loadtest.judge.rules.one_oh_one import OneOhOneTable
from croupier_loadtest.judge.rules.one_ten.table import OneTenTable
from croupier_loadtest.judge.rules.solo.table import SoloTable
from croupier_loadtest.judge.rules.thulla import ThullaTable

GROUP = "croupier.judges"
OWN_JUDGES: Mapping[str, type[JudgeTable]] = MappingProxyType(
    {
        "thulla": ThullaTable,
        "one_ten": OneTenTable,
        "jossing": JossingTable,
        "one_oh_one": OneOhOneTable,
        "solo": SoloTable,
    }
)
"""The tables of croupier's own games by id, to be made with the number of seats and all options."""
Judges: TypeAlias = Mapping[tuple[str, int], type[JudgeTable]]
"""Tables by the id of their game and the version of its rules."""


class InvalidJudges(ValueError):
    """The judges of the installed packages cannot be used together; the message names the packages."""


def table_of(game: str, rules_version: int) -> type[JudgeTable] | None:
    """Return the table of a game by these rules; None if no judge knows them. Raises InvalidJudges."""
    return judges().get((game, rules_version))


def standing_of(game: str) -> Standing | None:
    """Return how finished games count by the newest rules that a judge knows; None if no judge knows the game."""
    versions = {version: table for (name, version), table in judges().items() if name == game}
    return versions[max(versions)].standing if versions else None


@cache
def judges() -> Judges:
    """Return the judges of this installation; raises InvalidJudges."""
    return judges_of(entry_points(group=GROUP))


def judges_of(declared: Iterable[EntryPoint]) -> Judges:
    """Return croupier's own judges and declared ones; raises InvalidJudges."""
    found = {(game, table.rules_version): table for game, table in OWN_JUDGES.items()}
    packages = dict.fromkeys(found, "croupier")
    # Several packages in an order that does not depend on the installation.
    for entry in sorted(declared, key=lambda entry: (_package(entry), entry.name)):
        package = _package(entry)
        if entry.name in OWN_JUDGES:
            raise InvalidJudges(f"{package} has a judge of {entry.name!r}, which croupier has: remove it")
        for table in _loaded(entry):
            rules = entry.name, table.rules_version
            if rules in found:
                both = f"{packages[rules]} and {package} both have a judge"
                raise InvalidJudges(f"{both} of version {table.rules_version} of {entry.name!r}: remove one")
            found[rules], packages[rules] = table, package
    return MappingProxyType(found)


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value


def _loaded(entry: EntryPoint) -> tuple[type[JudgeTable], ...]:
    """Return the tables of an entry point; raises InvalidJudges."""
    source = f"the judge {entry.name!r} of {_package(entry)}"
    try:
        declared = entry.load()
    except Exception as error:
        raise InvalidJudges(f"{source} cannot be used: {type(error).__name__}: {error}") from error
    tables: tuple[type[JudgeTable], ...] = declared if isinstance(declared, tuple) else (declared,)
    if not tables or not all(isinstance(table, type) and issubclass(table, JudgeTable) for table in tables):
        raise InvalidJudges(f"{source} is {declared!r}: expected a subclass of JudgeTable, or a tuple of them")
    return tables
