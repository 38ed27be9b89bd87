"""The access of players to what the ledger has of a table."""

from croupier.runtime.table_access import LinkPurpose
from croupier.scoring.ledger import Result, Sheet


def is_sheet_shown(sheet: Sheet, result: Result | None, player_id: str, link: LinkPurpose | None, now: int) -> bool:
    """Return whether a player may read a score sheet, with the purpose of their link; `now` in milliseconds since 1970.

    Without a seat they read it once they may know the end of the game. Before, they read it as spectators, unless these
    see the game later: the ledger does not know when the rounds ended.
    """
    if _has_seat(sheet, player_id):
        return True
    access = sheet.access
    if access.is_over_for_spectators(result.end_milliseconds if result else None, now):
        return access.lets_read(player_id, link)
    return access.watch_delay_seconds == 0 and access.lets_watch(player_id, link)


def is_result_shown(sheet: Sheet, result: Result, player_id: str, now: int) -> bool:
    """Return whether a list shows a result to a player; `now` in milliseconds since 1970."""
    is_over = sheet.access.is_over_for_spectators(result.end_milliseconds, now)
    return _has_seat(sheet, player_id) or (is_over and sheet.access.lets_read(player_id, None))


def _has_seat(sheet: Sheet, player_id: str) -> bool:
    return any(seat.player_id == player_id and not seat.bot for seat in sheet.seats)
