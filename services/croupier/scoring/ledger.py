"""The ledger: rounds and results as they came in, each entered once and never changed.

What comes first for a table, a round or its result, opens the table's sheet; the order does not matter.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Row, Table, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.runtime.database import transaction
from croupier.runtime.errors import AlreadyExists, NotFound
from croupier.runtime.inserts import insert_into
from croupier.scoring.schema import RESULT_PLAYERS, RESULTS, ROUNDS, SEAT_COUNTS, SHEETS
from croupier.scoring.standings import places


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits there: a person by `player_id`, or the kind of computer player in `bot`; the other is empty."""

    player_id: str
    name: str
    bot: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """What all entries of a table have in common; seats in order."""

    table_id: str
    game: str
    seats: tuple[Seat, ...]


class Count(NamedTuple):
    """Something that a seat did in a round, and how often."""

    name: str
    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class Round:
    """A line of a score sheet: its number from 1, points, running totals and notes by seat (no notes: empty).

    `headline` says what the round was (may be empty), `details` the same in pairs of name and value, ordered by name,
    and `counts` is for statistics.
    """

    number: int
    points: tuple[int, ...]
    totals: tuple[int, ...]
    notes: tuple[str, ...]
    headline: str = ""
    details: tuple[tuple[str, str], ...] = ()
    counts: tuple[Count, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """How a table ended: groups of seats, best first, totals by seat, and when in milliseconds since 1970 UTC."""

    ranking: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]
    finished: int


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """All that the ledger has of a table: rounds in order, and the result once it is known."""

    sheet: Sheet
    rounds: tuple[Round, ...]
    result: Result | None


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger in a database."""

    database: AsyncEngine

    async def enter_round(self, sheet: Sheet, entry: Round) -> bool:
        """Enter a round; whether it is new. Raises AlreadyExists if the ledger says something else."""
        key = {"table_id": sheet.table_id, "round": entry.number}
        async with transaction(self.database) as connection:
            await _open_sheet(connection, sheet)
            is_new = await _insert(connection, ROUNDS, key, _round_columns(entry), f"round {entry.number}")
            if is_new and entry.counts:
                await _add_counts(connection, sheet.table_id, entry.counts)
            return is_new

    async def enter_result(self, sheet: Sheet, result: Result) -> bool:
        """Enter the result of a table; whether it is new. Raises AlreadyExists if the ledger says something else."""
        async with transaction(self.database) as connection:
            await _open_sheet(connection, sheet)
            key = {"table_id": sheet.table_id}
            is_new = await _insert(connection, RESULTS, key, _result_columns(result), "the result")
            lines = _player_lines(sheet, result)
            if is_new and lines:
                await connection.execute(RESULT_PLAYERS.insert(), lines)
            return is_new

    async def score_sheet(self, table_id: str) -> ScoreSheet:
        """The score sheet of a table; raises NotFound if nothing of it was entered."""
        async with transaction(self.database) as connection:
            sheet = (await connection.execute(select(SHEETS).filter_by(table_id=table_id))).one_or_none()
            if sheet is None:
                raise NotFound("UNKNOWN_TABLE", "there is no score sheet of this table: no round of it has ended yet")
            rounds = await connection.execute(select(ROUNDS).filter_by(table_id=table_id).order_by(ROUNDS.c.round))
            result = (await connection.execute(select(RESULTS).filter_by(table_id=table_id))).one_or_none()
        return ScoreSheet(read_sheet(sheet), tuple(map(_read_round, rounds)), read_result(result) if result else None)


async def _open_sheet(connection: AsyncConnection, sheet: Sheet) -> None:
    seats = json.dumps([[seat.player_id, seat.name, seat.bot] for seat in sheet.seats])
    columns = {"game": sheet.game, "seats": seats}
    await _insert(connection, SHEETS, {"table_id": sheet.table_id}, columns, "game and seats")


async def _insert(
    connection: AsyncConnection, table: Table, key: dict[str, Any], columns: dict[str, Any], what: str
) -> bool:
    # The insert comes first: it takes the lock, or waits for who has it, so that what is read after it is what will
    # stay.
    insert = insert_into(connection, table).values(**key, **columns).on_conflict_do_nothing()
    if (await connection.execute(insert)).rowcount:
        return True
    held = (await connection.execute(select(table).filter_by(**key))).mappings().one()
    if any(held[name] != value for name, value in columns.items()):
        message = f"{what} of this table is in the ledger already, with other content: an entry never changes"
        raise AlreadyExists("LEDGER_CONFLICT", message)
    return False


async def _add_counts(connection: AsyncConnection, table_id: str, counts: Iterable[Count]) -> None:
    sums: Counter[tuple[int, str]] = Counter()
    for count in counts:
        sums[count.seat, count.name] += count.amount
    # In the same order always, so that two transactions cannot wait for each other.
    rows = [
        {"table_id": table_id, "seat": seat, "name": name, "amount": amount}
        for (seat, name), amount in sorted(sums.items())
    ]
    insert = insert_into(connection, SEAT_COUNTS).values(rows)
    raised = {"amount": SEAT_COUNTS.c.amount + insert.excluded.amount}
    await connection.execute(insert.on_conflict_do_update(index_elements=SEAT_COUNTS.primary_key, set_=raised))


_ROUND_JSON = ("points", "totals", "notes", "details", "counts")


def _round_columns(entry: Round) -> dict[str, Any]:
    return {"headline": entry.headline} | {name: json.dumps(getattr(entry, name)) for name in _ROUND_JSON}


def _result_columns(result: Result) -> dict[str, Any]:
    return {
        "ranking": json.dumps(result.ranking),
        "totals": json.dumps(result.totals),
        "finished": result.finished,
    }


def _player_lines(sheet: Sheet, result: Result) -> list[dict[str, Any]]:
    return [
        {
            "table_id": sheet.table_id,
            "player_id": occupant.player_id,
            "name": occupant.name,
            "game": sheet.game,
            "seat": seat,
            "place": place,
            "won": place == 1,
            "finished": result.finished,
        }
        for seat, (occupant, place) in enumerate(zip(sheet.seats, places(result.ranking), strict=True))
        if not occupant.bot
    ]


def read_sheet(row: Row[Any]) -> Sheet:
    """A sheet out of a row with the columns of SHEETS."""
    return Sheet(row.table_id, row.game, tuple(Seat(*seat) for seat in json.loads(row.seats)))


def _read_round(row: Row[Any]) -> Round:
    points, totals, notes = (tuple(json.loads(text)) for text in (row.points, row.totals, row.notes))
    details = tuple((name, value) for name, value in json.loads(row.details))
    counts = tuple(Count(*count) for count in json.loads(row.counts))
    return Round(row.round, points, totals, notes, row.headline, details, counts)


def read_result(row: Row[Any]) -> Result:
    """A result out of a row with the columns of RESULTS."""
    return Result(tuple(map(tuple, json.loads(row.ranking))), tuple(json.loads(row.totals)), row.finished)
