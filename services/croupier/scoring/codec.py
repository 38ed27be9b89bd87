"""Between the contract's messages and the ledger's values; checks all that comes in."""

from collections.abc import Mapping, Sequence
from itertools import chain

from croupier.runtime.errors import MalformedRequest
from croupier.scoring.ledger import Count, Result, Round, ScoreSheet, Seat, Sheet
from croupier.scoring.records import LeaderboardLine
from croupier.scoring.standings import Statistics
from croupier_api.v1 import scoring_pb2 as pb
from croupier_api.v1 import table_pb2

LONGEST_ID = 64
LONGEST_GAME_ID = 32
LONGEST_NAME = 64
LONGEST_NOTE = 1000
MOST_SEATS = 30
LAST_ROUND = 10_000
MOST_DETAILS = 64
MOST_COUNTS = 64
LARGEST_AMOUNT = 10_000


def malformed(field: str, message: str) -> MalformedRequest:
    return MalformedRequest("MALFORMED_FIELD", f"{field} {message}", field=field)


def text(value: str, field: str, longest: int) -> str:
    """The value; raises MalformedRequest if it is too long or holds control characters."""
    if len(value) > longest or "\0" in value:
        raise malformed(field, f"must have at most {longest} characters, and none of them NUL")
    return value


def identifier(value: str, field: str, longest: int = LONGEST_ID) -> str:
    """The value; raises MalformedRequest if it is empty, too long or not printable."""
    if not value or not text(value, field, longest).isprintable():
        raise malformed(field, f"must have 1 to {longest} printable characters")
    return value


def read_round_entry(request: pb.RecordRoundRequest) -> tuple[Sheet, Round]:
    """The round that the engine enters; raises MalformedRequest."""
    sheet = _read_sheet("", request.table_id, request.game, request.seats)
    entry = request.round
    if not 1 <= entry.round <= LAST_ROUND:
        raise malformed("round.round", f"is {entry.round}: it must be from 1 to {LAST_ROUND}")
    points = _read_by_seat("round.points", entry.points, sheet)
    totals = _read_by_seat("round.totals", entry.totals, sheet)
    if len(entry.notes) not in (0, len(sheet.seats)):
        raise malformed(
            "round.notes", f"has {len(entry.notes)} notes: one for each of {len(sheet.seats)} seats or none"
        )
    notes = tuple(text(note, f"round.notes[{seat}]", LONGEST_NOTE) for seat, note in enumerate(entry.notes))
    headline = text(entry.headline, "round.headline", LONGEST_NOTE)
    details, counts = _read_details(entry.details), _read_counts(entry.counts, sheet)
    return sheet, Round(entry.round, points, totals, notes, headline, details, counts)


