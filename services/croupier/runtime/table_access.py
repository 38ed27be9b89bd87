"""The access of players to a table: who finds it, who watches its game, and who reads it afterwards.

A player with a seat always has access; the rules here are about all others. To those without access the table does
not exist.
"""

from dataclasses import dataclass
from enum import StrEnum

from croupier.runtime.errors import NotFound
from croupier_api.v1 import errors_pb2

MAX_WATCH_DELAY_SECONDS = 300
MAX_REMOVED_PLAYERS = 64
"""Of one table; beyond it the longest removed player counts as one who never was there."""


class Visibility(StrEnum):
    """The players who find a table, and who read it after its end."""

    PUBLIC = "public"
    LINK = "link"
    SEATED = "seated"


class WatchPolicy(StrEnum):
    """The players who watch a game without a seat."""

    ANYONE = "anyone"
    LINK = "link"
    NOBODY = "nobody"


class LinkPurpose(StrEnum):
    """The access that a link grants."""

    WATCH = "watch"
    REPLAY = "replay"


WATCH_POLICIES = {
    Visibility.PUBLIC: (WatchPolicy.ANYONE, WatchPolicy.LINK, WatchPolicy.NOBODY),
    Visibility.LINK: (WatchPolicy.LINK, WatchPolicy.NOBODY),
    Visibility.SEATED: (WatchPolicy.NOBODY,),
}
"""The allowed watch policies of each visibility; the first is the default."""


@dataclass(frozen=True, slots=True)
class TableAccess:
    """The access to a table; `removed_players` were removed by the host, `is_matched` is true for quick match."""

    visibility: Visibility
    watch_policy: WatchPolicy
    watch_delay_seconds: int = 0
    removed_players: tuple[str, ...] = ()
    is_matched: bool = False

    @property
    def is_public(self) -> bool:
        """Whether all players find the table."""
        return self.visibility is Visibility.PUBLIC

    def is_removed(self, player_id: str) -> bool:
        """Return whether the host removed a player from the table."""
        return player_id in self.removed_players

    def lets_watch(self, player_id: str, link: LinkPurpose | None) -> bool:
        """Return whether a player without a seat, who may have a link, may watch the game."""
        if self.is_removed(player_id):
            return False
        has_link = link is LinkPurpose.WATCH and self.allows_link(link)
        return self.watch_policy is WatchPolicy.ANYONE or has_link

    def lets_read(self, player_id: str, link: LinkPurpose | None) -> bool:
        """Return whether a player without a seat, who may have a link, may read the table once its game is over."""
        if self.is_removed(player_id):
            return False
        return self.is_public or (link is LinkPurpose.REPLAY and self.allows_link(link))

    def is_over_for_spectators(self, ended_at: int | None, now: int) -> bool:
        """Return whether players without a seat may know the end of the game, which the watch delay postpones.

        Times are milliseconds since 1970 UTC; `ended_at` is None until the game's end.
        """
        delay = self.watch_delay_seconds * 1000
        # Without a delay the clocks of two services do not matter.
        return ended_at is not None and (delay == 0 or ended_at + delay <= now)

    def allows_link(self, purpose: LinkPurpose) -> bool:
        """Return whether the table has links for a purpose."""
        if purpose is LinkPurpose.WATCH:
            return self.watch_policy is not WatchPolicy.NOBODY
        return self.visibility is not Visibility.SEATED


OPEN = TableAccess(Visibility.PUBLIC, WatchPolicy.ANYONE)
"""A public table that anyone watches: the default of a request."""
SEATED = TableAccess(Visibility.SEATED, WatchPolicy.NOBODY)
"""A table of its players alone: also that of a table whose access is not known."""


def unknown_table() -> NotFound:
    """Return the error for a table that does not exist, or to which the caller has no access."""
    return NotFound(errors_pb2.ERROR_REASON_UNKNOWN_TABLE, "unknown table, or one without access for this player")
