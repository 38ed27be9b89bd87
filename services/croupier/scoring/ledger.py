"""The ledger: rounds and results of tables, each recorded once and never changed.

The first round or result of a table also records its sheet; the order does not matter. Standings are updated in the
same transaction.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, RowMapping, Table, bindparam, select
from sqlalchemy.sql.dml import ReturningInsert

from croupier.runtime.database.database import Database
from croupier.runtime.database.upsert import Upsert, insert_into
from croupier.runtime.errors import AlreadyExists, NotFound
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.table_access import SEATED, TableAccess, Visibility, WatchPolicy
from croupier.scoring import standings_writer
from croupier.scoring.deleted_players import deleted_of
from croupier.scoring.game_standings import standing_of
from croupier.scoring.schema import RESULT_PLAYERS, RESULTS, ROUNDS, SEAT_COUNTS, SHEETS
from croupier.scoring.standings import MIN_RANKED_PLAYERS, Standing, places
from croupier_api.v1 import errors_pb2


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat: either `player_id` or the kind of `bot` is set, the other is empty."""

    player_id: str
    name: str
    bot: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """The data that all entries of a table share."""

    table_id: str
    game: str
    seats: tuple[Seat, ...]
    access: TableAccess = SEATED

    def has_player(self, player_id: str) -> bool:
        """Return whether a player has a seat."""
        return any(seat.player_id == player_id and not seat.bot for seat in self.seats)


class SeatCount(NamedTuple):
    """The number of times that a seat did something in a round, such as winning a bid."""

    name: str
    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class Round:
    """A line of a score sheet: its number from 1, points and running totals by seat, and `counts` for statistics.

    `texts` is an encoded RoundScore of the contract that has the notes, headline and details only.
    """

    number: int
    points: tuple[int, ...]
    totals: tuple[int, ...]
    texts: bytes = b""
    counts: tuple[SeatCount, ...] = ()


class SeatConduct(NamedTuple):
    """How a seat was played: how often the engine acted for its player, and whether it did when the game ended.

    `left`: whether it did so because the player had left.
    """

    timeouts: int
    finished_by_engine: bool
    left: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a table: groups of tied seats, best first, totals by seat, and the time in milliseconds since 1970.

    `conduct` and `outcomes` are by seat, and empty if they are not known. A result that is void, or without outcomes by
    the standing of its game, counts nowhere. The ledger decides whether a result is ranked: whether it counts on the
    leaderboard, for all people at the table.
    """

    ranking: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]
    end_milliseconds: int
    conduct: tuple[SeatConduct, ...] = ()
    is_void: bool = False
    is_ranked: bool = False
    outcomes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """All entries of a table: the rows of its rounds, in order, and the result or None."""

    sheet: Sheet
    rows: Sequence[Row[Any]]
    result: Result | None

    def rounds(self) -> Iterator[Round]:
        """Yield the rounds, each decoded when it is due: a long sheet is read in steps."""
        return map(_decode_round, self.rows)


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger in a database; `clock` returns the time of reports."""

    database: Database
    clock: Clock

    async def record_round(self, sheet: Sheet, entry: Round) -> bool:
        """Record a round and return whether it is new; raises AlreadyExists if the ledger has a different one."""
        return await self.database.write(_record_round, sheet, entry, self.clock)

    async def record_result(self, sheet: Sheet, result: Result, standing: Standing | None = None) -> bool:
        """Record a result and return whether it is new; raises AlreadyExists if the ledger has a different one.

        `standing` is how the results of the game count; None from an engine of an earlier version, which reports no
        outcomes: then the first group of the ranking has won. Raises Unavailable in a game without winners.
        """
        return await self.database.write(_record_result, sheet, result, standing, self.clock)

    async def find_sheet(self, table_id: str, is_shown: Callable[[Sheet, Result | None], bool]) -> ScoreSheet:
        """Return all entries of a table; raises NotFound if it has no entry, or `is_shown` returns false."""
        return await self.database.read(_find_sheet, table_id, is_shown)


def _find_sheet(connection: Connection, table_id: str, is_shown: Callable[[Sheet, Result | None], bool]) -> ScoreSheet:
    wanted = {"table_id": table_id}
    row = connection.execute(_SHEET, wanted).one_or_none()
    result_row = connection.execute(_RESULT, wanted).one_or_none()
    sheet, result = decode_sheet(row) if row else None, decode_result(result_row) if result_row else None
    if sheet is None or not is_shown(sheet, result):
        raise NotFound(
            errors_pb2.ERROR_REASON_NO_SCORE_SHEET,
            "no score sheet: no round of this table has ended, or this player has no access to it",
        )
    return ScoreSheet(sheet, connection.execute(_ROUNDS, wanted).all(), result)