def _read_details(details: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if len(details) > MOST_DETAILS:
        raise malformed("round.details", f"has {len(details)} names: at most {MOST_DETAILS} are possible")
    for name, value in details.items():
        identifier(name, "round.details")
        text(value, f"round.details[{name}]", LONGEST_NOTE)
    return tuple(sorted(details.items()))


def _read_counts(counts: Sequence[table_pb2.SeatCount], sheet: Sheet) -> tuple[Count, ...]:
    if len(counts) > MOST_COUNTS:
        raise malformed("round.counts", f"has {len(counts)} counts: at most {MOST_COUNTS} are possible")
    return tuple(_read_count(f"round.counts[{number}]", count, sheet) for number, count in enumerate(counts))


def _read_count(path: str, count: table_pb2.SeatCount, sheet: Sheet) -> Count:
    identifier(count.name, f"{path}.name")
    if count.seat >= len(sheet.seats):
        raise malformed(f"{path}.seat", f"is {count.seat}: the table has seats 0 to {len(sheet.seats) - 1}")
    if not 1 <= count.amount <= LARGEST_AMOUNT:
        raise malformed(f"{path}.amount", f"is {count.amount}: it must be from 1 to {LARGEST_AMOUNT}")
    return Count(count.name, count.seat, count.amount)


def read_result_entry(request: pb.RecordResultRequest) -> tuple[Sheet, Result]:
    """The result that the engine enters; raises MalformedRequest."""
    result = request.result
    sheet = _read_sheet("result.", result.table_id, result.game, result.seats)
    ranking = tuple(tuple(sorted(group.seats)) for group in result.ranking)
    if not all(ranking) or sorted(chain(*ranking)) != list(range(len(sheet.seats))):
        raise malformed(
            "result.ranking", f"must hold each seat from 0 to {len(sheet.seats) - 1} once, in no empty group"
        )
    totals = _read_by_seat("result.totals", result.totals, sheet)
    if result.finished_milliseconds <= 0:
        raise malformed("result.finished_milliseconds", "must be a time in milliseconds since 1970 UTC")
    return sheet, Result(ranking, totals, result.finished_milliseconds)


def _read_sheet(path: str, table_id: str, game: str, seats: Sequence[table_pb2.SeatInfo]) -> Sheet:
    identifier(table_id, f"{path}table_id")
    identifier(game, f"{path}game", LONGEST_GAME_ID)
    if not 1 <= len(seats) <= MOST_SEATS:
        raise malformed(f"{path}seats", f"has {len(seats)} seats: 1 to {MOST_SEATS} are possible")
    occupants = tuple(_read_seat(f"{path}seats[{number}]", seat) for number, seat in enumerate(seats))
    people = [seat.player_id for seat in occupants if not seat.bot]
    if len(set(people)) != len(people):
        raise malformed(f"{path}seats", "must not name a player twice")
    return Sheet(table_id, game, occupants)


def _read_seat(path: str, seat: table_pb2.SeatInfo) -> Seat:
    if bool(seat.player_id) == bool(seat.bot):
        raise malformed(path, "must have either the player_id of a person or the bot of a computer player")
    occupant = f"{path}.bot" if seat.bot else f"{path}.player_id"
    identifier(seat.bot or seat.player_id, occupant)
    return Seat(seat.player_id, text(seat.name, f"{path}.name", LONGEST_NAME), seat.bot)


def _read_by_seat(field: str, values: Sequence[int], sheet: Sheet) -> tuple[int, ...]:
    if len(values) != len(sheet.seats):
        raise malformed(field, f"has {len(values)} numbers: there must be one for each of {len(sheet.seats)} seats")
    return tuple(values)


def write_score_sheet(found: ScoreSheet) -> pb.GetScoreSheetResponse:
    """A score sheet as the contract has it."""
    sheet = found.sheet
    return pb.GetScoreSheetResponse(
        table_id=sheet.table_id,
        game=sheet.game,
        seats=_write_seats(sheet),
        rounds=map(_write_round, found.rounds),
        result=write_result(sheet, found.result) if found.result else None,
    )


def _write_round(entry: Round) -> pb.SheetRound:
    return pb.SheetRound(
        round=entry.number,
        points=entry.points,
        totals=entry.totals,
        notes=entry.notes,
        headline=entry.headline,
        details=dict(entry.details),
        counts=[table_pb2.SeatCount(name=name, seat=seat, amount=amount) for name, seat, amount in entry.counts],
    )


def write_result(sheet: Sheet, result: Result) -> pb.TableResult:
    """A result as the contract has it."""
    return pb.TableResult(
        table_id=sheet.table_id,
        game=sheet.game,
        seats=_write_seats(sheet),
        ranking=[table_pb2.RankGroup(seats=group) for group in result.ranking],
        totals=result.totals,
        finished_milliseconds=result.finished,
    )


def _write_seats(sheet: Sheet) -> list[table_pb2.SeatInfo]:
    return [table_pb2.SeatInfo(player_id=seat.player_id, name=seat.name, bot=seat.bot) for seat in sheet.seats]


def write_statistics(statistics: Statistics) -> pb.GameStatistics:
    """Statistics as the contract has them."""
    return pb.GameStatistics(
        game=statistics.game,
        games_finished=statistics.games_finished,
        games_won=statistics.games_won,
        win_rate=statistics.win_rate,
        average_place=statistics.average_place,
        counts=dict(statistics.counts),
    )


def write_line(position: int, line: LeaderboardLine) -> pb.LeaderboardLine:
    """A line of a leaderboard as the contract has it; positions count from 1."""
    return pb.LeaderboardLine(
        position=position, player_id=line.player_id, name=line.name, statistics=write_statistics(line.statistics)
    )
