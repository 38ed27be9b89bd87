"""The access of callers to a table, decided by its configuration and its end alone."""

from dataclasses import dataclass
from enum import Enum, auto

from croupier.engine.core.log import TableConfig
from croupier.runtime.table_access import LinkPurpose, TableAccess, unknown_table


@dataclass(frozen=True, slots=True)
class Visitor:
    """A player who calls, and the purpose of their link to the table if they have one."""

    player_id: str
    link: LinkPurpose | None = None


class Need(Enum):
    """The access that a call needs of a player without a seat."""

    TABLE = auto()
    """Any access: the call is refused later, because the player has no seat."""
    VIEW = auto()
    """To watch the game, and to read the table after its end."""
    STREAM = auto()
    """To watch the game, whose end the stream of a spectator may bring late, or to read the table after its end."""
    REPLAY = auto()
    """To read the table after its end; until then any access, since the call is refused because the game goes on."""


def check_access(config: TableConfig, visitor: Visitor, need: Need, finished_at: int | None, now: int) -> None:
    """Raise NotFound unless the table exists for a visitor; times are milliseconds since 1970 UTC.

    `finished_at` is the time of the game's end, None until then.
    """
    if any(seat.player_id == visitor.player_id and not seat.bot for seat in config.seats):
        return
    is_over = is_over_for_spectators(config.access, finished_at, now)
    if not _lets_in(config.access, visitor, need, is_over):
        raise unknown_table()


def is_over_for_spectators(access: TableAccess, finished_at: int | None, now: int) -> bool:
    """Return whether players without a seat may know the end of the game, which the watch delay postpones."""
    return finished_at is not None and finished_at + access.watch_delay_seconds * 1000 <= now


def _lets_in(access: TableAccess, visitor: Visitor, need: Need, is_over: bool) -> bool:
    watches = access.lets_watch(visitor.player_id, visitor.link)
    reads = access.lets_read(visitor.player_id, visitor.link)
    match need:
        case Need.VIEW:
            return reads if is_over else watches
        case Need.STREAM:
            return watches or (is_over and reads)
        case Need.REPLAY:
            return reads or (watches and not is_over)
        case Need.TABLE:
            return watches or reads