def _record_round(connection: Connection, sheet: Sheet, entry: Round, clock: Clock) -> bool:
    key = {"table_id": sheet.table_id, "round": entry.number}
    _record_sheet(connection, _without_deleted(connection, sheet), clock())
    columns = {"texts": entry.texts} | {name: json.dumps(getattr(entry, name)) for name in _ROUND_JSON}
    is_new = _insert_once(connection, ROUNDS, key, columns, f"round {entry.number}")
    if is_new and entry.counts:
        sums: Counter[tuple[int, str]] = Counter()
        for count in entry.counts:
            sums[count.seat, count.name] += count.amount
        # Sorted, so that concurrent transactions lock rows in the same order and cannot deadlock.
        rows = [
            {"table_id": sheet.table_id, "seat": seat, "name": name, "amount": amount}
            for (seat, name), amount in sorted(sums.items())
        ]
        connection.execute(standings_writer.add_amounts(connection.dialect.name, SEAT_COUNTS), rows)
        standings_writer.add_round(connection, sheet.table_id, sums)
    return is_new


def _record_result(
    connection: Connection, sheet: Sheet, result: Result, reported: Standing | None, clock: Clock
) -> bool:
    now, sheet = clock(), _without_deleted(connection, sheet)
    _record_sheet(connection, sheet, now)
    standing = standing_of(connection, sheet.game, reported)
    outcomes = _outcomes_by_ranking(result, standing) if reported is None else result.outcomes
    is_published = sheet.access.is_over_for_spectators(result.end_milliseconds, now)
    is_public = sheet.access.is_public and is_published
    rows = _player_rows(sheet, result, outcomes, standing, is_public=is_public)
    if rows:
        standings_writer.set_names(connection, rows)
    is_ranked = bool(outcomes) and _is_ranked(connection, sheet, result)
    ends_for_others = result.end_milliseconds + sheet.access.watch_delay_seconds * 1000
    decided = {
        "game": sheet.game,
        "is_public": is_public,
        "is_ranked": is_ranked,
        "publish_milliseconds": None if is_published else ends_for_others,
    }
    is_new = _insert_once(
        connection, RESULTS, {"table_id": sheet.table_id}, _result_columns(result), "the result", decided
    )
    if is_new and rows:
        connection.execute(RESULT_PLAYERS.insert(), [row | {"is_ranked": is_ranked} for row in rows])
        standings_writer.add_result(connection, sheet.table_id)
    return is_new


def _record_sheet(connection: Connection, sheet: Sheet, now: int) -> None:
    """Record the sheet of a table, or compare it, and the time; the transaction then has its lock."""
    access = sheet.access
    columns: dict[str, Any] = {
        "game": sheet.game,
        "seats": json.dumps([[seat.player_id, seat.name, seat.bot] for seat in sheet.seats]),
        "visibility": access.visibility.value,
        "watch_policy": access.watch_policy.value,
        "watch_delay_seconds": access.watch_delay_seconds,
        "removed_players": json.dumps(access.removed_players),
        "is_matched": access.is_matched,
    }
    row = {"table_id": sheet.table_id, "reported_milliseconds": now, **columns}
    recorded = connection.execute(_upsert_sheet(connection.dialect.name), row).mappings().one()
    if _are_seats_alike(recorded["seats"], columns["seats"]):
        del columns["seats"]
    _check_same(recorded, columns, "game, seats or access")


def _without_deleted(connection: Connection, sheet: Sheet) -> Sheet:
    """Return a reported sheet without the names of deleted players."""
    deleted = deleted_of(connection, [seat.player_id for seat in sheet.seats if not seat.bot])
    if not deleted:
        return sheet
    seats = (replace(seat, name="") if seat.player_id in deleted else seat for seat in sheet.seats)
    return replace(sheet, seats=tuple(seats))


def _are_seats_alike(stored: str, reported: str) -> bool:
    """Return whether the seats of two sheets differ at most in names of deleted players, which one of them lacks."""
    seats, others = json.loads(stored), json.loads(reported)
    return len(seats) == len(others) and all(
        seat == other or (seat[::2] == other[::2] and "" in (seat[1], other[1]))
        for seat, other in zip(seats, others, strict=True)
    )


def _insert_once(
    connection: Connection,
    table: Table,
    key: dict[str, Any],
    columns: dict[str, Any],
    description: str,
    decided: Mapping[str, Any] = MappingProxyType({}),
) -> bool:
    """Insert a row, or compare `columns` with the stored one; `decided` are columns that no report has."""
    # The insert comes first because it locks the key or waits for its lock: the row that is read afterwards is final.
    insert = _insert_if_absent(connection.dialect.name, table)
    if connection.execute(insert, {**key, **columns, **decided}).rowcount:
        return True
    stored = connection.execute(select(table).filter_by(**key).with_for_update()).mappings().one()
    _check_same(stored, columns, description)
    return False


