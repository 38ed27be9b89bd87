"""The games of all living engines, which decide what a new table may be while engines of two versions run."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from croupier.games.registry import registry


class EngineGames(NamedTuple):
    """The games of one engine: a digest of their descriptions, the versions of the rules of each, and what it offers.

    `versions` has all games that are installed, `offered` those for new tables in the order to show them.
    """

    digest: str | None
    versions: Mapping[str, Sequence[int]]
    offered: Sequence[str]

    def encode(self) -> str:
        """Return the text of versions and offered games in a heartbeat."""
        return json.dumps({"versions": dict(self.versions), "offered": list(self.offered)})


def installed_versions() -> dict[str, list[int]]:
    """Return the versions of the rules of each installed game, in order; raises InvalidGames."""
    versions: dict[str, list[int]] = {}
    for game, version in sorted(registry().rules):
        versions.setdefault(game, []).append(version)
    return versions


def decode_engine_games(digest: str | None, text: str | None) -> EngineGames | None:
    """Return the games of a heartbeat, None for an engine of an earlier version, whose heartbeats have none."""
    return None if text is None else EngineGames(digest, **json.loads(text))


class LivingGames(NamedTuple):
    """The games of the living engines, first of this one; None for those of engines of an earlier version."""

    engines: Sequence[EngineGames | None]

    @property
    def is_rolling_out(self) -> bool:
        """Whether engines know or offer different games, options or bots."""
        return any(games != self.engines[0] for games in self.engines)

    def offered(self) -> dict[str, int]:
        """Return the games that all engines offer, in order, each with the last version of its rules that all know."""
        own, *others = [games for games in self.engines if games is not None]
        found = {}
        for game in own.offered:
            known_to_all = set(own.versions[game]).intersection(*(other.versions.get(game, ()) for other in others))
            if known_to_all and all(game in other.offered for other in others):
                found[game] = max(known_to_all)
        return found

    def may_be_known(self, game: str, rules_version: int) -> bool:
        """Return whether an engine knows these rules, or is of an earlier version and may know them."""
        return any(games is None or rules_version in games.versions.get(game, ()) for games in self.engines)
