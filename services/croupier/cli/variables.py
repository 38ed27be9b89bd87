"""Warnings of CROUPIER_* variables that no program reads, such as misspelled ones."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module

from croupier.cli.launcher.environment import DATABASE_VARIABLE

PREFIX = "CROUPIER_"
OF_TESTS = "CROUPIER_TEST_"
_SERVICE_LINK = re.compile(r"\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)")
_LINK_URL = re.compile(r"(tcp|udp|sctp)://\S+")
"""The value of NAME_PORT. Kubernetes sets such variables in each container for each Service of its namespace."""
_SETTINGS = (
    ("croupier.lobby.settings", "LobbySettings"),
    ("croupier.engine.settings", "EngineSettings"),
    ("croupier.scoring.settings", "ScoringSettings"),
    ("croupier.gateway.settings", "RunSettings"),
)


def known_variables() -> frozenset[str]:
    """Return the variables of all programs: processes that start others have those of each."""
    # Imported here: most commands read no settings.
    models = (getattr(import_module(module), name) for module, name in _SETTINGS)
    return frozenset(PREFIX + field.upper() for model in models for field in model.model_fields)


def warnings_of(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each variable that no program reads, with a known name that is similar; without values."""
    if candidates := [name for name in sorted(environment) if _may_be_setting(name, environment[name])]:
        yield from _warnings(candidates, known_variables())


def _may_be_setting(name: str, value: str) -> bool:
    is_link = _SERVICE_LINK.fullmatch(name) or (name.endswith("_PORT") and _LINK_URL.fullmatch(value))
    return name.startswith(PREFIX) and not (is_link or name.startswith(OF_TESTS) or name == DATABASE_VARIABLE)


def _warnings(names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    for name in names:
        if name not in known:
            # Without the prefix, by which all names are similar.
            similar = get_close_matches(name.removeprefix(PREFIX), [each.removeprefix(PREFIX) for each in known], n=1)
            hint = (
                f"is it {PREFIX}{similar[0]}?" if similar else "croupier serve PROGRAM --help names those of a program"
            )
            yield f"unknown variable {name}, which has no effect: {hint}"