def _check_same(stored: RowMapping, columns: Mapping[str, Any], description: str) -> None:
    """Raise AlreadyExists if a stored row has other values; entries of earlier versions lack some."""
    for name, value in columns.items():
        is_unknown = name in _UNKNOWN and _UNKNOWN[name] in (stored[name], value)
        if stored[name] != value and not is_unknown:
            message = f"{description} of this table differs from the ledger, whose entries never change"
            raise AlreadyExists(errors_pb2.ERROR_REASON_LEDGER_CONFLICT, message)


# The statements have their values as parameters: building one takes longer than its execution.
_SHEET = select(SHEETS).where(SHEETS.c.table_id == bindparam("table_id"))
_RESULT = select(RESULTS).where(RESULTS.c.table_id == bindparam("table_id"))
_ROUNDS = select(ROUNDS).where(ROUNDS.c.table_id == bindparam("table_id")).order_by(ROUNDS.c.round)


@cache
def _upsert_sheet(dialect: str) -> ReturningInsert[Any]:
    insert = insert_into(dialect, SHEETS)
    reported = {"reported_milliseconds": insert.excluded.reported_milliseconds}
    return insert.on_conflict_do_update(index_elements=SHEETS.primary_key, set_=reported).returning(SHEETS)


@cache
def _insert_if_absent(dialect: str, table: Table) -> Upsert:
    return insert_into(dialect, table).on_conflict_do_nothing()


_UNKNOWN = {"conduct": json.dumps(()), "outcomes": json.dumps(()), "texts": b""}
"""By column that entries of earlier versions lack: its value for them."""
_ROUND_JSON = ("points", "totals", "counts")


def _result_columns(result: Result) -> dict[str, Any]:
    return {
        "ranking": json.dumps(result.ranking),
        "totals": json.dumps(result.totals),
        "end_milliseconds": result.end_milliseconds,
        # As before for seats that were not left, since engines may repeat reports across an upgrade.
        "conduct": json.dumps([one if one.left else one[:2] for one in result.conduct]),
        "is_void": result.is_void,
        "outcomes": json.dumps(result.outcomes),
    }


def _outcomes_by_ranking(result: Result, standing: Standing) -> tuple[str, ...]:
    """Return the outcome of each seat of a game with winners; none for a void result."""
    better, worse = standing.outcomes
    return () if result.is_void else tuple(better if place == 1 else worse for place in places(result.ranking))


def _is_ranked(connection: Connection, sheet: Sheet, result: Result) -> bool:
    """Return whether a result that counts does so on the leaderboard too, as GameResult.ranked_seats says."""
    people = sorted(occupant.player_id for occupant in sheet.seats if not occupant.bot)
    is_open = sheet.access.is_public or sheet.access.is_matched
    if not is_open or not result.conduct or len(people) < MIN_RANKED_PLAYERS:
        return False
    return not standings_writer.is_pair_at_limit(connection, people, result.end_milliseconds)


def _player_rows(
    sheet: Sheet, result: Result, outcomes: tuple[str, ...], standing: Standing, *, is_public: bool
) -> list[dict[str, Any]]:
    """Return the rows of people: a game that they left has the last outcome and the last place."""
    worse = standing.outcomes[-1]
    left = [one.finished_by_engine for one in result.conduct] or [False] * len(sheet.seats)
    return [
        {
            "table_id": sheet.table_id,
            "player_id": occupant.player_id,
            "name": occupant.name,
            "game": sheet.game,
            "seat": seat,
            "place": len(sheet.seats) if left[seat] else place,
            "outcome": (worse if left[seat] else outcomes[seat]) if outcomes else "",
            "has_left": left[seat],
            "end_milliseconds": result.end_milliseconds,
            "is_public": is_public,
        }
        for seat, (occupant, place) in enumerate(zip(sheet.seats, places(result.ranking), strict=True))
        if not occupant.bot
    ]


def decode_sheet(row: Row[Any]) -> Sheet:
    """Return the sheet of a row with the columns of SHEETS."""
    access = TableAccess(
        Visibility(row.visibility),
        WatchPolicy(row.watch_policy),
        row.watch_delay_seconds,
        tuple(json.loads(row.removed_players)),
        row.is_matched,
    )
    return Sheet(row.table_id, row.game, tuple(Seat(*seat) for seat in json.loads(row.seats)), access)


def _decode_round(row: Row[Any]) -> Round:
    counts = tuple(SeatCount(*count) for count in json.loads(row.counts))
    return Round(row.round, tuple(json.loads(row.points)), tuple(json.loads(row.totals)), row.texts, counts)


def decode_result(row: Row[Any]) -> Result:
    """Return the result of a row with the columns of RESULTS."""
    ranking, conduct = tuple(map(tuple, json.loads(row.ranking))), json.loads(row.conduct)
    # Results of earlier versions do not say who had left.
    played, outcomes = tuple(SeatConduct(*one) for one in conduct), tuple(json.loads(row.outcomes))
    totals = tuple(json.loads(row.totals))
    return Result(ranking, totals, row.end_milliseconds, played, row.is_void, row.is_ranked, outcomes)
