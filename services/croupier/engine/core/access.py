"""The access of callers to a table, decided by its configuration and its end alone."""

from dataclasses import dataclass
from enum import Enum, auto

from croupier.engine.core.log import TableConfig
from croupier.runtime.errors import NotPermitted
from croupier.runtime.table_access import LinkPurpose, TableAccess, unknown_table
from croupier_api.v1 import errors_pb2


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
    LINK = auto()
    """As TABLE, also before the game begins."""
    REPLAY = auto()
    """To read the table after its end; until then any access, since the call is refused because the game goes on."""


def has_seat(config: TableConfig, player_id: str) -> bool:
    """Return whether a player has a seat at a table, and with it access."""
    return any(seat.player_id == player_id and not seat.bot for seat in config.seats)


def not_seated() -> NotPermitted:
    """Return the error for a call of a player without a seat that only players of the table may make."""
    return NotPermitted(errors_pb2.ERROR_REASON_NOT_SEATED, "you have no seat at this table: only watch it")


def check_access(config: TableConfig, visitor: Visitor, need: Need, ended_at: int | None, now: int) -> None:
    """Raise NotFound, as for an unknown table, unless a visitor has a seat or the access that a call needs.

    `ended_at` is the time of the game's end, None until then; times are milliseconds since 1970 UTC.
    """
    access, is_seated = config.access, has_seat(config, visitor.player_id)
    if not is_seated and not _has_access(access, visitor, need, access.is_over_for_spectators(ended_at, now)):
        raise unknown_table()


def _has_access(access: TableAccess, visitor: Visitor, need: Need, is_over: bool) -> bool:
    watches = access.lets_watch(visitor.player_id, visitor.link)
    reads = access.lets_read(visitor.player_id, visitor.link)
    match need:
        case Need.VIEW:
            return reads if is_over else watches
        case Need.REPLAY:
            return reads or (watches and not is_over)
        case Need.TABLE | Need.LINK:
            return watches or reads
